//! Arguments as values: its name, its type, its meaning, and how it is read. One declaration serves a call from SQL and
//! options given as jsonb.

use super::array::Numbers;
use super::jsonb;
use super::option;
use crate::pg::prelude::*;
use crate::pg::read::bag;
use pgrx::datum::Interval;
use pgrx::{AnyNumeric, FromDatum, direct_function_call};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt::Display;
use table::Bag;

/// The SQL types of arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Bool,
    Int4,
    Int8,
    Float8,
    Numeric,
    Text,
    Texts,
    Ints,
    BigInts,
    Floats,
    Numerics,
    /// Bytes that Postgres passes from one of its own calls to another.
    Bytes,
    /// Bytes that users see.
    Bytea,
    Json,
    Interval,
    /// A point in time: timestamptz.
    Time,
    Relation,
    Role,
    CString,
    Record,
    Void,
    /// What a trigger returns.
    Trigger,
    /// The pseudo-type internal, of which SQL has no values.
    Internal,
    /// A bag that Postgres passes from one of its own calls to another, for example the state of an aggregate.
    Bag,
    /// Two halves of a sum: the state of an aggregate.
    Sums,
    /// The row type of a relation, or any other type where the text of a value is wanted.
    Any,
    /// Columns of any types, as many as are given: `VARIADIC "any"`.
    Columns,
    /// The names of such columns.
    Names,
    /// A relation, its name or a bag.
    Source,
}

impl Type {
    /// The names of the SQL types that fit.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Type::Bool => &["boolean"],
            Type::Int4 => &["integer"],
            Type::Int8 => &["bigint"],
            Type::Float8 => &["double precision"],
            Type::Numeric => &["numeric"],
            Type::Text => &["text"],
            Type::Texts => &["text[]"],
            Type::Ints => &["integer[]"],
            Type::BigInts => &["bigint[]"],
            Type::Floats => &["double precision[]"],
            Type::Numerics => &["numeric[]"],
            Type::Bytes | Type::Bytea => &["bytea"],
            Type::Json => &["jsonb"],
            Type::Interval => &["interval"],
            Type::Time => &["timestamp with time zone"],
            Type::Relation => &["regclass"],
            Type::Role => &["regrole"],
            Type::CString => &["cstring"],
            Type::Record => &["record"],
            Type::Void => &["void"],
            Type::Trigger => &["trigger"],
            Type::Internal => &["internal"],
            Type::Any => &["anyelement"],
            Type::Columns => &["\"any\""],
            Type::Names => &["text[]", "cstring[]"],
            Type::Bag => &["sanitize.bag"],
            Type::Sums => &["bigint[]"],
            Type::Source => &["regclass", "sanitize.bag", "text"],
        }
    }

    /// True if a declaration with this type in SQL fits.
    pub fn fits(self, declared: Oid) -> bool {
        // SAFETY: a catalog look-up; the name is in the current memory context.
        let name = unsafe {
            let flags = pg_sys::FORMAT_TYPE_ALLOW_INVALID | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
            let name = pg_sys::format_type_extended(declared, -1, flags as u16);
            CStr::from_ptr(name).to_bytes()
        };
        let name = name.strip_prefix(b"pg_catalog.").unwrap_or(name);
        self.names().iter().any(|fitting| fitting.as_bytes() == name)
    }
}

/// An argument: its declaration, and how it is read.
pub struct Argument<T: 'static> {
    pub name: &'static str,
    pub of: Type,
    /// Its default as JSON; `None`: it has to be given.
    pub default: Option<&'static str>,
    /// One sentence for the reference.
    pub about: &'static str,
    /// Converts what was given into a value, or returns an error that says what is wrong with it.
    pub read: fn(&Given<'_>) -> Result<T, Error>,
}

/// An argument without the type that it is read as, so that arguments of different types can be in one list.
pub trait Declared: Sync {
    fn name(&self) -> &'static str;
    fn of(&self) -> Type;
    fn default(&self) -> Option<&'static str>;
    fn about(&self) -> &'static str;
}

impl<T> Declared for Argument<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn of(&self) -> Type {
        self.of
    }

    fn default(&self) -> Option<&'static str> {
        self.default
    }

    fn about(&self) -> &'static str {
        self.about
    }
}

/// What was given for an argument.
pub struct Given<'a> {
    name: &'static str,
    of: Type,
    raw: Raw<'a>,
}

enum Raw<'a> {
    /// By a call: the datum and its place in the call. A call that this library makes itself has no place.
    Call(Option<Datum>, Option<Place>),
    /// By options: `None` if there is no such key and no default.
    Option(Option<Cow<'a, Json>>),
}

/// The place of an argument in the current call.
#[derive(Clone, Copy)]
struct Place {
    fcinfo: pg_sys::FunctionCallInfo,
    i: usize,
}

impl Place {
    /// The type at the call site, found in the expression tree. Too slow for functions that run once for each row.
    fn type_oid(self) -> Oid {
        // SAFETY: made by `Arguments::given` only, of a call that has this argument.
        unsafe { pgrx::fcinfo::pg_getarg_type(self.fcinfo, self.i) }
    }
}

impl<'a> Given<'a> {
    pub(in crate::pg) fn by_option(
        argument: &dyn Declared,
        options: &'a Map<String, Json>,
    ) -> Result<Self, Error> {
        let given =
            options.get(argument.name()).filter(|value| !value.is_null()).map(Cow::Borrowed);
        let default = || -> Result<Option<Cow<'a, Json>>, Error> {
            let value = argument.default().map(serde_json::from_str::<Json>).transpose();
            Ok(value.map_err(Error::fault)?.filter(|value| !value.is_null()).map(Cow::Owned))
        };
        let value = if given.is_some() { given } else { default()? };
        Ok(Given { name: argument.name(), of: argument.of(), raw: Raw::Option(value) })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn of(&self) -> Type {
        self.of
    }

    /// Refuses what was given; `hint` says what it should be.
    pub fn refuse(&self, what: impl Display, hint: impl Into<String>) -> Error {
        let option = if matches!(self.raw, Raw::Option(_)) { "option " } else { "" };
        Error::argument(format!("{option}{} is {what}", self.name), hint)
    }

    /// True if it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self.raw, Raw::Call(None, _) | Raw::Option(None))
    }

    /// The value; an error if it is NULL.
    pub fn needed<T>(&self, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| match self.raw {
            Raw::Call(..) => Error::Null { argument: self.name },
            Raw::Option(_) => Error::argument(
                format!("option {} is missing", self.name),
                "Give every option that the label depends on.",
            ),
        })
    }

    /// The datum of a call as Rust's type for `of`, or the option's JSON by `read`.
    fn read<T: FromDatum>(
        &self,
        of: Type,
        what: &str,
        read: impl FnOnce(&Json) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        if self.of != of {
            return Err(Error::fault(format!("{} is no {of:?}", self.name)));
        }
        match &self.raw {
            Raw::Call(datum, _) => {
                // SAFETY: the call's signature was compared with the catalog: the datum is of type `of`.
                Ok(datum.and_then(|datum| unsafe { T::from_datum(datum, false) }))
            }
            Raw::Option(None) => Ok(None),
            Raw::Option(Some(value)) => match read(value) {
                None => Err(self.refuse(value, format!("{} is {what}.", self.name))),
                some => Ok(some),
            },
        }
    }

    pub fn bool(&self) -> Result<Option<bool>, Error> {
        self.read(Type::Bool, "true or false", Json::as_bool)
    }

    pub fn int4(&self) -> Result<Option<i32>, Error> {
        self.read(Type::Int4, "a whole number", small)
    }

    pub fn int8(&self) -> Result<Option<i64>, Error> {
        self.read(Type::Int8, "a whole number", Json::as_i64)
    }

    pub fn float8(&self) -> Result<Option<f64>, Error> {
        self.read(Type::Float8, "a number", Json::as_f64)
    }

    pub fn numeric(&self) -> Result<Option<AnyNumeric>, Error> {
        self.read(Type::Numeric, "a number", decimal)
    }

    pub fn text(&self) -> Result<Option<String>, Error> {
        let read = |value: &Json| Some(Text(value.as_str()?.into()));
        Ok(self.read(Type::Text, "a text", read)?.map(|Text(text)| text))
    }

    pub fn texts(&self) -> Result<Option<Vec<Option<String>>>, Error> {
        let read = |value: &Json| {
            let text = |value: &Json| Some(Some(Text(value.as_str()?.into())));
            value.as_array()?.iter().map(text).collect::<Option<Vec<Option<Text>>>>()
        };
        let texts = self.read(Type::Texts, "an array of column names", read)?;
        Ok(texts.map(|texts| texts.into_iter().map(|text| text.map(|Text(text)| text)).collect()))
    }

    /// An array of numbers of any shape.
    pub fn floats(&self) -> Result<Option<Numbers<f64>>, Error> {
        let read = |value: &Json| Numbers::from_json(value, Json::as_f64);
        self.read(Type::Floats, "an array of numbers", read)
    }

    /// An array of small whole numbers of any shape.
    pub fn ints(&self) -> Result<Option<Numbers<i32>>, Error> {
        let read = |value: &Json| Numbers::from_json(value, small);
        self.read(Type::Ints, "an array of whole numbers", read)
    }

    pub fn bytea(&self) -> Result<Option<Vec<u8>>, Error> {
        self.read(Type::Bytea, "bytes, which are no option", |_| None)
    }

    /// An array of whole numbers of any shape.
    pub fn big_ints(&self) -> Result<Option<Numbers<i64>>, Error> {
        let read = |value: &Json| Numbers::from_json(value, Json::as_i64);
        self.read(Type::BigInts, "an array of whole numbers", read)
    }

    /// An array of decimals of any shape.
    pub fn numerics(&self) -> Result<Option<Numbers<AnyNumeric>>, Error> {
        let read = |value: &Json| Numbers::from_json(value, decimal);
        self.read(Type::Numerics, "an array of numbers", read)
    }

    pub fn interval(&self) -> Result<Option<Interval>, Error> {
        let read = |value: &Json| {
            let text = text::c_string(value.as_str()?);
            let arguments = [Some(text.into()), Some(pg_sys::InvalidOid.into()), Some((-1).into())];
            // SAFETY: interval_in takes a C string, an OID and a type modifier.
            unsafe { direct_function_call(pg_sys::interval_in, &arguments) }
        };
        self.read(Type::Interval, "a length of time", read)
    }

    /// In microseconds since 2000, as Postgres counts.
    pub fn time(&self) -> Result<Option<i64>, Error> {
        self.read(Type::Time, "a moment, which is no option", |_| None)
    }

    pub fn relation(&self) -> Result<Option<Oid>, Error> {
        self.read(Type::Relation, "the name of a relation", |value| {
            relation_named(text::datum(&text::from_utf8(value.as_str()?)))
        })
    }

    pub fn role(&self) -> Result<Option<Oid>, Error> {
        self.read(Type::Role, "a role, which is no option", |_| None)
    }

    /// A jsonb value, parsed.
    pub fn json(&self) -> Result<Option<Cow<'a, Json>>, Error> {
        if let Raw::Option(value) = &self.raw {
            return Ok(value.clone());
        }
        Ok(self
            .json_text()?
            .map(|text| jsonb::parse(&text, self.name))
            .transpose()?
            .map(Cow::Owned))
    }

    /// A jsonb value as its text.
    pub fn json_text(&self) -> Result<Option<String>, Error> {
        match &self.raw {
            Raw::Option(value) => Ok(value.as_ref().map(ToString::to_string)),
            Raw::Call(_, _) if self.of != Type::Json => {
                Err(Error::fault(format!("{} is no jsonb", self.name)))
            }
            Raw::Call(datum, _) => datum.map_or(Ok(None), jsonb::text),
        }
    }

    /// The text of a value of any type.
    pub fn text_of(&self) -> Option<String> {
        match self.raw {
            Raw::Call(datum, Some(place)) => {
                // SAFETY: the value is of the argument's type.
                datum.map(|datum| unsafe { types::output(place.type_oid(), datum) })
            }
            Raw::Call(_, None) => None,
            Raw::Option(ref value) => value.as_ref().map(|value| match value.as_ref() {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            }),
        }
    }

    /// The type that a value has at the call site, whether or not it is NULL.
    pub fn type_oid(&self) -> Oid {
        match self.raw {
            Raw::Call(_, Some(place)) => place.type_oid(),
            Raw::Call(_, None) | Raw::Option(_) => pg_sys::InvalidOid,
        }
    }

    /// A source: a relation, or a bag.
    pub fn source(&self) -> Result<Source, Error> {
        let Raw::Call(datum, Some(place)) = self.raw else {
            return self.needed(None);
        };
        let oid = match place.type_oid() {
            pg_sys::TEXTOID => relation_named(self.needed(datum)?),
            pg_sys::REGCLASSOID => datum.map(|datum| Oid::from(datum.value() as u32)),
            _ => return Ok(Source::Bag(bag::read(self.needed(datum)?)?)),
        };
        Ok(Source::Relation(self.needed(oid)?))
    }
}

fn small(number: &Json) -> Option<i32> {
    i32::try_from(number.as_i64()?).ok()
}

fn decimal(number: &Json) -> Option<AnyNumeric> {
    AnyNumeric::try_from(number.as_number()?.to_string().as_str()).ok()
}

/// The relation that a text names.
fn relation_named(name: Datum) -> Option<Oid> {
    // SAFETY: text_regclass takes one text.
    unsafe { direct_function_call(pg_sys::text_regclass, &[Some(name)]) }
}

/// Where rows come from.
pub enum Source {
    Relation(Oid),
    Bag(Bag),
}

/// All that was given: by a call, or by options.
pub struct Arguments<'a> {
    declared: &'static [&'static dyn Declared],
    from: From<'a>,
}

enum From<'a> {
    Call(pg_sys::FunctionCallInfo),
    Values(Vec<Option<Datum>>),
    Options(&'a Map<String, Json>),
}

impl<'a> Arguments<'a> {
    /// # Safety
    /// `fcinfo` comes from the function manager, outlives this, and its signature was compared with the
    /// catalog.
    pub(in crate::pg) unsafe fn of_call(
        declared: &'static [&'static dyn Declared],
        fcinfo: pg_sys::FunctionCallInfo,
    ) -> Self {
        Arguments { declared, from: From::Call(fcinfo) }
    }

    /// The arguments of a call with these options, whose first argument is the relation. Defaults are those of the
    /// function.
    pub fn of_publication(
        declared: &'static [&'static dyn Declared],
        source: Oid,
        options: &Map<String, Json>,
    ) -> Result<Self, Error> {
        let mut values = vec![Some(Datum::from(source))];
        for &argument in &declared[1..] {
            values.push(option::value(argument, options)?);
        }
        Ok(Arguments { declared, from: From::Values(values) })
    }

    pub fn of_options(
        declared: &'static [&'static dyn Declared],
        options: &'a Map<String, Json>,
    ) -> Self {
        Arguments { declared, from: From::Options(options) }
    }

    /// The value of an argument.
    pub fn get<T>(&self, argument: &Argument<T>) -> Result<T, Error> {
        (argument.read)(&self.given(argument)?)
    }

    /// True if the method has the argument.
    pub fn declares<T>(&self, argument: &Argument<T>) -> bool {
        self.declared.iter().any(|declared| declared.name() == argument.name)
    }

    /// The value of an argument that some methods have and others do not.
    pub fn get_if_declared<T: Default>(&self, argument: &Argument<T>) -> Result<T, Error> {
        match self.declares(argument) {
            true => self.get(argument),
            false => Ok(T::default()),
        }
    }

    /// The JSON of an argument as it was given.
    pub fn json<T>(&self, argument: &Argument<T>) -> Result<Option<Cow<'a, Json>>, Error> {
        self.given(argument)?.json()
    }

    /// True if something other than NULL was given.
    pub fn has<T>(&self, argument: &Argument<T>) -> Result<bool, Error> {
        Ok(!self.given(argument)?.is_null())
    }

    fn given<T>(&self, argument: &Argument<T>) -> Result<Given<'a>, Error> {
        let place = || {
            let i = self.declared.iter().position(|one| one.name() == argument.name);
            i.ok_or_else(|| Error::fault(format!("no argument {}", argument.name)))
        };
        let raw = match &self.from {
            From::Options(options) => return Given::by_option(argument, options),
            From::Values(values) => Raw::Call(values[place()?], None),
            &From::Call(fcinfo) => {
                let i = place()?;
                // SAFETY: the call has as many arguments as are declared.
                let datum = unsafe { pgrx::fcinfo::pg_getarg_datum(fcinfo, i) };
                Raw::Call(datum, Some(Place { fcinfo, i }))
            }
        };
        Ok(Given { name: argument.name, of: argument.of, raw })
    }
}
