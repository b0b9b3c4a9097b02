//! A method is a value: each SQL function is declared once, beside what it does.

use crate::api::shared::arguments::UNIT;
use crate::pg::call::argument::{Arguments, Declared, Type};
use crate::pg::call::error::Error;
use crate::pg::call::serve::Call;
use crate::pg::call::signature::Returns;
use crate::release::{self, Release};
use guarantee::{Charge, Guarantee, Protects};
use pgrx::pg_sys::Datum;

/// A SQL function.
pub struct Method {
    /// Its name in the schema sanitize, or in sanitize_internal.
    pub name: &'static str,
    /// True if it is not for users: it is then in the schema sanitize_internal.
    pub is_internal: bool,
    /// Its arguments and what it returns, which the declaration in SQL must repeat.
    pub arguments: &'static [&'static dyn Declared],
    pub returns: Returns,
    pub run: fn(&Call) -> Result<Datum, Error>,
    /// What its declaration says of it to the planner: volatility, parallel label, cost.
    pub behaviour: Behaviour,
    /// One sentence: the function's COMMENT.
    pub about: &'static str,
    /// How it makes releases, if it does.
    pub release: Option<Release>,
    /// What a release by it protects.
    pub label: Option<Label>,
    /// What a call takes from the budget of a protected relation.
    pub price: Option<Price>,
}

/// What Postgres may assume of a function. The default is what Postgres assumes of an unknown one: nothing.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    pub volatility: Volatility,
    pub parallel: Parallel,
    /// It is not called with NULL arguments, and returns NULL for them.
    pub is_strict: bool,
    /// How many rows the planner expects of a set.
    pub rows: Option<u32>,
    /// What the planner takes a call to cost, in its own unit; `None`: as much as any function in C.
    pub cost: Option<u32>,
}

/// Whether calls with equal arguments give equal results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// Where the planner may run it in a parallel query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    Safe,
    Restricted,
    Unsafe,
}

/// What a method takes from a budget.
pub struct Price {
    /// Whom it protects by itself.
    pub counts: Protects,
    /// Computes the charge for one row or unit from the arguments and the number of columns read; `None` if the call is
    /// free.
    pub of: fn(&Arguments<'_>, usize) -> Result<Option<Charge>, Error>,
}

impl Method {
    /// A function about which Postgres assumes nothing, and which releases nothing.
    pub const fn new(
        name: &'static str,
        arguments: &'static [&'static dyn Declared],
        returns: Returns,
        run: fn(&Call) -> Result<Datum, Error>,
    ) -> Self {
        let behaviour = Behaviour {
            volatility: Volatility::Volatile,
            parallel: Parallel::Unsafe,
            is_strict: false,
            rows: None,
            cost: None,
        };
        Method {
            name,
            is_internal: false,
            arguments,
            returns,
            run,
            behaviour,
            about: "",
            release: None,
            label: None,
            price: None,
        }
    }

    /// A function that releases its source, its first argument. It returns the rows that `release` makes, which have
    /// the source's type unless declared otherwise, and it can be published.
    pub const fn release(
        name: &'static str,
        arguments: &'static [&'static dyn Declared],
        release: Release,
    ) -> Self {
        let mut method = Method::new(name, arguments, Returns::Set(Type::Any), release::returned);
        method.release = Some(release);
        method.rows(1000)
    }

    /// Its rows have columns of their own.
    pub const fn returning(mut self, columns: Returns) -> Self {
        self.returns = columns;
        self
    }

    /// Only the extension itself calls it, or Postgres on behalf of a type, an aggregate or a trigger.
    pub const fn internal(mut self) -> Self {
        self.is_internal = true;
        self
    }

    /// Its results depend on its arguments alone, and parallel workers may compute them.
    pub const fn pure(self) -> Self {
        self.immutable().parallel_safe()
    }

    /// It reads relations: its results are the same throughout a statement, and it starts threads of its own, which only the
    /// leader of a parallel query may do.
    pub const fn reading(self) -> Self {
        self.stable().parallel_restricted()
    }

    /// Its results depend on its arguments alone.
    pub const fn immutable(mut self) -> Self {
        self.behaviour.volatility = Volatility::Immutable;
        self
    }

    /// Its results are the same throughout a statement.
    pub const fn stable(mut self) -> Self {
        self.behaviour.volatility = Volatility::Stable;
        self
    }

    pub const fn strict(mut self) -> Self {
        self.behaviour.is_strict = true;
        self
    }

    pub const fn parallel_safe(mut self) -> Self {
        self.behaviour.parallel = Parallel::Safe;
        self
    }

    /// Only the leader of a parallel query may run it.
    pub const fn parallel_restricted(mut self) -> Self {
        self.behaviour.parallel = Parallel::Restricted;
        self
    }

    /// How many rows the planner expects.
    pub const fn rows(mut self, rows: u32) -> Self {
        self.behaviour.rows = Some(rows);
        self
    }

    /// What the planner takes a call to cost.
    pub const fn cost(mut self, cost: u32) -> Self {
        self.behaviour.cost = Some(cost);
        self
    }

    /// The function's COMMENT.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// What a release by it protects, by its arguments and the options of [`Label::further`].
    pub const fn labelled(
        mut self,
        further: &'static [&'static dyn Declared],
        of: fn(&Arguments<'_>) -> Result<Guarantee, Error>,
    ) -> Self {
        self.label = Some(Label { further, of });
        self
    }

    /// What it takes from a budget, see [`Price`].
    pub const fn priced(
        mut self,
        counts: Protects,
        of: fn(&Arguments<'_>, usize) -> Result<Option<Charge>, Error>,
    ) -> Self {
        self.price = Some(Price { counts, of });
        self
    }

    /// What a call with these arguments takes from the budget of a protected relation if it reads `columns` columns,
    /// for one row or one unit as [`Price::counts`] says; `None` if it is free.
    pub fn charge(
        &self,
        arguments: &Arguments<'_>,
        columns: usize,
    ) -> Result<Option<Charge>, Error> {
        self.price.as_ref().map_or(Ok(None), |price| (price.of)(arguments, columns))
    }

    /// True if it counts people where a unit is known.
    pub fn counts_units(&self) -> bool {
        self.arguments.iter().any(|argument| argument.name() == UNIT.name)
    }

    /// False for functions that Postgres calls on behalf of a type, an aggregate or a trigger: their arguments have no
    /// names in SQL.
    pub fn is_called_by_name(&self) -> bool {
        use Type::{Bag, Bytes, CString, Internal, Sums, Trigger};
        let internal = |of: Type| matches!(of, Internal | CString | Bytes | Bag | Sums | Trigger);
        let returned = match self.returns {
            Returns::One(of) | Returns::Set(of) => internal(of),
            Returns::Table(_) => false,
        };
        !returned && !self.arguments.iter().any(|argument| internal(argument.of()))
    }
}

/// How the label of a release is made from options.
pub struct Label {
    /// Options beside the method's arguments: what a call finds in the catalog, say.
    pub further: &'static [&'static dyn Declared],
    pub of: fn(&Arguments<'_>) -> Result<Guarantee, Error>,
}

/// A method with the symbol by which Postgres finds it in the library.
pub type Exported = (&'static str, &'static Method);

/// Lists the files of a family that declare methods: `METHODS` has what each declares.
macro_rules! family {
    ($($file:ident,)*) => {
        $(pub mod $file;)*

        pub const METHODS: &[&[$crate::method::Exported]] = &[$($file::METHODS),*];
    };
}
pub(crate) use family;

/// The result type of a method that returns these columns: `columns![item: Int4, value: Text]`.
macro_rules! columns {
    ($($column:ident: $of:ident),*) => {
        $crate::pg::call::signature::Returns::Table(&[
            $((stringify!($column), $crate::pg::call::argument::Type::$of)),*
        ])
    };
}
pub(crate) use columns;

/// Makes each method callable from SQL as the symbol beside it, and lists them for the registry.
macro_rules! methods {
    ($($symbol:ident => $method:expr;)*) => {
        /// The SQL functions of this file.
        pub const METHODS: &[$crate::method::Exported] = &[$((stringify!($symbol), &$method)),*];

        $crate::method::symbols! { $($symbol => $method;)* }
    };
}
pub(crate) use methods;

/// Makes each method callable as the symbol beside it, without a declaration in SQL.
macro_rules! symbols {
    ($($symbol:ident => $method:expr;)*) => {
        $(
            const _: () = {
                #[allow(unsafe_code)]
                #[unsafe(export_name = concat!("pg_finfo_", stringify!($symbol)))]
                pub extern "C" fn info() -> &'static pgrx::pg_sys::Pg_finfo_record {
                    const V1: pgrx::pg_sys::Pg_finfo_record =
                        pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                    &V1
                }
            };

            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            /// # Safety
            /// Called by the function manager only.
            pub unsafe extern "C-unwind" fn $symbol(
                fcinfo: pgrx::pg_sys::FunctionCallInfo,
            ) -> pgrx::pg_sys::Datum {
                static METHOD: &$crate::method::Method = &$method;
                // SAFETY: as the function manager says; nothing lives in this frame.
                unsafe { $crate::pg::call::serve::serve(fcinfo, METHOD) }
            }
        )*
    };
}
pub(crate) use symbols;
