//! What a call does, fixed before any data is looked at.

use crate::measure::{Kind, Measure};
use crate::spend::{self, Selection};
use guarantee::Charge;
use random::{Error, Noise};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Query {
    pub measures: Vec<Measure>,
    /// At most so many rows of a unit count (for measures that look at rows).
    pub rows_per_unit: u64,
    /// At most so many groups of a unit count; 1 if there is one group only.
    pub groups_per_unit: u64,
    /// Which groups there are must not tell about anybody.
    pub private_groups: bool,
    /// Nothing is answered for a group whose noisy number of units is below it.
    pub min_units: Option<u64>,
}

impl Query {
    /// Units are counted by the rows that are kept, if any measure looks at these.
    pub(crate) fn counts_rows(&self) -> bool {
        self.measures.iter().any(|measure| !measure.per_unit)
    }

    /// In how many groups a unit can be counted.
    pub(crate) fn groups_counted(&self) -> u64 {
        match self.counts_rows() {
            true => self.groups_per_unit.min(self.rows_per_unit),
            false => self.groups_per_unit,
        }
    }

    fn check(&self, delta: f64) -> Result<(), Error> {
        if self.measures.is_empty() {
            return Err(Error::argument("measures", 0, "there must be at least one"));
        }
        if self.rows_per_unit == 0 || self.groups_per_unit == 0 {
            return Err(Error::argument("rows_per_unit", 0, "it must be at least 1"));
        }
        if self.private_groups && delta <= 0.0 {
            return Err(Error::argument("delta", delta, "choosing groups needs one above 0"));
        }
        let of_rows = |measure: &&Measure| {
            measure.per_unit && matches!(measure.kind, Kind::Count | Kind::Units | Kind::Distinct)
        };
        if let Some(measure) = self.measures.iter().find(of_rows) {
            return Err(Error::argument("per", &measure.name, "it counts rows, units or values"));
        }
        Ok(())
    }
}

/// A measure with its noises and its place among the integers of a group.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub measure: Measure,
    pub noises: Vec<Noise>,
    pub slot: usize,
    /// Which of a row's or of a unit's values it looks at.
    pub value: Option<usize>,
    /// The query asks for it; otherwise only the plan needs it.
    pub told: bool,
}

/// Everything that is public about a call: noises, thresholds, cost.
///
/// Made from a [`Query`] and a price; used by the reader to add up and to answer.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) planned: Vec<Planned>,
    pub(crate) selection: Option<Selection>,
    /// The fewest units that are answered for, and the measure that counts them.
    pub(crate) min_units: Option<(i128, usize)>,
    /// Units are counted by rows.
    pub(crate) counts_rows: bool,
    slots: usize,
    row_width: usize,
    unit_width: usize,
    charge: Charge,
}

impl Plan {
    /// Splits epsilon over the measures by weight (and one more share for choosing groups), and each
    /// share evenly over the noisy numbers of a measure. With a delta to spend, Gaussian noise takes
    /// the place of Laplace noise where it is narrower overall; its parts add up in zCDP.
    pub fn new(query: Query, epsilon: f64, delta: f64) -> Result<Self, Error> {
        query.check(delta)?;
        let counts_rows = query.counts_rows();
        let mut measures = query.measures.clone();
        let counter = measures.iter().position(|measure| measure.kind == Kind::Units);
        let min_units = query.min_units.filter(|&least| least > 0).map(|least| {
            // Units are counted once more if nobody asked for them: unnamed, as no answer says so.
            let counter = counter.unwrap_or_else(|| {
                let weights: f64 = measures.iter().map(|measure| measure.weight).sum();
                let weight = weights / measures.len() as f64;
                let name = String::new();
                measures.push(Measure { name, kind: Kind::Units, weight, per_unit: false });
                measures.len() - 1
            });
            (i128::from(least), counter)
        });
        let spending = spend::spend(&measures, &query, epsilon, delta)?;
        let (mut slots, mut row_width, mut unit_width) = (0, 0, 0);
        let mut planned = Vec::with_capacity(measures.len());
        for (measure, noises) in measures.into_iter().zip(spending.noises) {
            let width = if measure.per_unit { &mut unit_width } else { &mut row_width };
            let value = measure.kind.has_value().then_some(*width);
            *width += usize::from(value.is_some());
            let slot = slots;
            slots += measure.kind.slots();
            let told = planned.len() < query.measures.len();
            planned.push(Planned { measure, noises, slot, value, told });
        }
        let (selection, charge) = (spending.selection, spending.charge);
        Ok(Plan {
            planned,
            selection,
            min_units,
            counts_rows,
            slots,
            row_width,
            unit_width,
            charge,
        })
    }

    /// What the call takes out of a budget; `whole.epsilon` is the epsilon asked for.
    pub fn charge(&self) -> Charge {
        self.charge
    }

    /// Integers that are kept for each group.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Values that a row carries: one for each measure that looks at a column in rows, in the order
    /// of the measures.
    pub fn row_width(&self) -> usize {
        self.row_width
    }

    /// Values that a unit carries in each of its groups: one for each measure `per_unit`, in the order
    /// of the measures.
    pub fn unit_width(&self) -> usize {
        self.unit_width
    }

    /// True if rows are needed: for measures that look at rows, which also count the units. Otherwise
    /// the units' own values are enough.
    pub fn reads_rows(&self) -> bool {
        self.counts_rows
    }

    /// The measures with their numbers. The last one is unnamed and counts units if `min_units` needs
    /// that and nobody asked for it.
    pub fn measures(&self) -> impl Iterator<Item = (usize, &Measure)> {
        self.planned.iter().map(|planned| &planned.measure).enumerate()
    }

    /// True if data chooses the groups that are shown, through noise.
    pub fn is_private_choice(&self) -> bool {
        self.selection.is_some()
    }
}
