//! What the queries behind a question compute of each row, and which rows they keep.
//!
//! Nothing that can be seen may depend on which rows match, and the plan and the time can be seen:
//! * Every value that a question needs is computed for every row, whether it counts or not. An OFFSET 0 keeps Postgres
//!   from filtering first. A value that two measures name is computed once, and one that is compressed or lies in a
//!   TOAST table is fetched once: otherwise many measures of a long value would show in the time.
//! * The filter is one of these values. Each of its conditions is evaluated, even if another one is false: LEAST of
//!   truth values evaluates all, AND does not. The planner cannot look up the selectivity of such a value (for which it
//!   would read index pages at the ends of a range, and choose a plan accordingly), and neither an index nor a
//!   partition nor a foreign server can use it.
//! * For the same reason a view is read whole, behind an OFFSET 0 too. If rows may come from another server, only
//!   columns are requested, once, and the rows are [`HELD`] meanwhile.
//!
//! For a row that counts, all that remains is to add up numbers.

use super::Posed;
use super::query::HELD;
use crate::api::prelude::*;
use crate::rules::unit::as_text;
use aggregate::MeasureKind;
use question::{Condition, Key};
use std::collections::BTreeMap;
use table::Choice;

/// The values that a query computes for each row, by name.
#[derive(Default)]
pub(super) struct Computed {
    expressions: Vec<String>,
    /// True if a long value is used more than once.
    shares_long: bool,
}

impl Computed {
    /// The name of an expression over a column; equal ones have one name.
    pub fn name(&mut self, column: &Column, expression: String) -> String {
        let found = self.expressions.iter().position(|other| *other == expression);
        let place = found.unwrap_or(self.expressions.len());
        match found {
            Some(_) => self.shares_long |= types::whole(column.base_type, "").is_some(),
            None => self.expressions.push(expression),
        }
        format!("c{place}")
    }
}

/// Which rows a query keeps, of those that match.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// All of them.
    AllGroups,
    /// Only rows of listed groups, if rows of other groups would displace them.
    ListedGroups,
}

/// A condition on a row: a name that is quoted, an operator of pg_catalog and a literal of the column's
/// own built-in type. Nothing of a question can become code.
pub fn condition(relation: &Relation, part: &Condition) -> String {
    match part {
        Condition::Compare { column, operator, value } => {
            let column = &relation.columns[*column];
            format!(
                "{} OPERATOR(pg_catalog.{}) {}",
                column.quoted(),
                operator.name(),
                types::literal(column.base_type, value)
            )
        }
        Condition::IsNull { column } => format!("{} IS NULL", relation.columns[*column].quoted()),
        Condition::Any(parts) if parts.is_empty() => "false".into(),
        Condition::Any(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| condition(relation, part)).collect();
            // Not with OR, which skips the other parts once one is true: a long value would then be fetched for some
            // rows only.
            format!("(true OPERATOR(pg_catalog.=) ANY (ARRAY[{}]))", parts.join(", "))
        }
    }
}

/// A value that identifies groups: text without the blanks that pad it, and compared by its bytes; other types as they
/// are.
pub fn group_value(column: &Column) -> String {
    if types::is_text(column.base_type) { as_text(column) } else { column.quoted() }
}

/// One text for the values of some columns: `v`, the length and the text of each, or `n` for NULL.
fn key_expression(columns: &[&Column]) -> String {
    let part = |column: &&Column| {
        let text = as_text(column);
        format!(
            "coalesce('v' OPERATOR(pg_catalog.||) pg_catalog.octet_length({text})::pg_catalog.text OPERATOR(pg_catalog.||) ':' OPERATOR(pg_catalog.||) {text}, 'n')"
        )
    };
    columns.iter().map(part).collect::<Vec<_>>().join(" OPERATOR(pg_catalog.||) ")
}

/// The text that [`key_expression`] makes of a group.
fn key_text(key: &Key) -> String {
    let part = |text: &Option<String>| match text {
        Some(text) => format!("v{}:{text}", from_utf8(text).len()),
        None => "n".into(),
    };
    key.iter().map(part).collect()
}

impl Posed {
    /// Which rows are kept if rows of other groups do no harm: rows of unlisted groups are dropped later, unless the
    /// texts of groups may be long. The length of a matching row's group must not show.
    pub(super) fn keeping(&self) -> Keeping {
        let is_long = |column: &&Column| types::whole(column.base_type, "").is_some();
        match self.question.conditions.is_empty() || !self.group_columns().iter().any(is_long) {
            true => Keeping::AllGroups,
            false => Keeping::ListedGroups,
        }
    }

    /// `FROM … WHERE …` of a query that needs these values. A row without a unit cannot be protected, because its
    /// person is unknown; so it does not count.
    pub(super) fn source(&self, computed: &Computed, keeping: Keeping) -> String {
        let named = |(i, expression): (usize, &String)| format!("{expression} AS c{i}");
        let mut values: Vec<String> = computed.expressions.iter().enumerate().map(named).collect();
        let has_unit = format!("{} IS NOT NULL", self.unit_column().quoted());
        let holds = |part| format!("({}) IS TRUE", condition(&self.relation, part));
        let mut conditions: Vec<String> = self.question.conditions.iter().map(holds).collect();
        if let (Keeping::ListedGroups, Some(keys)) = (keeping, &self.question.public) {
            conditions.push(self.is_listed(keys));
        }
        let from = match (self.is_held, self.relation.is_plain_table) {
            (true, _) => HELD.into(),
            (false, true) => self.relation.from(),
            (false, false) => format!("(SELECT * FROM {} OFFSET 0) AS whole", self.relation.from()),
        };
        if conditions.is_empty() {
            let values = if values.is_empty() { vec!["NULL".into()] } else { values };
            let apart = if computed.shares_long { " OFFSET 0" } else { "" };
            let values = values.join(", ");
            return format!(
                " FROM (SELECT {values} FROM {from} WHERE {has_unit}{apart}) AS computed"
            );
        }
        conditions.push(has_unit);
        values.push(format!("LEAST({}) AS keep", conditions.join(", ")));
        format!(
            " FROM (SELECT {} FROM {} OFFSET 0) AS computed WHERE keep",
            values.join(", "),
            self.with_whole_values(from)
        )
    }

    /// The columns that the question names, and whether their values are looked at.
    fn columns_named(&self) -> BTreeMap<usize, bool> {
        let mut columns = BTreeMap::from([(self.unit, true)]);
        columns.extend(self.question.group_by.iter().map(|&column| (column, true)));
        for asked in &self.question.asked {
            // A count of values needs only to know whether the value is NULL.
            let counts = asked.counts_values || asked.measure(None).kind == MeasureKind::CountOf;
            if let Some(column) = asked.column {
                *columns.entry(column).or_default() |= !counts;
            }
        }
        let compared = self.question.conditions.iter().flat_map(Condition::columns);
        columns.extend(compared.map(|column| (column, true)));
        columns
    }

    /// The columns that the question names.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns_named().into_keys()
    }

    /// The query for the rows that are [`HELD`]: every column that the question names, of all rows. Values of domain
    /// types are cast to their base types, which every node knows.
    pub fn held_query(&self) -> String {
        let column = |i: usize| {
            let column = &self.relation.columns[i];
            let name = column.quoted();
            match column.type_oid == column.base_type {
                true => name,
                false => format!("{} AS {name}", types::of_base(column.base_type, &name)),
            }
        };
        let columns: Vec<String> = self.columns().map(column).collect();
        format!("SELECT {} FROM {}", columns.join(", "), self.relation.from())
    }

    /// The rows with their long values fetched, each once, where the question looks at some.
    fn with_whole_values(&self, from: String) -> String {
        let mut has_long = false;
        let mut terms = Vec::new();
        for (column, is_read) in self.columns_named() {
            let column = &self.relation.columns[column];
            let name = column.quoted();
            let whole = types::whole(column.base_type, &name).filter(|_| is_read);
            has_long |= whole.is_some();
            terms.push(whole.map_or(name.clone(), |whole| format!("{whole} AS {name}")));
        }
        if !has_long {
            return from;
        }
        format!("(SELECT {} FROM {from} OFFSET 0) AS fetched", terms.join(", "))
    }

    /// Whether a row is in one of the listed groups.
    fn is_listed(&self, keys: &[Key]) -> String {
        let keys: Vec<String> =
            keys.iter().map(|key| types::text_literal(&key_text(key))).collect();
        format!(
            "({} OPERATOR(pg_catalog.=) ANY (ARRAY[{}]::pg_catalog.text[])) IS TRUE",
            key_expression(&self.group_columns()),
            keys.join(", ")
        )
    }
}
