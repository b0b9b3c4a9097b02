//! The reasons why a private mechanism refuses a call.

use std::fmt;
use table::Stop;

/// One error for all private mechanisms, used by this crate, guarantee, aggregate and sample; the extension gives it
/// its SQLSTATE. No text depends on the data that a mechanism protects.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// An argument is outside the range in which the mechanism is defined.
    Argument { name: &'static str, value: String, range: &'static str },
    /// No parameters reach the requested guarantee.
    Infeasible { epsilon: f64, delta: f64, k: u64 },
    /// The operating system gave no random bytes.
    Entropy(String),
    /// The computation was stopped.
    Stop(Stop),
}

impl Error {
    /// An argument that is refused, and its valid range.
    pub fn argument(name: &'static str, value: impl fmt::Display, range: &'static str) -> Self {
        Error::Argument { name, value: value.to_string(), range }
    }

    /// Refuses an argument that is not in its valid range.
    pub fn require(
        is_valid: bool,
        name: &'static str,
        value: impl fmt::Display,
        range: &'static str,
    ) -> Result<(), Error> {
        if is_valid { Ok(()) } else { Err(Error::argument(name, value, range)) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Argument { name, value, range } => write!(f, "{name} is {value}, but {range}"),
            Error::Infeasible { epsilon, delta, k } => write!(
                f,
                "no sampling rate gives epsilon {epsilon} and delta {delta} with classes of at least {k} rows"
            ),
            Error::Entropy(why) => write!(f, "the operating system gave no random bytes: {why}"),
            Error::Stop(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Error::Stop(stop)
    }
}
