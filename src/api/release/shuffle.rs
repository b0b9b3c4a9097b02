//! Columns shuffled in groups.

use super::suppression::keeping;
use crate::api::prelude::*;

const GROUPS: Argument<Vec<Vec<String>>> = Argument::new("groups", Type::Json, |given| {
    let refuse = |what: &Json| {
        Error::argument(
            format!("groups has {what}"),
            "groups is an array of lists of columns: [[\"sex\", \"age\"], [\"zip\"]].",
        )
    };
    let groups = given.needed(given.json()?)?;
    let list = |value: &Json| {
        value.as_array().filter(|list| !list.is_empty()).ok_or_else(|| refuse(value)).cloned()
    };
    let name = |name: &Json| name.as_str().map(String::from).ok_or_else(|| refuse(name));
    list(&groups)?.iter().map(|group| list(group)?.iter().map(name).collect()).collect()
})
.about("Lists of columns that stay together: [[\"sex\", \"age\"], [\"zip\"]].");

const SHUFFLE_GROUPS: Method = Method::release(
    "shuffle_groups",
    &[&ROWS_OF, &GROUPS, &KEEP, &SEED],
    Release::new(shuffle_groups).made_of(Origin::KeptColumns).filling(Filled::Named).blanking(),
)
.about(
    "the rows of the relation with each group of columns in a random order of its own, so \
         that groups no longer belong together. No privacy is guaranteed: within a group rows \
         come out as they are",
)
.labelled(&[], |options| {
    let label = Guarantee::shuffle_groups(coins_of(options.get(&SEED)?));
    keeping(label, options)
});

/// The columns of each group as positions in the relation. Kept columns are an additional group: they stay together,
/// but in a random order too, so that no row is found by its position.
fn positions(
    relation: &Relation,
    groups: &[Vec<String>],
    keep: Option<&[String]>,
) -> Result<Vec<Vec<usize>>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (argument, names) in groups
        .iter()
        .map(|names| (GROUPS.name, names.as_slice()))
        .chain(keep.map(|names| (KEEP.name, names)))
    {
        let columns = relation.positions(argument, Some(names))?;
        let taken = columns.iter().find(|&column| found.iter().flatten().any(|c| c == column));
        if let Some(&column) = taken {
            let column = &relation.columns[column].name;
            return Err(match argument == KEEP.name {
                true => Error::argument(
                    format!("column \"{column}\" is in groups and in keep"),
                    "A column is either shuffled (groups) or returned as it is (keep).",
                ),
                false => Error::argument(
                    format!("column \"{column}\" is in two groups"),
                    "Name every column once.",
                ),
            });
        }
        found.push(columns);
    }
    Ok(found)
}

fn shuffle_groups(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let (groups, keep) = (call.get(&GROUPS)?, call.get(&KEEP)?);
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = call.source()?;
    let positions = positions(&relation, &groups, keep.as_deref())?;
    let columns: Vec<usize> = positions.iter().flatten().copied().collect();
    // The columns are read group by group.
    let mut next = 0..columns.len();
    let groups: Vec<Vec<usize>> =
        positions.iter().map(|group| next.by_ref().take(group.len()).collect()).collect();
    let table = reader::read(&relation, &columns)?;
    let shuffled = pool::run_telling(
        "shuffling",
        table.memory(),
        |_| "rows are put into random orders".into(),
        |watch| suppress::shuffle_groups(&table.bag, groups.len(), &mut coins, watch),
    )?;
    let values = ReadValues::new(&table, &relation, &columns);
    let mut rows = TypedRows::begin(rows, &relation, &columns, values)?;
    let mut cells = vec![NONE; columns.len()];
    for row in 0..shuffled.len() {
        shuffled.write(&table.bag, &groups, row, &mut cells);
        rows.push(&cells, 1);
    }
    Ok(())
}

methods! {
    sanitize_shuffle_groups => SHUFFLE_GROUPS;
}
