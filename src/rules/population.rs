//! Which protected relations are about the same people, as far as the catalog shows it: these share one budget.
//!
//! A relation shares with what it reads (through views, partitions, inheriting tables, materialized views and releases),
//! with what reads it, and with what shows rows of the same table as its units. [`home`] says which budget a relation gets
//! when it is protected; [`check`] looks again with each charge, because views are replaced and partitions attached.
//!
//! Tables of other roles: a role that may read a table can protect a copy or a materialized view of it. The budget of the
//! table is not that role's to spend, and its budget must not stop the table's owner. So it is the reader that is refused.

use crate::catalog::population::{self, Holder, Membership};
use crate::pg::prelude::*;
use crate::rules::family;
use std::collections::HashSet;

/// A protected relation that may be about the same people as another one.
struct Other {
    oid: Oid,
    name: String,
    holder: Holder,
    /// The name of its population.
    population: Option<String>,
    /// Reads rows of the one in question.
    reads_it: bool,
    /// The one in question reads its rows.
    is_read: bool,
    /// Both have the same owner.
    is_ours: bool,
    unit: String,
}

impl Other {
    /// How the two are connected, as a sentence.
    fn how(&self, relation: &Relation) -> String {
        match (self.is_read, self.reads_it) {
            (true, _) => format!("{} reads {}, which is protected.", relation.name, self.name),
            (_, true) => format!("{}, which is protected, reads {}.", self.name, relation.name),
            _ => format!(
                "{} and {}, which is protected, show rows of the same table.",
                relation.name, self.name
            ),
        }
    }

    /// Whose budget it has.
    fn whose(&self) -> String {
        match &self.population {
            Some(name) => format!("population {name}"),
            None => self.name.clone(),
        }
    }

    /// A reader that belongs to another role.
    fn is_foreign_reader(&self) -> bool {
        self.reads_it && !self.is_read && !self.is_ours
    }
}

/// All protected relations that share a table with this one, in whatever way they use it, as committed now.
fn candidates(relation: Oid) -> Result<Vec<Other>, Error> {
    let argument = || [Text(crate::catalog::oid(relation)).into()];
    let latest = || rights::with_extension_rights(|| sql::latest_rows::<1>(LINKED, &argument()));
    // Most tables are read by no view: then the query that follows links need not be planned.
    if latest()?.is_empty() {
        return Ok(Vec::new());
    }
    let rows = rights::without_compiling(|| {
        rights::with_extension_rights(|| sql::latest_rows(CANDIDATES, &argument()))
    })?;
    let other = |[oid, name, population, named, reads_it, is_read, is_ours, unit]: [Option<String>;
                     8]| {
        let is_true = |truth: &Option<String>| truth.as_deref() == Some("true");
        let missing = || Error::query("a protected relation has no name or no unit");
        let oid = sql::oid(&oid)?;
        Ok(Other {
            oid,
            name: name.ok_or_else(missing)?,
            holder: Holder::found(oid, population.as_deref())?,
            population: named,
            reads_it: is_true(&reads_it),
            is_read: is_true(&is_read),
            is_ours: is_true(&is_ours),
            unit: unit.ok_or_else(missing)?,
        })
    };
    rows.into_iter().map(other).collect()
}

/// Whether the relation is a view, is read by one, is a partition, parent or child, or a release, or has one.
const LINKED: &str = "SELECT 'linked'
     WHERE EXISTS (SELECT FROM pg_rewrite WHERE ev_class = $1::oid)
        OR EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = $1::oid
                                           AND classid = 'pg_rewrite'::regclass)
        OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = $1::oid)
        OR EXISTS (SELECT FROM pg_inherits WHERE inhparent = $1::oid)
        OR EXISTS (SELECT FROM sanitize.published WHERE target = $1::oid OR source = $1::oid)";

/// `down` is all that the relation's rows come from, `up` all whose rows come from any of that. Catalogs of Postgres are
/// not followed: half of its own views read them.
const CANDIDATES: &str = "WITH RECURSIVE down AS (
        SELECT $1::oid AS oid
         UNION
        SELECT next.oid FROM down CROSS JOIN LATERAL (
            SELECT d.refobjid AS oid FROM pg_rewrite r
              JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
               AND d.refclassid = 'pg_class'::regclass
             WHERE r.ev_class = down.oid AND r.ev_type = '1'
             UNION ALL
            SELECT inhrelid FROM pg_inherits WHERE inhparent = down.oid
             UNION ALL
            SELECT i.inhparent FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition
             WHERE i.inhrelid = down.oid
             UNION ALL
            SELECT p.source::oid FROM sanitize.published p
             WHERE p.target = down.oid AND p.row_type = sanitize_internal.row_type(p.target)
               AND coalesce(p.source_row_type = sanitize_internal.row_type(p.source), true)
               AND coalesce(p.guarantee ->> 'kind', 'none') NOT IN ('dp', 'ldp')) AS next
         WHERE next.oid >= 16384),
    up AS (
        SELECT oid, oid = $1::oid AS of_it FROM down
         UNION
        SELECT next.oid, up.of_it FROM up CROSS JOIN LATERAL (
            SELECT r.ev_class AS oid FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1'
             WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = up.oid AND d.classid = 'pg_rewrite'::regclass
             UNION ALL
            SELECT inhparent FROM pg_inherits WHERE inhrelid = up.oid
             UNION ALL
            SELECT i.inhrelid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition
             WHERE i.inhparent = up.oid
             UNION ALL
            SELECT p.target::oid FROM sanitize.published p
             WHERE p.source = up.oid AND p.row_type = sanitize_internal.row_type(p.target)
               AND coalesce(p.source_row_type = sanitize_internal.row_type(p.source), true)
               AND coalesce(p.guarantee ->> 'kind', 'none') NOT IN ('dp', 'ldp')) AS next)
    SELECT p.source::oid::text, p.source::text, a.population::text, a.name, bool_or(up.of_it)::text,
           EXISTS (SELECT FROM down WHERE down.oid = p.source)::text,
           (sanitize_internal.relation_owner(p.source) = sanitize_internal.relation_owner($1::oid::regclass))::text, p.unit
      FROM up JOIN sanitize.protection p ON p.source = up.oid
      JOIN sanitize_internal.account a ON a.source = p.source
     WHERE p.source <> $1::oid
     GROUP BY p.source, a.population, a.name, p.unit ORDER BY 6 DESC, 2";

/// Those of them that are about the people of the relation. Two views that read one table are only if their units come
/// from it, and not if they join it to them.
fn about_the_same<'a>(
    relation: &Relation,
    unit: &str,
    candidates: impl Iterator<Item = Other> + 'a,
) -> Result<Vec<Other>, Error> {
    let mut own: Option<HashSet<Oid>> = None;
    let mut found = Vec::new();
    for other in candidates {
        let is_about = other.is_read || other.reads_it || {
            let own = match &mut own {
                Some(own) => own,
                none => none.insert(family::shown(relation.oid, unit)?),
            };
            !own.is_disjoint(&family::shown(other.oid, &other.unit)?)
        };
        if is_about {
            found.push(other);
        }
    }
    Ok(found)
}

/// Refuses a charge to a relation if the catalog shows that another one with another budget is about the same people.
pub fn check(relation: &Relation) -> Result<(), Error> {
    let candidates = candidates(relation.oid)?;
    if candidates.is_empty() {
        return Ok(());
    }
    let (Some(holder), Some(terms)) =
        (Holder::of(relation.oid)?, crate::catalog::protection::terms(relation.oid)?)
    else {
        return Ok(());
    };
    // Relations of another role that do not belong to what is read have a budget that is their owner's own affair.
    let elsewhere = candidates
        .into_iter()
        .filter(|other| other.holder != holder && (other.is_read || other.is_ours));
    match about_the_same(relation, &terms.unit, elsewhere)?.first() {
        None => Ok(()),
        Some(other) => Err(Error::TwoBudgets {
            relation: relation.name.clone(),
            other: other.name.clone(),
            how: other.how(relation),
        }),
    }
}

/// Which account the charges of a relation go to once it is protected.
pub enum Home {
    /// One of its own.
    Own,
    /// That of a population. These relations, which are about the same people, move into it, too.
    Population { id: i64, with: Vec<(Oid, String)> },
    /// That of a population which the caller did not name.
    Joined { id: i64, whose: String },
    /// That of a protected relation which had it for itself so far.
    With { other: Oid, whose: String },
    /// That of a population without a name, whose limits this relation sets.
    Head { id: i64 },
}

/// A refusal to protect.
fn refused<T>(message: String, reason: String, hint: impl Into<String>) -> Result<T, Error> {
    Err(Error::OneBudget { message, reason, hint: hint.into() })
}

/// Decides which account a relation gets, for [`Home`]'s caller to carry out. `has_limits`: epsilon was given.
pub fn home(
    relation: &Relation,
    unit: &str,
    population: Option<&str>,
    has_limits: bool,
) -> Result<Home, Error> {
    let caller = rights::current_user();
    let others = candidates(relation.oid)?.into_iter().filter(|other| !other.is_foreign_reader());
    let others = about_the_same(relation, unit, others)?;
    let known = Membership::of(relation.oid, caller)?;
    match population {
        Some(name) => named(relation, name, caller, known, others),
        None => unnamed(relation, known, &others, has_limits),
    }
}

fn named(
    relation: &Relation,
    name: &str,
    caller: Oid,
    known: Option<Membership>,
    others: Vec<Other>,
) -> Result<Home, Error> {
    let id = ours(name, caller)?;
    if let Some(Membership { name: Some(former), id: before, .. }) = &known
        && *before != id
    {
        return refused(
            format!("{} is in population {former}", relation.name),
            "What was told about its people is counted there.".into(),
            "Name that population. Or unprotect all its relations and drop it with sanitize.drop_population: what is spent comes along.",
        );
    }
    let own = known.map(|known| Holder::Population(known.id));
    let mut with = Vec::new();
    for other in others.into_iter().filter(|other| other.holder != Holder::Population(id)) {
        // What shares its budget moves along, and what reads it or shows rows of the same table follows.
        let follows = other.is_ours && (!other.is_read || Some(other.holder) == own);
        if other.population.is_some() || !follows {
            return refused(
                format!(
                    "{} cannot be in population {name}: {} has another budget",
                    relation.name, other.name
                ),
                other.how(relation),
                match &other.population {
                    Some(theirs) => format!(
                        "Both are about the same people: name population {theirs}, or unprotect {}.",
                        other.name
                    ),
                    None => format!(
                        "Both are about the same people: protect {} with that population first.",
                        other.name
                    ),
                },
            );
        }
        with.push((other.oid, other.name));
    }
    Ok(Home::Population { id, with })
}

/// The number of a population that is the caller's, which is locked.
pub fn ours(name: &str, caller: Oid) -> Result<i64, Error> {
    let missing = || {
        Error::argument(
            format!("there is no population {name}"),
            "Make it with sanitize.population(name, epsilon); sanitize.populations lists those that you see.",
        )
    };
    let find = || population::named(name, caller)?.ok_or_else(missing);
    let found = find()?;
    if !found.is_ours {
        return Err(Error::NotPopulationOwner { name: name.into(), owner: found.owner });
    }
    population::lock(found.id)?;
    // It may have been dropped while this waited.
    match find()?.id == found.id {
        true => Ok(found.id),
        false => Err(missing()),
    }
}

fn unnamed(
    relation: &Relation,
    known: Option<Membership>,
    others: &[Other],
    has_limits: bool,
) -> Result<Home, Error> {
    let missing = || Error::Null { argument: "epsilon" };
    let mut holders: Vec<Holder> = Vec::new();
    let former = known.as_ref().map(|known| Holder::Population(known.id));
    for holder in others.iter().map(|other| other.holder).chain(former) {
        if !holders.contains(&holder) {
            holders.push(holder);
        }
    }
    let name = &relation.name;
    let home = match holders.as_slice() {
        [] if has_limits => return Ok(Home::Own),
        [] => return Err(missing()),
        [home] => *home,
        _ => {
            let list = |other: &Other| other.name.clone();
            let named: Vec<String> = others.iter().map(list).collect();
            return refused(
                format!("{name} is about the people of several budgets"),
                match (named.as_slice(), &known) {
                    ([other], Some(_)) => format!("It has one already, and {other} has another."),
                    _ => format!("Those of {}.", named.join(", ")),
                },
                "Put all these relations into one population: sanitize.population('…', epsilon), and sanitize.protect(…, population => '…').",
            );
        }
    };
    // A population without a name is set by the relation that it was made of, or the only one in it.
    if let (Holder::Population(id), Some(known)) = (home, &known)
        && known.name.is_none()
        && (known.is_head || known.other.is_none())
        && others.iter().all(|other| other.population.is_none())
    {
        if has_limits && (known.is_ours || known.other.is_none()) {
            return Ok(Home::Head { id });
        }
        if known.other.is_none() && !known.is_protected {
            return Err(missing());
        }
    }
    let remembered = || "What was told about its people is counted there.".to_string();
    let (whose, how) = match (&known, others.first()) {
        (Some(Membership { name: Some(population), .. }), _) => {
            (format!("population {population}"), remembered())
        }
        (_, Some(other)) => (other.whose(), other.how(relation)),
        (Some(Membership { other: Some(other), .. }), None) => (
            other.clone(),
            "Both are or were in one population, which is dropped or has no name.".into(),
        ),
        (_, None) => ("a population without a name".into(), remembered()),
    };
    if has_limits {
        return refused(
            format!("{name} has the budget of {whose}"),
            how,
            "Leave out epsilon, delta, window_length and min_epsilon. For another budget name it: sanitize.population('…', epsilon), and sanitize.protect(…, population => '…').",
        );
    }
    let (home, is_ours) = match home {
        Holder::Population(id) => {
            let is_alone = |known: &Membership| known.name.is_none() && known.other.is_none();
            let is_ours = match known.as_ref().filter(|known| known.id == id) {
                Some(known) => known.is_ours || is_alone(known),
                None => population::is_ours(id, rights::current_user())?,
            };
            let is_in = known.as_ref().is_some_and(|known| known.is_protected && known.id == id);
            match is_in {
                true => (Home::Population { id, with: Vec::new() }, is_ours),
                false => (Home::Joined { id, whose: whose.clone() }, is_ours),
            }
        }
        Holder::Relation(oid) => {
            let is_ours = rights::owns(rights::current_user(), oid);
            (Home::With { other: oid, whose: whose.clone() }, is_ours)
        }
    };
    match is_ours {
        true => Ok(home),
        false => refused(
            format!("{name} has the budget of {whose}, which belongs to another role"),
            how,
            "Let a role that both owners are members of make a population, and protect both with it.",
        ),
    }
}
