//! k-anonymous releases: by suppression alone, or with general values, diverse and close classes.

use super::suppression::{counting, keeping};
use crate::api::prelude::*;
use crate::api::shared::weights;
use guarantee::ClassTerms;
use suppress::{Diversity, DiversityKind, KAnonymity};

/// The weights of columns.
const WEIGHTS: Argument<Option<weights::Named>> =
    Argument::optional("weights", Type::Json, weights::read)
        .about("What a cell of a column is worth, by name; 1 where it says nothing.");

const GENERALIZE: Argument<bool> = Argument::of("generalize").or("false").about(
    "Whether cells may be shown at a level of their column's hierarchy before they are blanked.",
);

const SENSITIVE: Argument<Option<String>> = Argument::of("sensitive")
    .about("A column that comes back as it is, and in which every class must be diverse (l), close to all rows (t) or both.");

const L: Argument<Option<f64>> = Argument::optional("l", Type::Float8, |given| {
    given.if_fitting(|l: f64| l >= 1.0 && l.is_finite(), "l is a number of values: 1 or more.")
})
.about("How diverse the sensitive column must be in every class.");

const L_KIND: Argument<DiversityKind> = Argument::new("l_kind", Type::Text, |given| {
    Ok(match given.choice()? {
        measures::Diversity::Distinct => DiversityKind::Distinct,
        measures::Diversity::Entropy => DiversityKind::Entropy,
    })
})
.or("\"distinct\"")
.about("What l counts: 'distinct' values, or as many equally frequent ones as have the class's 'entropy'.");

const T: Argument<Option<f64>> = Argument::optional("t", Type::Float8, |given| {
    given.if_fitting(
        |t: f64| (0.0..=1.0).contains(&t),
        "t is a distance between distributions: 0 to 1.",
    )
})
.about("How far the sensitive column of a class may be from that of all released rows, 0 to 1.");

/// The diversity and closeness that a call asks for, and the name of the sensitive column.
fn diversity(arguments: &Arguments<'_>) -> Result<Option<(String, Diversity)>> {
    let (sensitive, l, t) = (arguments.get(&SENSITIVE)?, arguments.get(&L)?, arguments.get(&T)?);
    let kind = arguments.get(&L_KIND)?;
    match (sensitive, l.is_some() || t.is_some()) {
        (Some(name), true) => Ok(Some((name, Diversity { l, kind, t }))),
        (None, false) => Ok(None),
        (Some(name), false) => Err(Error::argument(
            format!("sensitive is \"{name}\", but neither l nor t is given"),
            "Say how diverse (l) or how close to all rows (t) classes must be in it. A column that only comes back as it is belongs in keep.",
        )),
        (None, true) => Err(Error::argument(
            "l or t is given, but no sensitive column",
            "Name the column that classes must be diverse in: sensitive => 'diagnosis'.",
        )),
    }
}

const K_ANONYMIZE: Method = Method::release(
    "k_anonymize",
    &[
        &ROWS_OF,
        &K,
        &COLUMNS,
        &KEEP,
        &WEIGHTS,
        &MAX_LENGTH,
        &GENERALIZE,
        &SENSITIVE,
        &L,
        &L_KIND,
        &T,
        &UNIT,
    ],
    Release::new(k_anonymize).made_of(Origin::Row).blanking().coarser_by(GENERALIZE.name),
)
.reading()
.about(
    "a k-anonymous release with as little loss as can be found: every row of it equals at \
         least k - 1 others, or rows of k people, in the columns that take part. Cells are blanked or, with \
         generalize, shown at a level of their column's hierarchy; with sensitive every class \
         is also diverse (l) or close to all rows (t) in that column",
)
.labelled(&[], label);

fn k_anonymize(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let (k, max_length) = (call.get(&K)?, call.get(&MAX_LENGTH)?);
    let generalize = call.get(&GENERALIZE)?;
    let diversity = diversity(call.arguments)?;
    let is_recoded = generalize || diversity.is_some();
    if is_recoded && let Some(length) = max_length {
        return Err(Error::argument(
            format!("max_length is {length}, together with generalize or sensitive"),
            "Only the search for what to suppress can be bounded so. Leave max_length out.",
        ));
    }
    let source = match &diversity {
        Some((sensitive, _)) => TypedSource::read_with_sensitive(call, sensitive)?,
        None => TypedSource::read(call)?,
    }
    .with_rows()?;
    let width = source.bag().width() - usize::from(diversity.is_some());
    let names: Vec<&str> = source.bag().domains()[..width].iter().map(|d| d.name()).collect();
    let weights = call.get(&WEIGHTS)?;
    let weights = weights
        .map(|named| weights::of_columns(Some(&named), source.name(), &names))
        .transpose()?;
    let hierarchies = generalize.then(|| source.hierarchies(width)).transpose()?;
    let asked = KAnonymity {
        k,
        hierarchies: hierarchies.as_deref(),
        weights: weights.as_deref(),
        max_length,
        diversity: diversity.map(|(_, diversity)| diversity),
    };
    let hierarchies = hierarchies.as_deref().unwrap_or_default();
    let phase = if is_recoded { "generalising" } else { "suppressing" };
    let found = source.run(phase, |bag, units, watch| {
        let _held = watch.hold(hierarchies.iter().map(Hierarchy::memory).sum())?;
        suppress::k_anonymize(bag, units, &asked, watch)
    })?;
    source.release_shown(rows, found.release, hierarchies)
}

fn label(options: &Arguments<'_>) -> Result<Guarantee> {
    let (k, max_length) = (options.get(&K)?, options.get(&MAX_LENGTH)?);
    let diversity = diversity(options)?;
    let classes = ClassTerms {
        generalized: options.get(&GENERALIZE)?,
        sensitive: diversity.as_ref().map(|(name, _)| name.as_str()),
        l: diversity.as_ref().and_then(|(_, diversity)| diversity.l),
        entropy: diversity.as_ref().is_some_and(|(_, d)| d.kind == DiversityKind::Entropy),
        t: diversity.as_ref().and_then(|(_, diversity)| diversity.t),
    };
    keeping(counting(Guarantee::k_anonymize(k, max_length, &classes), options)?, options)
}

methods! {
    sanitize_k_anonymize => K_ANONYMIZE;
}
