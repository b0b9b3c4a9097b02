//! The statements that replace the rows of a table, its keys, and what refers to them.
//!
//! The rows of the release and the new keys are held before anything is written. Rows are deleted and inserted again in
//! a random order, so that the position of a row reveals nothing. Foreign keys are maintained here, because both sides
//! change: each value of a key is replaced by one other value everywhere, so what matched before matches afterwards,
//! and a value that matches nothing becomes NULL or is refused.

use super::plan::{Plan, Replaced};
use crate::api::prelude::*;
use crate::api::publish::maker::Maker;
use crate::pg::catalog::keys::{self, Place, Range, SPARE};
use crate::pg::write::held_rows::Held;
use crate::pg::write::statement::{self, Parameter, References};
use random::distinct;

pub struct Rewrite<'a> {
    target: &'a Relation,
    plan: &'a Plan,
    held: Held,
    /// The name of an additional column of our own.
    number: String,
    /// For each replaced column, how many values it had.
    values: Vec<u64>,
    /// For each replaced column, the upper end of the range that numbers were drawn from.
    highest: Vec<Option<i64>>,
}

fn parameter<T: IntoDatum>(of: Oid, value: T) -> Parameter {
    Parameter { of, value: value.into_datum() }
}

/// The name under which the keys of a replaced column are held: `old` and `fresh` values, and their `number`; `old` is
/// NULL for spare fresh values.
fn held_keys(i: usize) -> String {
    format!("keys_{i}")
}

/// A condition: the value equals the old one.
fn is_old(replaced: &Replaced, alias: &str, value: &str) -> String {
    match replaced.range {
        // Columns may have different collations, but all agree on which texts are equal.
        Range::Digits(_) => format!(
            "{alias}.old COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) {value} COLLATE pg_catalog.\"C\""
        ),
        _ => format!("{alias}.old OPERATOR(pg_catalog.=) {value}"),
    }
}

fn column_at(relation: &Relation, number: i16) -> Result<&Column> {
    relation.columns.iter().find(|column| column.number == number).ok_or(Error::Swapped)
}

impl<'a> Rewrite<'a> {
    pub fn new(target: &'a Relation, plan: &'a Plan) -> Self {
        let mut number = String::from("number");
        while target.columns.iter().any(|column| column.name == number) {
            number.push('_');
        }
        let (values, highest) = (Vec::new(), Vec::new());
        Rewrite { target, plan, held: Held::new(), number, values, highest }
    }

    /// The count that a query on a locked table returns.
    fn count(&self, table: &Relation, query: &str) -> Result<u64> {
        let read = References::Checked;
        Ok(statement::write_beside(&self.held, query, table.oid, &[], read)?.sum)
    }

    /// Replaces the rows of the table by those that the method makes; returns how many there are.
    pub fn rows(&mut self, maker: &Maker<'_>) -> Result<u64> {
        let (target, from) = (self.target, self.target.only_from());
        let made = maker.hold(&mut self.held, target, None)?.rows;
        let before = self.count(target, &format!("SELECT pg_catalog.count(*) FROM {from}"))?;
        let left = match maker.keeps_rows() {
            true if made > before => {
                let what = format!("{made} rows were made of {before}");
                return Err(Error::Broken { what });
            }
            true if made < before => self.drop_missing().map(|()| made)?,
            true => made,
            false => self.pair(before, made)?,
        };
        for i in 0..self.plan.replaced.len() {
            self.draw(i, made.saturating_sub(left))?;
        }
        self.refuse_orphans(target)?;
        let gone = format!("DELETE FROM {from}");
        self.write(target, &gone)?;
        let (columns, expressions, joins) = self.columns(maker, left)?;
        let insert = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {joins}
              ORDER BY pg_catalog.gen_random_uuid()",
            target.from(),
            columns.join(", "),
            expressions.join(", "),
        );
        Ok(statement::write_blanked(&self.held, &insert, target.oid)?.rows)
    }

    fn write(&self, table: &Relation, statement: &str) -> Result<u64> {
        let alone = References::LeftAlone;
        Ok(statement::write_beside(&self.held, statement, table.oid, &[], alone)?.rows)
    }

    /// Deletes the rows that the method has dropped, applying the ON DELETE actions of foreign keys.
    fn drop_missing(&self) -> Result<()> {
        if !self.plan.is_referred_to {
            return Ok(());
        }
        let same = |&number: &i16| {
            let quoted = column_at(self.target, number)?.quoted();
            Ok(format!("m.{quoted} OPERATOR(pg_catalog.=) x.{quoted}"))
        };
        let same: Vec<String> = self.plan.primary.iter().map(same).collect::<Result<_>>()?;
        if same.is_empty() {
            return Err(Error::NotInPlace {
                relation: self.target.name.clone(),
                reason: "the method drops rows, others refer to them, and there is no primary key to tell which".into(),
            });
        }
        let gone = format!(
            "DELETE FROM {} AS x WHERE NOT EXISTS (SELECT FROM made AS m WHERE {})",
            self.target.only_from(),
            same.join(" AND "),
        );
        let checked = References::Checked;
        statement::write_beside(&self.held, &gone, self.target.oid, &[], checked)?;
        Ok(())
    }

    /// Pairs the keys of the table at random with released rows that are not made of particular rows. If there are more
    /// keys than rows, surplus rows of the table are deleted, applying ON DELETE actions. Returns how many are left.
    fn pair(&mut self, before: u64, made: u64) -> Result<u64> {
        let (oid, from) = (self.target.oid, self.target.only_from());
        if made < before {
            let gone = format!(
                "DELETE FROM {from} AS d
                  USING (SELECT x.tableoid AS part, x.ctid AS place FROM {from} AS x
                          ORDER BY pg_catalog.gen_random_uuid() LIMIT {}) AS gone
                  WHERE d.tableoid OPERATOR(pg_catalog.=) gone.part
                    AND d.ctid OPERATOR(pg_catalog.=) gone.place",
                before - made,
            );
            statement::write(&gone, oid, &[])?;
        }
        let spared =
            self.target.columns.iter().filter(|column| self.plan.spares(oid, column.number));
        let spared: String = spared.map(|column| format!("x.{}, ", column.quoted())).collect();
        let query = format!(
            "SELECT {spared}pg_catalog.row_number() OVER (ORDER BY pg_catalog.gen_random_uuid()) AS {}
               FROM {from} AS x",
            self.number,
        );
        statement::hold(&mut self.held, "old", &query, oid, &[])
    }

    /// Draws a new value for each value of the column, and `spare` more.
    fn draw(&mut self, i: usize, spare: u64) -> Result<()> {
        let replaced = &self.plan.replaced[i];
        let (oid, from) = (self.target.oid, self.target.only_from());
        let column = column_at(self.target, replaced.root.column)?;
        let own = format!("x.{}", column.quoted());
        let values = self.count(
            self.target,
            &format!("SELECT pg_catalog.count(DISTINCT {own}) FROM {from} AS x"),
        )?;
        let needed = values + spare;
        let mut parameters = vec![parameter(pg_sys::INT8OID, needed as i64)];
        let ends = replaced.range.ends(needed);
        let drawn = match ends {
            None => "SELECT pg_catalog.gen_random_uuid() AS fresh, s AS place
                       FROM pg_catalog.generate_series(1, $1) AS s"
                .to_string(),
            Some((low, high)) => {
                parameters.push(parameter(pg_sys::INT8ARRAYOID, numbers(low, high, needed)?));
                let cast = match replaced.range {
                    Range::Digits(_) => "::pg_catalog.text",
                    _ => "",
                };
                format!(
                    "SELECT d.fresh{cast} AS fresh, d.place
                       FROM pg_catalog.unnest($2) WITH ORDINALITY AS d(fresh, place)"
                )
            }
        };
        // Fresh values keep the order in which they were drawn, independent of the order of the old ones.
        let query = format!(
            "SELECT o.old, f.fresh, f.number
               FROM (SELECT d.fresh, pg_catalog.row_number() OVER (ORDER BY d.place) AS number
                       FROM ({drawn}) AS d
                      WHERE NOT EXISTS (SELECT FROM {from} AS x
                                         WHERE {own} OPERATOR(pg_catalog.=) d.fresh)) AS f
               LEFT JOIN (SELECT d.old, pg_catalog.row_number() OVER () AS number
                            FROM (SELECT DISTINCT {own} AS old FROM {from} AS x
                                   WHERE {own} IS NOT NULL) AS d) AS o
                      ON o.number OPERATOR(pg_catalog.=) f.number
              WHERE f.number OPERATOR(pg_catalog.<=) $1"
        );
        let found = statement::hold(&mut self.held, &held_keys(i), &query, oid, &parameters)?;
        if found < needed {
            return Err(Error::NotInPlace {
                relation: self.target.name.clone(),
                reason: format!("the type of column {} has too few values left", column.quoted()),
            });
        }
        self.values.push(values);
        self.highest.push(ends.map(|(_, high)| high));
        Ok(())
    }

    /// Refuses values that refer to no row in columns that cannot be NULL, because such values would become NULL. They
    /// occur where other columns of the foreign key are NULL, or if it is NOT VALID.
    pub fn refuse_orphans(&self, table: &Relation) -> Result<()> {
        for (i, place) in self.places_of(table) {
            let replaced = &self.plan.replaced[i];
            let column = column_at(table, place.column)?;
            if !column.not_null {
                continue;
            }
            let own = format!("x.{}", column.quoted());
            let orphans = self.count(
                table,
                &format!(
                    "SELECT pg_catalog.count(*) FROM {} AS x
                      WHERE {own} IS NOT NULL
                        AND NOT EXISTS (SELECT FROM {} AS k WHERE {})",
                    table.only_from(),
                    held_keys(i),
                    is_old(replaced, "k", &own),
                ),
            )?;
            if orphans > 0 {
                let column = column.quoted();
                return Err(Error::NotInPlace {
                    relation: self.target.name.clone(),
                    reason: format!(
                        "{}.{column} has values that refer to no row of it",
                        table.name
                    ),
                });
            }
        }
        Ok(())
    }

    /// The columns of a table that refer to replaced columns, each with the number of the column that it refers to.
    fn places_of(&self, table: &Relation) -> Vec<(usize, Place)> {
        let all = self.plan.replaced.iter().enumerate();
        let all = all.flat_map(|(i, one)| one.referring.iter().map(move |&place| (i, place)));
        all.filter(|(_, place)| place.table == table.oid).collect()
    }

    /// The columns to insert, the expression for each, and the FROM clause of these expressions.
    fn columns(&self, maker: &Maker<'_>, left: u64) -> Result<(Vec<String>, Vec<String>, String)> {
        let generated = keys::generated_columns(self.target.oid)?;
        let (mut columns, mut expressions) = (Vec::new(), Vec::new());
        let (keeps_rows, number) = (maker.keeps_rows(), &self.number);
        let mut joins = match keeps_rows {
            true => "made AS made".to_string(),
            false => format!(
                "(SELECT m.*, pg_catalog.row_number() OVER () AS {number} FROM made AS m) AS made
                 LEFT JOIN old AS old ON old.{number} OPERATOR(pg_catalog.=) made.{number}"
            ),
        };
        let stayed = if keeps_rows { "made" } else { "old" };
        for column in self.target.columns.iter().filter(|c| !generated.contains(&c.number)) {
            let quoted = column.quoted();
            let expression = match self.plan.replaced_at(self.target.oid, column.number) {
                None if self.plan.spares(self.target.oid, column.number) => {
                    format!("{stayed}.{quoted}")
                }
                None => format!("made.{quoted}"),
                Some(i) => {
                    let replaced = &self.plan.replaced[i];
                    let (keys, k) = (held_keys(i), format!("k{}", column.number));
                    let old = is_old(replaced, &k, &format!("{stayed}.{quoted}"));
                    // Rows that were deleted together with dropped ones are no longer among the keys.
                    let is_there =
                        keeps_rows && column.not_null && replaced.root.column == column.number;
                    let join = if is_there { "JOIN" } else { "LEFT JOIN" };
                    joins += &format!(" {join} {keys} AS {k} ON {old}");
                    if keeps_rows || replaced.root.column != column.number {
                        format!("{k}.fresh")
                    } else {
                        let s = format!("s{}", column.number);
                        joins += &format!(
                            " LEFT JOIN {keys} AS {s} ON {s}.old IS NULL AND {s}.number OPERATOR(pg_catalog.=)
                              (made.{number} OPERATOR(pg_catalog.+) ({})::pg_catalog.int8)",
                            self.values[i] as i64 - left as i64
                        );
                        format!("COALESCE({k}.fresh, {s}.fresh)")
                    }
                }
            };
            columns.push(quoted);
            expressions.push(expression);
        }
        Ok((columns, expressions, joins))
    }

    /// Replaces the referring columns of another table.
    pub fn references(&self, table: &Relation) -> Result<()> {
        let places = self.places_of(table);
        if places.is_empty() {
            return Ok(());
        }
        let from = table.only_from();
        let (mut sets, mut fresh, mut joins) = (Vec::new(), Vec::new(), String::new());
        for (i, place) in places {
            let quoted = column_at(table, place.column)?.quoted();
            let k = format!("k{}", place.column);
            let old = is_old(&self.plan.replaced[i], &k, &format!("x.{quoted}"));
            joins += &format!(" LEFT JOIN {} AS {k} ON {old}", held_keys(i));
            fresh.push(format!("{k}.fresh AS {k}"));
            sets.push(format!("{quoted} = s.{k}"));
        }
        let update = format!(
            "UPDATE {from} AS c SET {}
               FROM (SELECT x.tableoid AS part, x.ctid AS place, {} FROM {from} AS x{joins}) AS s
              WHERE c.tableoid OPERATOR(pg_catalog.=) s.part
                AND c.ctid OPERATOR(pg_catalog.=) s.place",
            sets.join(", "),
            fresh.join(", "),
        );
        self.write(table, &update)?;
        Ok(())
    }

    /// The largest number that a replaced column may have now, if it has numbers.
    pub fn highest(&self, i: usize) -> Option<i64> {
        self.highest[i]
    }

    pub fn end(self) {
        self.held.end();
    }
}

/// Different random numbers between the ends, enough even if some of them are already taken.
fn numbers(low: i64, high: i64, needed: u64) -> Result<Vec<i64>> {
    let all = high.abs_diff(low).saturating_add(1);
    let count = (2 * needed + SPARE).min(all) as usize;
    let mut coins = coins(None)?;
    let drawn = pool::run("drawing keys", 0, |watch| {
        // Memory for the numbers, for the set of those seen, and for the array of them.
        let _held = watch.hold(count as u64 * 40)?;
        distinct(&mut coins, all, count, || watch.check())
    })?;
    Ok(drawn.into_iter().map(|number| low.wrapping_add_unsigned(number)).collect())
}
