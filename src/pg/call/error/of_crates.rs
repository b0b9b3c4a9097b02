//! Conversions from the errors of our crates.

use super::Error;
use measures::cells::{MOST_CELLS, NoCounts};
use table::{Stop, WireError};

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Error::Cancelled,
            Stop::Memory { limit } => Error::Memory { limit },
            Stop::Itemsets { limit } => Error::Itemsets { limit },
        }
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Stopped(stop) => stop.into(),
            error => Error::Bag(error),
        }
    }
}

impl From<random::Error> for Error {
    fn from(error: random::Error) -> Self {
        let message = error.to_string();
        match error {
            random::Error::Stop(stop) => stop.into(),
            random::Error::Argument { name, .. } => {
                Error::argument(message, format!("Give another value for {name}."))
            }
            random::Error::Infeasible { .. } => {
                Error::argument(message, "Raise epsilon, delta or k.")
            }
            random::Error::Entropy(_) => Error::NoEntropy { what: message },
        }
    }
}

impl From<krimp::Error> for Error {
    fn from(error: krimp::Error) -> Self {
        let message = error.to_string();
        match error {
            krimp::Error::Stop(stop) => stop.into(),
            krimp::Error::TooWide { .. } => Error::argument(message, "Name fewer columns."),
            krimp::Error::Encoding { .. } => {
                Error::argument(message, "Leave the column out, or convert the database to UTF-8.")
            }
            krimp::Error::Model(_) => Error::argument(
                message,
                "Make models with sanitize.krimp_model and keep them unchanged.",
            ),
            krimp::Error::Columns(_) => {
                Error::argument(message, "Use the model on a relation with the same columns.")
            }
            krimp::Error::Classes(_) => Error::argument(
                message,
                "Make the models of all classes with the same columns and the same nulls.",
            ),
            krimp::Error::Rejected { .. } => Error::argument(
                message,
                "What is rejected is nearly certain in the model: reject less, or make the model of a relation without it.",
            ),
            krimp::Error::Correction { .. } => Error::argument(message, "Give a number above 0."),
        }
    }
}

impl From<suppress::Error> for Error {
    fn from(error: suppress::Error) -> Self {
        match error {
            suppress::Error::Stopped(stop) => stop.into(),
            suppress::Error::NothingLeft { .. } => Error::argument(
                format!("nothing would be left: {error}"),
                "Give a smaller theta or k, or a relation with more rows.",
            ),
            suppress::Error::NotDiverse { .. } => Error::argument(
                format!("nothing would be left: {error}"),
                "Give a smaller l, or a sensitive column with more values.",
            ),
            suppress::Error::WeightCount { .. } | suppress::Error::Weight { .. } => {
                Error::argument(
                    format!("weights: {error}"),
                    "Weights are positive numbers by column name: {\"zip\": 2, \"age\": 0.5}.",
                )
            }
            suppress::Error::Broken { .. }
            | suppress::Error::NotKept { .. }
            | suppress::Error::Shown { .. } => Error::Broken { what: error.to_string() },
        }
    }
}

impl From<NoCounts> for Error {
    fn from(error: NoCounts) -> Self {
        match error {
            NoCounts::Stop(stop) => stop.into(),
            NoCounts::TooManyCells { rows, columns } => Error::argument(
                format!("the table has {rows} rows and {columns} columns"),
                format!(
                    "A table has {MOST_CELLS} cells at the most, totals included: take coarser columns."
                ),
            ),
            NoCounts::UnitsInSeveralCells { units } => Error::argument(
                match units {
                    1 => "one person has rows in several cells".into(),
                    _ => format!("{units} people have rows in several cells"),
                },
                "They would count in each cell, but once in a total. Count rows with unit => '', or read a view with one row of each person.",
            ),
        }
    }
}

impl From<question::Error> for Error {
    fn from(error: question::Error) -> Self {
        match error {
            question::Error::Argument { message, hint } => Error::argument(message, hint),
            question::Error::Noise(error) => error.into(),
        }
    }
}
