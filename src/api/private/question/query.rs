//! The queries behind a question. All of them are made of quoted names, operators of pg_catalog and literals of
//! built-in types. [`computed`] defines what they compute for each row and which rows they keep.
//!
//! [`computed`]: super::computed

use super::Posed;
use super::computed::{Computed, Keeping};
pub use super::computed::{condition, group_value};
use crate::api::prelude::*;
use crate::rules::unit::{as_text, short_identity};
use aggregate::{MeasureKind, Range, Step};
use question::Asked;

/// The name under which rows from other servers are held. They are requested once: a second request would show anyone
/// who sees the statements there how much the first one found.
pub const HELD: &str = "held";

/// One value of each row: an SQL expression of type int8, or the term that a unit's total adds up.
pub struct ValueColumn {
    /// The measure that it is for.
    pub measure: usize,
    /// The column that it is made of.
    pub column: usize,
    pub expression: String,
}

/// The value columns of the measures: those of rows, then those of units.
pub struct ValueColumns {
    pub rows: Vec<ValueColumn>,
    pub units: Vec<ValueColumn>,
}

impl ValueColumns {
    /// The value columns of these measures of a question, each with its number.
    pub fn new<'a>(
        relation: &Relation,
        measures: impl Iterator<Item = (usize, &'a Asked)>,
    ) -> Self {
        let (mut rows, mut units) = (Vec::new(), Vec::new());
        for (measure, asked) in measures {
            let Some(column) = asked.column else { continue };
            let (target, expression): (_, fn(&Asked, &Column) -> String) = match asked.per_unit {
                true => (&mut units, unit_part),
                false => (&mut rows, row_value),
            };
            let expression = expression(asked, &relation.columns[column]);
            target.push(ValueColumn { measure, column, expression });
        }
        ValueColumns { rows, units }
    }
}

/// A number of the column's type in whole steps within the range, as int8. Clamped before it is cast,
/// so that neither NaN nor infinity nor size can make the cast fail.
fn in_steps(number: &str, range: Range) -> String {
    let (low, high, step) = (
        range.step.times(range.low.into()),
        range.step.times(range.high.into()),
        range.step.times(1),
    );
    format!(
        "(CASE WHEN {number} IS NOT NULL THEN pg_catalog.round(LEAST(GREATEST(({number})::pg_catalog.numeric, {low}::pg_catalog.numeric), {high}::pg_catalog.numeric) OPERATOR(pg_catalog./) {step}::pg_catalog.numeric) END)::pg_catalog.int8"
    )
}

/// The value of a measure in a row.
fn row_value(asked: &Asked, column: &Column) -> String {
    let name = column.quoted();
    let kind = asked.measure(None).kind;
    match (asked.range, types::is_integer(column.base_type)) {
        (Some(range), true) if range.step == Step::ONE => format!("({name})::pg_catalog.int8"),
        (Some(range), _) => in_steps(&name, range),
        (None, true) if kind == MeasureKind::Distinct => format!("({name})::pg_catalog.int8"),
        // Equal texts have equal hashes. That different texts have the same hash is nearly impossible, and does not
        // affect privacy.
        (None, false) if kind == MeasureKind::Distinct => {
            format!("pg_catalog.hashtextextended({}, 0)", as_text(column))
        }
        (None, _) => format!("(CASE WHEN {name} IS NOT NULL THEN 0 END)::pg_catalog.int8"),
    }
}

/// What a row adds to the total of its unit in a group.
fn unit_part(asked: &Asked, column: &Column) -> String {
    let name = column.quoted();
    match (asked.counts_values, types::is_short_integer(column.base_type)) {
        (true, _) => format!("(CASE WHEN {name} IS NOT NULL THEN 0 END)"),
        // A sum of these values cannot overflow.
        (false, true) => name,
        // Each value is clamped to a range far wider than all bounds, so that the sum cannot overflow: an error would
        // show whose value matches. It is rounded, so that adding long numbers takes no longer: no step is as fine as
        // the digits that are left.
        (false, false) => format!(
            "(CASE WHEN {name} IS NOT NULL THEN pg_catalog.round(LEAST(GREATEST(({name})::pg_catalog.numeric, '-1e30'::pg_catalog.numeric), '1e30'::pg_catalog.numeric), 30) END)"
        ),
    }
}

/// The value of a measure for a unit in a group; `part` is what each of its rows adds.
fn unit_total(asked: &Asked, part: &str) -> String {
    let function = if asked.counts_values { "count" } else { "sum" };
    let total = format!("pg_catalog.{function}({part})");
    match asked.range {
        Some(range) => in_steps(&total, range),
        None => total,
    }
}

/// The totals of a measure over a group whose units have one row each, as expressions of type int8,
/// where Postgres can add them up without overflow.
fn group_totals(
    asked: &Asked,
    relation: &Relation,
    computed: &mut Computed,
) -> Option<Vec<String>> {
    let column = asked.column.map(|column| &relation.columns[column]);
    let mut count = |column: &Column| match column.not_null {
        true => "pg_catalog.count(*)".to_string(),
        false => {
            let is_there = format!("(CASE WHEN {} IS NOT NULL THEN 0 END)", column.quoted());
            format!("pg_catalog.count({})", computed.name(column, is_there))
        }
    };
    match (asked.measure(None).kind, column) {
        _ if asked.per_unit || asked.private_bounds => None,
        // The number of units comes first in any case.
        (MeasureKind::Units, _) => Some(Vec::new()),
        (MeasureKind::Count, _) => Some(vec!["pg_catalog.count(*)".into()]),
        (MeasureKind::CountOf, Some(column)) => Some(vec![count(column)]),
        (kind @ (MeasureKind::Sum(range) | MeasureKind::Mean(range)), Some(column)) => {
            let (low, high) = (i32::try_from(range.low).ok()?, i32::try_from(range.high).ok()?);
            if !types::is_short_integer(column.base_type) || range.step != Step::ONE {
                return None;
            }
            let name = column.quoted();
            let clamped = format!(
                "LEAST(GREATEST({name}, '{low}'::pg_catalog.int4), '{high}'::pg_catalog.int4)"
            );
            // They skip NULL, which must not become a bound.
            let clamped = match column.not_null {
                true => clamped,
                false => format!("(CASE WHEN {name} IS NOT NULL THEN {clamped} END)"),
            };
            let counted = matches!(kind, MeasureKind::Mean(_)).then(|| count(column));
            let sum = format!("pg_catalog.sum({})", computed.name(column, clamped));
            Some(counted.into_iter().chain([sum]).collect())
        }
        _ => None,
    }
}

/// Names for this number of group columns, for the unit, and for this number of values.
fn names(groups: usize, values: usize) -> Vec<String> {
    let groups = (0..groups).map(|i| format!("g{i}"));
    groups.chain(["u".into()]).chain((0..values).map(|i| format!("v{i}"))).collect()
}

/// Expressions under these names.
fn named(expressions: Vec<String>, names: &[String]) -> String {
    let named = |(expression, name): (String, &String)| format!("{expression} AS {name}");
    expressions.into_iter().zip(names).map(named).collect::<Vec<_>>().join(", ")
}

impl Posed {
    pub fn group_columns(&self) -> Vec<&Column> {
        self.question.group_by.iter().map(|&i| &self.relation.columns[i]).collect()
    }

    pub fn unit_column(&self) -> &Column {
        &self.relation.columns[self.unit]
    }

    /// The query that lets Postgres add up, if every unit has one row and no sum can overflow: groups,
    /// number of units, totals of each measure; and how many numbers that is.
    pub fn totals_query(&self) -> Option<(String, usize)> {
        if !self.question.one_row_each {
            return None;
        }
        let mut computed = Computed::default();
        let groups = self.identities(false, &mut computed);
        let mut numbers = vec!["pg_catalog.count(*)".to_string()];
        for asked in &self.question.asked {
            numbers.extend(group_totals(asked, &self.relation, &mut computed)?);
        }
        let width = numbers.len();
        let places: Vec<String> = (1..=groups.len()).map(|i| i.to_string()).collect();
        let columns: Vec<String> = groups.into_iter().chain(numbers).collect();
        let source = self.source(&computed, self.keeping());
        let mut text = format!("SELECT {}{source}", columns.join(", "));
        if !places.is_empty() {
            let places = places.join(", ");
            text += &format!(" GROUP BY {places} ORDER BY {places}");
        }
        Some((text, width))
    }

    /// The names of each group's columns and, if it is wanted, of the unit.
    fn identities(&self, with_unit: bool, computed: &mut Computed) -> Vec<String> {
        let groups = self.group_columns().into_iter().map(|column| (column, group_value(column)));
        let unit = self.unit_column();
        let unit = with_unit.then(|| (unit, short_identity(unit)));
        groups.chain(unit).map(|(column, expression)| computed.name(column, expression)).collect()
    }

    /// The name of what a value is made of.
    fn value(&self, value: &ValueColumn, computed: &mut Computed) -> String {
        computed.name(&self.relation.columns[value.column], value.expression.clone())
    }

    /// Group, unit (unless every unit has one row) and values of each row.
    pub fn rows_query(&self, values: &ValueColumns) -> String {
        let mut computed = Computed::default();
        let mut columns = self.identities(!self.question.one_row_each, &mut computed);
        columns.extend(values.rows.iter().map(|value| self.value(value, &mut computed)));
        if columns.is_empty() {
            columns.push("NULL".into());
        }
        format!("SELECT {}{}", columns.join(", "), self.source(&computed, self.keeping()))
    }

    /// Group, unit and totals of each unit in each of its groups. If a unit has more groups than it may have, the
    /// server's random generator chooses.
    pub fn units_query(&self, values: &ValueColumns) -> String {
        let mut computed = Computed::default();
        let n = self.question.group_by.len();
        let total = |value: &ValueColumn, computed: &mut Computed| {
            unit_total(&self.question.asked[value.measure], &self.value(value, computed))
        };
        let mut columns = self.identities(true, &mut computed);
        columns.extend(values.units.iter().map(|value| total(value, &mut computed)));
        let names = names(n, values.units.len());
        let places: Vec<String> = (1..=n + 1).map(|i| i.to_string()).collect();
        let totals = format!(
            "SELECT {}{} GROUP BY {}",
            named(columns, &names),
            self.source(&computed, Keeping::ListedGroups),
            places.join(", ")
        );
        let shown = names.join(", ");
        if n == 0 {
            return format!("SELECT {shown} FROM ({totals}) AS totals");
        }
        format!(
            "SELECT {shown} FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY u ORDER BY r) AS n \
             FROM (SELECT *, pg_catalog.gen_random_uuid() AS r FROM ({totals}) AS totals) AS shuffled) AS numbered \
             WHERE n OPERATOR(pg_catalog.<=) {}",
            self.question.groups_per_unit
        )
    }

    /// Every value of every kept row in the order of groups, for questions that do not fit into memory: group, unit,
    /// number of the measure, value. Measure 0 is the unit itself; the others are numbered from 1. The kept rows have
    /// the distribution of [`aggregate::Bounded`], drawn by the server's random generator: which of the two ways a
    /// question takes depends on the number of rows, and must not show.
    pub fn sorted_query(&self, values: &ValueColumns, reads_rows: bool) -> String {
        let n = self.question.group_by.len();
        let groups: String = (0..n).map(|i| format!("g{i}, ")).collect();
        let unit = types::text_expression(self.unit_column().base_type, "u");
        let unit = format!("(0, {unit} COLLATE pg_catalog.\"C\", NULL)");
        let value = |(i, value): (usize, &ValueColumn)| {
            format!("({}, NULL, v{i}::pg_catalog.int8)", value.measure + 1)
        };
        let part = |rows: String, parts: Vec<String>| {
            format!(
                "SELECT {groups}t, i::pg_catalog.int8, v::pg_catalog.int8 FROM ({rows}) AS kept \
                 CROSS JOIN LATERAL (VALUES {}) AS part(i, t, v)",
                parts.join(", ")
            )
        };
        let mut queries = Vec::new();
        if reads_rows {
            let is_count =
                |asked: &&(usize, &Asked)| asked.1.measure(None).kind == MeasureKind::Count;
            let asked: Vec<(usize, &Asked)> = self.question.asked.iter().enumerate().collect();
            let counts =
                asked.iter().filter(is_count).map(|(i, _)| format!("({}, NULL, 0)", i + 1));
            let parts = [unit.clone()].into_iter().chain(counts);
            let parts = parts.chain(values.rows.iter().enumerate().map(value)).collect();
            queries.push(part(self.kept_rows_query(values), parts));
        }
        if !values.units.is_empty() {
            let unit = if reads_rows { None } else { Some(unit) };
            let parts = unit.into_iter().chain(values.units.iter().enumerate().map(value));
            let parts = parts.collect();
            queries.push(part(self.units_query(values), parts));
        }
        let places: Vec<String> =
            (1..=n).chain([n + 2, n + 1, n + 3]).map(|i| i.to_string()).collect();
        queries.join(" UNION ALL ") + " ORDER BY " + &places.join(", ")
    }

    /// The rows that count, with group, unit and values.
    fn kept_rows_query(&self, values: &ValueColumns) -> String {
        let mut computed = Computed::default();
        let n = self.question.group_by.len();
        let mut columns = self.identities(true, &mut computed);
        columns.extend(values.rows.iter().map(|value| self.value(value, &mut computed)));
        let names = names(n, values.rows.len());
        let columns = named(columns, &names);
        let source = self.source(&computed, Keeping::ListedGroups);
        if self.question.one_row_each {
            return format!("SELECT {columns}{source}");
        }
        let rows = format!(
            "SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY u ORDER BY r) AS n \
             FROM (SELECT {columns}, pg_catalog.gen_random_uuid() AS r{source}) AS shuffled) AS numbered \
             WHERE n OPERATOR(pg_catalog.<=) {}",
            self.question.rows_per_unit
        );
        if n == 0 || self.question.groups_per_unit >= self.question.rows_per_unit {
            return rows;
        }
        format!(
            "SELECT * FROM (SELECT *, pg_catalog.dense_rank() OVER (PARTITION BY u ORDER BY f) AS d \
             FROM (SELECT *, pg_catalog.first_value(r) OVER (PARTITION BY u, {} ORDER BY r) AS f \
             FROM ({rows}) AS bounded) AS tagged) AS ranked WHERE d OPERATOR(pg_catalog.<=) {}",
            names[..n].join(", "),
            self.question.groups_per_unit
        )
    }
}
