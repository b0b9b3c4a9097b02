//! A question with its meaning and its price.

use crate::filter::{self, Condition};
use crate::groups::{self, Key};
use crate::measure::{self, Asked};
use crate::normal::normalised;
use crate::{Error, Schema};
use aggregate::{NoisePlan, Query, Range, Scales};
use guarantee::{Charge, Cost};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The terms that the owner of a relation set for it, on which the price of a question depends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    pub unit: String,
    pub max_rows_per_unit: u64,
    pub max_groups_per_unit: Option<u64>,
    /// The delta of the relation's budget.
    pub delta: f64,
    /// The least epsilon of a charge.
    pub min_epsilon: f64,
    pub min_query_set: Option<u64>,
    /// The owner vouches for a view whose definition does not show that each row depends on its own unit alone.
    pub assume_stable: bool,
    /// The owner says that the number of rows is public.
    #[serde(default)]
    pub row_count_public: bool,
}

/// The arguments of a call. Epsilon and delta were checked.
#[derive(Debug, Clone)]
pub struct Arguments<'a> {
    pub measures: &'a Value,
    pub filter: Option<&'a Value>,
    pub groups: Option<&'a Value>,
    pub group_by: &'a [String],
    pub epsilon: f64,
    pub delta: Option<f64>,
}

/// A question that was read and has a price, but has not been asked yet. Columns are given by their position in the
/// schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub terms: Terms,
    pub asked: Vec<Asked>,
    pub group_by: Vec<usize>,
    /// The groups that are answered, if the caller lists them.
    pub public: Option<Vec<Key>>,
    /// The conditions that a row must satisfy to count.
    pub conditions: Vec<Condition>,
    /// The schema says that a unit has at most one row.
    pub one_row_each: bool,
    pub rows_per_unit: u64,
    pub groups_per_unit: u64,
    epsilon: f64,
    delta: f64,
    pub charge: Charge,
    /// The text that the ledger records.
    pub what: String,
    /// The question without the order of its parts: equal questions have equal texts.
    pub normal: String,
}

/// The most memory that the integers of public groups may take.
const MOST_BYTES: u128 = 1 << 29;

impl Question {
    /// Reads the arguments of a question about the relation that the schema describes.
    pub fn read<S: Schema>(
        schema: &S,
        terms: Terms,
        one_row_each: bool,
        arguments: &Arguments<'_>,
    ) -> Result<Self, S::Error> {
        let &Arguments { measures, filter, groups, group_by: names, epsilon, delta } = arguments;
        let asked = measure::measures(schema, measures)?;
        let conditions = filter::conditions(schema, filter)?;
        let group_by = groups::group_columns(schema, names)?;
        let public = match groups {
            Some(_) if group_by.is_empty() => Err(Error::argument(
                "groups is given, but group_by is not",
                "Name the columns of the groups in group_by.",
            ))?,
            Some(list) => Some(groups::public_groups(schema, &group_by, list)?),
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
        if !names.is_empty() {
            what += &format!(" by {}", names.join(", "));
        }
        // Values are printed as their columns' types write them: 1 and 1.0 are two texts, but one number.
        let filter = (!conditions.is_empty()).then(|| filter::printed(schema, &conditions));
        let groups = groups.zip(public.as_ref());
        let groups = groups.map(|(list, keys)| groups::printed(schema, &group_by, list, keys));
        let normal = json!({
            "measures": measures, "filter": filter, "groups": groups, "group_by": names,
            "epsilon": epsilon, "delta": delta, "terms": &terms,
        });
        let mut question = Question {
            terms,
            asked,
            group_by,
            public,
            conditions,
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
            Err(Error::argument(
                format!("{groups} groups with {} numbers each are too many", plan.slots()),
                "Ask for fewer groups or measures at a time; a quantile takes up to 1024 numbers.",
            ))?;
        }
        question.charge = question.price(&plan)?;
        Ok(question)
    }

    /// True if the data chooses which groups are shown.
    pub fn has_private_groups(&self) -> bool {
        !self.group_by.is_empty() && self.public.is_none()
    }

    /// The measures whose bounds are to be found, with their numbers.
    pub fn searched(&self) -> impl Iterator<Item = (usize, &Asked)> {
        self.asked.iter().enumerate().filter(|(_, asked)| asked.private_bounds)
    }

    /// The share of epsilon that finds bounds: a quarter of what these measures get.
    fn searching_epsilon(&self) -> f64 {
        let all: f64 = self.asked.iter().map(|asked| asked.weight).sum();
        let searched: f64 = self.searched().map(|(_, asked)| asked.weight).sum();
        self.epsilon * (0.25 * searched / all)
    }

    /// The search for bounds, if any are to be found.
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

    /// The plan of the measures, once the missing bounds are found.
    pub fn plan(&self, found: &[(usize, Range)]) -> Result<NoisePlan, Error> {
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
        Ok(NoisePlan::new(query, epsilon, self.delta)?)
    }

    /// True if the plan costs no more than was charged. Bounds that were found scale all noises alike, so it should;
    /// but floats decide the choice between two noises.
    pub fn covers(&self, plan: &NoisePlan) -> Result<bool, Error> {
        let (price, charged) = (self.price(plan)?, self.charge);
        let within = |price: Cost, charged: Cost| {
            price.epsilon <= charged.epsilon && price.delta <= charged.delta
        };
        let rho = price
            .rho
            .zip(charged.rho)
            .map_or(price.rho == charged.rho, |(price, charged)| price <= charged * (1.0 + 1e-9));
        Ok(within(price.whole, charged.whole) && within(price.rest, charged.rest) && rho)
    }

    /// The price of the question: all of epsilon, however it is divided.
    fn price(&self, plan: &NoisePlan) -> Result<Charge, Error> {
        let answers = plan.charge();
        let whole = Cost { epsilon: self.epsilon, delta: answers.whole.delta };
        let Some(scales) = self.scales()? else {
            return Ok(Charge { whole, ..answers });
        };
        // The bounds that are found do not change epsilon; the last digits of rho may differ.
        let rho = answers.rho.zip(scales.charge().rho);
        let rho = rho.map(|(answers, scales)| (answers + scales) * (1.0 + 1e-9));
        Ok(Charge { whole, rho, rest: answers.rest })
    }
}

/// The caller's delta; without one, a hundredth of the relation's delta if groups are chosen privately, else 0.
fn delta_or_default(delta: Option<f64>, private_groups: bool, terms: &Terms) -> Result<f64, Error> {
    match delta {
        Some(delta) if delta > 0.0 || !private_groups => Ok(delta),
        None if !private_groups => Ok(0.0),
        None if terms.delta > 0.0 => {
            // As the ledger will record it: a short decimal number.
            Ok(format!("{:.3e}", terms.delta / 100.0).parse().unwrap_or(0.0))
        }
        _ => Err(Error::argument(
            "groups that the data chooses need a delta above 0",
            "List the groups in the argument groups, or protect the relation with a delta and leave delta out.",
        )),
    }
}
