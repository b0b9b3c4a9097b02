//! Protected relations and who may ask about them: the tables `protection` and `allowance`. Accounts are those that
//! [`population`] finds.

use crate::catalog::ledger::account::{Account, Sums, decimal};
use crate::catalog::population::{self, Holder, Limits};
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

const TERMS: &str = "SELECT p.unit, p.max_rows_per_unit::text, p.max_groups_per_unit::text, a.delta::text,
        a.epsilon::text, a.min_epsilon::text, least(a.min_epsilon, a.epsilon)::text, p.min_query_set::text,
        p.assume_stable::text, p.row_count_public::text, p.source::text,
        (p.owner = sanitize_internal.relation_owner(p.source))::text
    FROM sanitize.protection p JOIN sanitize_internal.account a ON a.source = p.source
    WHERE p.source = $1::oid::regclass";

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

/// The terms that `protect` sets, beside those of the account.
pub struct Protection<'a> {
    pub unit: &'a str,
    pub max_rows_per_unit: i32,
    pub max_groups_per_unit: Option<i32>,
    pub min_query_set: Option<i32>,
    pub assume_stable: bool,
    pub row_count_public: bool,
}

/// The account of a relation that is protected.
pub enum Budget<'a> {
    /// One of its own.
    Own(&'a Limits<'a>),
    /// That of a population, by its number.
    Population(i64),
}

/// Sets or changes the terms of a relation's protection. What is spent of an account of its own is taken from the ledger,
/// which is read after the lock, because a charge may have been made since this transaction began.
pub fn protect(
    relation: &Relation,
    new: &Protection<'_>,
    budget: &Budget<'_>,
) -> Result<(), Error> {
    let (source, number) = (relation.oid, oid(relation.oid));
    let count = |count: Option<i32>| count.map(|count| count.to_string());
    let (rows, groups) = (new.max_rows_per_unit.to_string(), count(new.max_groups_per_unit));
    forget_former(&number)?;
    execute(REGISTER, &[Some(&number), Some(new.unit), Some(&rows)])?;
    execute(LOCK, &[Some(&number)])?;
    crate::catalog::ledger::entries::check_entries(&number)?;
    match budget {
        Budget::Own(limits) => {
            // Another transaction may have had a view join it.
            if Holder::of(source)? != Some(Holder::Relation(source)) {
                let relation = relation.name.clone();
                return Err(Error::TermsChanged { relation, charged: false });
            }
            let (epsilon, delta) = (decimal(limits.epsilon), decimal(limits.delta));
            let least = decimal(limits.min_epsilon);
            let arguments = [
                Some(number.as_str()),
                Some(epsilon.as_str()),
                Some(delta.as_str()),
                limits.window_length,
                Some(least.as_str()),
            ];
            execute(LIMIT, &arguments)?;
        }
        Budget::Population(id) => population::join(source, *id)?,
    }
    let arguments = [
        Some(number.as_str()),
        Some(new.unit),
        Some(rows.as_str()),
        groups.as_deref(),
        count(new.min_query_set).as_deref(),
        Some(if new.assume_stable { "true" } else { "false" }),
        Some(if new.row_count_public { "true" } else { "false" }),
    ]
    .map(|argument| argument.map(String::from));
    let arguments: Vec<Option<&str>> = arguments.iter().map(Option::as_deref).collect();
    execute(PROTECT, &arguments)
}

/// Deletes the rows of an earlier relation that had this OID: they say nothing about this one.
fn forget_former(source: &str) -> Result<(), Error> {
    ["protection", "member", "allowance", "answer"].into_iter().try_for_each(|table| {
        let statement = format!(
            "DELETE FROM sanitize.{table}
             WHERE source = $1::oid::regclass AND row_type IS DISTINCT FROM sanitize_internal.row_type(source)"
        );
        execute(&statement, &[Some(source)])
    })
}

/// Without an account, which is set once the row is locked.
const REGISTER: &str =
    "INSERT INTO sanitize.protection (source, unit, max_rows_per_unit, rho_spent, min_epsilon)
    VALUES ($1::oid::regclass, $2, $3::int, NULL, NULL)
    ON CONFLICT (source) DO NOTHING";

const LOCK: &str = "SELECT FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE";

/// What is spent is the sum of the ledger's entries: those of the current window, those within the length of a new
/// window, or all. Entries without a rest count as rest entirely.
const LIMIT: &str = "UPDATE sanitize.protection AS p SET
        epsilon = $2::numeric, delta = $3::numeric, min_epsilon = $5::numeric,
        epsilon_spent = s.epsilon, delta_spent = s.delta, rho_spent = s.rho,
        rest_epsilon = s.rest_epsilon, rest_delta = s.rest_delta,
        window_length = $4::interval,
        window_start = CASE WHEN p.window_start IS NOT NULL AND p.window_length IS NOT DISTINCT FROM $4::interval
                            THEN p.window_start ELSE clock_timestamp() END
    FROM (SELECT coalesce(sum(e.epsilon), 0) AS epsilon, coalesce(sum(e.delta), 0) AS delta,
                 coalesce(sum(e.rho), 0) AS rho,
                 coalesce(sum(coalesce(e.rest_epsilon, e.epsilon)), 0) AS rest_epsilon,
                 coalesce(sum(coalesce(e.rest_delta, e.delta)), 0) AS rest_delta
            FROM sanitize.protection o JOIN sanitize.ledger_entry e ON e.source = o.source
             AND e.row_type = o.row_type
             AND CASE WHEN $4 IS NULL THEN true
                      WHEN o.window_length = $4::interval THEN e.charged_at >= o.window_start
                      ELSE e.charged_at + $4::interval > clock_timestamp() END
           WHERE o.source = $1::oid::regclass) AS s
    WHERE p.source = $1::oid::regclass";

/// The source is written again, to update what is stored about it.
const PROTECT: &str = "UPDATE sanitize.protection AS p SET
        source = p.source, unit = $2, max_rows_per_unit = $3::int, max_groups_per_unit = $4::int,
        min_query_set = $5::int, assume_stable = $6::bool, row_count_public = $7::bool
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

/// Lets a role ask about a protected relation, with or without a share of the budget of its own. In a population the
/// role has one share for all relations, and what it says now holds for all of them.
pub fn allow(
    source: Oid,
    grantee: Oid,
    epsilon: Option<f64>,
    delta: Option<f64>,
) -> Result<(), Error> {
    let (epsilon, delta) = (epsilon.map(decimal), delta.map(decimal));
    let arguments =
        [Some(&*oid(source)), Some(&*oid(grantee)), epsilon.as_deref(), delta.as_deref()];
    // What is spent of the share is copied, so that no charge may come in between.
    population::locked(source, "")?;
    execute(
        "INSERT INTO sanitize.allowance
            (source, grantee, epsilon, epsilon_spent, delta, delta_spent)
         VALUES ($1::oid::regclass, $2::oid::regrole, $3::numeric, 0, $4::numeric, 0)
         ON CONFLICT (source, grantee) DO UPDATE SET grantee = excluded.grantee,
            epsilon = excluded.epsilon, delta = excluded.delta",
        &arguments,
    )?;
    execute(SHARE, &arguments)
}

const SHARE: &str = "WITH own AS (
        SELECT m.source, m.row_type FROM sanitize.member m JOIN sanitize_internal.account a USING (population)
         WHERE a.source = $1::oid::regclass),
    spent AS (
        SELECT max(a.epsilon_spent) AS epsilon, max(a.delta_spent) AS delta, max(a.rho_spent) AS rho,
               max(coalesce(a.rest_epsilon, a.epsilon_spent)) AS rest_epsilon,
               max(coalesce(a.rest_delta, a.delta_spent)) AS rest_delta
          FROM sanitize.allowance a JOIN own USING (source, row_type) WHERE a.grantee = $2::oid::regrole)
    UPDATE sanitize.allowance AS a SET epsilon = $3::numeric, delta = $4::numeric, epsilon_spent = s.epsilon,
           delta_spent = s.delta, rho_spent = s.rho, rest_epsilon = s.rest_epsilon, rest_delta = s.rest_delta
      FROM spent s
     WHERE a.grantee = $2::oid::regrole AND (a.source, a.row_type) IN (SELECT source, row_type FROM own)";

/// Takes back what [`allow`] gave.
pub fn disallow(source: Oid, grantee: Oid) -> Result<(), Error> {
    execute(
        "DELETE FROM sanitize.allowance
         WHERE source = $1::oid::regclass AND grantee = $2::oid::regrole",
        &[Some(&oid(source)), Some(&oid(grantee))],
    )
}

/// The budget that the charges of a relation go to, and those of all roles that have a share of it.
pub struct Budgets {
    /// The window is over: nothing is spent, once it is renewed.
    pub is_over: bool,
    pub account: Account,
    pub shares: Vec<Share>,
}

/// What a role may spend.
pub struct Share {
    pub grantee: Oid,
    pub account: Account,
    /// The role may ask about this relation, not only about others of its population.
    pub is_here: bool,
}

impl Budgets {
    /// `None` if the relation is not protected.
    pub fn read(source: Oid) -> Result<Option<Self>, Error> {
        let number = oid(source);
        let found = Stored::first("protection", BUDGET, &[Some(&number)])?;
        let Some(mut row) = found else { return Ok(None) };
        check_owner(&row, 9)?;
        row.table = if row.optional(11).is_some() { "population" } else { "protection" };
        let is_over = row.truth(1, "window_start")?;
        let (epsilon, delta) = (epsilon_of(&row, 2)?, delta_of(&row, 3)?);
        let account = Account {
            whose: row.text(0, "source")?.to_string(),
            epsilon: Some(epsilon),
            delta,
            spent: spent(&row, 4, is_over)?,
        };
        let rows = run(ALLOWANCES, &[Some(&number)])?;
        let share = |row| {
            let row = Stored { table: "allowance", row };
            let own_epsilon = row.optional(2).map(|_| epsilon_of(&row, 2)).transpose()?;
            let own_delta = row.optional(3).map(|_| delta_of(&row, 3)).transpose()?;
            let account = Account {
                whose: row.text(1, "grantee")?.to_string(),
                epsilon: own_epsilon,
                delta: own_delta.unwrap_or_else(|| account.delta.clone()),
                spent: spent(&row, 4, is_over)?,
            };
            let (grantee, is_here) = (row.oid(0, "grantee")?, row.truth(9, "source")?);
            Ok(Share { grantee, account, is_here })
        };
        let shares = rows.into_iter().map(share).collect::<Result<_, Error>>()?;
        Ok(Some(Budgets { is_over, account, shares }))
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
const BUDGET: &str = "SELECT coalesce('population ' || a.name, a.source::text),
        CASE WHEN isfinite(a.window_start) AND (a.window_length IS NULL
                  OR isfinite(a.window_length) AND a.window_length > '0'::interval)
             THEN coalesce(a.window_start + a.window_length <= clock_timestamp(), false) END::text,
        a.epsilon::text, a.delta::text, a.epsilon_spent::text, a.delta_spent::text, a.rho_spent::text,
        coalesce(a.rest_epsilon, a.epsilon_spent)::text, coalesce(a.rest_delta, a.delta_spent)::text,
        a.source::text, (p.owner = sanitize_internal.relation_owner(p.source))::text, a.population::text
    FROM sanitize_internal.account a JOIN sanitize.protection p ON p.source = a.source
    WHERE a.source = $1::oid::regclass";

/// In the order in which they are locked. A role that was renamed, or a new role with the OID of a dropped one, is not
/// the one that was allowed. Within a population the rows of a role are alike.
const ALLOWANCES: &str =
    "SELECT a.grantee::oid::text, a.grantee::text || ' for ' || coalesce('population ' || min(c.name), min(c.source::text)),
        min(a.epsilon)::text,
        sanitize_internal.delta_share(min(a.epsilon), min(a.delta), min(c.epsilon), min(c.delta))::text,
        max(a.epsilon_spent)::text, max(a.delta_spent)::text, max(a.rho_spent)::text,
        max(coalesce(a.rest_epsilon, a.epsilon_spent))::text, max(coalesce(a.rest_delta, a.delta_spent))::text,
        bool_or(a.source = c.source)::text
    FROM sanitize_internal.account c
    CROSS JOIN LATERAL (
         SELECT c.source, c.row_type
         UNION SELECT m.source, m.row_type FROM sanitize.member m WHERE m.population = c.population) AS s
    JOIN sanitize.allowance a ON a.source = s.source AND a.row_type = s.row_type
    WHERE c.source = $1::oid::regclass
      AND coalesce(a.grantee_name = sanitize_internal.role_name(a.grantee), a.grantee IS NULL)
    GROUP BY a.grantee ORDER BY a.grantee";

/// Locks the account that the charges of a relation go to and all shares of it until the transaction ends, or raises
/// `lock_not_available`; `None` if the relation is not protected. It waits for nobody, so no order of locks can be wrong.
pub fn lock(source: Oid) -> Result<Option<Holder>, Error> {
    let number = oid(source);
    execute(
        "SELECT FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE NOWAIT",
        &[Some(&number)],
    )?;
    let Some(holder) = population::locked(source, "NOWAIT")? else { return Ok(None) };
    let statement = format!(
        "SELECT FROM sanitize.allowance a WHERE {SHARED} ORDER BY a.grantee, a.source FOR UPDATE NOWAIT"
    );
    execute(&statement, &[Some(&number), holder.population().as_deref()])?;
    Ok(Some(holder))
}

/// The condition for the rows of allowance a that are shares of one account: those of relation $1, or of population $2.
const SHARED: &str = "(a.source = $1::oid::regclass OR (a.source, a.row_type) IN (
        SELECT m.source, m.row_type FROM sanitize.member m WHERE m.population = $2::int8))";

/// Begins a new window of the account that the charges of the relation go to.
pub fn renew(source: Oid, holder: Holder) -> Result<(), Error> {
    let (table, condition) = holder.place();
    let account = format!(
        "UPDATE sanitize.{table} SET epsilon_spent = 0, delta_spent = 0,
            rho_spent = 0, rest_epsilon = 0, rest_delta = 0, window_start = clock_timestamp()
        WHERE {condition}"
    );
    let shares = format!(
        "UPDATE sanitize.allowance AS a SET epsilon_spent = 0, delta_spent = 0,
            rho_spent = 0, rest_epsilon = 0, rest_delta = 0
        WHERE {SHARED}"
    );
    execute(&account, &[Some(&holder.key())])?;
    execute(&shares, &[Some(&oid(source)), holder.population().as_deref()])
}

/// When the window ends, if there is one, for messages.
pub fn renews(source: Oid) -> Result<Option<String>, Error> {
    value(
        "SELECT (window_start + window_length)::text FROM sanitize_internal.account WHERE source = $1::oid::regclass",
        &[Some(&oid(source))],
    )
}

/// Writes what is spent of the account that the charges of the relation go to, or of the grantee's share of it.
pub fn spend(source: Oid, holder: Holder, grantee: Option<Oid>, sums: &Sums) -> Result<(), Error> {
    let sums = sums.texts();
    let sums = sums.iter().map(|sum| Some(sum.as_str()));
    let Some(grantee) = grantee.map(oid) else {
        let (table, condition) = holder.place();
        let statement = format!("UPDATE sanitize.{table} {SPENT} WHERE {condition}");
        let key = holder.key();
        let arguments: Vec<_> = [Some(key.as_str())].into_iter().chain(sums).collect();
        return execute(&statement, &arguments);
    };
    let statement = format!(
        "UPDATE sanitize.allowance AS a {SPENT_OF_SHARE} WHERE {SHARED} AND a.grantee = $3::oid::regrole"
    );
    let (source, population) = (oid(source), holder.population());
    let whose = [Some(source.as_str()), population.as_deref(), Some(grantee.as_str())];
    let arguments: Vec<_> = whose.into_iter().chain(sums).collect();
    execute(&statement, &arguments)
}

const SPENT: &str =
    "SET epsilon_spent = $2::numeric, delta_spent = $3::numeric, rho_spent = $4::numeric,
    rest_epsilon = $5::numeric, rest_delta = $6::numeric";

const SPENT_OF_SHARE: &str =
    "SET epsilon_spent = $4::numeric, delta_spent = $5::numeric, rho_spent = $6::numeric,
    rest_epsilon = $7::numeric, rest_delta = $8::numeric";
