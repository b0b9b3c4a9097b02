//! A question about a protected relation: what `dp_aggregate` was asked, understood and priced.
//!
//! [`Request`] is the call as it travels to a reader; [`Question::new`] reads it against the catalog
//! and the terms of protection, in the caller's process to refuse what makes no sense, and again in
//! the reader's to do it. Only arguments and catalog decide what happens here, never a row.
//! [`measure`], [`filter`] and [`groups`] read the parts, [`query`] makes the SQL.

pub mod filter;
pub mod groups;
pub mod measure;
pub mod query;

use super::budget::{self, Terms};
use super::ledger::Asker;
use crate::pg::error::Error;
use crate::pg::jsonb::parse;
use crate::pg::relation::Relation;
use crate::pg::rights;
use crate::pg::unit_rows::Key;
use dp::aggregate::{Plan, Query, Range, Scales};
use dp::{Charge, Cost};
use measure::Asked;
use pgrx::pg_sys::Oid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// A question that is understood and has a price, but is not yet asked.
pub struct Question {
    pub relation: Relation,
    pub terms: Terms,
    pub asked: Vec<Asked>,
    group_by: Vec<usize>,
    pub public: Option<Vec<Key>>,
    conditions: Vec<String>,
    unit: usize,
    /// The schema says that a unit has one row at most.
    pub one_row_each: bool,
    pub rows_per_unit: u64,
    pub groups_per_unit: u64,
    epsilon: f64,
    delta: f64,
    pub charge: Charge,
    /// What the ledger says about it.
    pub what: String,
    /// The question without the order of its parts: equal questions have equal texts.
    pub normal: String,
}

/// Memory that the integers of public groups may take.
const MOST_BYTES: u128 = 1 << 29;

impl Question {
    /// Reads the arguments. Dates and times are read in one way whatever the caller's settings are.
    pub fn new(request: &Request) -> Result<Self, Error> {
        rights::with_fixed_formats(|| Question::read(request))
    }

    fn read(request: &Request) -> Result<Self, Error> {
        let relation = Relation::open(Oid::from(request.source))?;
        let Some(terms) = budget::terms(relation.oid)? else {
            return Err(Error::NotProtected { relation: relation.name });
        };
        let unit = relation.position(&terms.unit)?;
        if relation.compares_loosely(&relation.columns[unit]) {
            return Err(Error::argument(
                format!(
                    "the unit column \"{}\" has a collation in which different texts are equal",
                    terms.unit
                ),
                "Let the owner protect a view with the column COLLATE \"C\".",
            ));
        }
        budget::check_stable(&relation, &terms)?;
        let measures = parse(&request.measures, "measures")?;
        let filter = request.filter.as_deref().map(|text| parse(text, "filter")).transpose()?;
        let groups = request.groups.as_deref().map(|text| parse(text, "groups")).transpose()?;
        let epsilon = budget::epsilon(request.epsilon)?;
        let delta = request.delta.map(budget::delta).transpose()?;

        let one_row_each = relation.is_key(&relation.columns[unit]);
        let asked = measure::measures(&relation, &measures)?;
        let conditions = filter::condition(&relation, filter.as_ref())?;
        let group_by = groups::group_columns(&relation, &request.group_by)?;
        let public = match &groups {
            Some(_) if group_by.is_empty() => {
                return Err(Error::argument(
                    "groups is given, but group_by is not",
                    "Name the columns of the groups in group_by.",
                ));
            }
            Some(list) => {
                let columns: Vec<_> = group_by.iter().map(|&i| &relation.columns[i]).collect();
                Some(groups::public_groups(&columns, list)?)
            }
            None => None,
        };
        let private_groups = !group_by.is_empty() && public.is_none();
        let delta = delta_or_default(delta, private_groups, &terms)?;
        let rows_per_unit = if one_row_each { 1 } else { terms.max_rows_per_unit };
        let groups_per_unit = match (group_by.is_empty(), one_row_each) {
            (false, false) => terms.max_groups_per_unit.unwrap_or(rows_per_unit),
            _ => 1,
        };
        let mut what = String::from("dp_aggregate: ");
        what += &asked.iter().map(|asked| asked.name.as_str()).collect::<Vec<_>>().join(", ");
        if !request.group_by.is_empty() {
            what += &format!(" by {}", request.group_by.join(", "));
        }
        let normal = json!({
            "measures": measures, "filter": filter, "groups": groups, "group_by": request.group_by,
            "epsilon": epsilon, "delta": delta, "terms": &terms,
        });
        let mut question = Question {
            relation,
            terms,
            asked,
            group_by,
            public,
            conditions,
            unit,
            one_row_each,
            rows_per_unit,
            groups_per_unit,
            epsilon,
            delta,
            charge: Charge::pure(epsilon),
            what,
            normal: normalised(normal).to_string(),
        };
        let plan = question.plan(&[])?;
        let groups = question.public.as_ref().map_or(1, Vec::len);
        if groups as u128 * plan.slots() as u128 * 16 > MOST_BYTES {
            return Err(Error::argument(
                format!("{groups} groups with {} numbers each are too many", plan.slots()),
                "Ask for fewer groups or measures at a time; a quantile takes up to 1024 numbers.",
            ));
        }
        question.charge = question.price(&plan)?;
        Ok(question)
    }

    /// How many columns tell the group.
    pub fn group_columns_count(&self) -> usize {
        self.group_by.len()
    }

    /// The names of the columns that tell the group.
    pub fn group_names(&self) -> Vec<&str> {
        self.group_by.iter().map(|&i| self.relation.columns[i].name.as_str()).collect()
    }

    /// True if the data chooses which groups are shown.
    pub fn has_private_groups(&self) -> bool {
        !self.group_by.is_empty() && self.public.is_none()
    }

    /// The measures whose bounds are to be found, each with its number.
    pub fn searched(&self) -> impl Iterator<Item = (usize, &Asked)> {
        self.asked.iter().enumerate().filter(|(_, asked)| asked.private_bounds)
    }

    /// The share of epsilon that finds bounds: a quarter of what these measures get.
    fn searching_epsilon(&self) -> f64 {
        let all: f64 = self.asked.iter().map(|asked| asked.weight).sum();
        let searched: f64 = self.searched().map(|(_, asked)| asked.weight).sum();
        self.epsilon * (0.25 * searched / all)
    }

    /// How bounds are found, if any are to be.
    pub fn scales(&self) -> Result<Option<Scales>, Error> {
        let contribution = |(_, asked): (usize, &Asked)| match asked.per_unit {
            true => self.groups_per_unit,
            false => self.rows_per_unit,
        };
        let contributions: Vec<u64> = self.searched().map(contribution).collect();
        if contributions.is_empty() {
            return Ok(None);
        }
        Ok(Some(Scales::new(&contributions, self.searching_epsilon())?))
    }

    /// How the measures are answered, once the bounds of those that lack them are found.
    pub fn plan(&self, found: &[(usize, Range)]) -> Result<Plan, Error> {
        let measure = |(i, asked): (usize, &Asked)| {
            let found = found.iter().find(|(measure, _)| *measure == i).map(|(_, range)| *range);
            let mut measure = asked.measure(found);
            if asked.private_bounds {
                measure.weight *= 0.75;
            }
            measure
        };
        let query = Query {
            measures: self.asked.iter().enumerate().map(measure).collect(),
            rows_per_unit: self.rows_per_unit,
            groups_per_unit: self.groups_per_unit,
            private_groups: self.has_private_groups(),
            min_units: self.terms.min_query_set,
        };
        let searching = self.searching_epsilon();
        let epsilon = match searching > 0.0 {
            true => (self.epsilon - searching).next_down(),
            false => self.epsilon,
        };
        Ok(Plan::new(query, epsilon, self.delta)?)
    }

    /// Refuses a plan that costs more than was charged. Bounds that were found scale all noises alike, so
    /// none should; but the choice between two noises is made with floats.
    pub fn check_price(&self, plan: &Plan) -> Result<(), Error> {
        let (price, charged) = (self.price(plan)?, self.charge);
        let within = |price: Cost, charged: Cost| {
            price.epsilon <= charged.epsilon && price.delta <= charged.delta
        };
        let rho = price
            .rho
            .zip(charged.rho)
            .map_or(price.rho == charged.rho, |(price, charged)| price <= charged * (1.0 + 1e-9));
        match within(price.whole, charged.whole) && within(price.rest, charged.rest) && rho {
            true => Ok(()),
            false => Err(Error::Broken { what: "the answers cost more than was charged".into() }),
        }
    }

    /// What the question costs: all of epsilon, whatever its parts.
    fn price(&self, plan: &Plan) -> Result<Charge, Error> {
        let answers = plan.charge();
        let whole = Cost { epsilon: self.epsilon, delta: answers.whole.delta };
        let Some(scales) = self.scales()? else {
            return Ok(Charge { whole, ..answers });
        };
        // The bounds that are found change no epsilon; the last digits of rho may differ.
        let rho = answers.rho.zip(scales.charge().rho);
        let rho = rho.map(|(answers, scales)| (answers + scales) * (1.0 + 1e-9));
        Ok(Charge { whole, rho, rest: answers.rest })
    }
}

/// Without a delta of the caller's: what choosing groups needs, a hundredth of the relation's.
fn delta_or_default(delta: Option<f64>, private_groups: bool, terms: &Terms) -> Result<f64, Error> {
    match delta {
        Some(delta) if delta > 0.0 || !private_groups => Ok(delta),
        None if !private_groups => Ok(0.0),
        None if terms.delta > 0.0 => {
            // As the ledger will have it: a short decimal number.
            Ok(format!("{:.3e}", terms.delta / 100.0).parse().unwrap_or(0.0))
        }
        _ => Err(Error::argument(
            "groups that the data chooses need a delta above 0",
            "List the groups in the argument groups, or protect the relation with a delta and leave delta out.",
        )),
    }
}

/// The same value for every order of keys and lists: all lists of a question are sets.
fn normalised(value: Value) -> Value {
    match value {
        Value::Array(list) => {
            let mut list: Vec<Value> = list.into_iter().map(normalised).collect();
            list.sort_by_cached_key(Value::to_string);
            list.dedup();
            list.into()
        }
        Value::Object(object) => {
            let mut parts: Vec<(String, Value)> =
                object.into_iter().map(|(key, value)| (key, normalised(value))).collect();
            parts.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(parts.into_iter().collect())
        }
        // 1.0 is 1.
        Value::Number(number) => match number.as_f64() {
            Some(x) if x.fract() == 0.0 && x.abs() < 9e15 => json!(x as i64),
            _ => Value::Number(number),
        },
        other => other,
    }
}
