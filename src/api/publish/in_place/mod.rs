//! `sanitize_in_place`: the rows of a table are replaced by a release of it, for copies that go to test and
//! training. [`plan`] has which keys are replaced and where, [`rewrite`] the statements.

mod plan;
mod rewrite;

use super::maker::Maker;
use super::releases::{as_owner, tell};
use crate::api::prelude::*;
use crate::api::shared::registry::{self, METHOD, OPTIONS};
use crate::catalog::releases;
use crate::pg::catalog::keys;
use crate::pg::process::worker::running::Running;
use crate::pg::write::statistics;
use crate::pg::write::target::{self, Lock};
use plan::{Plan, Replaced};
use rewrite::Rewrite;

const TARGET: Argument<Oid> = Argument::of("target").about("The table whose rows are replaced.");

const CONFIRM: Argument<Option<String>> =
    Argument::of("confirm").about("The name of the table once more, to say that its rows may go.");

const SANITIZE_IN_PLACE: Method = Method::new(
    "sanitize_in_place",
    &[&TARGET, &METHOD, &OPTIONS, &CONFIRM],
    Returns::One(Type::Json),
    sanitize_in_place,
)
.about(
    "replaces the rows of a table of the caller's by a release of it, and its keys, with \
         what refers to them, by random values; returns the label, and what stays as it was",
);

/// Refuses unless the caller names the table once more.
fn check_confirmed(target: &Relation, confirm: Option<&str>) -> Result<()> {
    if confirm.is_some_and(|name| target::is_called(target, name)) {
        return Ok(());
    }
    let found = match confirm {
        Some(name) => format!("confirm is \"{name}\", which is not the name of {}", target.name),
        None => "confirm is missing".to_string(),
    };
    let name = target.name.replace('\'', "''");
    let hint = format!(
        "The rows of the table are replaced and cannot be had back. If that is meant: confirm => '{name}'."
    );
    Err(Error::argument(found, hint))
}

/// True if the table, or a partition of it, is protected.
fn has_budget(table: &Relation) -> Result<bool> {
    for part in target::parts(table.oid) {
        if protection::terms(part)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses a table if a foreign key refers to one of its partitions directly: such references cannot be updated with
/// it.
fn refuse_referred_parts(table: &Relation) -> Result<()> {
    let parts = target::parts(table.oid);
    let is_part = |one: Oid| one != table.oid && parts.contains(&one);
    if keys::references()?.iter().any(|one| is_part(one.to.table)) {
        let reason = "a foreign key refers to one of its partitions".into();
        return Err(Error::NotInPlace { relation: table.name.clone(), reason });
    }
    Ok(())
}

/// Forgets what the planner knows of a table: of these columns or of all, and of all columns of its partitions.
fn forget_statistics(table: &Relation, columns: Option<&[i16]>) {
    for part in target::parts(table.oid) {
        statistics::forget(part, columns.filter(|_| part == table.oid));
    }
}

/// Why a locked table cannot be written in place.
fn refuse_unsuitable(table: &Relation) -> Result<()> {
    let reason = if target::is_systems(table.oid) {
        Some("it is a table of the system or of the extension".into())
    } else if releases::find(table.oid)?.is_some() {
        Some("it is a release, which the next refresh makes anew from its source".into())
    } else if has_budget(table)? {
        Some("it has a budget, which counts what was told of the rows that are there".into())
    } else {
        target::unsuitable_parts(table.oid).or_else(|| strangers_type(table))
    };
    if let Some(reason) = reason {
        return Err(Error::NotInPlace { relation: table.name.clone(), reason });
    }
    target::refuse_in_use(table.oid, c"sanitize");
    Ok(())
}

/// A column whose type would run functions of a role other than the table's owner when it is written.
fn strangers_type(table: &Relation) -> Option<String> {
    let owner = rights::owner_of(table.oid)?;
    let author = |column: &Column| {
        let authors = types::authors(column.type_oid);
        authors.into_iter().find(|&author| !rights::is_trusted(author, owner))
    };
    table.columns.iter().find_map(|column| {
        let author = rights::role_name(author(column)?).unwrap_or_default();
        Some(format!(
            "the type of its column {} has a domain of role \"{author}\"",
            column.quoted()
        ))
    })
}

/// Refuses what cannot be done with the columns, before a row is read.
fn check_columns(target: &Relation, plan: &Plan, maker: &Maker<'_>) -> Result<()> {
    let generated = keys::generated_columns(target.oid)?;
    for column in target.columns.iter().filter(|column| !generated.contains(&column.number)) {
        let name = &column.name;
        if plan.spares(target.oid, column.number) {
            if maker.names(name) {
                return Err(Error::argument(
                    format!(
                        "column \"{name}\" of {} is part of a key, or refers to it",
                        target.name
                    ),
                    "Keys take no part in the method: they are replaced by random values, wherever something refers to them too.",
                ));
            }
        } else if column.not_null && !maker.fills(name) {
            return Err(Error::argument(
                format!("column \"{name}\" of {} takes no part, and must not be NULL", target.name),
                "What takes no part is blanked. Name the column in columns, or in keep to leave it as it is; or drop its NOT NULL.",
            ));
        }
    }
    Ok(())
}

fn sanitize_in_place(call: &Call) -> Result<Datum> {
    target::refuse_read_only(c"sanitize.sanitize_in_place()");
    if rights::has_fixed_snapshot() {
        return Err(Error::FixedSnapshot {
            function: "sanitize.sanitize_in_place",
            why: "It would miss rows that came after the transaction began.",
        });
    }
    let (method, options) = (call.get(&METHOD)?, registry::object(call.get(&OPTIONS)?)?);
    let maker = Maker::of_rows(&method, &options)?;
    let oid = call.get(&TARGET)?;
    check_confirmed(&Relation::row_type(oid)?, call.get(&CONFIRM)?.as_deref())?;
    let target = target::lock(oid, Lock::Write)?;
    refuse_unsuitable(&target)?;
    refuse_referred_parts(&target)?;
    let maker = maker.counting_in(&target)?;
    let plan = Plan::of(&target, &maker)?;
    let referring: Vec<Relation> = plan
        .referring
        .iter()
        .map(|&table| target::lock(table, Lock::Write))
        .collect::<Result<_, _>>()?;
    if Plan::of(&target, &maker)? != plan {
        return Err(Error::Swapped);
    }
    let written = |table: &&Relation| {
        let mut places = plan.replaced.iter().flat_map(|one| one.places());
        places.any(|place| place.table == table.oid)
    };
    for table in referring.iter().filter(written) {
        refuse_unsuitable(table)?;
    }
    check_columns(&target, &plan, &maker)?;
    let label = label(&target, &plan, &maker)?;
    let earlier = if label.composes() { 0 } else { releases::earlier(target.oid)? };
    let label = not_covering(label.after(earlier), &referring);
    let label = serde_json::to_value(label.label()).map_err(Error::fault)?;

    let running = Running::begin(&target.from(), target.oid, &method);
    let (rows, mut left_alone) = replace(&target, &plan, &maker, &referring)?;
    if let Some(running) = running {
        running.end();
    }
    left_alone.splice(0..0, stayed(&target, &plan, &maker));
    let told = told(label, rows, &target, &plan, &referring, left_alone)?;
    let all: Vec<&str> =
        std::iter::once(&target).chain(&referring).map(|table| table.name.as_str()).collect();
    notice_hint(
        &format!(
            "the originals are still in old row versions of {}, in the WAL and in backups",
            all.join(", ")
        ),
        &format!(
            "After the commit: VACUUM (FULL, ANALYZE) {}; then rotate WAL and backups away.",
            all.join(", ")
        ),
    );
    tell((told, earlier), &target.name)
}

/// Replaces the rows and all keys; returns the number of rows, and which sequences were not restarted.
fn replace(
    target: &Relation,
    plan: &Plan,
    maker: &Maker<'_>,
    referring: &[Relation],
) -> Result<(u64, Vec<String>)> {
    let generated = keys::generated_columns(target.oid)?;
    let spared = target.columns.iter().filter(|column| {
        plan.spares(target.oid, column.number)
            || (generated.contains(&column.number) && !maker.names(&column.name))
    });
    let spared: Vec<&str> = spared.map(|column| column.name.as_str()).collect();
    let options = maker.sparing(target, &spared);
    let sparing = Maker::of_rows(maker.name(), &options)?;
    let mut rewrite = Rewrite::new(target, plan);
    let (rows, left_alone) = as_owner(target, || {
        let rows = rewrite.rows(&sparing)?;
        forget_statistics(target, None);
        Ok((rows, restart_sequences(plan, &rewrite)?))
    })?;
    for table in referring {
        as_owner(table, || {
            rewrite.refuse_orphans(table)?;
            rewrite.references(table)
        })?;
        let places = plan.replaced.iter().flat_map(|one| one.places());
        let columns: Vec<i16> =
            places.filter(|place| place.table == table.oid).map(|place| place.column).collect();
        forget_statistics(table, Some(&columns));
    }
    rewrite.end();
    Ok((rows, left_alone))
}

/// Restarts the sequences of replaced keys after the new keys; returns those for which that is impossible.
fn restart_sequences(plan: &Plan, rewrite: &Rewrite<'_>) -> Result<Vec<String>> {
    let mut left_alone = Vec::new();
    for (i, replaced) in plan.replaced.iter().enumerate() {
        let Some(highest) = rewrite.highest(i) else { continue };
        for sequence in keys::sequences(replaced.root)? {
            let is_behind = sequence.last.is_some_and(|last| last > highest);
            match sequence.most.filter(|&most| most > highest) {
                Some(_) if is_behind => {}
                Some(_) => sql::run_as_caller(
                    &format!("ALTER SEQUENCE {} RESTART WITH {}", sequence.name, highest + 1),
                    &[],
                )?,
                None => left_alone.push(format!(
                    "sequence {}: may give values that new keys have",
                    sequence.name
                )),
            }
        }
    }
    Ok(left_alone)
}

/// The label of the rows: keys that stay count as kept columns, and replaced keys may still link rows or reveal which
/// keys there were.
fn label(target: &Relation, plan: &Plan, maker: &Maker<'_>) -> Result<Guarantee> {
    let named = |is_named: &dyn Fn(&i16) -> bool| -> Vec<&str> {
        let columns = target.columns.iter().filter(|column| is_named(&column.number));
        columns.map(|column| column.name.as_str()).collect()
    };
    let stays = |number: &i16| plan.kept.iter().any(|(kept, _)| kept == number);
    let options = maker.sparing(target, &named(&stays));
    let label = Maker::of_rows(maker.name(), &options)?.promise(target)?.label;
    let linking = plan.linking();
    let replaced: Vec<i16> = plan.replaced.iter().flat_map(Replaced::own_columns).collect();
    let label = label.linked_by(&named(&|number| linking.contains(number)));
    let others = named(&|number| replaced.contains(number) && !linking.contains(number));
    Ok(label.with_new_keys(&others))
}

/// Adds what a table that is written in place does not protect, with any method.
fn not_covering(label: Guarantee, referring: &[Relation]) -> Guarantee {
    let label = label.not_covering(
        "old row versions, the WAL and backups: they hold the originals until VACUUM FULL and rotation",
    );
    if referring.is_empty() {
        return label;
    }
    let names: Vec<&str> = referring.iter().map(|table| table.name.as_str()).collect();
    label.not_covering(format!(
        "tables that refer to it: {} have their own columns as before, and who knows them may find rows by them",
        names.join(", ")
    ))
}

/// The unchanged columns, and why they are unchanged.
fn stayed(target: &Relation, plan: &Plan, maker: &Maker<'_>) -> Vec<String> {
    let why = |number: i16, name: &str| {
        let kept = plan.kept.iter().find(|&&(kept, _)| kept == number).map(|&(_, why)| why);
        kept.or_else(|| maker.keeps(name).then_some("kept, as the options say"))
    };
    let column = |column: &Column| {
        Some(format!("column {}: {}", column.quoted(), why(column.number, &column.name)?))
    };
    target.columns.iter().filter_map(column).collect()
}

/// The label, with what was done to the keys and what remains.
fn told(
    mut label: Json,
    rows: u64,
    target: &Relation,
    plan: &Plan,
    referring: &[Relation],
    left_alone: Vec<String>,
) -> Result<Json> {
    let named = |table: &Relation, number: i16| {
        let column = table.columns.iter().find(|column| column.number == number);
        column.map(|column| format!("{}.{}", table.name, column.quoted()))
    };
    let tables = || std::iter::once(target).chain(referring);
    let keys = plan.replaced.iter().map(|one| {
        let name = |place: &keys::Place| {
            tables().find(|t| t.oid == place.table).and_then(|t| named(t, place.column))
        };
        let in_step: Vec<String> = one.referring.iter().filter_map(name).collect();
        json!({"column": name(&one.root), "referring": in_step})
    });
    label["rows"] = rows.into();
    label["keys_replaced"] = keys.collect();
    label["left_alone"] = json!(left_alone);
    Ok(label)
}

methods! {
    sanitize_sanitize_in_place => SANITIZE_IN_PLACE;
}
