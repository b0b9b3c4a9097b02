//! Populations: the accounts that several relations share (`population`), and which relations are in them (`member`).
//!
//! A relation that shares with no other has its account in its row of `protection`. The view
//! `sanitize_internal.account` finds the account of a relation, [`Holder::of`] says where it is kept. A relation remembers
//! the population that it was in last, also when it is protected no more, so that nothing spent is forgotten.

use crate::catalog::ledger::account::decimal;
use crate::catalog::ledger::entries;
use crate::catalog::{Stored, damaged, execute, oid, value};
use crate::pg::prelude::*;

/// Where the account of a protected relation is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// In the row of the relation itself.
    Relation(Oid),
    /// In the row of a population, by its number.
    Population(i64),
}

impl Holder {
    /// The account that the charges of a relation go to; `None` if it is not protected.
    pub fn of(source: Oid) -> Result<Option<Self>, Error> {
        let found = Stored::first("member", HOLDER, &[Some(&oid(source))])?;
        found.map(|row| Self::found(source, row.optional(0))).transpose()
    }

    /// The account of a protected relation whose population, if there is one, has this number.
    pub fn found(source: Oid, population: Option<&str>) -> Result<Self, Error> {
        let Some(id) = population else { return Ok(Holder::Relation(source)) };
        id.parse().map(Holder::Population).map_err(|_| damaged("member", "population"))
    }

    /// The table that has the account, and the condition for its row, whose argument is [`Holder::key`].
    pub(super) fn place(self) -> (&'static str, &'static str) {
        match self {
            Holder::Relation(_) => ("protection", "source = $1::oid::regclass"),
            Holder::Population(_) => ("population", "id = $1::int8"),
        }
    }

    pub(super) fn key(self) -> String {
        match self {
            Holder::Relation(source) => oid(source),
            Holder::Population(id) => id.to_string(),
        }
    }

    /// The number of the population as an argument.
    pub(super) fn population(self) -> Option<String> {
        match self {
            Holder::Relation(_) => None,
            Holder::Population(id) => Some(id.to_string()),
        }
    }
}

const HOLDER: &str =
    "SELECT population::text FROM sanitize_internal.account WHERE source = $1::oid::regclass";

/// How much may be learnt from an account. Numbers are decimals, and in their ranges.
pub struct Limits<'a> {
    pub epsilon: f64,
    pub delta: f64,
    /// An interval above 0.
    pub window_length: Option<&'a str>,
    pub min_epsilon: f64,
}

/// A population that is not dropped.
pub struct Named {
    pub id: i64,
    /// The owner when it was made.
    pub owner: String,
    /// The caller may put relations into it, change and drop it.
    pub is_ours: bool,
}

/// The population with this name.
pub fn named(name: &str, caller: Oid) -> Result<Option<Named>, Error> {
    let query = format!(
        "SELECT q.id::text, q.owner_name::text, ({MAY})::text FROM sanitize.population q
          WHERE q.name = $1 AND NOT q.is_dropped"
    );
    let Some(row) = Stored::first("population", &query, &[Some(name), Some(&oid(caller))])? else {
        return Ok(None);
    };
    Ok(Some(Named {
        id: row
            .count(0, "id")?
            .and_then(|id| id.try_into().ok())
            .ok_or_else(|| row.damaged("id"))?,
        owner: row.text(1, "owner")?.to_string(),
        is_ours: row.truth(2, "owner")?,
    }))
}

/// A condition: the role $2 is the owner of population q, a member of it, or a superuser. A role that was renamed, or a
/// new role with the OID of a dropped one, is not the one that made it.
const MAY: &str = "coalesce(q.owner_name = sanitize_internal.role_name(q.owner) AND pg_has_role($2::oid, q.owner, 'USAGE'), false)
    OR (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $2::oid)";

/// The account that the charges of a relation go to, which is locked until the transaction ends; `None` if the relation
/// is not protected. With `NOWAIT` as `wait` it raises `lock_not_available` where it would wait.
pub(super) fn locked(source: Oid, wait: &str) -> Result<Option<Holder>, Error> {
    loop {
        let Some(holder) = Holder::of(source)? else { return Ok(None) };
        let (table, condition) = holder.place();
        let statement = format!("SELECT FROM sanitize.{table} WHERE {condition} FOR UPDATE {wait}");
        execute(&statement, &[Some(&holder.key())])?;
        // While this waited, the relation may have joined a population, or its population another one.
        if Holder::of(source)? == Some(holder) {
            return Ok(Some(holder));
        }
    }
}

/// Whether the caller may put relations into a population.
pub fn is_ours(id: i64, caller: Oid) -> Result<bool, Error> {
    let query = format!("SELECT ({MAY})::text FROM sanitize.population q WHERE q.id = $1::int8");
    let found = value(&query, &[Some(&id.to_string()), Some(&oid(caller))])?;
    Ok(found.as_deref() == Some("true"))
}

/// Locks a population until the transaction ends: nothing is charged to it meanwhile. Only for those to whom it belongs.
pub fn lock(id: i64) -> Result<(), Error> {
    execute(LOCK, &[Some(&id.to_string()), None])
}

/// Makes a population of the caller's, or takes up one with this name that the caller has dropped: what is spent of it
/// stays spent. If another transaction has just made one with this name, nothing happens.
pub fn make(name: &str, caller: Oid, limits: &Limits<'_>) -> Result<(), Error> {
    let caller = oid(caller);
    if value(TAKE_UP, &[Some(name), Some(&caller)])?.is_some() {
        return Ok(());
    }
    let (epsilon, delta) = (decimal(limits.epsilon), decimal(limits.delta));
    let least = decimal(limits.min_epsilon);
    let arguments = [
        Some(name),
        Some(caller.as_str()),
        Some(epsilon.as_str()),
        Some(delta.as_str()),
        limits.window_length,
        Some(least.as_str()),
    ];
    execute(MAKE, &arguments)
}

const TAKE_UP: &str = "UPDATE sanitize.population SET is_dropped = false
    WHERE name = $1 AND is_dropped AND owner = $2::oid::regrole AND owner_name = sanitize_internal.role_name(owner)
    RETURNING 'taken up'";

const MAKE: &str = "INSERT INTO sanitize.population
        (name, owner, owner_name, epsilon, epsilon_spent, delta, delta_spent, window_length, window_start,
         rho_spent, rest_epsilon, rest_delta, min_epsilon)
    VALUES ($1, $2::oid::regrole, sanitize_internal.role_name($2::oid::regrole), $3::numeric, 0, $4::numeric, 0,
            $5::interval, clock_timestamp(), 0, 0, 0, $6::numeric)
    ON CONFLICT (name) WHERE NOT is_dropped DO NOTHING";

/// Changes what may be learnt from a population. What is spent stays; if the length of the window changes, it is the sum
/// of the ledger's entries within the new length. Entries of dropped relations are not in a dump, so where all entries
/// count, at least the sum that is known stays spent.
pub fn limit(id: i64, limits: &Limits<'_>) -> Result<(), Error> {
    lock(id)?;
    let id = id.to_string();
    entries::check_population(&id)?;
    let (epsilon, delta) = (decimal(limits.epsilon), decimal(limits.delta));
    let least = decimal(limits.min_epsilon);
    let arguments = [
        Some(id.as_str()),
        Some(epsilon.as_str()),
        Some(delta.as_str()),
        limits.window_length,
        Some(least.as_str()),
    ];
    execute(LIMIT, &arguments)
}

/// In the order in which all lock populations.
const LOCK: &str =
    "SELECT FROM sanitize.population WHERE id IN ($1::int8, $2::int8) ORDER BY id FOR UPDATE";

const LIMIT: &str = "UPDATE sanitize.population AS q SET
        epsilon = $2::numeric, delta = $3::numeric, window_length = $4::interval, min_epsilon = $5::numeric,
        epsilon_spent = n.sums[1], delta_spent = n.sums[2], rho_spent = n.sums[3],
        rest_epsilon = n.sums[4], rest_delta = n.sums[5],
        window_start = CASE WHEN q.window_length IS NOT DISTINCT FROM $4::interval
                            THEN q.window_start ELSE clock_timestamp() END
    FROM (SELECT CASE
                   WHEN o.window_length IS NOT DISTINCT FROM $4::interval
                   THEN ARRAY[o.epsilon_spent, o.delta_spent, o.rho_spent, o.rest_epsilon, o.rest_delta]
                   WHEN $4 IS NULL
                   THEN ARRAY[greatest(s.epsilon, o.epsilon_spent), greatest(s.delta, o.delta_spent),
                              greatest(s.rho, o.rho_spent), greatest(s.rest_epsilon, o.rest_epsilon),
                              greatest(s.rest_delta, o.rest_delta)]
                   ELSE ARRAY[s.epsilon, s.delta, s.rho, s.rest_epsilon, s.rest_delta] END AS sums
            FROM sanitize.population o CROSS JOIN LATERAL (
                 SELECT coalesce(sum(e.epsilon), 0) AS epsilon, coalesce(sum(e.delta), 0) AS delta,
                        coalesce(sum(e.rho), 0) AS rho,
                        coalesce(sum(coalesce(e.rest_epsilon, e.epsilon)), 0) AS rest_epsilon,
                        coalesce(sum(coalesce(e.rest_delta, e.delta)), 0) AS rest_delta
                   FROM sanitize.ledger_entry e
                  WHERE e.population = o.id
                    AND ($4 IS NULL OR e.charged_at + $4::interval > clock_timestamp())) AS s
           WHERE o.id = $1::int8) AS n
    WHERE q.id = $1::int8";

/// A relation that is protected as a part of the population, if there is one.
pub fn any_member(id: i64) -> Result<Option<String>, Error> {
    value(ANY_MEMBER, &[Some(&id.to_string())])
}

const ANY_MEMBER: &str = "SELECT a.source::text FROM sanitize_internal.account a
    WHERE a.population = $1::int8 ORDER BY 1 LIMIT 1";

/// Takes the name from a population without relations. What was spent stays in the row.
pub fn drop(id: i64) -> Result<(), Error> {
    execute(
        "UPDATE sanitize.population SET is_dropped = true WHERE id = $1::int8",
        &[Some(&id.to_string())],
    )
}

/// The population that a relation is in or was in last.
pub struct Membership {
    pub id: i64,
    /// `None` if it has no name or was dropped.
    pub name: Option<String>,
    pub is_head: bool,
    /// The relation is protected.
    pub is_protected: bool,
    /// Another relation that is protected as a part of it, if there is one.
    pub other: Option<String>,
    /// The caller may put relations into it.
    pub is_ours: bool,
}

impl Membership {
    pub fn of(source: Oid, caller: Oid) -> Result<Option<Self>, Error> {
        let query = format!("{MEMBERSHIP} ({MAY})::text {MEMBERSHIP_FROM}");
        let arguments = [Some(&*oid(source)), Some(&*oid(caller))];
        let Some(row) = Stored::first("member", &query, &arguments)? else { return Ok(None) };
        let id = row.text(0, "population")?.parse().map_err(|_| row.damaged("population"))?;
        Ok(Some(Membership {
            id,
            name: row.optional(1).map(String::from),
            is_head: row.truth(2, "is_head")?,
            is_protected: row.truth(3, "source")?,
            other: row.optional(4).map(String::from),
            is_ours: row.truth(5, "owner")?,
        }))
    }
}

const MEMBERSHIP: &str = "SELECT q.id::text, CASE WHEN NOT q.is_dropped THEN q.name END, m.is_head::text,
        EXISTS (SELECT FROM sanitize_internal.account a WHERE a.source = m.source)::text,
        (SELECT min(a.source::text) FROM sanitize_internal.account a WHERE a.population = q.id AND a.source <> m.source),";

const MEMBERSHIP_FROM: &str =
    "FROM sanitize.member m JOIN sanitize.population q ON q.id = m.population
    WHERE m.source = $1::oid::regclass AND m.row_type = sanitize_internal.row_type(m.source)";

/// Makes a population without a name of the account of a protected relation, which others are to share; its number. If
/// the relation is in a population already, that is the one.
pub fn of_relation(source: Oid) -> Result<i64, Error> {
    let argument = oid(source);
    execute(LOCK_RELATION, &[Some(&argument)])?;
    if let Some(Holder::Population(id)) = Holder::of(source)? {
        return Ok(id);
    }
    let made = value(PROMOTE, &[Some(&argument)])?;
    let id: i64 =
        made.and_then(|id| id.parse().ok()).ok_or_else(|| damaged("protection", "source"))?;
    let number = id.to_string();
    execute(REMEMBER_HEAD, &[Some(&argument), Some(&number)])?;
    execute(GIVE_UP_ACCOUNT, &[Some(&argument)])?;
    execute(TAKE_ENTRIES, &[Some(&number), None, Some(&argument)])?;
    Ok(id)
}

const LOCK_RELATION: &str =
    "SELECT FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE";

const PROMOTE: &str = "INSERT INTO sanitize.population
        (owner, owner_name, epsilon, epsilon_spent, delta, delta_spent, window_length, window_start,
         rho_spent, rest_epsilon, rest_delta, min_epsilon)
    SELECT sanitize_internal.relation_owner(source), sanitize_internal.role_name(sanitize_internal.relation_owner(source)),
           epsilon, epsilon_spent, delta, delta_spent, window_length, window_start,
           rho_spent, coalesce(rest_epsilon, epsilon_spent), coalesce(rest_delta, delta_spent), min_epsilon
      FROM sanitize.protection
     WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)
    RETURNING id::text";

const REMEMBER_HEAD: &str = "INSERT INTO sanitize.member (source, population, is_head) VALUES ($1::oid::regclass, $2::int8, true)";

const REMEMBER: &str = "INSERT INTO sanitize.member (source, population, is_head) VALUES ($1::oid::regclass, $2::int8, false)";

const GIVE_UP_ACCOUNT: &str = "UPDATE sanitize.protection SET epsilon = NULL, epsilon_spent = NULL, delta = NULL,
        delta_spent = NULL, window_length = NULL, window_start = NULL, rho_spent = NULL, rest_epsilon = NULL,
        rest_delta = NULL, min_epsilon = NULL
    WHERE source = $1::oid::regclass";

/// Those of population $2, and those of relation $3 on its own.
const TAKE_ENTRIES: &str = "UPDATE sanitize.ledger_entry SET population = $1::int8
    WHERE population = $2::int8
       OR population IS NULL AND source = $3::oid::regclass AND row_type = sanitize_internal.row_type(source)";

/// Has the charges of a registered relation go to a population. What was charged to the relation counts there from now
/// on, and what is left of a population that it was in before is merged with this one, with all its relations.
pub fn join(source: Oid, id: i64) -> Result<(), Error> {
    let (source, number) = (oid(source), id.to_string());
    let mut before = value(BEFORE, &[Some(&source)])?;
    loop {
        execute(LOCK, &[Some(&number), before.as_deref()])?;
        // While this waited, its population may have been merged with another one.
        let now = value(BEFORE, &[Some(&source)])?;
        if now == before {
            break;
        }
        before = now;
    }
    execute(LOCK_RELATION, &[Some(&source)])?;
    if value(EXISTS, &[Some(&number)])?.is_none() {
        let relation = value("SELECT $1::oid::regclass::text", &[Some(&source)])?;
        return Err(Error::TermsChanged { relation: relation.unwrap_or_default(), charged: false });
    }
    if before.as_ref() == Some(&number) {
        return Ok(());
    }
    entries::check_entries(&source)?;
    if let Some(before) = &before {
        entries::check_population(before)?;
    }
    let arguments = [Some(number.as_str()), before.as_deref(), Some(source.as_str())];
    execute(MERGE_SHARES, &arguments)?;
    execute(RENEW, &arguments[..1])?;
    execute(ADD, &arguments)?;
    execute(TAKE_ENTRIES, &arguments)?;
    match before {
        Some(_) => {
            execute(TAKE_MEMBERS, &arguments[..2])?;
            execute("DELETE FROM sanitize.population WHERE id = $1::int8", &arguments[1..2])?;
        }
        None => execute(REMEMBER, &[Some(&source), Some(&number)])?,
    }
    execute(GIVE_UP_ACCOUNT, &[Some(&source)])
}

/// While it waited for the lock, the population may have been merged with another one.
const EXISTS: &str = "SELECT 'found' FROM sanitize.population WHERE id = $1::int8";

const BEFORE: &str = "SELECT population::text FROM sanitize.member
    WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)";

const TAKE_MEMBERS: &str =
    "UPDATE sanitize.member SET population = $1::int8, is_head = false WHERE population = $2::int8";

/// A window that is over has to end before something is added, which would end with it.
const RENEW: &str =
    "UPDATE sanitize.population SET epsilon_spent = 0, delta_spent = 0, rho_spent = 0,
        rest_epsilon = 0, rest_delta = 0, window_start = clock_timestamp()
    WHERE id = $1::int8 AND window_start + window_length <= clock_timestamp()";

/// Adds the entries that [`TAKE_ENTRIES`] takes: with a window those that are in it or not older than it is long.
/// Entries of dropped relations are not in a dump, so without a window at least the sum of population $2 is added.
const ADD: &str = "UPDATE sanitize.population AS q SET
        epsilon_spent = q.epsilon_spent + greatest(s.epsilon, o.epsilon_spent),
        delta_spent = q.delta_spent + greatest(s.delta, o.delta_spent),
        rho_spent = q.rho_spent + greatest(s.rho, o.rho_spent),
        rest_epsilon = q.rest_epsilon + greatest(s.rest_epsilon, o.rest_epsilon),
        rest_delta = q.rest_delta + greatest(s.rest_delta, o.rest_delta)
    FROM sanitize.population AS w
    LEFT JOIN sanitize.population AS o ON o.id = $2::int8 AND w.window_length IS NULL
    CROSS JOIN LATERAL (
         SELECT coalesce(sum(e.epsilon), 0) AS epsilon, coalesce(sum(e.delta), 0) AS delta,
                coalesce(sum(e.rho), 0) AS rho,
                coalesce(sum(coalesce(e.rest_epsilon, e.epsilon)), 0) AS rest_epsilon,
                coalesce(sum(coalesce(e.rest_delta, e.delta)), 0) AS rest_delta
           FROM sanitize.ledger_entry e
          WHERE (e.population = $2::int8
                 OR e.population IS NULL AND e.source = $3::oid::regclass
                    AND e.row_type = sanitize_internal.row_type(e.source))
            AND (w.window_length IS NULL OR e.charged_at >= w.window_start
                 OR e.charged_at + w.window_length > clock_timestamp())) AS s
    WHERE w.id = $1::int8 AND q.id = w.id";

/// A role that has a share of both accounts has the smaller one of the merged account, and has spent what it spent of
/// both. Within an account the rows of a role are alike.
const MERGE_SHARES: &str = "WITH own AS (
        SELECT $3::oid::regclass AS source, 'here' AS whose
        UNION SELECT m.source, 'here' FROM sanitize.member m WHERE m.population = $2::int8
        UNION SELECT m.source, 'there' FROM sanitize.member m WHERE m.population = $1::int8),
    share AS (
        SELECT a.grantee, own.whose, min(a.epsilon) AS epsilon, min(a.delta) AS delta,
               max(a.epsilon_spent) AS epsilon_spent, max(a.delta_spent) AS delta_spent, max(a.rho_spent) AS rho_spent,
               max(coalesce(a.rest_epsilon, a.epsilon_spent)) AS rest_epsilon,
               max(coalesce(a.rest_delta, a.delta_spent)) AS rest_delta
          FROM sanitize.allowance a JOIN own USING (source) GROUP BY a.grantee, own.whose),
    merged AS (
        SELECT grantee, min(epsilon) AS epsilon, min(delta) AS delta, sum(epsilon_spent) AS epsilon_spent,
               sum(delta_spent) AS delta_spent, sum(rho_spent) AS rho_spent, sum(rest_epsilon) AS rest_epsilon,
               sum(rest_delta) AS rest_delta
          FROM share GROUP BY grantee)
    UPDATE sanitize.allowance AS a SET epsilon = m.epsilon, delta = m.delta, epsilon_spent = m.epsilon_spent,
           delta_spent = m.delta_spent, rho_spent = m.rho_spent, rest_epsilon = m.rest_epsilon,
           rest_delta = m.rest_delta
      FROM merged m WHERE m.grantee = a.grantee AND a.source IN (SELECT source FROM own)";

/// Gives a population without a name to the owner of the only relation in it.
pub fn take_over(id: i64, source: Oid) -> Result<(), Error> {
    execute(TAKE_OVER, &[Some(&id.to_string()), Some(&oid(source))])
}

const TAKE_OVER: &str = "UPDATE sanitize.population SET owner = sanitize_internal.relation_owner($2::oid::regclass),
        owner_name = sanitize_internal.role_name(sanitize_internal.relation_owner($2::oid::regclass))
    WHERE id = $1::int8";
