//! Releases that stay: published as tables, refreshed, retired. [`Maker`] fills one by a method,
//! [`sharded`] on the shards of a source.

use super::maker::{Maker, Written};
use crate::api::prelude::*;
use crate::api::private::budget::role_name;
use crate::api::shards::release as sharded;
use crate::api::shared::registry::{self, METHOD, OPTIONS};
use crate::catalog::releases::{self, Made, Recipe};
use crate::catalog::sharded as sharded_record;
use crate::pg::process::worker::running::{self, Running};
use crate::pg::shards::{keeper, release_parts};
use crate::pg::write::statement;
use crate::pg::write::target::{self, Allowed, Lock, Name, NewColumn};
use guarantee::told_after;

/// Runs `work` with the rights of the table's owner, so that code that the owner put on the table, for example in an
/// index, does not run with another role's rights.
pub fn as_owner<T>(table: &Relation, work: impl FnOnce() -> Result<T>) -> Result<T> {
    match rights::owner_of(table.oid) {
        None => Err(Error::Swapped),
        Some(owner) if owner == rights::current_user() => work(),
        Some(owner) => rights::with_rights_of(owner, work),
    }
}

/// Opens the source and locks it until the transaction ends. A caller who may not read it gets no lock that others
/// would wait for.
fn open_source(source: Oid) -> Result<Relation> {
    let relation = match rights::may_read_some(source) {
        true => Relation::open(source)?,
        false => Relation::row_type(source)?,
    };
    if relation.columns.is_empty() {
        return Err(Error::Empty { relation: relation.name, of: "columns" });
    }
    if relation.is_temporary() {
        return Err(Error::argument(
            format!("source is {}, which is temporary", relation.name),
            "A release is refreshed from its source later on: make it a table or a view.",
        ));
    }
    Ok(relation)
}

/// Makes the release of a recipe in a locked table, in place of its rows, and records it; returns its label, and how
/// many earlier releases weaken it. Other connections can see the progress.
fn fill(recipe: &Recipe, target: &Relation, by: &str) -> Result<(Json, u64)> {
    let running = Running::begin(&target.from(), recipe.source, &recipe.method);
    let made = make(recipe, target, by)?;
    if let Some(running) = running {
        running.end();
    }
    Ok(made)
}

/// A column that the owner has added to a target, if it has values, which would be deleted with the rows.
fn own_values(target: &Relation, columns: &[NewColumn]) -> Result<Option<String>> {
    let is_own = |column: &&Column| columns.iter().all(|one| one.name != column.name);
    for column in target.columns.iter().filter(is_own) {
        let (from, name) = (target.from(), column.quoted());
        let query =
            format!("SELECT 'some' FROM ONLY {from} AS t WHERE t.{name} IS NOT NULL LIMIT 1");
        if !sql::texts(&query, &[])?.is_empty() {
            return Ok(Some(format!("its column \"{}\" is not in the source", column.name)));
        }
    }
    Ok(None)
}

/// Deletes the rows of a locked target.
fn empty(target: &Relation) -> Result<()> {
    statement::write(&format!("DELETE FROM ONLY {}", target.from()), target.oid, &[])?;
    Ok(())
}

/// Refuses a table to which a release that is not sharded cannot be written.
fn refuse_unsuitable(target: &Relation) -> Result<()> {
    match target::unsuitable(target.oid, Allowed::Alone).or_else(|| target::bound(target.oid)) {
        None => Ok(()),
        Some(reason) => Err(Error::Unsuitable { relation: target.name.clone(), reason }),
    }
}

/// Changes the columns of a target that others may already use into those of the release; true if they differed.
/// Columns that the owner added are dropped too: their values would be deleted with the rows.
fn reshaped(maker: &Maker<'_>, target: &Relation, columns: &[NewColumn]) -> Result<bool> {
    if difference(maker, target, columns).is_none() && own_values(target, columns)?.is_none() {
        return Ok(false);
    }
    empty(target)?;
    target::reshape(target, columns)?;
    Ok(true)
}

/// How a target differs from what the method would make, in columns that can have values.
fn difference(maker: &Maker<'_>, target: &Relation, columns: &[NewColumn]) -> Option<String> {
    target::difference(target, columns, |name| maker.shows(name))
}

/// What a label does not cover if rows stay on their shards.
const STAYS: &str = "the shard of a row: a released row lies where its row of the source does, and whoever can read the parts apart sees that";

fn make(recipe: &Recipe, target: &Relation, by: &str) -> Result<(Json, u64)> {
    let source = open_source(recipe.source)?;
    let maker = Maker::new(&recipe.method, &recipe.options)?.counting_in(&source)?;
    keeper::check_relation(&source)?;
    if source.oid == target.oid {
        return Err(Error::argument(
            format!("target and source are both {}", source.name),
            "A release is a table beside its source.",
        ));
    }
    let allowed = if maker.is_sharded() { Allowed::Parent } else { Allowed::Alone };
    let unsuitable = target::unsuitable(target.oid, allowed);
    let columns = maker.columns(&source)?;
    let mut reason =
        unsuitable.or_else(|| target::bound(target.oid)).or(difference(&maker, target, &columns));
    if reason.is_none() {
        reason = own_values(target, &columns)?;
    }
    if let Some(reason) = reason {
        return Err(Error::Unsuitable { relation: target.name.clone(), reason });
    }
    // For example, a function in the source could publish while this release is being written.
    target::refuse_in_use(target.oid, c"publish");
    let promise = maker.promise(&source)?;
    let earlier = if promise.label.composes() { 0 } else { releases::earlier(source.oid)? };
    let label = promise.label.clone().after(earlier);
    let Written { rows, read, suppressed_share, shards } = match maker.is_sharded() {
        true => sharded::write(&maker, &source, target)?,
        false => {
            empty(target)?;
            maker.write(&source, target)?
        }
    };
    let label = placed(label, &maker, !shards.is_empty());
    comment(recipe, target, &label.sentence(), maker.is_draft());
    let mut told = serde_json::to_value(label.label()).map_err(Error::fault)?;
    told["rows"] = rows.into();
    if let Some(share) = suppressed_share {
        told["suppressed_share"] = share.into();
    }
    if let Some(read) = read {
        told["read"] = read.into();
    }
    if !shards.is_empty() {
        told["shards"] = json!(shards);
    }
    if maker.keeps_columns() {
        told["left_out"] = json!(releases::left_out(source.oid)?);
    }
    if maker.is_draft() {
        told["draft"] = true.into();
    }
    releases::enter(&Made {
        target: target.oid,
        recipe,
        label: &told,
        cost: label.spent(),
        rows,
        suppressed_share,
        by,
        is_draft: maker.is_draft() && !releases::is_granted(target.oid)?,
    })?;
    maker.check_kept(&promise, &source)?;
    Ok((told, earlier))
}

/// The label of a sharded release says what the place of a row reveals.
fn placed(label: Guarantee, maker: &Maker<'_>, is_sharded: bool) -> Guarantee {
    match is_sharded && maker.rows_stay() {
        true => label.not_covering(STAYS),
        false => label,
    }
}

/// Sets the comment of the table, which says what it holds.
fn comment(recipe: &Recipe, target: &Relation, sentence: &str, is_draft: bool) {
    let lines = [is_draft.then_some(IS_DRAFT), recipe.comment.as_deref(), Some(sentence)];
    let lines: Vec<&str> = lines.into_iter().flatten().collect();
    target::comment(target.oid, &lines.join("\n"));
}

const IS_DRAFT: &str = "A draft: not for others until sanitize.approve.";

/// The label for the caller, with a notice if it does not hold for this release together with the earlier ones.
pub fn tell((label, earlier): (Json, u64), target: &str) -> Result<Datum> {
    if earlier > 0 {
        let releases = if earlier == 1 { "release" } else { "releases" };
        notice_hint(
            &format!(
                "composition: {earlier} earlier {releases} of this source may be combined with {target}"
            ),
            "Its guarantee holds for one release alone. Private methods have guarantees that add up.",
        );
    }
    jsonb::datum(&label)
}

/// How the release in a table was made; refuses a table that is not a release.
fn recipe_of(target: &Relation) -> Result<Recipe> {
    let refused = || Error::NotARelease { relation: target.name.clone() };
    releases::find(target.oid)?.ok_or_else(refused)
}

const TARGET_NAME: Argument<String> = Argument::of("target")
    .about("The name of the table to make, as CREATE TABLE has it; or a release that is replaced.");

const TARGET: Argument<Oid> = Argument::of("target").about("The table of a release.");

const COMMENT: Argument<Option<String>> =
    Argument::of("comment").about("What the table's comment says before the label.");

const PUBLISH: Method = Method::new(
    "publish",
    &[&TARGET_NAME, &RELATION, &METHOD, &OPTIONS, &COMMENT],
    Returns::One(Type::Json),
    publish,
)
.about(
    "makes a release of the source by a method and keeps it as a table of the caller's, or \
         replaces the rows of a release that is there; returns its label",
);

fn publish(call: &Call) -> Result<Datum> {
    keeper::check()?;
    target::refuse_read_only(c"sanitize.publish()");
    let options = registry::object(call.get(&OPTIONS)?)?;
    let method = call.get(&METHOD)?;
    let maker = Maker::new(&method, &options)?;
    let source = open_source(call.get(&RELATION)?)?;
    let maker = maker.counting_in(&source)?;
    // Options that make no sense are refused before the lock, which others would wait for.
    maker.promise(&source)?;
    let recipe = Recipe {
        source: source.oid,
        options: maker.qualified()?,
        method,
        comment: call.get(&COMMENT)?,
    };
    let name = Name::parse(&call.get(&TARGET_NAME)?)?;
    name.wait_for_turn();
    let by = role_name();
    let Some(found) = name.find() else {
        let made = name.create(&maker.columns(&source)?)?;
        let target = target::lock(made, Lock::Write)?;
        if maker.is_sharded() {
            sharded_record::begin(made)?;
        }
        if maker.keeps_columns() {
            target::copy_comments(&source, &target);
        }
        return tell(fill(&recipe, &target, &by)?, &target.name);
    };
    let mut target = target::lock(found, Lock::Write)?;
    recipe_of(&target)?;
    if maker.is_draft() && releases::is_granted(found)? {
        return Err(Error::argument(
            format!("option draft is given, but others were granted {}", target.name),
            "A draft is read by its owner alone: publish it under another name.",
        ));
    }
    let columns = maker.columns(&source)?;
    if !maker.is_sharded() {
        refuse_unsuitable(&target)?;
        if as_owner(&target, || reshaped(&maker, &target, &columns))? {
            target = target::lock(found, Lock::Write)?;
            if maker.keeps_columns() {
                target::copy_comments(&source, &target);
            }
        }
    }
    tell(as_owner(&target, || fill(&recipe, &target, &by))?, &target.name)
}

const REFRESH: Method = Method::new("refresh", &[&TARGET], Returns::One(Type::Json), |call| {
    keeper::check()?;
    target::refuse_read_only(c"sanitize.refresh()");
    let target = target::lock(call.get(&TARGET)?, Lock::Write)?;
    let recipe = recipe_of(&target)?;
    let by = role_name();
    tell(as_owner(&target, || fill(&recipe, &target, &by))?, &target.name)
})
.about(
    "makes a release anew, as it was published, with the rights of its owner; readers see \
         the old rows until the transaction commits",
);

const APPROVE: Method = Method::new("approve", &[&TARGET], Returns::One(Type::Json), approve)
    .about(
        "makes a release of a draft, as it is: from now on it counts as an earlier release of \
         its source, and others may be granted it; returns its label",
    );

/// The rows stay as they are, and so does what was charged and promised for them. Only the number of releases that were
/// made meanwhile is updated.
fn approve(call: &Call) -> Result<Datum> {
    target::refuse_read_only(c"sanitize.approve()");
    let target = target::lock(call.get(&TARGET)?, Lock::Write)?;
    let mut recipe = recipe_of(&target)?;
    if !Maker::new(&recipe.method, &recipe.options)?.is_draft() {
        return Err(Error::argument(
            format!("{} is no draft", target.name),
            "A draft is published with {\"draft\": true}; every other release counts already.",
        ));
    }
    recipe.options = releases::approved(recipe.options);
    let mut told = releases::label(target.oid)?;
    let composes = matches!(told["kind"].as_str(), Some("dp" | "ldp"));
    let earlier = if composes { 0 } else { releases::earlier(recipe.source)? };
    let lines = told["not_covered"].as_array().into_iter().flatten();
    let mut lines: Vec<String> = lines.filter_map(Json::as_str).map(String::from).collect();
    let sentence = told_after(&mut lines, told["sentence"].as_str().unwrap_or_default(), earlier);
    (told["not_covered"], told["sentence"]) = (lines.into(), sentence.as_str().into());
    if let Some(told) = told.as_object_mut() {
        told.remove("draft");
    }
    as_owner(&target, || {
        comment(&recipe, &target, &sentence, false);
        releases::approve(target.oid, &recipe.options, &told)
    })?;
    tell((told, earlier), &target.name)
}

const RETIRE: Method = Method::new("retire", &[&TARGET], Returns::One(Type::Void), |call| {
    target::refuse_read_only(c"sanitize.retire()");
    let target = target::lock(call.get(&TARGET)?, Lock::Drop)?;
    recipe_of(&target)?;
    if sharded_record::find(target.oid)?.is_some() {
        as_owner(&target, || sharded::drop_generations(&target, true))?;
        release_parts::drop_parts(&target)?;
        sharded_record::forget(target.oid)?;
    }
    releases::note_seen(target.oid)?;
    target::drop(&target)?;
    releases::forget(target.oid)?;
    Ok(Datum::null())
})
.about(
    "drops the table of a release, unless something depends on it, and forgets how it was \
         made; that it was there is still counted",
);

const DROP_LEFTOVERS: Method =
    Method::new("drop_leftovers", &[&TARGET], Returns::One(Type::Void), |call| {
        target::refuse_read_only(c"sanitize.drop_leftovers()");
        let target = target::lock(call.get(&TARGET)?, Lock::Write)?;
        as_owner(&target, || sharded::drop_generations(&target, false))?;
        Ok(Datum::null())
    })
    .about(
        "drops, on the shards of a sharded release, what earlier publishes and refreshes left \
         behind, those that crashed too; what readers see stays",
    );

const PUBLISHING: Method = Method::new(
    "publishing",
    &[],
    columns![
        pid: Int4, target: Text, source: Relation, method: Text, phase: Text, share: Float8,
        rows: Int8, seconds: Float8
    ],
    publishing,
)
.internal()
.parallel_restricted()
.rows(1)
.about(
    "how far the publishes and refreshes are that run at the moment: those of your own role \
         and of roles that you are a member of",
);

/// Only publishes by roles that the caller is a member of: others must not see how many rows were read.
fn publishing(call: &Call) -> Result<Datum> {
    let user = rights::current_user();
    let mut rows = ResultRows::begin(call)?;
    for one in running::all() {
        if !rights::is_superuser(user) && !rights::is_member(user, one.role) {
            continue;
        }
        rows.push([
            Value::Int(one.pid),
            Value::Text(&from_utf8(&one.target)),
            Value::Made(&|| Datum::from(one.source)),
            Value::Text(&from_utf8(&one.method)),
            Value::Text(&from_utf8(&one.phase)),
            one.share.map_or(Value::Null, Value::Float),
            Value::count(one.rows),
            Value::Float(one.seconds),
        ]);
    }
    Ok(rows.finish(call))
}

methods! {
    sanitize_publishing => PUBLISHING;
    sanitize_publish => PUBLISH;
    sanitize_refresh => REFRESH;
    sanitize_approve => APPROVE;
    sanitize_retire => RETIRE;
    sanitize_drop_leftovers => DROP_LEFTOVERS;
}
