//! Randomised response on cells.
