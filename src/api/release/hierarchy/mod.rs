//! Hierarchies of columns: the levels that the owner declares, and the tree over the values that follows from them.
//!
//! * `spec` reads the jsonb and refuses levels that are invalid for any values.
//! * `ranges` and `dates` (by Postgres' arithmetic), `prefix`, and `tree` (written down, or kept in a table) make the
//!   general values of each level, which [`suppress::levels`] combines.
//! * `suggest` proposes levels.
//! * `written` has the texts by which a release shows values and general values of a column.
//! * `build` makes the [`suppress::Hierarchy`] of a column, for all other code.

mod build;
mod dates;
mod prefix;
mod ranges;
mod spec;
mod suggest;
mod tree;
mod written;

pub use build::{of_column, of_columns};
pub use written::{Sides, general, shown_as};

use crate::api::prelude::*;
use crate::api::private::domains::{COLUMN_NAME, check_owner, column, read_as_owner, take_back};
use crate::catalog::hierarchies::{self, Stored};
use spec::Levels;

const LEVELS: Argument<Json> = Argument::of("levels")
    .about("The levels between a value and a blank cell: ranges, dates, prefix, tree or table.");

const DECLARE_HIERARCHY: Method = Method::new(
    "declare_hierarchy",
    &[&RELATION, &COLUMN_NAME, &LEVELS],
    Returns::One(Type::Void),
    declare_hierarchy,
)
.about(
    "the owner says what the values of a column can be shown as, level by level, before \
         they are blanked: ranges, dates, prefix, tree or table",
);

fn declare_hierarchy(call: &Call) -> Result<Datum> {
    let (relation, position) = column(call)?;
    let column = &relation.columns[position];
    check_owner(&relation)?;
    let mut written = call.get(&LEVELS)?;
    let levels = Levels::read(&written, column)?;
    let mut lookup = None;
    match &levels {
        Levels::Tree(names) => {
            written = json!({ "tree": tree::write_down(column, &tree::written(column, names)?)? });
        }
        Levels::Table(name) => {
            let found = tree::named(name)?;
            written = json!({ "table": found.from() });
            lookup = Some(found.oid);
        }
        _ => {}
    }
    // If no rows can be read here, general values that do not fit are reported when they are used.
    let bag = match read_as_owner(&relation, position)? {
        Some(table) => table.bag,
        None => Bag::from_text(1, std::iter::empty::<[Option<&str>; 1]>()),
    };
    build::build(&relation, column, bag.domain(0), &levels, lookup)?;
    hierarchies::declare(&relation, column, Stored { levels: written.to_string(), lookup })?;
    Ok(call.null())
}

const DROP_HIERARCHY: Method =
    Method::new("drop_hierarchy", &[&RELATION, &COLUMN_NAME], Returns::One(Type::Void), |call| {
        take_back(call, "declared_hierarchy")
    })
    .about("the owner takes back the hierarchy of a column");

const HIERARCHY: Method = Method::new(
    "hierarchy",
    &[&RELATION, &COLUMN_NAME],
    columns![value: Text, level: Int4, general: Text],
    hierarchy,
)
.stable()
.about(
    "every value that a column has, and what it is shown as at each level of the declared \
         hierarchy; NULL where it is blanked",
);

fn hierarchy(call: &Call) -> Result<Datum> {
    let (relation, position) = column(call)?;
    let table = reader::read(&relation, &[position])?;
    let domain = table.bag.domain(0);
    let hierarchy = of_column(&relation, &relation.columns[position], domain, false)?;
    let mut rows = ResultRows::begin(call)?;
    for code in 0..domain.len() as u32 {
        for level in 0..=hierarchy.height() {
            let general = match hierarchy.shown(code, level) {
                NONE => Value::Null,
                shown if (shown as usize) < domain.len() => Value::Text(domain.value(shown)),
                shown => Value::Text(&hierarchy.texts()[shown as usize - domain.len()]),
            };
            rows.push([Value::Text(domain.value(code)), Value::Int(level as i32), general]);
        }
    }
    Ok(rows.finish(call))
}

const SUGGEST_HIERARCHY: Method = Method::new(
    "suggest_hierarchy",
    &[&RELATION, &COLUMN_NAME],
    Returns::One(Type::Json),
    |call| {
    let (relation, position) = column(call)?;
    let table = reader::read(&relation, &[position])?;
    let (column, domain) = (&relation.columns[position], table.bag.domain(0));
    if let Some(levels) = suggest::levels(column, domain)? {
        return jsonb::datum(&levels);
    }
    let reason = suggest::reason(column, domain)?;
    notice_hint(
        &format!("no levels suggest themselves for column \"{}\": {reason}", column.name),
        "Declare levels of your own: {\"prefix\": [4, 3]} cuts texts of any form, and a tree or a table of general values fits every type.",
    );
    Ok(call.null())
},
)
.stable()
.about(
    "levels that suit the values of a column, as declare_hierarchy takes them: decimal \
         ranges, calendar units, prefixes of codes; NULL if none do",
);

methods! {
    sanitize_declare_hierarchy => DECLARE_HIERARCHY;
    sanitize_drop_hierarchy => DROP_HIERARCHY;
    sanitize_hierarchy => HIERARCHY;
    sanitize_suggest_hierarchy => SUGGEST_HIERARCHY;
}
