//! Releases by suppression.

use crate::api::prelude::*;
use crate::api::shared::registry;
use suppress::Method as Imputation;

/// Runs `suppress` on the source, and returns the released rows.
pub fn release(
    rows: &mut ResultRows,
    source: TypedSource,
    suppress: impl FnOnce(&Bag, Option<&Units>, &Watch) -> Result<table::Release, suppress::Error>
    + Send,
) -> Result<()> {
    let release = source.run("suppressing", suppress)?;
    source.release(rows, release)
}

/// The share of the rows in which itemsets are searched for.
const SAMPLE_SHARE: Argument<Option<f64>> = Argument::optional("sample_share", Type::Float8, |given| {
    let hint = "sample_share is above 0 and at most 1. Leave it out to search all rows.";
    given.if_fitting(|share: f64| share > 0.0 && share <= 1.0, hint)
})
.about("The share of the rows in which infrequent combinations are searched for, above 0 and at most 1; all rows if it is left out.");

/// A label that says whether only a sample was searched.
fn sampled(label: Guarantee, options: &Arguments<'_>) -> Result<Guarantee> {
    let share = options.get(&SAMPLE_SHARE)?.filter(|&share| share < 1.0);
    Ok(match share {
        Some(share) => label.searched_in_sample(share),
        None => label,
    })
}

const MII_SUPPRESS: Method = Method::release(
    "mii_suppress",
    &[&ROWS_OF, &THETA, &COLUMNS, &KEEP, &MAX_LENGTH, &SAMPLE_SHARE, &UNIT],
    Release::new(|call, rows| {
        let (theta, max_length) = (call.get(&THETA)?, call.get(&MAX_LENGTH)?);
        let share = call.get(&SAMPLE_SHARE)?.unwrap_or(1.0);
        let source = TypedSource::read(call)?.with_rows()?;
        release(rows, source, |bag, units, watch| {
            suppress::mii_suppress_sampled(bag, units, theta, max_length, share, watch)
        })
    })
    .made_of(Origin::Row)
    .blanking(),
)
.reading()
.about(
    "the relation with every cell blanked that lies in a minimal infrequent itemset: what \
         is left of a row is shared by more than theta rows of the source, or rows of more than \
         theta people. No promise about the release itself: see k_mii and k_anonymize",
)
.labelled(&[], |options| {
    let label = Guarantee::mii_suppress(options.get(&THETA)?, options.get(&MAX_LENGTH)?);
    keeping(sampled(counting(label, options)?, options)?, options)
});

/// A label that says whether people count or rows.
pub fn counting(label: Guarantee, options: &Arguments<'_>) -> Result<Guarantee> {
    let unit = options.get(&UNIT)?.filter(|unit| unit != counted::ROWS);
    Ok(label.counting(unit.as_deref()))
}

/// A label that says which columns come back as they are.
pub fn keeping(label: Guarantee, options: &Arguments<'_>) -> Result<Guarantee> {
    let keep = options.get(&KEEP)?.unwrap_or_default();
    Ok(label.keeping(&keep.iter().map(String::as_str).collect::<Vec<_>>()))
}

const K_MII: Method = Method::release(
    "k_mii",
    &[&ROWS_OF, &K, &COLUMNS, &KEEP, &MAX_LENGTH, &SAMPLE_SHARE, &UNIT],
    Release::new(|call, rows| {
        let (k, max_length) = (call.get(&K)?, call.get(&MAX_LENGTH)?);
        let share = call.get(&SAMPLE_SHARE)?.unwrap_or(1.0);
        let source = TypedSource::read(call)?.with_rows()?;
        release(rows, source, |bag, units, watch| {
            suppress::k_mii(bag, units, k, max_length, share, watch)
        })
    })
    .made_of(Origin::Row)
    .blanking(),
)
.reading()
.about(
    "a k-anonymous release by suppression of minimal infrequent itemsets: every row of it \
         equals at least k - 1 others, or rows of k people, in the columns that take part",
)
.labelled(&[], |options| {
    let label = Guarantee::k_mii(options.get(&K)?, options.get(&MAX_LENGTH)?);
    keeping(sampled(counting(label, options)?, options)?, options)
});

const METHOD: Argument<Imputation> = Argument::choice("method")
    .or("\"conditional\"")
    .about("Where values come from: 'conditional', rows that share as much as possible, or 'marginal', all rows.");

/// The method that made the release, for the label.
const OF: Argument<Option<String>> = Argument::of("of").about("The method that made the release.");

const OF_OPTIONS: Argument<Option<Json>> =
    Argument::of("of_options").about("The options of that method.");

const IMPUTE: Method = Method::release(
    "impute",
    &[&ROWS_OF, &COLUMNS, &METHOD, &SEED],
    Release::new(impute).made_of(Origin::Row).filling(Filled::All),
)
.about(
    "a released table with its NULL cells filled by values drawn from the same table: from \
         all values of the column, or from those of rows that share as much as possible. \
         Guesses, for tools that cannot take NULL",
)
.labelled(&[&KEEP, &OF, &OF_OPTIONS], |options| {
    let of_options = options.get(&OF_OPTIONS)?.unwrap_or_else(|| Map::new().into());
    let of = options.get(&OF)?.map(|method| registry::label(&method, of_options));
    keeping(Guarantee::impute(of.transpose()?.as_ref()), options)
});

fn impute(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let method = call.get(&METHOD)?;
    let names = call.get(&COLUMNS)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let source = TypedSource::read_all(call.source()?)?;
    let existing: Vec<&str> = source.bag().domains().iter().map(|d| d.name()).collect();
    let columns = positions(source.name(), &existing, "columns", names.as_deref())?;
    let filled = source.run("filling", |bag, _, watch| {
        suppress::impute(bag, &columns, method, |n| random::below(&mut coins, n), watch)
    })?;
    source.release(rows, filled)
}

methods! {
    sanitize_impute => IMPUTE;
    sanitize_mii_suppress => MII_SUPPRESS;
    sanitize_k_mii => K_MII;
}
