//! Randomisation operators as matrices.
//!
//! * `matrices`: amplification, breaches, reconstruction, randomised numbers.
//! * `dependence`: how much an output reveals of its input, and what exact counts reveal.

crate::method::family! {
    dependence,
    matrices,
}
