//! A question about a protected relation: what `dp_aggregate` was asked.
//!
//! [`Request`] is the call as it travels to a reader; [`Posed::new`] reads it against the catalog and the terms of
//! protection, in the caller's process to refuse what makes no sense, and again in the reader's to do it. Its meaning
//! and its cost are decided in the crate `question`. [`query`] makes the SQL for the values that [`computed`] defines
//! for each row; [`crate::api::shards::question`] makes it for rows on other servers.

mod computed;
pub mod query;

use super::budget;
use super::protection::{check_kept_here, check_stable};
use crate::api::prelude::*;
use crate::catalog::ledger::Asker;
use crate::pg::call::jsonb::parse;
use crate::pg::shards::{citus, owner, reach};
use crate::rules::unit;
use aggregate::NoisePlan;
use question::{Arguments, ColumnType, Question, Schema};
use serde::{Deserialize, Serialize};

/// The arguments of a call, and who makes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub source: u32,
    pub asker: Asker,
    /// JSON as text.
    pub measures: String,
    pub filter: Option<String>,
    pub groups: Option<String>,
    pub group_by: Vec<String>,
    pub epsilon: f64,
    pub delta: Option<f64>,
    /// How old a stored answer may be, in microseconds.
    pub reuse: Option<i64>,
}

/// A question and the relation that it is about.
pub struct Posed {
    pub relation: Relation,
    unit: usize,
    pub question: Question,
    /// Whether its rows are fetched and held first, see [`query::HELD`].
    pub is_held: bool,
    /// Whether rows may come from nodes of Citus.
    pub by_citus: bool,
}

/// The longest question, in bytes of all its arguments: 100000 groups of two columns fit in.
const LONGEST: usize = 4 << 20;

impl Request {
    /// Refuses very long questions, because parsing them is not charged.
    fn check_length(&self) -> Result<()> {
        let texts = [Some(&self.measures), self.filter.as_ref(), self.groups.as_ref()];
        let texts = texts.into_iter().flatten().chain(&self.group_by);
        let length: usize = texts.map(String::len).sum();
        if length <= LONGEST {
            return Ok(());
        }
        Err(Error::argument(
            format!("measures, filter, groups and group_by have {length} bytes"),
            format!(
                "A question has at most {LONGEST} bytes: ask for fewer groups at a time, or have the owner protect a view with the filter."
            ),
        ))
    }
}

impl Posed {
    /// Reads the arguments. Dates and times are read independently of the caller's settings.
    pub fn new(request: &Request) -> Result<Self> {
        rights::with_fixed_formats(|| Posed::read(request))
    }

    fn read(request: &Request) -> Result<Self> {
        request.check_length()?;
        let relation = Relation::open(Oid::from(request.source))?;
        let Some(terms) = protection::terms(relation.oid)? else {
            return Err(Error::NotProtected { relation: relation.name });
        };
        let unit = unit::check(&relation, &terms.unit)?;
        check_stable(&relation, &terms)?;
        check_kept_here(&relation)?;
        owner::check(&relation)?;
        let measures = parse(&request.measures, "measures")?;
        let filter = request.filter.as_deref().map(|text| parse(text, "filter")).transpose()?;
        let groups = request.groups.as_deref().map(|text| parse(text, "groups")).transpose()?;
        let arguments = Arguments {
            measures: &measures,
            filter: filter.as_ref(),
            groups: groups.as_ref(),
            group_by: &request.group_by,
            epsilon: budget::epsilon(request.epsilon)?,
            delta: request.delta.map(budget::delta).transpose()?,
        };
        let one_row_each = relation.is_key(&relation.columns[unit])?;
        let question = Question::read(&Described::new(&relation), terms, one_row_each, &arguments)?;
        let by_citus = citus::may_answer(&relation)?;
        let is_held = by_citus || reach::has_foreign(&relation)?;
        Ok(Posed { relation, unit, question, is_held, by_citus })
    }

    /// The names of the columns that define the groups.
    pub fn group_names(&self) -> Vec<&str> {
        self.group_columns().into_iter().map(|column| column.name.as_str()).collect()
    }

    /// Refuses a plan that costs more than was charged.
    pub fn check_price(&self, plan: &NoisePlan) -> Result<()> {
        match self.question.covers(plan)? {
            true => Ok(()),
            false => Err(Error::Broken { what: "the answers cost more than was charged".into() }),
        }
    }
}

/// A relation as a question sees it.
pub struct Described<'a> {
    relation: &'a Relation,
    columns: Vec<question::Column>,
}

impl<'a> Described<'a> {
    pub fn new(relation: &'a Relation) -> Self {
        let describe =
            |column: &Column| question::Column { name: column.name.clone(), of: class(column) };
        Described { relation, columns: relation.columns.iter().map(describe).collect() }
    }
}

/// What can be done with the values of a column.
fn class(column: &Column) -> ColumnType {
    match column.base_type {
        base if types::is_short_integer(base) => ColumnType::ShortInteger,
        base if types::is_integer(base) => ColumnType::Integer,
        base if types::is_number(base) => ColumnType::Number,
        base if types::is_text(base) => ColumnType::Text,
        base if types::identifies(base) => ColumnType::Exact,
        _ => ColumnType::Other,
    }
}

impl Schema for Described<'_> {
    type Error = Error;

    fn columns(&self) -> &[question::Column] {
        &self.columns
    }

    fn position(&self, name: &str) -> Result<usize> {
        self.relation.position(name)
    }

    fn bounds(&self, column: usize) -> Result<Option<(String, String)>> {
        bounds::find(self.relation, &self.relation.columns[column])
    }

    fn canonical(&self, column: usize, value: &str) -> Result<String> {
        types::identity(self.relation.columns[column].base_type, value)
    }
}
