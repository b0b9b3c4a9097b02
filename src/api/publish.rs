//! Releases that stay: published as tables, refreshed, retired.

use super::arguments::{RELATION, relation, text};
use super::budget::role_name;
use super::registry::{self, METHOD, OPTIONS};
use crate::catalog::releases::{self, Made, Recipe};
use crate::catalog::protection;
use crate::method::{Label, Method, methods};
use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::notice::notice_hint;
use crate::pg::option::{self, Parameter};
use crate::pg::relation::Relation;
use crate::pg::signature::Returns;
use crate::pg::statement::{self, Written};
use crate::pg::target::{self, Lock, Name, NewColumn};
use crate::pg::text::from_utf8;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::worker::running::{self, Running};
use crate::pg::{jsonb, rights};
use guarantee::Guarantee;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::{Map, Value as Json, json};

/// How many arguments a function call can have in Postgres.
const COUNTED: usize = 100;

/// A method that makes releases, and its options.
struct Maker<'a> {
    method: &'static Method,
    label: &'static Label,
    options: &'a Map<String, Json>,
}

/// How a method makes a release of a source, if it does.
fn label_of_release(method: &Method) -> Option<&Label> {
    let source = method.arguments.first().filter(|argument| argument.name() == RELATION.name)?;
    let makes_rows = match method.returns {
        Returns::Set(Type::Any) => source.of() == Type::Any,
        Returns::Table(_) => source.of() == Type::Relation,
        _ => false,
    };
    method.label.as_ref().filter(|_| makes_rows)
}

impl<'a> Maker<'a> {
    fn new(method: &str, options: &'a Map<String, Json>) -> Result<Self, Error> {
        let made = registry::all().filter(|one| one.name == method);
        let Some((method, label)) = made
            .filter_map(|one| Some((one, label_of_release(one)?)))
            .next()
        else {
            let all = registry::all().filter(|one| label_of_release(one).is_some());
            return Err(Error::argument(
                format!("method is \"{method}\", which makes no release"),
                format!("method is {}.", registry::one_of(all.map(|one| one.name))),
            ));
        };
        let arguments = &method.arguments[1..];
        let known: Vec<&str> = arguments.iter().map(|argument| argument.name()).collect();
        if let Some(name) = options.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(registry::no_option(name, &known));
        }
        let given = |name: &str| options.get(name).is_some_and(|value| !value.is_null());
        if let Some(missing) = arguments.iter().find(|a| a.default().is_none() && !given(a.name())) {
            return Err(Error::argument(
                format!("option {} is missing", missing.name()),
                format!("{} needs it: {}", method.name, missing.about()),
            ));
        }
        Ok(Maker { method, label, options })
    }

    /// What a release of the source protects, with what a call would find in the terms of its protection.
    fn label(&self, source: &Relation) -> Result<Guarantee, Error> {
        let mut options = self.options.clone();
        if self.label.further.iter().any(|further| further.name() == "unit")
            && let Some(terms) = protection::terms(source.oid)?
        {
            options.insert("unit".into(), terms.unit.into());
            options.insert("max_rows_per_unit".into(), terms.max_rows_per_unit.into());
            options.insert("max_groups_per_unit".into(), terms.max_groups_per_unit.into());
            options.insert("assume_stable".into(), terms.assume_stable.into());
        }
        registry::label(self.method.name, options.into())
    }

    /// The columns of its releases.
    fn columns(&self, source: &Relation) -> Result<Vec<NewColumn>, Error> {
        match self.method.returns {
            Returns::Table(columns) => NewColumn::of_result(columns),
            _ => Ok(NewColumn::like(source)),
        }
    }

    /// True if its releases have the columns of the source.
    fn keeps_columns(&self) -> bool {
        matches!(self.method.returns, Returns::Set(_))
    }

    /// Which columns of the target have cells that may be blanked: for methods that release rows of the
    /// source, and may be told to keep columns.
    fn blanked(&self, target: &Relation) -> Vec<String> {
        let declares =
            |name: &str| self.method.arguments.iter().any(|argument| argument.name() == name);
        if !declares("keep") {
            return Vec::new();
        }
        let named = |option: &str, column: &str| {
            let list = self.options.get(option).and_then(Json::as_array);
            list.map(|list| list.iter().any(|name| name.as_str() == Some(column)))
        };
        let takes_part = |column: &str| match named("columns", column) {
            Some(listed) => listed,
            None => !named("keep", column).unwrap_or(false),
        };
        let columns = target.columns.iter().filter(|column| takes_part(&column.name));
        columns.map(|column| column.quoted()).collect()
    }

    /// Writes the release into a locked table, in the order in which the method returns its rows; returns how
    /// many there are, and which share of the cells that may be blanked is NULL.
    fn write(&self, source: &Relation, target: &Relation) -> Result<(u64, Option<f64>), Error> {
        let (of, value) = match self.keeps_columns() {
            true => (source.row_type_oid(), None),
            false => (pg_sys::REGCLASSOID, Some(Datum::from(source.oid))),
        };
        let mut parameters = vec![Parameter { of, value }];
        let mut arguments = vec![format!("{} => $1", RELATION.name)];
        for argument in &self.method.arguments[1..] {
            if let Some(parameter) = option::parameter(*argument, self.options)? {
                parameters.push(parameter);
                arguments.push(format!("{} => ${}", argument.name(), parameters.len()));
            }
        }
        let columns: Vec<String> = target.columns.iter().map(|column| column.quoted()).collect();
        let blanked = self.blanked(target);
        // A count for each row, of nothing if need be: so it is told how many are written.
        let mut counts: Vec<String> = blanked
            .chunks(COUNTED)
            .map(|part| format!("pg_catalog.num_nulls({})", part.join(", ")))
            .collect();
        if counts.is_empty() {
            counts.push("0".into());
        }
        let statement = format!(
            "INSERT INTO {} ({}) SELECT made.{} FROM sanitize.{}({}) AS made RETURNING {}",
            target.from(),
            columns.join(", "),
            columns.join(", made."),
            self.method.name,
            arguments.join(", "),
            counts.join(", "),
        );
        let Written { rows, sum } = statement::write(&statement, target.oid, &parameters)?;
        let cells = rows as f64 * blanked.len() as f64;
        Ok((rows, (cells > 0.0).then(|| sum as f64 / cells)))
    }
}

/// Runs `work` with the rights of the table's owner: nothing that the owner may have put on the table, an
/// index on a function say, runs with the rights of somebody else.
fn as_owner<T>(table: &Relation, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match rights::owner_of(table.oid) {
        None => Err(Error::Swapped),
        Some(owner) if owner == rights::current_user() => work(),
        Some(owner) => rights::with_rights_of(owner, work),
    }
}

/// The source, which stays as it is until the transaction ends.
fn open_source(source: Oid) -> Result<Relation, Error> {
    let relation = Relation::open(source)?;
    if relation.is_temporary() {
        return Err(Error::argument(
            format!("source is {}, which is temporary", relation.name),
            "A release is refreshed from its source later on: make it a table or a view.",
        ));
    }
    Ok(relation)
}

/// Names relations in options in full: the search path is another one when the release is refreshed.
fn qualified(maker: &Maker<'_>) -> Result<Map<String, Json>, Error> {
    let mut options = maker.options.clone();
    for argument in maker.method.arguments.iter().filter(|one| one.of() == Type::Relation) {
        let given = option::parameter(*argument, maker.options)?.and_then(|given| given.value);
        if let Some(oid) = given.filter(|_| argument.name() != RELATION.name) {
            let named = Relation::open(Oid::from(oid.value() as u32))?;
            options.insert(argument.name().into(), named.from().into());
        }
    }
    Ok(options)
}

/// Makes the release of a recipe in a locked table, in place of its rows, and writes it down; returns its
/// label, and how many earlier releases take from it. Others are told how far it is.
fn fill(recipe: &Recipe, target: &Relation, by: &str) -> Result<(Json, u64), Error> {
    let running = Running::begin(&target.from(), recipe.source, &recipe.method);
    let made = make(recipe, target, by)?;
    if let Some(running) = running {
        running.end();
    }
    Ok(made)
}

fn make(recipe: &Recipe, target: &Relation, by: &str) -> Result<(Json, u64), Error> {
    let maker = Maker::new(&recipe.method, &recipe.options)?;
    let source = open_source(recipe.source)?;
    if source.oid == target.oid {
        return Err(Error::argument(
            format!("target and source are both {}", source.name),
            "A release is a table beside its source.",
        ));
    }
    let reason = target::unsuitable(target.oid)
        .or(target::difference(target, &maker.columns(&source)?));
    if let Some(reason) = reason {
        return Err(Error::Unsuitable { relation: target.name.clone(), reason });
    }
    let label = maker.label(&source)?;
    let earlier = if label.composes() { 0 } else { releases::earlier(source.oid)? };
    let label = label.after(earlier);
    statement::write(&format!("DELETE FROM ONLY {}", target.from()), target.oid, &[])?;
    let (rows, suppressed_share) = maker.write(&source, target)?;
    let said = label.sentence();
    let comment = match &recipe.comment {
        Some(comment) => format!("{comment}\n{said}"),
        None => said,
    };
    target::comment(target.oid, &comment);
    let mut told = serde_json::to_value(label.label()).map_err(Error::fault)?;
    told["rows"] = rows.into();
    if let Some(share) = suppressed_share {
        told["suppressed_share"] = share.into();
    }
    if maker.keeps_columns() {
        told["left_out"] = json!(releases::left_out(source.oid)?);
    }
    releases::enter(&Made {
        target: target.oid,
        recipe,
        label: &told,
        epsilon: label.spent_epsilon(),
        rows,
        suppressed_share,
        by,
    })?;
    Ok((told, earlier))
}

/// The label for the caller, with a notice if it does not hold for this release beside the earlier ones.
fn tell((label, earlier): (Json, u64), target: &str) -> Result<Datum, Error> {
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

const TARGET_NAME: Argument<String> = Argument {
    name: "target",
    of: Type::Text,
    default: None,
    about: "The name of the table to make, as CREATE TABLE has it; or a release that is replaced.",
    read: text,
};

const TARGET: Argument<Oid> = Argument {
    name: "target",
    of: Type::Relation,
    default: None,
    about: "The table of a release.",
    read: relation,
};

const COMMENT: Argument<Option<String>> = Argument {
    name: "comment",
    of: Type::Text,
    default: Some("null"),
    about: "What the table's comment says before the label.",
    read: |given| given.text(),
};

const PUBLISH: Method = Method {
    name: "publish",
    arguments: &[&TARGET_NAME, &RELATION, &METHOD, &OPTIONS, &COMMENT],
    returns: Returns::One(Type::Json),
    run: publish,
    label: None,
    price: None,
};

fn publish(call: &Call) -> Result<Datum, Error> {
    target::refuse_read_only(c"sanitize.publish()");
    let options = registry::object(call.get(&OPTIONS)?)?;
    let method = call.get(&METHOD)?;
    let maker = Maker::new(&method, &options)?;
    let source = open_source(call.get(&RELATION)?)?;
    // What makes no sense is refused before anybody waits.
    maker.label(&source)?;
    let recipe = Recipe {
        source: source.oid,
        options: qualified(&maker)?,
        method,
        comment: call.get(&COMMENT)?,
    };
    let name = Name::parse(&call.get(&TARGET_NAME)?)?;
    name.wait_for_turn();
    let by = role_name();
    let Some(found) = name.find() else {
        let made = name.create(&maker.columns(&source)?)?;
        let target = target::lock(made, Lock::Write)?;
        if maker.keeps_columns() {
            target::copy_comments(&source, &target);
        }
        return tell(fill(&recipe, &target, &by)?, &target.name);
    };
    let target = target::lock(found, Lock::Write)?;
    if releases::find(found)?.is_none() {
        return Err(Error::NotARelease { relation: target.name });
    }
    tell(as_owner(&target, || fill(&recipe, &target, &by))?, &target.name)
}

const REFRESH: Method = Method {
    name: "refresh",
    arguments: &[&TARGET],
    returns: Returns::One(Type::Json),
    run: refresh,
    label: None,
    price: None,
};

fn refresh(call: &Call) -> Result<Datum, Error> {
    target::refuse_read_only(c"sanitize.refresh()");
    let target = target::lock(call.get(&TARGET)?, Lock::Write)?;
    let Some(recipe) = releases::find(target.oid)? else {
        return Err(Error::NotARelease { relation: target.name });
    };
    let by = role_name();
    tell(as_owner(&target, || fill(&recipe, &target, &by))?, &target.name)
}

const RETIRE: Method = Method {
    name: "retire",
    arguments: &[&TARGET],
    returns: Returns::One(Type::Void),
    run: retire,
    label: None,
    price: None,
};

fn retire(call: &Call) -> Result<Datum, Error> {
    target::refuse_read_only(c"sanitize.retire()");
    let target = target::lock(call.get(&TARGET)?, Lock::Drop)?;
    if releases::find(target.oid)?.is_none() {
        return Err(Error::NotARelease { relation: target.name });
    }
    target::drop(&target)?;
    releases::forget(target.oid)?;
    Ok(Datum::null())
}

const PUBLISHING: Method = Method {
    name: "publishing",
    arguments: &[],
    returns: Returns::Table(&[
        ("pid", Type::Int4),
        ("target", Type::Text),
        ("source", Type::Relation),
        ("method", Type::Text),
        ("phase", Type::Text),
        ("share", Type::Float8),
        ("rows", Type::Int8),
        ("seconds", Type::Float8),
    ]),
    run: publishing,
    label: None,
    price: None,
};

/// What runs with rights that the caller has too: how many rows were read is for nobody else.
fn publishing(call: &Call) -> Result<Datum, Error> {
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
    sanitize_retire => RETIRE;
}
