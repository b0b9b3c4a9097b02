//! The options of a report.

use super::measured::Plan;
use crate::api::prelude::*;
use crate::api::publish::maker::Maker;
use crate::api::shared::registry;
use crate::catalog::releases;
use measures::Made;

/// Where a label says whose people were counted.
const UNIT_COLUMN: &str = "unit_column";

/// The most characters of a title.
const LONGEST_TITLE: usize = 200;

/// The options of a call.
pub struct Options {
    pub title: Option<String>,
    pub columns: Option<Vec<String>>,
    pub min_share: f64,
    /// Whose rows the original's are; `None`: as the labels or the protection say.
    pub unit: Option<String>,
    /// The release, and one to compare it with.
    pub candidates: Vec<Candidate>,
}

/// A release, and how it was made if the options or the record of releases say it.
pub struct Candidate {
    pub relation: Oid,
    pub method: Option<String>,
    /// The arguments that it was made with.
    pub options: Option<Map<String, Json>>,
    /// Its source, if it was published.
    pub source: Option<Oid>,
    /// Its label.
    pub guarantee: Option<Json>,
}

impl Candidate {
    /// A release of the original made by a method.
    fn by(relation: Oid, original: Oid, method: String, mut options: Json) -> Result<Self> {
        let counts = |one: &&Method| one.name == method && one.release.is_some();
        let counts = registry::all().find(counts).is_some_and(|one| one.counts_units());
        if let Some(options) = options.as_object_mut().filter(|_| counts) {
            // A call with these options would have counted the people of the original.
            let given = options.get(UNIT.name).and_then(Json::as_str).map(String::from);
            let original = Relation::row_type(original)?;
            if let Ok(unit) = counted::resolved(&original, given.as_deref()) {
                options.insert(UNIT.name.into(), unit.into());
            }
        }
        let given = options.as_object().cloned();
        let guarantee = registry::label(&method, options)?;
        let label = serde_json::to_value(guarantee.label()).map_err(Error::fault)?;
        let (method, guarantee) = (Some(method), Some(label));
        Ok(Candidate { relation, method, options: given, source: None, guarantee })
    }

    /// A table without options: a published release has its recorded label.
    pub fn recorded(relation: Oid) -> Result<Self> {
        let found = sql::rows::<2>(
            "SELECT method, guarantee::pg_catalog.text FROM sanitize.releases
              WHERE target OPERATOR(pg_catalog.=) $1",
            &[relation.into()],
        )?;
        let mut found = found.into_iter().flatten().flatten();
        let method = found.next();
        let guarantee = found.next().map(|label| serde_json::from_str(&label)).transpose();
        let guarantee = guarantee.map_err(Error::fault)?;
        // The options of a release are no secret from someone who may read both tables.
        let recipe = if method.is_some() { releases::find(relation)? } else { None };
        let (mut options, source) = recipe.map(|recipe| (recipe.options, recipe.source)).unzip();
        // Whose people were counted is in the label: the options may leave it to the protection.
        let unit = guarantee.as_ref().and_then(|label: &Json| label.get(UNIT_COLUMN)).cloned();
        if let Some((options, unit)) = options.as_mut().zip(unit) {
            options.insert(UNIT.name.into(), unit);
        }
        Ok(Candidate { relation, method, options, source, guarantee })
    }

    /// How it was made, if that is a method that makes releases.
    fn maker(&self) -> Option<Maker<'_>> {
        Maker::new(self.method.as_deref()?, self.options.as_ref()?).ok()
    }

    /// True if rows were to look alike in this column: not in one that was kept or is sensitive.
    pub fn is_in_class(&self, column: &str) -> bool {
        let is_sensitive = self.sensitive() == Some(column);
        !is_sensitive && self.maker().is_none_or(|maker| maker.takes_part(column))
    }

    /// True if the method leaves this column blank.
    pub fn is_left_blank(&self, column: &str) -> bool {
        self.maker().is_some_and(|maker| maker.keeps_columns() && !maker.fills(column))
    }

    /// How a column was made.
    pub fn made(&self, column: &str) -> Made {
        self.maker().map_or(Made::Somehow, |maker| maker.made(column))
    }

    /// The column in which classes are diverse or close.
    pub fn sensitive(&self) -> Option<&str> {
        self.promised("/sensitive/column")?.as_str()
    }

    /// The size that classes were to have.
    pub fn k(&self) -> Option<u64> {
        self.promised("/k")?.as_u64()
    }

    /// A part of the label: of the promise about the whole table, or of what was proved of a part of it.
    fn promised(&self, place: &str) -> Option<&Json> {
        let label = self.guarantee.as_ref()?;
        label.pointer(place).or_else(|| label.get("proved")?.pointer(place))
    }

    /// The column, or path, that identifies people, according to the options.
    pub fn unit(&self) -> Option<&str> {
        let unit = self.options.as_ref()?.get(UNIT.name)?.as_str();
        unit.filter(|&unit| unit != counted::ROWS)
    }
}

const fn options(name: &'static str) -> Argument<Json> {
    Argument::optional(name, Type::Json, |given| {
        Ok(given.get::<Option<Json>>()?.unwrap_or_else(|| Json::Object(Map::new())))
    })
    .about("Its arguments by name.")
}

const METHOD: Argument<Option<String>> = Argument::of("method")
    .about("The function that made the release; without it, the label is that of a published release, or none.");
const METHOD_OPTIONS: Argument<Json> = options("options");
const COMPARE_METHOD: Argument<Option<String>> =
    Argument::of("compare_method").about("The function that made the second release.");
const COMPARE_OPTIONS: Argument<Json> = options("compare_options");

const COMPARE: Argument<Option<Oid>> =
    Argument::of("compare").about("A second release, to be shown beside the first.");

const TITLE: Argument<Option<String>> =
    Argument::optional("title", Type::Text, |given| match given.text()? {
        Some(title) if title.chars().count() > LONGEST_TITLE => Err(given.refuse(
            format_args!("{} characters long", title.chars().count()),
            format!("A title has at most {LONGEST_TITLE} characters."),
        )),
        title => Ok(title),
    })
    .about("The title of the page.");

/// All options.
const KNOWN: &[&dyn Declared] = &[
    &METHOD,
    &METHOD_OPTIONS,
    &COLUMNS,
    &MIN_SHARE_OR_TENTH,
    &TITLE,
    &COMPARE,
    &COMPARE_METHOD,
    &COMPARE_OPTIONS,
    &UNIT,
];

impl Options {
    /// The options of a report on a release of the original.
    pub fn read(options: &Json, original: Oid, released: Oid) -> Result<Self> {
        let Json::Object(options) = options else {
            return Err(Error::argument(
                "options is no object",
                "Give options by name: {\"method\": \"k_anonymize\", \"options\": {\"k\": 5}}.",
            ));
        };
        let known = || KNOWN.iter().map(|option| option.name());
        if let Some(name) = options.keys().find(|name| !known().any(|known| known == name.as_str()))
        {
            return Err(Error::argument(
                format!("there is no option \"{name}\""),
                format!("The options of a report are: {}.", known().collect::<Vec<_>>().join(", ")),
            ));
        }
        let given = Arguments::of_options(KNOWN, options);
        let needs = |option: &str, other: &str| {
            Error::argument(
                format!("option {option} is given without option {other}"),
                format!("{option} belongs to {other}: give both, or neither."),
            )
        };
        let candidate =
            |relation, method: &Argument<Option<String>>, options: &Argument<Json>| match given
                .get(method)?
            {
                Some(name) => Candidate::by(relation, original, name, given.get(options)?),
                None if given.has(options)? => Err(needs(options.name, method.name)),
                None => Candidate::recorded(relation),
            };
        let mut candidates = vec![candidate(released, &METHOD, &METHOD_OPTIONS)?];
        match given.get(&COMPARE)? {
            Some(other) => candidates.push(candidate(other, &COMPARE_METHOD, &COMPARE_OPTIONS)?),
            None if given.has(&COMPARE_METHOD)? || given.has(&COMPARE_OPTIONS)? => {
                return Err(needs(COMPARE_METHOD.name, COMPARE.name));
            }
            None => {}
        }
        Ok(Options {
            title: given.get(&TITLE)?,
            columns: given.get(&COLUMNS)?,
            min_share: given.get(&MIN_SHARE_OR_TENTH)?,
            unit: given.get(&UNIT)?,
            candidates,
        })
    }

    /// What to count, by the options.
    pub fn plan(&self) -> Plan {
        let k = self.candidates.iter().filter_map(Candidate::k).max();
        Plan { min_share: self.min_share, theta: k.map_or(1, |k| k.saturating_sub(1).max(1)) }
    }
}
