//! How much an output tells of its input.
