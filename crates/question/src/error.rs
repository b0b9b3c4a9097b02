//! The reasons why a question is refused.

use std::fmt;

/// Made while arguments are read, and shown to the caller. No text depends on a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// A part of the question makes no sense; the hint says what to write instead.
    Argument { message: String, hint: String },
    /// No noise exists for the question.
    Noise(random::Error),
}

impl Error {
    pub(crate) fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Argument { message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Argument { message, .. } => f.write_str(message),
            Error::Noise(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<random::Error> for Error {
    fn from(error: random::Error) -> Self {
        Error::Noise(error)
    }
}
