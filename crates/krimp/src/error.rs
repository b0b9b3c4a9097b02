//! The reasons why there is no result.

use std::fmt;
use table::Stop;

/// The reasons why there is no result.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// The computation was ended.
    Stop(Stop),
    /// More columns than a code table can have.
    TooWide { columns: usize, limit: usize },
    /// The values of this column are not text that a model can hold, or not in the same order.
    Encoding { column: String },
    /// The value is not a model, or a damaged one; the text says what is wrong.
    Model(String),
    /// The columns of the data are not those of the model; the text says what differs.
    Columns(String),
    /// Models of classes that cannot be compared; the text says why.
    Classes(String),
    /// This number of successive rows were rejected.
    Rejected { tries: u64 },
    /// A Laplace correction that is not a positive number.
    Correction { value: f64 },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stop(stop) => stop.fmt(f),
            Error::TooWide { columns, limit } => {
                write!(f, "{columns} columns are more than the {limit} a code table can have")
            }
            Error::Encoding { column } => {
                write!(
                    f,
                    "the values of column \"{column}\" cannot be held in UTF-8 in the same order"
                )
            }
            Error::Model(what) => write!(f, "not a valid Krimp model: {what}"),
            Error::Columns(what) => write!(f, "the data do not have the model's columns: {what}"),
            Error::Classes(what) => {
                write!(f, "the models cannot be compared: {what}")
            }
            Error::Rejected { tries } => {
                write!(f, "{tries} rows drawn one after the other contain an itemset of reject")
            }
            Error::Correction { value } => {
                write!(f, "a Laplace correction must be a positive number, not {value}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Stop(stop) => Some(stop),
            _ => None,
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Error::Stop(stop)
    }
}
