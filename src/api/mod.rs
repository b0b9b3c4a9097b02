//! The SQL functions, one folder per family; each function is declared as a [`crate::method::Method`] beside what it does over a
//! crate. [`shared`] has what several families use, and the registry; [`prelude`] what nearly every file imports.

use crate::method::Exported;

/// The families: each folder with the methods of its files.
macro_rules! families {
    ($($family:ident,)*) => {
        $(pub mod $family;)*

        pub const FAMILIES: &[(&str, &[&[Exported]])] = &[$((stringify!($family), $family::METHODS)),*];
    };
}

pub mod prelude;

families! {
    krimp,
    measure,
    mining,
    operators,
    private,
    publish,
    randomize,
    release,
    shards,
    shared,
}
