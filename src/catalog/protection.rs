//! Protected relations and who may ask about them: the tables `protection` and `allowance`.

use crate::catalog::ledger::account::{Account, Sums, decimal};
use crate::catalog::{Stored, damaged, execute, look, oid, run, value};
use crate::pg::prelude::*;
use pgrx::AnyNumeric;
use question::Terms;
use std::collections::HashMap;

/// The largest epsilon: far above it nothing is protected.
pub const LARGEST: f64 = 1e6;

/// The terms of the relation's protection; `None` if it is not protected.
pub fn terms(source: Oid) -> Result<Option<Terms>, Error> {
    let found = Stored::first("protection", TERMS, &[Some(&oid(source))])?;
    let Some(row) = found else { return Ok(None) };
    check_owner(&row, 10)?;
    row.float(4, "epsilon", |epsilon| epsilon > 0.0 && epsilon <= LARGEST)?;
    row.float(5, "min_epsilon", |least| (0.0..=LARGEST).contains(&least))?;
    let rows = "max_rows_per_unit";
    Ok(Some(Terms {
        unit: row.text(0, "unit")?.to_string(),
        max_rows_per_unit: row.count(1, rows)?.ok_or_else(|| row.damaged(rows))?,
        max_groups_per_unit: row.count(2, "max_groups_per_unit")?,
        delta: row.float(3, "delta", |delta| (0.0..1.0).contains(&delta))?,
        min_epsilon: row.float(6, "min_epsilon", |_| true)?,
        min_query_set: row.count(7, "min_query_set")?,
        assume_stable: row.truth(8, "assume_stable")?,
        row_count_public: row.truth(9, "row_count_public")?,
    }))
}

const TERMS: &str = "SELECT unit, max_rows_per_unit::text, max_groups_per_unit::text, delta::text,
        epsilon::text, min_epsilon::text, least(min_epsilon, epsilon)::text, min_query_set::text,
        assume_stable::text, row_count_public::text, source::text, (owner = sanitize_internal.relation_owner(source))::text
    FROM sanitize.protection
    WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)";

/// Refuses a relation whose owner is not the one who protected it, because the new owner has not allowed any questions.
/// Column `i` is its name, the next one says whether the owner is the same.
fn check_owner(row: &Stored, i: usize) -> Result<(), Error> {
    let relation = row.text(i, "source")?;
    match row.truth(i + 1, "owner")? {
        true => Ok(()),
        false => Err(Error::OtherOwner { relation: relation.to_string() }),
    }
}

/// The name of a protected relation that reads the same table on another server as this one, for messages: through a
/// second foreign table, or because one of them reads by itself a foreign table that is a partition of the other. A
/// view and a table that it reads do not count, because the owner may protect both.
pub fn shares_rows(source: Oid) -> Result<Option<String>, Error> {
    value(SHARES_ROWS, &[Some(&oid(source))])
}

/// `part` has what each relation reads: `itself` through views, or as the parent of a table.
const SHARES_ROWS: &str = "WITH RECURSIVE
    reach AS (
        SELECT p.source::oid AS whole, p.source::oid AS oid FROM sanitize.protection p
         WHERE p.row_type = sanitize_internal.row_type(p.source)
        UNION SELECT $1::oid, $1::oid
        UNION SELECT reach.whole, d.refobjid FROM reach
          JOIN pg_class v ON v.oid = reach.oid AND v.relkind = 'v'
          JOIN pg_rewrite r ON r.ev_class = v.oid
          JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
           AND d.refclassid = 'pg_class'::regclass),
    part AS (
        SELECT whole, oid, true AS itself FROM reach
        UNION SELECT part.whole, i.inhrelid, false FROM part JOIN pg_inherits i ON i.inhparent = part.oid),
    remote AS (
        SELECT part.whole, part.oid, part.itself, f.ftserver AS server,
               coalesce(o.schema, n.nspname::text) COLLATE \"C\" AS schema,
               coalesce(o.name, c.relname::text) COLLATE \"C\" AS name
          FROM part JOIN pg_foreign_table f ON f.ftrelid = part.oid
          JOIN pg_class c ON c.oid = part.oid JOIN pg_namespace n ON n.oid = c.relnamespace
         CROSS JOIN LATERAL (
             SELECT max(option_value) FILTER (WHERE option_name = 'schema_name') AS schema,
                    max(option_value) FILTER (WHERE option_name = 'table_name') AS name
               FROM pg_options_to_table(f.ftoptions)) AS o)
    SELECT theirs.whole::regclass::text FROM remote own JOIN remote theirs
        ON (theirs.server, theirs.schema, theirs.name) = (own.server, own.schema, own.name)
     WHERE own.whole = $1::oid AND theirs.whole <> $1::oid
       AND (own.itself OR theirs.itself OR own.oid <> theirs.oid)
     ORDER BY 1 LIMIT 1";

/// The unit column of a relation, if it is protected. Works on a standby too.
pub fn unit(source: Oid) -> Result<Option<String>, Error> {
    let query = "SELECT unit FROM sanitize.protection
        WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)";
    let found = look(query, &[Some(&oid(source))])?.into_iter().next();
    found.map(|[unit]| unit.ok_or_else(|| damaged("protection", "unit"))).transpose()
}

/// The unit column of every protected relation.
pub fn units() -> Result<HashMap<Oid, String>, Error> {
    let unit = |[source, unit]: [Option<String>; 2]| {
        let source = sql::oid(&source).map_err(|_| damaged("protection", "source"))?;
        Ok((source, unit.ok_or_else(|| damaged("protection", "unit"))?))
    };
    look(UNITS, &[])?.into_iter().map(unit).collect()
}

const UNITS: &str = "SELECT source::oid::text, unit FROM sanitize.protection
    WHERE row_type = sanitize_internal.row_type(source)";

/// The terms that `protect` sets. Numbers are decimals, and in their ranges.
pub struct Protection<'a> {
    pub unit: &'a str,
    pub epsilon: f64,
    pub delta: f64,
    pub max_rows_per_unit: i32,
    /// An interval above 0.
    pub window_length: Option<&'a str>,
    pub max_groups_per_unit: Option<i32>,
    pub min_epsilon: f64,
    pub min_query_set: Option<i32>,
    pub assume_stable: bool,
    pub row_count_public: bool,
}

/// Sets or changes the terms of a relation's protection. What is spent is taken from the ledger, which is read after
/// the lock, because a charge may have been made since this transaction began.
pub fn protect(source: Oid, new: &Protection<'_>) -> Result<(), Error> {
    let source = oid(source);
    let number = |number: Option<i32>| number.map(|number| number.to_string());
    let (rows, stable) = (new.max_rows_per_unit.to_string(), new.assume_stable.to_string());
    let counted = new.row_count_public.to_string();
    let (epsilon, delta, least) =
        (decimal(new.epsilon), decimal(new.delta), decimal(new.min_epsilon));
    let (groups, query_set) = (number(new.max_groups_per_unit), number(new.min_query_set));
    let first = [Some(source.as_str()), Some(new.unit), Some(&rows), Some(&epsilon), Some(&delta)];
    forget_former(&source)?;
    execute(REGISTER, &first)?;
    execute(LOCK, &[Some(&source)])?;
    crate::catalog::ledger::entries::check_entries(&source)?;
    let rest = [
        new.window_length,
        groups.as_deref(),
        Some(least.as_str()),
        query_set.as_deref(),
        Some(stable.as_str()),
        Some(counted.as_str()),
    ];
    execute(PROTECT, &[&first[..], &rest[..]].concat())
}

/// Deletes the rows of an earlier relation that had this OID: they say nothing about this one.
fn forget_former(source: &str) -> Result<(), Error> {
    ["protection", "allowance", "answer"].into_iter().try_for_each(|table| {
        let statement = format!(
            "DELETE FROM sanitize.{table}
             WHERE source = $1::oid::regclass AND row_type IS DISTINCT FROM sanitize_internal.row_type(source)"
        );
        execute(&statement, &[Some(source)])
    })
}

/// Without a window, so that [`PROTECT`] sees a change if the new terms have one.
const REGISTER: &str = "INSERT INTO sanitize.protection
        (source, unit, max_rows_per_unit, epsilon, epsilon_spent, delta, delta_spent, window_start)
    VALUES ($1::oid::regclass, $2, $3::int, $4::numeric, 0, $5::numeric, 0, clock_timestamp())
    ON CONFLICT (source) DO NOTHING";

const LOCK: &str = "SELECT FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE";

/// The source is written again, to update what is stored about it. What is spent is the sum of the ledger's entries:
/// those of the current window, those within the length of a new window, or all. Entries without a rest count as rest
/// entirely.
const PROTECT: &str = "UPDATE sanitize.protection AS p SET
        source = p.source, unit = $2, max_rows_per_unit = $3::int, epsilon = $4::numeric, delta = $5::numeric,
        max_groups_per_unit = $7::int, min_epsilon = $8::numeric, min_query_set = $9::int,
        assume_stable = $10::bool, row_count_public = $11::bool,
        epsilon_spent = s.epsilon, delta_spent = s.delta, rho_spent = s.rho,
        rest_epsilon = s.rest_epsilon, rest_delta = s.rest_delta,
        window_length = $6::interval,
        window_start = CASE WHEN p.window_length IS NOT DISTINCT FROM $6::interval
                            THEN p.window_start ELSE clock_timestamp() END
    FROM (SELECT coalesce(sum(e.epsilon), 0) AS epsilon, coalesce(sum(e.delta), 0) AS delta,
                 coalesce(sum(e.rho), 0) AS rho,
                 coalesce(sum(coalesce(e.rest_epsilon, e.epsilon)), 0) AS rest_epsilon,
                 coalesce(sum(coalesce(e.rest_delta, e.delta)), 0) AS rest_delta
            FROM sanitize.protection o JOIN sanitize.ledger_entry e ON e.source = o.source
             AND e.row_type = o.row_type
             AND CASE WHEN $6 IS NULL THEN true
                      WHEN o.window_length = $6::interval THEN e.charged_at >= o.window_start
                      ELSE e.charged_at + $6::interval > clock_timestamp() END
           WHERE o.source = $1::oid::regclass) AS s
    WHERE p.source = $1::oid::regclass";

/// Ends the protection and all allowances of a relation; false if it was not protected.
pub fn unprotect(source: Oid) -> Result<bool, Error> {
    let source = oid(source);
    execute("DELETE FROM sanitize.allowance WHERE source = $1::oid::regclass", &[Some(&source)])?;
    let gone = value(
        "DELETE FROM sanitize.protection WHERE source = $1::oid::regclass RETURNING 'gone'",
        &[Some(&source)],
    )?;
    Ok(gone.is_some())
}

/// Lets a role ask about a protected relation, with or without a share of the budget of its own.
pub fn allow(
    source: Oid,
    grantee: Oid,
    epsilon: Option<f64>,
    delta: Option<f64>,
) -> Result<(), Error> {
    let (epsilon, delta) = (epsilon.map(decimal), delta.map(decimal));
    let arguments =
        [Some(&*oid(source)), Some(&*oid(grantee)), epsilon.as_deref(), delta.as_deref()];
    execute(
        "INSERT INTO sanitize.allowance
            (source, grantee, epsilon, epsilon_spent, delta, delta_spent)
         VALUES ($1::oid::regclass, $2::oid::regrole, $3::numeric, 0, $4::numeric, 0)
         ON CONFLICT (source, grantee) DO UPDATE SET grantee = excluded.grantee,
            epsilon = excluded.epsilon, delta = excluded.delta",
        &arguments,
    )
}

/// Takes back what [`allow`] gave.
pub fn disallow(source: Oid, grantee: Oid) -> Result<(), Error> {
    execute(
        "DELETE FROM sanitize.allowance
         WHERE source = $1::oid::regclass AND grantee = $2::oid::regrole",
        &[Some(&oid(source)), Some(&oid(grantee))],
    )
}

/// The budget of a relation and those of all roles that may ask about it.
pub struct Budgets {
    /// The window is over: nothing is spent, once it is renewed.
    pub is_over: bool,
    pub relation: Account,
    pub allowances: Vec<(Oid, Account)>,
}

impl Budgets {
    /// `None` if the relation is not protected.
    pub fn read(source: Oid) -> Result<Option<Self>, Error> {
        let source = oid(source);
        let found = Stored::first("protection", BUDGET, &[Some(&source)])?;
        let Some(row) = found else { return Ok(None) };
        check_owner(&row, 9)?;
        let is_over = row.truth(1, "window_start")?;
        let (epsilon, delta) = (epsilon_of(&row, 2)?, delta_of(&row, 3)?);
        let relation = Account {
            whose: row.text(0, "source")?.to_string(),
            epsilon: Some(epsilon),
            delta,
            spent: spent(&row, 4, is_over)?,
        };
        let rows = run(ALLOWANCES, &[Some(&source)])?;
        let allowance = |row| {
            let row = Stored { table: "allowance", row };
            let own_epsilon = row.optional(2).map(|_| epsilon_of(&row, 2)).transpose()?;
            let own_delta = row.optional(3).map(|_| delta_of(&row, 3)).transpose()?;
            let account = Account {
                whose: row.text(1, "grantee")?.to_string(),
                epsilon: own_epsilon,
                delta: own_delta.unwrap_or_else(|| relation.delta.clone()),
                spent: spent(&row, 4, is_over)?,
            };
            Ok((row.oid(0, "grantee")?, account))
        };
        let allowances = rows.into_iter().map(allowance).collect::<Result<_, Error>>()?;
        Ok(Some(Budgets { is_over, relation, allowances }))
    }
}

/// The epsilon in column `i`.
fn epsilon_of(row: &Stored, i: usize) -> Result<AnyNumeric, Error> {
    row.float(i, "epsilon", |epsilon| epsilon > 0.0 && epsilon <= LARGEST)?;
    row.amount(i, "epsilon")
}

/// The delta in column `i`.
fn delta_of(row: &Stored, i: usize) -> Result<AnyNumeric, Error> {
    row.float(i, "delta", |delta| (0.0..1.0).contains(&delta))?;
    row.amount(i, "delta")
}

/// The five sums from column `first` on; all 0 if the window is over.
fn spent(row: &Stored, first: usize, is_over: bool) -> Result<Sums, Error> {
    if is_over {
        return Ok(Sums::default());
    }
    Ok(Sums {
        epsilon: row.amount(first, "epsilon_spent")?,
        delta: row.amount(first + 1, "delta_spent")?,
        rho: row.amount(first + 2, "rho_spent")?,
        rest_epsilon: row.amount(first + 3, "rest_epsilon")?,
        rest_delta: row.amount(first + 4, "rest_delta")?,
    })
}

/// Whether the window is over (NULL if that is unknown), the budget, and the five sums. Where the sums of the rest are
/// missing, nothing has a rho.
const BUDGET: &str = "SELECT source::text,
        CASE WHEN isfinite(window_start) AND (window_length IS NULL
                  OR isfinite(window_length) AND window_length > '0'::interval)
             THEN coalesce(window_start + window_length <= clock_timestamp(), false) END::text,
        epsilon::text, delta::text, epsilon_spent::text, delta_spent::text, rho_spent::text,
        coalesce(rest_epsilon, epsilon_spent)::text, coalesce(rest_delta, delta_spent)::text,
        source::text, (owner = sanitize_internal.relation_owner(source))::text
    FROM sanitize.protection
    WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)";

/// In the order in which they are locked. A role that was renamed, or a new role with the OID of a dropped one, is not
/// the one that was allowed.
const ALLOWANCES: &str =
    "SELECT a.grantee::oid::text, a.grantee::text || ' for ' || a.source::text,
        a.epsilon::text, sanitize_internal.delta_share(a.epsilon, a.delta, p.epsilon, p.delta)::text,
        a.epsilon_spent::text, a.delta_spent::text, a.rho_spent::text,
        coalesce(a.rest_epsilon, a.epsilon_spent)::text, coalesce(a.rest_delta, a.delta_spent)::text
    FROM sanitize.allowance a JOIN sanitize.protection p USING (source, row_type)
    WHERE a.source = $1::oid::regclass AND a.row_type = sanitize_internal.row_type(a.source)
      AND coalesce(a.grantee_name = sanitize_internal.role_name(a.grantee), a.grantee IS NULL)
    ORDER BY a.grantee";

/// Locks the budgets of a relation until the transaction ends, or raises `lock_not_available`; false if it
/// is not protected.
pub fn lock(source: Oid) -> Result<bool, Error> {
    let source = oid(source);
    let found = value(
        "SELECT 'found' FROM sanitize.protection
         WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source) FOR UPDATE NOWAIT",
        &[Some(&source)],
    )?;
    execute(
        "SELECT FROM sanitize.allowance
         WHERE source = $1::oid::regclass ORDER BY grantee FOR UPDATE NOWAIT",
        &[Some(&source)],
    )?;
    Ok(found.is_some())
}

/// Begins a new window.
pub fn renew(source: Oid) -> Result<(), Error> {
    let source = oid(source);
    execute(RENEW_PROTECTION, &[Some(&source)])?;
    execute(RENEW_ALLOWANCES, &[Some(&source)])
}

const RENEW_PROTECTION: &str = "UPDATE sanitize.protection SET epsilon_spent = 0, delta_spent = 0,
        rho_spent = 0, rest_epsilon = 0, rest_delta = 0, window_start = clock_timestamp()
    WHERE source = $1::oid::regclass";

const RENEW_ALLOWANCES: &str = "UPDATE sanitize.allowance SET epsilon_spent = 0, delta_spent = 0,
        rho_spent = 0, rest_epsilon = 0, rest_delta = 0
    WHERE source = $1::oid::regclass";

/// When the window ends, if there is one, for messages.
pub fn renews(source: Oid) -> Result<Option<String>, Error> {
    value(
        "SELECT (window_start + window_length)::text
         FROM sanitize.protection
         WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)",
        &[Some(&oid(source))],
    )
}

/// Writes what is spent of the relation's budget, or of the grantee's.
pub fn spend(source: Oid, grantee: Option<Oid>, sums: &Sums) -> Result<(), Error> {
    let (source, grantee, sums) = (oid(source), grantee.map(oid), sums.texts());
    let mut arguments = vec![Some(source.as_str())];
    arguments.extend(sums.iter().map(|sum| Some(sum.as_str())));
    let statement = match &grantee {
        None => SPEND,
        Some(grantee) => {
            arguments.push(Some(grantee));
            SPEND_ALLOWANCE
        }
    };
    execute(statement, &arguments)
}

const SPEND: &str = "UPDATE sanitize.protection
    SET epsilon_spent = $2::numeric, delta_spent = $3::numeric, rho_spent = $4::numeric,
        rest_epsilon = $5::numeric, rest_delta = $6::numeric
    WHERE source = $1::oid::regclass";

const SPEND_ALLOWANCE: &str = "UPDATE sanitize.allowance
    SET epsilon_spent = $2::numeric, delta_spent = $3::numeric, rho_spent = $4::numeric,
        rest_epsilon = $5::numeric, rest_delta = $6::numeric
    WHERE source = $1::oid::regclass AND grantee = $7::oid::regrole";
