//! The usual kinds of arguments: a Rust type says which SQL type an argument has and how it is read.

use super::argument::{Argument, Given, Type};
use crate::pg::prelude::*;
use pgrx::AnyNumeric;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::fmt::Display;
use table::Choice;

/// A Rust type that arguments of one SQL type are read as. An `Option` is `None` for NULL, and may be left out.
pub trait Kind: Sized {
    const OF: Type;

    /// The default of an argument that may be left out, as JSON.
    const DEFAULT: Option<&'static str> = None;

    fn read(given: &Given<'_>) -> Result<Self, Error>;
}

macro_rules! kinds {
    ($($rust:ty: $of:ident, $read:expr;)*) => {$(
        impl Kind for $rust {
            const OF: Type = Type::$of;

            fn read(given: &Given<'_>) -> Result<Self, Error> {
                given.needed($read(given)?)
            }
        }

        impl Kind for Option<$rust> {
            const OF: Type = Type::$of;
            const DEFAULT: Option<&'static str> = Some("null");

            fn read(given: &Given<'_>) -> Result<Self, Error> {
                $read(given)
            }
        }
    )*};
}

kinds! {
    bool: Bool, Given::bool;
    i32: Int4, Given::int4;
    i64: Int8, Given::int8;
    f64: Float8, Given::float8;
    String: Text, Given::text;
    Vec<String>: Texts, names;
    Json: Json, |given: &Given<'_>| Ok::<_, Error>(given.json()?.map(Cow::into_owned));
    Oid: Relation, Given::relation;
    AnyNumeric: Numeric, Given::numeric;
}

impl<T> Argument<T> {
    /// An argument that has to be given, of a SQL type and read in a way of its own.
    pub const fn new(
        name: &'static str,
        of: Type,
        read: fn(&Given<'_>) -> Result<T, Error>,
    ) -> Self {
        Argument { name, of, default: None, about: "", read }
    }

    /// An argument that may be left out, and is NULL then.
    pub const fn optional(
        name: &'static str,
        of: Type,
        read: fn(&Given<'_>) -> Result<T, Error>,
    ) -> Self {
        Argument::new(name, of, read).or("null")
    }

    /// Sets the default, as JSON.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// One sentence for the reference.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }
}

impl<T: Kind> Argument<T> {
    /// An argument of a usual kind.
    pub const fn of(name: &'static str) -> Self {
        Argument { name, of: T::OF, default: T::DEFAULT, about: "", read: T::read }
    }
}

impl<C: Choice> Argument<C> {
    /// One of several names.
    pub const fn choice(name: &'static str) -> Self {
        Argument::new(name, Type::Text, |given| given.choice())
    }
}

/// A list of column names.
fn names(given: &Given<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(names) = given.texts()? else { return Ok(None) };
    let argument = given.name();
    if names.is_empty() {
        return Err(Error::argument(
            format!("{argument} is an empty list"),
            format!("Leave {argument} out or name at least one column."),
        ));
    }
    let names: Option<Vec<String>> = names.into_iter().collect();
    names.map(Some).ok_or_else(|| {
        Error::argument(format!("{argument} contains NULL"), "Give every column by its name.")
    })
}

impl Given<'_> {
    /// A value of a usual kind.
    pub fn get<T: Kind>(&self) -> Result<T, Error> {
        T::read(self)
    }

    /// One of several names.
    pub fn choice<C: Choice>(&self) -> Result<C, Error> {
        let name: String = self.get()?;
        C::named(&name).ok_or_else(|| {
            self.refuse(format_args!("\"{name}\""), format!("{} is {}.", self.name(), C::list()))
        })
    }

    /// A number that `fits`; if it does not, `hint` says what it should be.
    pub fn fitting<T: Kind + Display + Copy>(
        &self,
        fits: impl FnOnce(T) -> bool,
        hint: impl Into<String>,
    ) -> Result<T, Error> {
        let number = T::read(self)?;
        if fits(number) { Ok(number) } else { Err(self.refuse(number, hint)) }
    }

    /// As [`Given::fitting`], if it is not NULL.
    pub fn if_fitting<T: Kind + Display + Copy>(
        &self,
        fits: impl FnOnce(T) -> bool,
        hint: impl Into<String>,
    ) -> Result<Option<T>, Error> {
        self.if_given(|given| given.fitting(fits, hint))
    }

    /// What `read` reads, if it is not NULL.
    pub fn if_given<T>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if self.is_null() { Ok(None) } else { read(self).map(Some) }
    }

    /// A whole number from `least` on; if it is smaller, `hint` says what it should be.
    pub fn at_least<N: TryFrom<i64>>(
        &self,
        least: i64,
        hint: impl Into<String>,
    ) -> Result<N, Error> {
        let number = match self.of() {
            Type::Int4 => i32::read(self)?.into(),
            _ => i64::read(self)?,
        };
        let fitting = Some(number).filter(|&number| number >= least);
        fitting.and_then(|number| N::try_from(number).ok()).ok_or_else(|| self.refuse(number, hint))
    }
}
