//! Sensitive itemsets, made infrequent in a release.

use super::suppression::{counting, release};
use crate::api::prelude::*;

const ITEMSETS: Argument<Vec<NamedItemset>> =
    Argument::new("itemsets", Type::Json, |given| match given.needed(itemsets(given)?)? {
        itemsets if itemsets.is_empty() => {
            Err(given.refuse("an empty list", "Name at least one itemset."))
        }
        itemsets => Ok(itemsets),
    })
    .about("The itemsets to hide: [{\"sex\": \"m\", \"ward\": \"obstetrics\"}].");

const HIDE_ITEMSETS: Method = Method::release(
    "hide_itemsets",
    &[&ROWS_OF, &ITEMSETS, &MIN_SUPPORT, &KEEP, &UNIT],
    Release::new(hide_itemsets).made_of(Origin::Row).blanking(),
)
.reading()
.about(
    "the rows of the relation with as few cells blanked as can be found so that fewer than \
         min_support rows, or rows of fewer people, contain each of the listed itemsets; cells \
         of kept columns are never blanked. No privacy is guaranteed: all else comes out as it is",
)
.labelled(&[], |options| {
    options.get(&ITEMSETS)?;
    let keep = options.get(&KEEP)?.unwrap_or_default();
    counting(Guarantee::hide_itemsets(options.get(&MIN_SUPPORT)?, &keep), options)
});

/// An itemset by positions of columns.
type Placed<'a> = Vec<(usize, &'a str)>;

/// The itemsets by positions of columns. Each must have a cell that may be blanked, and none has the unit.
fn placed<'a>(
    relation: &Relation,
    itemsets: &'a [NamedItemset],
    keep: &[usize],
    unit: Option<&Unit>,
) -> Result<Vec<Placed<'a>>> {
    let mut placed = Vec::with_capacity(itemsets.len());
    for itemset in itemsets {
        let place = |(column, value): &'a (String, String)| {
            let position = relation.position(column)?;
            match unit.is_some_and(|unit| unit.is(position)) {
                true => Err(counted::takes_no_part(ITEMSETS.name, column)),
                false => Ok((position, value.as_str())),
            }
        };
        let items = itemset.iter().map(place).collect::<Result<Placed>>()?;
        if items.iter().all(|(column, _)| keep.contains(column)) {
            let items = itemset.iter().map(|(c, v)| (c.clone(), Json::from(v.as_str())));
            return Err(Error::argument(
                format!(
                    "itemset {} is in kept columns only",
                    Json::from(items.collect::<Map<_, _>>())
                ),
                "An itemset is hidden by blanking cells, which kept columns are spared: keep fewer columns.",
            ));
        }
        placed.push(items);
    }
    Ok(placed)
}

fn hide_itemsets(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let (itemsets, min_support) = (call.get(&ITEMSETS)?, call.get(&MIN_SUPPORT)?);
    let relation = call.source()?;
    let keep = match call.get(&KEEP)? {
        Some(names) => relation.positions(KEEP.name, Some(&names))?,
        None => Vec::new(),
    };
    let unit = counted_unit(call.arguments, &relation)?;
    let itemsets = placed(&relation, &itemsets, &keep, unit.as_ref())?;
    // All other columns come back with their cells, kept or not.
    let columns = counted::columns(&relation, unit.as_ref(), None)?;
    let place = |position: usize| columns.iter().position(|&column| column == position);
    let kept: Vec<usize> = keep.iter().filter_map(|&position| place(position)).collect();
    let placed: Vec<Vec<(usize, &str)>> = itemsets
        .iter()
        .map(|items| items.iter().filter_map(|&(at, value)| Some((place(at)?, value))).collect())
        .collect();
    let kept_unit = keep.into_iter().filter(|position| !columns.contains(position)).collect();
    let source = TypedSource::read_columns(relation, columns.clone(), kept_unit, unit.as_ref())?;
    let item = |&(column, value): &(usize, &str)| {
        let code = source.bag().domain(column).find(&from_utf8(value))?;
        Some(Item { column: column as u32, code })
    };
    // An itemset with a value that does not occur is in no row.
    let itemsets: Vec<Vec<Item>> =
        placed.iter().filter_map(|items| items.iter().map(item).collect()).collect();
    release(rows, source, |bag, units, watch| {
        suppress::hide_itemsets(bag, units, &itemsets, &kept, min_support, watch)
    })
}

methods! {
    sanitize_hide_itemsets => HIDE_ITEMSETS;
}
