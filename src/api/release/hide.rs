//! Sensitive itemsets, made infrequent in a release.

use super::suppression::release;
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
    &[&ROWS_OF, &ITEMSETS, &MIN_SUPPORT, &KEEP],
    Release::new(hide_itemsets).made_of(Origin::Row).blanking(),
)
.reading()
.about(
    "the rows of the relation with as few cells blanked as can be found so that fewer than \
         min_support rows contain each of the listed itemsets; cells of kept columns are never \
         blanked. No privacy is guaranteed: all else comes out as it is",
)
.labelled(&[], |options| {
    options.get(&ITEMSETS)?;
    let keep = options.get(&KEEP)?.unwrap_or_default();
    Ok(Guarantee::hide_itemsets(options.get(&MIN_SUPPORT)?, &keep))
});

/// An itemset by positions of columns.
type Placed<'a> = Vec<(usize, &'a str)>;

/// The itemsets by positions of columns. Each must have a cell that may be blanked.
fn placed<'a>(
    relation: &Relation,
    itemsets: &'a [NamedItemset],
    keep: &[usize],
) -> Result<Vec<Placed<'a>>> {
    let mut placed = Vec::with_capacity(itemsets.len());
    for itemset in itemsets {
        let place = |(column, value): &'a (String, String)| {
            Ok((relation.position(column)?, value.as_str()))
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
    let itemsets = placed(&relation, &itemsets, &keep)?;
    let source = TypedSource::read_all(relation)?;
    let item = |&(column, value): &(usize, &str)| {
        let code = source.bag().domain(column).find(&from_utf8(value))?;
        Some(Item { column: column as u32, code })
    };
    // An itemset with a value that does not occur is in no row.
    let itemsets: Vec<Vec<Item>> =
        itemsets.iter().filter_map(|items| items.iter().map(item).collect()).collect();
    release(rows, source, |bag, watch| {
        suppress::hide_itemsets(bag, None, &itemsets, &keep, min_support, watch)
    })
}

methods! {
    sanitize_hide_itemsets => HIDE_ITEMSETS;
}
