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
    answers_audit,
    bag,
    bounded,
    budget,
    cells,
    clamped,
    compare,
    curve,
    dependence,
    domains,
    earlier,
    entropy,
    generalize,
    generate,
    grid,
    hierarchy,
    hide,
    in_place,
    itemsets,
    k_anonymize,
    krimp,
    measures,
    mining,
    noise,
    operators,
    privacy_report,
    private,
    protection,
    publish,
    randomize,
    registry,
    release,
    report,
    risk,
    shard_work,
    shuffle,
    synthesize,
    transactions,
    tree,
    utility,
}

mod answer;
mod arguments;
mod capping;
mod charged;
mod drawing;
mod fit;
mod input;
mod internal;
mod ledger;
mod levels;
mod public_source;
mod question;
mod reject;
mod synthesizer;
mod terms;
mod typed_source;
mod weights;
