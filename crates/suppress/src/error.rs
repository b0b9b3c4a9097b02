//! Errors: why there is no release.

use std::fmt;
use table::Stop;

#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// Fewer rows than a class needs: every cell would be blanked.
    NothingLeft { class: u64, rows: u64 },
    /// Fewer sensitive values than a class needs.
    NotDiverse { l: f64, values: usize },
    /// The number of weights is not the number of columns.
    WeightCount { weights: usize, columns: usize },
    /// A weight is not a positive finite number.
    Weight { column: usize },
    /// The last check found a class below k: a fault of ours, and nothing is released.
    Broken { k: u64, smallest: u64 },
    /// The last check found a class, of this many rows, without the diversity or closeness asked for: as above.
    NotKept { rows: u64 },
    /// The last check found an itemset that was to be hidden: a fault of ours, and nothing is released.
    Shown { support: u64, min_support: u64 },
    /// The computation was stopped, or a limit was reached.
    Stopped(Stop),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NothingLeft { class, rows } => {
                write!(f, "classes of {class} rows cannot be made of {rows} rows")
            }
            Error::NotDiverse { l, values } => {
                write!(f, "a diversity of {l} cannot be had of {values} sensitive values")
            }
            Error::WeightCount { weights, columns } => {
                write!(f, "{weights} weights for {columns} columns")
            }
            Error::Weight { column } => {
                write!(f, "the weight of column number {} is not positive and finite", column + 1)
            }
            Error::Broken { k, smallest } => {
                write!(f, "a class of {smallest} rows was left where {k} were promised")
            }
            Error::NotKept { rows } => {
                write!(f, "a class of {rows} rows was left without the diversity that was promised")
            }
            Error::Shown { support, min_support } => {
                write!(
                    f,
                    "an itemset of {support} rows was left where fewer than {min_support} were promised"
                )
            }
            Error::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Stopped(stop) => Some(stop),
            _ => None,
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Error::Stopped(stop)
    }
}
