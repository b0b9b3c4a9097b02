//! The SQL functions, one file per family: each declares its methods and what they do over a crate.
//! [`arguments`] has what several share, [`registry`] lists all.

/// The files with SQL functions: `METHODS` has what each declares.
macro_rules! families {
    ($($family:ident,)*) => {
        $(mod $family;)*

        const METHODS: &[&[&crate::method::Method]] = &[$($family::METHODS),*];
    };
}

families! {
    aggregate,
    compare,
    generate,
    krimp,
    measures,
    mining,
    private,
    registry,
    release,
    report,
}

mod answer;
mod arguments;
mod budget;
mod domains;
mod fit;
mod input;
mod ledger;
mod noise;
mod question;
mod typed_source;
