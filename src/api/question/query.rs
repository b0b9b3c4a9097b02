//! The queries behind a question. All of them are made of quoted names, operators of pg_catalog and
//! literals of built-in types.
//!
//! Nothing of a plan may depend on which rows match: the filter stands inside a CASE, whose selectivity
//! the planner cannot look up (it would read index pages for the ends of a range, and choose by it), and
//! which neither an index nor a partition nor a foreign server can use. For the same reason a view is
//! read whole, behind an OFFSET 0, before the filter is applied to its rows.

use super::Posed;
use crate::pg::relation::{Column, Relation};
use crate::pg::types;
use aggregate::{Kind, Range, Step};
use question::{Asked, Condition, Key};

/// One value of each row, or of each unit and group: an SQL expression of type int8.
pub struct ValueColumn {
    /// The measure that it is for.
    pub measure: usize,
    /// The column that it is made of.
    pub(super) column: usize,
    pub(super) expression: String,
}

/// The columns that the measures look at: those of rows, then those of units.
pub struct ValueColumns {
    pub rows: Vec<ValueColumn>,
    pub units: Vec<ValueColumn>,
}

impl ValueColumns {
    /// For these measures of a question, each by its number.
    pub fn new<'a>(
        relation: &Relation,
        measures: impl Iterator<Item = (usize, &'a Asked)>,
    ) -> Self {
        let (mut rows, mut units) = (Vec::new(), Vec::new());
        for (measure, asked) in measures {
            let Some(column) = asked.column else { continue };
            let (target, expression): (_, fn(&Asked, &Column) -> String) = match asked.per_unit {
                true => (&mut units, unit_total),
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
        (None, true) if kind == Kind::Distinct => format!("({name})::pg_catalog.int8"),
        // Equal texts have equal hashes; that two others have is as good as impossible, and no matter
        // for privacy.
        (None, false) if kind == Kind::Distinct => {
            format!("pg_catalog.hashtextextended({}, 0)", as_text(column))
        }
        (None, _) => format!("(CASE WHEN {name} IS NOT NULL THEN 0 END)::pg_catalog.int8"),
    }
}

/// The value of a measure for all rows of a unit in a group.
fn unit_total(asked: &Asked, column: &Column) -> String {
    let name = column.quoted();
    let total = match (asked.counts_values, types::is_short_integer(column.base_type)) {
        (true, _) => format!("pg_catalog.count({name})"),
        // A sum of these cannot pass the ends of its type.
        (false, true) => format!("pg_catalog.sum({name})"),
        // Nor one of these, once each is far outside of all bounds but not at the end of its type: an
        // error would tell whose value is among those that match.
        (false, false) => format!(
            "pg_catalog.sum(LEAST(GREATEST(({name})::pg_catalog.numeric, '-1e30'::pg_catalog.numeric), '1e30'::pg_catalog.numeric)) FILTER (WHERE {name} IS NOT NULL)"
        ),
    };
    match asked.range {
        Some(range) => in_steps(&total, range),
        None => total,
    }
}

/// The totals of a measure over a group whose units have one row each, as expressions of type int8,
/// where Postgres can add them up without overflow.
fn group_totals(asked: &Asked, relation: &Relation) -> Option<Vec<String>> {
    let column = asked.column.map(|column| &relation.columns[column]);
    let count = |column: &Column| match column.not_null {
        true => "pg_catalog.count(*)".to_string(),
        false => format!("pg_catalog.count({})", column.quoted()),
    };
    match (asked.measure(None).kind, column) {
        _ if asked.per_unit || asked.private_bounds => None,
        // The number of units comes first in any case.
        (Kind::Units, _) => Some(Vec::new()),
        (Kind::Count, _) => Some(vec!["pg_catalog.count(*)".into()]),
        (Kind::CountOf, Some(column)) => Some(vec![count(column)]),
        (kind @ (Kind::Sum(range) | Kind::Mean(range)), Some(column)) => {
            let (low, high) = (i32::try_from(range.low).ok()?, i32::try_from(range.high).ok()?);
            if !types::is_short_integer(column.base_type) || range.step != Step::ONE {
                return None;
            }
            let name = column.quoted();
            // LEAST and GREATEST skip NULL, which must not become a bound.
            let filter = match column.not_null {
                true => String::new(),
                false => format!(" FILTER (WHERE {name} IS NOT NULL)"),
            };
            let sum = format!(
                "pg_catalog.sum(LEAST(GREATEST({name}, '{low}'::pg_catalog.int4), '{high}'::pg_catalog.int4)){filter}"
            );
            Some(match kind {
                Kind::Sum(_) => vec![sum],
                _ => vec![count(column), sum],
            })
        }
        _ => None,
    }
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
                operator.sql(),
                types::literal(column.base_type, value)
            )
        }
        Condition::IsNull { column } => format!("{} IS NULL", relation.columns[*column].quoted()),
        Condition::Any(parts) if parts.is_empty() => "false".into(),
        Condition::Any(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| condition(relation, part)).collect();
            format!("({})", parts.join(" OR "))
        }
    }
}

/// A value as text that is equal where the texts' bytes are.
fn as_text(column: &Column) -> String {
    format!("({})::pg_catalog.text COLLATE pg_catalog.\"C\"", column.quoted())
}

/// A value that tells groups or units apart: text without the blanks that pad it, and compared by its
/// bytes; other types as they are.
fn identity(column: &Column) -> String {
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
        Some(text) => format!("v{}:{text}", crate::pg::text::from_utf8(text).len()),
        None => "n".into(),
    };
    key.iter().map(part).collect()
}

impl Posed {
    pub(super) fn group_columns(&self) -> Vec<&Column> {
        self.question.group_by.iter().map(|&i| &self.relation.columns[i]).collect()
    }

    pub(super) fn unit_column(&self) -> &Column {
        &self.relation.columns[self.unit]
    }

    /// `FROM … WHERE …`. A row without a unit belongs to nobody knows whom: it cannot be protected,
    /// so it does not count.
    fn source(&self) -> String {
        let mut from = format!(" FROM {}", self.relation.from());
        if !self.relation.is_plain_table {
            from = format!(" FROM (SELECT *{from} OFFSET 0) AS whole");
        }
        from += &format!(" WHERE {} IS NOT NULL", self.unit_column().quoted());
        if !self.question.conditions.is_empty() {
            let all = self.question.conditions.iter().map(|part| condition(&self.relation, part));
            let all = all.collect::<Vec<_>>().join(" AND ");
            from += &format!(" AND CASE WHEN {all} THEN true ELSE false END");
        }
        from
    }

    /// [`Self::source`] with the rows of listed groups only, where rows of other groups would take the
    /// place of theirs.
    fn listed_source(&self) -> String {
        let mut from = self.source();
        if let Some(keys) = &self.question.public {
            let keys: Vec<String> =
                keys.iter().map(|key| types::text_literal(&key_text(key))).collect();
            from += &format!(
                " AND CASE WHEN {} OPERATOR(pg_catalog.=) ANY (ARRAY[{}]::pg_catalog.text[]) THEN true ELSE false END",
                key_expression(&self.group_columns()),
                keys.join(", ")
            );
        }
        from
    }

    /// The query that lets Postgres add up, if every unit has one row and no sum can overflow: groups,
    /// number of units, totals of each measure; and how many numbers that is.
    pub fn totals_query(&self) -> Option<(String, usize)> {
        if !self.question.one_row_each {
            return None;
        }
        let mut numbers = vec!["pg_catalog.count(*)".to_string()];
        for asked in &self.question.asked {
            numbers.extend(group_totals(asked, &self.relation)?);
        }
        let width = numbers.len();
        let groups: Vec<String> = self.group_columns().into_iter().map(identity).collect();
        let places: Vec<String> = (1..=groups.len()).map(|i| i.to_string()).collect();
        let columns: Vec<String> = groups.into_iter().chain(numbers).collect();
        let mut text = format!("SELECT {}{}", columns.join(", "), self.source());
        if !places.is_empty() {
            let places = places.join(", ");
            text += &format!(" GROUP BY {places} ORDER BY {places}");
        }
        Some((text, width))
    }

    /// Group, unit (unless every unit has one row) and values of each row.
    pub fn rows_query(&self, values: &ValueColumns) -> String {
        let mut columns: Vec<String> = self.group_columns().into_iter().map(identity).collect();
        if !self.question.one_row_each {
            columns.push(identity(self.unit_column()));
        }
        columns.extend(values.rows.iter().map(|value| value.expression.clone()));
        if columns.is_empty() {
            columns.push("NULL".into());
        }
        format!("SELECT {}{}", columns.join(", "), self.source())
    }

    /// Group, unit and totals of each unit in each of its groups; of more groups than it may have, fresh
    /// coins of the server's generator choose.
    pub fn units_query(&self, values: &ValueColumns) -> String {
        let groups = self.group_columns();
        let named = |prefix: &str, expressions: Vec<String>| -> Vec<String> {
            let name = |(i, e): (usize, String)| format!("{e} AS {prefix}{i}");
            expressions.into_iter().enumerate().map(name).collect()
        };
        let group_names: Vec<String> = (0..groups.len()).map(|i| format!("g{i}")).collect();
        let value_names: Vec<String> = (0..values.units.len()).map(|i| format!("v{i}")).collect();
        let mut columns = named("g", groups.iter().map(|c| identity(c)).collect());
        columns.push(format!("{} AS u", identity(self.unit_column())));
        let totals = values.units.iter().map(|value| value.expression.clone()).collect();
        columns.extend(named("v", totals));
        let places: Vec<String> = (1..=groups.len() + 1).map(|i| i.to_string()).collect();
        let totals = format!(
            "SELECT {}{} GROUP BY {}",
            columns.join(", "),
            self.listed_source(),
            places.join(", ")
        );
        let shown: Vec<String> =
            group_names.into_iter().chain(["u".into()]).chain(value_names).collect();
        let shown = shown.join(", ");
        if groups.is_empty() {
            return format!("SELECT {shown} FROM ({totals}) AS totals");
        }
        format!(
            "SELECT {shown} FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY u ORDER BY r) AS n \
             FROM (SELECT *, pg_catalog.gen_random_uuid() AS r FROM ({totals}) AS totals) AS shuffled) AS numbered \
             WHERE n OPERATOR(pg_catalog.<=) {}",
            self.question.groups_per_unit
        )
    }

    /// Every value of every kept row in the order of groups, for questions that do not fit into memory:
    /// group, unit, number of the measure, value. Measure 0 is the unit itself; the others are numbered
    /// from 1. What is kept has the law of [`aggregate::Bounded`], by coins of the server's generator:
    /// which of the two ways a question goes depends on how many rows there are, and must not show.
    pub fn sorted_query(&self, values: &ValueColumns, reads_rows: bool) -> String {
        let n = self.question.group_by.len();
        let groups: String = (0..n).map(|i| format!("g{i}, ")).collect();
        let unit = "(0, u::pg_catalog.text COLLATE pg_catalog.\"C\", NULL)".to_string();
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
            let is_count = |asked: &&(usize, &Asked)| asked.1.measure(None).kind == Kind::Count;
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
        let groups = self.group_columns();
        let names: Vec<String> = (0..groups.len()).map(|i| format!("g{i}")).collect();
        let mut columns: Vec<String> = (groups.iter().zip(&names))
            .map(|(column, name)| format!("{} AS {name}", identity(column)))
            .collect();
        columns.push(format!("{} AS u", identity(self.unit_column())));
        for (i, value) in values.rows.iter().enumerate() {
            columns.push(format!("{} AS v{i}", value.expression));
        }
        let columns = columns.join(", ");
        if self.question.one_row_each {
            return format!("SELECT {columns}{}", self.listed_source());
        }
        let rows = format!(
            "SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY u ORDER BY r) AS n \
             FROM (SELECT {columns}, pg_catalog.gen_random_uuid() AS r{}) AS shuffled) AS numbered \
             WHERE n OPERATOR(pg_catalog.<=) {}",
            self.listed_source(),
            self.question.rows_per_unit
        );
        if groups.is_empty() || self.question.groups_per_unit >= self.question.rows_per_unit {
            return rows;
        }
        format!(
            "SELECT * FROM (SELECT *, pg_catalog.dense_rank() OVER (PARTITION BY u ORDER BY f) AS d \
             FROM (SELECT *, pg_catalog.first_value(r) OVER (PARTITION BY u, {} ORDER BY r) AS f \
             FROM ({rows}) AS bounded) AS tagged) AS ranked WHERE d OPERATOR(pg_catalog.<=) {}",
            names.join(", "),
            self.question.groups_per_unit
        )
    }
}
