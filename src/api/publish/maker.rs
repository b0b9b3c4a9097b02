//! A method that makes releases, with its options: its label, its columns, its rows, and how they fill a table.

use crate::api::prelude::*;
use crate::api::shared::registry;
use crate::catalog::hierarchies;
use crate::method::Label;
use crate::pg::call::error;
use crate::pg::call::option;
use crate::pg::call::signature;
use crate::pg::shards::keeper;
use crate::pg::write::held_rows::Held;
use crate::pg::write::target::{self, NewColumn};
use crate::pg::write::{range, statement};
use crate::rules::terms;
use measures::Made;
use std::borrow::Cow;

/// How many arguments a function call can have in Postgres.
const COUNTED: usize = 100;

/// Options that are not arguments of a method, but say how its releases are stored.
const RANGES: &str = "ranges";
const TARGET: &str = "target";
const DRAFT: &str = "draft";

/// The name under which the rows of a release are held.
pub const MADE: &str = "made";

/// What was written for a release.
pub struct Written {
    pub rows: u64,
    /// How rows of the source that are on other servers were read, if some were.
    pub read: Option<String>,
    /// Which share of the cells that may be blanked is NULL.
    pub suppressed_share: Option<f64>,
    /// The servers of its parts, if it is sharded.
    pub shards: Vec<String>,
}

impl Written {
    /// From the counts of rows and of NULLs among the cells that may be blanked, of which each row has `width`.
    pub fn new(counted: &statement::Written, width: usize, held: HeldRelease) -> Self {
        let cells = counted.rows as f64 * width as f64;
        let suppressed_share = (cells > 0.0).then(|| counted.sum as f64 / cells);
        Written { rows: counted.rows, read: held.read, suppressed_share, shards: Vec::new() }
    }
}

/// A release whose rows are held.
pub struct HeldRelease {
    pub rows: u64,
    /// How rows of the source that are on other servers were read, if some were.
    pub read: Option<String>,
}

/// The label of a release, and the terms of the source on which it depends.
pub struct Promise {
    pub label: Guarantee,
    found: Map<String, Json>,
}

/// A method that makes releases, and its options.
pub struct Maker<'a> {
    method: &'static Method,
    release: &'static Release,
    label: &'static Label,
    /// The options as they were given.
    given: &'a Map<String, Json>,
    /// The same; if a source is known, with the unit that it counts.
    options: Cow<'a, Map<String, Json>>,
    /// Coarser numbers and dates are shown in range types.
    as_ranges: bool,
    /// Rows are written to the shards of the source.
    is_sharded: bool,
    /// Only the owner reads it yet.
    is_draft: bool,
}

/// True if the releases of a method are rows of the source's own columns.
fn gives_rows(method: &Method) -> bool {
    method.release.is_some() && matches!(method.returns, Returns::Set(_))
}

impl<'a> Maker<'a> {
    pub fn new(method: &str, options: &'a Map<String, Json>) -> Result<Self> {
        let mut made = registry::all().filter(|one| one.name == method);
        let Some((method, release, label)) =
            made.find_map(|one| Some((one, one.release.as_ref()?, one.label.as_ref()?)))
        else {
            let all = registry::all().filter(|one| one.release.is_some());
            return Err(Error::argument(
                format!("method is \"{method}\", which makes no release"),
                format!("method is {}.", registry::one_of(all.map(|one| one.name))),
            ));
        };
        let arguments = &method.arguments[1..];
        let ranges = release.coarser.map(|_| RANGES);
        let more = [ranges, gives_rows(method).then_some(TARGET), Some(DRAFT)];
        let known: Vec<&str> = arguments
            .iter()
            .map(|argument| argument.name())
            .chain(more.into_iter().flatten())
            .collect();
        if let Some(name) = options.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(registry::no_option(name, &known));
        }
        let given = |name: &str| options.get(name).is_some_and(|value| !value.is_null());
        if let Some(missing) = arguments.iter().find(|a| a.default().is_none() && !given(a.name()))
        {
            return Err(Error::argument(
                format!("option {} is missing", missing.name()),
                format!("{} needs it: {}", method.name, missing.about()),
            ));
        }
        let hint = "It is \"range\": coarser numbers and dates in range types, [20,30) say.";
        let as_ranges = is_asked(options, RANGES, &"range".into(), hint)?;
        if as_ranges && !shows_coarser(release, options) {
            return Err(Error::argument(
                format!("option {RANGES} is given without option generalize"),
                "Nothing is shown coarser without it: set generalize to true.",
            ));
        }
        let hint = "It is \"sharded\": the rows are written to the servers on which those of the source are.";
        let is_sharded = is_asked(options, TARGET, &"sharded".into(), hint)?;
        let hint =
            "It is true for a release that nobody but its owner reads until sanitize.approve.";
        let is_draft = is_asked(options, DRAFT, &true.into(), hint)?;
        let (given, options) = (options, Cow::Borrowed(options));
        Ok(Maker { method, release, label, given, options, as_ranges, is_sharded, is_draft })
    }

    /// With the unit whose rows a call would count for this source, by the options or the source's protection.
    pub fn counting_in(mut self, source: &Relation) -> Result<Self> {
        if self.method.counts_units() {
            let given = Arguments::of_options(self.method.arguments, self.given).get(&UNIT)?;
            let unit = counted::resolved(source, given.as_deref())?;
            self.options.to_mut().insert(UNIT.name.into(), unit.into());
        }
        Ok(self)
    }

    /// A method whose releases are rows of the source's own columns.
    pub fn of_rows(method: &str, options: &'a Map<String, Json>) -> Result<Self> {
        let all = || registry::all().filter(|one| gives_rows(one));
        if !all().any(|one| one.name == method) {
            return Err(Error::argument(
                format!("method is \"{method}\", which makes no rows of the source's columns"),
                format!("method is {}.", registry::one_of(all().map(|one| one.name))),
            ));
        }
        let maker = Maker::new(method, options)?;
        let (option, table, instead) = match &maker {
            Maker { is_sharded: true, .. } => {
                (TARGET, "that stays where it is", "Publish a sharded release")
            }
            Maker { is_draft: true, .. } => {
                (DRAFT, "whose rows are replaced at once", "Publish a draft beside the table")
            }
            Maker { as_ranges: true, .. } => {
                (RANGES, "that keeps its types", "Publish a release with ranges")
            }
            _ => return Ok(maker),
        };
        Err(Error::argument(
            format!("option {option} is given for a table {table}"),
            format!("{instead}, or leave the option out."),
        ))
    }

    pub fn name(&self) -> &'static str {
        self.method.name
    }

    /// The label of a release of the source, under the terms that a call would find.
    pub fn promise(&self, source: &Relation) -> Result<Promise> {
        let found = self.found(source)?;
        let mut options = self.given.clone();
        options.extend(found.clone());
        Ok(Promise { label: registry::label_of(self.method, self.label, &options)?, found })
    }

    fn found(&self, source: &Relation) -> Result<Map<String, Json>> {
        terms::of_source(self.given, self.method, self.label, source)
    }

    /// Refuses a release whose source is protected under other terms now: with other terms the charge and the unit of
    /// protection may differ.
    pub fn check_kept(&self, promise: &Promise, source: &Relation) -> Result<()> {
        match self.found(source)? == promise.found {
            true => Ok(()),
            false => Err(Error::TermsChanged { relation: source.name.clone(), charged: true }),
        }
    }

    /// The columns of its releases.
    pub fn columns(&self, source: &Relation) -> Result<Vec<NewColumn>> {
        match self.method.returns {
            Returns::Table(columns) => NewColumn::of_result(columns),
            _ if self.as_ranges => {
                let ranges = self.ranges(source)?.into_iter();
                let columns = NewColumn::like(source).into_iter().zip(ranges);
                Ok(columns
                    .map(|(like, range)| match range {
                        Some(range) => like.of_type(range),
                        None => like,
                    })
                    .collect())
            }
            _ => Ok(NewColumn::like(source)),
        }
    }

    /// For each of the source's columns the range type in which it is shown, if any: numbers and dates that take part,
    /// unless their general values are names in a tree.
    fn ranges(&self, source: &Relation) -> Result<Vec<Option<Oid>>> {
        // An option that is an object of columns is about these columns only.
        let coarser = self.release.coarser.and_then(|option| self.options.get(option)?.as_object());
        let range = |column: &Column| {
            let coarser = self.takes_part(&column.name)
                && coarser.is_none_or(|named| named.contains_key(&column.name));
            let Some(range) = range::over(column.base_type).filter(|_| coarser) else {
                return Ok(None);
            };
            let declared = hierarchies::declared(source, column)?;
            let named = declared.is_some_and(|stored| stored.is_by_name());
            Ok(Some(range).filter(|_| !named))
        };
        source.columns.iter().map(range).collect()
    }

    /// True for a column that takes part, by the options of methods that release rows of the source.
    pub fn takes_part(&self, column: &str) -> bool {
        let comes_back = || self.keeps(column) || self.is("sensitive", column);
        let takes_part = || !comes_back() && !self.is_unit(column);
        self.lists("columns", column).unwrap_or_else(takes_part)
    }

    /// True for the column whose people count: it takes no part, and comes back only if it is kept.
    fn is_unit(&self, column: &str) -> bool {
        self.method.counts_units() && self.is(UNIT.name, column)
    }

    /// True if an option is the name of a column.
    fn is(&self, option: &str, column: &str) -> bool {
        self.options.get(option).and_then(Json::as_str) == Some(column)
    }

    /// True if its releases have the columns of the source.
    pub fn keeps_columns(&self) -> bool {
        gives_rows(self.method)
    }

    fn declares(&self, name: &str) -> bool {
        self.method.arguments.iter().any(|argument| argument.name() == name)
    }

    /// Whether an option that lists columns has this one; `None` if it is not given.
    fn lists(&self, option: &str, column: &str) -> Option<bool> {
        let list = self.options.get(option).and_then(Json::as_array);
        list.map(|list| list.iter().any(|name| name.as_str() == Some(column)))
    }

    /// Which columns of the target have cells that may be blanked.
    fn blanked(&self, target: &Relation) -> Vec<String> {
        if !self.release.blanks {
            return Vec::new();
        }
        let columns = target.columns.iter().filter(|column| self.takes_part(&column.name));
        columns.map(|column| column.quoted()).collect()
    }

    /// True if the options say to keep a column as it is.
    pub fn keeps(&self, column: &str) -> bool {
        self.lists("keep", column).unwrap_or(false)
    }

    /// True if some option names a column, to take part or to be kept.
    pub fn names(&self, column: &str) -> bool {
        let groups = self.options.get("groups").and_then(Json::as_array).into_iter().flatten();
        let mut listed = groups.filter_map(Json::as_array).flatten().filter_map(Json::as_str);
        self.lists("columns", column).unwrap_or(false)
            || self.keeps(column)
            || self.is("class", column)
            || self.is("sensitive", column)
            || listed.any(|name| name == column)
    }

    /// True if a column may come back with values: it takes part or is kept. All others are NULL.
    pub fn fills(&self, column: &str) -> bool {
        let has_list = self.options.get("columns").is_some_and(Json::is_array);
        let narrows = match self.release.filled {
            Filled::Listed => has_list,
            Filled::Named => true,
            Filled::All => false,
        };
        (!narrows && !self.is_unit(column)) || self.names(column)
    }

    /// True if a column of a release can have values. Others are always NULL, even if the source changes.
    pub fn shows(&self, column: &str) -> bool {
        !self.keeps_columns() || self.is_sharded || self.fills(column)
    }

    /// True if it returns values in every column, whether it takes part or not.
    fn returns_all(&self) -> bool {
        self.release.filled == Filled::All
    }

    /// True if the release has the kept columns of rows of the source, each row at most once, in any order.
    pub fn keeps_rows(&self) -> bool {
        self.release.origin != Origin::All
    }

    /// The options with which these columns of the source take no part; if rows are kept, these columns come back
    /// unchanged.
    pub fn sparing(&self, source: &Relation, spared: &[&str]) -> Map<String, Json> {
        let mut options = self.options.clone().into_owned();
        let given = |option: &str| self.options.get(option).is_some_and(|list| !list.is_null());
        if spared.is_empty() || self.returns_all() {
            return options;
        }
        if self.keeps_rows() {
            let kept = self.options.get("keep").and_then(Json::as_array).cloned();
            let mut kept = kept.unwrap_or_default();
            kept.extend(spared.iter().map(|&name| Json::from(name)));
            options.insert("keep".into(), kept.into());
        } else if self.declares("columns") && !given("columns") {
            let left = source.columns.iter().map(|column| column.name.as_str());
            let left = left.filter(|name| !spared.contains(name) && !self.keeps(name));
            options.insert("columns".into(), left.map(Json::from).collect());
        }
        options
    }

    /// True if the rows are written to the shards of the source.
    pub fn is_sharded(&self) -> bool {
        self.is_sharded
    }

    /// True if only the owner may read it yet.
    pub fn is_draft(&self) -> bool {
        self.is_draft
    }

    /// True if a released row is a row of the source, so that it can stay on its shard. All others are new.
    pub fn rows_stay(&self) -> bool {
        self.release.origin == Origin::Row
    }

    /// How a column of its releases is made of the source's.
    pub fn made(&self, column: &str) -> Made {
        match self.rows_stay() && !self.returns_all() && self.takes_part(column) {
            false => Made::AsItIs,
            true if shows_coarser(self.release, &self.options) => Made::Coarser,
            true => Made::Blanked,
        }
    }

    /// Expressions that count, in each row of the target, the NULLs among the cells that may be blanked; and the number
    /// of these cells. If there are none, the constant 0, so that the rows are still counted.
    pub fn counts(&self, target: &Relation) -> (String, usize) {
        let blanked = self.blanked(target);
        let mut counts: Vec<String> = blanked
            .chunks(COUNTED)
            .map(|part| format!("pg_catalog.num_nulls({})", part.join(", ")))
            .collect();
        if counts.is_empty() {
            counts.push("0".into());
        }
        (counts.join(", "), blanked.len())
    }

    /// Makes the release and holds its rows, of [`Maker::columns`] and with a last column of the name `leaf`, if any,
    /// for the number of the source's leaf that a row is in. They are made with the rights that a call of the method
    /// has.
    pub fn hold(
        &self,
        held: &mut Held,
        source: &Relation,
        leaf: Option<&str>,
    ) -> Result<HeldRelease> {
        let Method { name, arguments, returns, price, .. } = self.method;
        signature::check_callable(name, arguments, returns)?;
        if price.is_some() {
            keeper::check()?;
        }
        let mut source = Relation::open(source.oid)?;
        let mut columns = self.columns(&source)?;
        if self.keeps_columns() {
            source.shown_as(columns.iter().map(|column| column.type_oid), leaf);
        }
        columns.extend(leaf.map(NewColumn::text).transpose()?);
        let given = Arguments::of_publication(arguments, source.oid, &self.options)?;
        let call = ReleaseCall::publishing(self.method, &given, &source);
        let rows = statement::in_new_snapshot(|| {
            error::while_serving(self.method, || {
                ResultRows::held(held, MADE, &columns, returns, |rows| {
                    (self.release.rows)(&call, rows)
                })
            })
        })?;
        Ok(HeldRelease { rows, read: source.was_read() })
    }

    /// Writes the release into a locked table, in the order in which the method returns its rows.
    pub fn write(&self, source: &Relation, target: &Relation) -> Result<Written> {
        let mut held = Held::new();
        // Code in the source must not make another release while this one is made.
        let made = target::in_use(target.oid, |_| self.hold(&mut held, source, None))?;
        // A column that is left out of the INSERT gets NULL, and the constraints of its domain would then run with the
        // rights of the role that writes. A NULL that is made here was checked with the rights of the domain's author.
        let is_made = |column: &Column| {
            let same = |own: &Column| own.name == column.name && own.type_oid == column.type_oid;
            column.type_oid != column.base_type && source.columns.iter().any(same)
        };
        let filled =
            target.columns.iter().filter(|column| self.shows(&column.name) || is_made(column));
        let columns: Vec<String> = filled.map(|column| column.quoted()).collect();
        let (counts, blanked) = self.counts(target);
        let statement = format!(
            "INSERT INTO {} ({}) SELECT made.{} FROM {MADE} AS made RETURNING {counts}",
            target.from(),
            columns.join(", "),
            columns.join(", made."),
        );
        let checked = statement::References::Checked;
        let counted = statement::write_beside(&held, &statement, target.oid, &[], checked)?;
        held.end();
        Ok(Written::new(&counted, blanked, made))
    }

    /// The options with relations named in full: the search path may differ when the release is refreshed.
    pub fn qualified(&self) -> Result<Map<String, Json>> {
        let mut options = self.given.clone();
        for argument in self.method.arguments[1..].iter().filter(|one| one.of() == Type::Relation) {
            if let Some(oid) = option::value(*argument, self.given)? {
                let named = Relation::row_type(Oid::from(oid.value() as u32))?;
                options.insert(argument.name().into(), named.from().into());
            }
        }
        Ok(options)
    }
}

/// True if an option has the only value other than false that it can have.
fn is_asked(options: &Map<String, Json>, option: &str, yes: &Json, hint: &str) -> Result<bool> {
    match options.get(option) {
        None | Some(Json::Null) => Ok(false),
        Some(given) if given == yes => Ok(true),
        Some(Json::Bool(false)) if yes.is_boolean() => Ok(false),
        Some(other) => Err(Error::argument(format!("option {option} is {other}"), hint)),
    }
}

/// True if the options ask for coarser values.
fn shows_coarser(release: &Release, options: &Map<String, Json>) -> bool {
    let asked = release.coarser.and_then(|option| options.get(option));
    !matches!(asked, None | Some(Json::Null | Json::Bool(false)))
}
