//! The plan of a call: its noises, thresholds and cost, fixed before any data is read.

use crate::calibration::{self, Selection};
use crate::measure::{Measure, MeasureKind};
use guarantee::Charge;
use random::{Error, Noise};

/// A query: measures, and bounds on what one unit contributes.
#[derive(Debug, Clone)]
pub struct Query {
    pub measures: Vec<Measure>,
    /// The most rows of a unit that count (for measures that look at rows).
    pub rows_per_unit: u64,
    /// The most groups of a unit that count; 1 if there is only one group.
    pub groups_per_unit: u64,
    /// Which groups exist must not reveal anything about a person.
    pub private_groups: bool,
    /// No answer is given for a group whose noisy number of units is below it.
    pub min_units: Option<u64>,
}

impl Query {
    /// True if units are counted by the rows that are kept: if any measure looks at rows.
    pub(crate) fn counts_rows(&self) -> bool {
        self.measures.iter().any(|measure| !measure.per_unit)
    }

    /// The number of groups in which a unit can be counted.
    pub(crate) fn groups_counted(&self) -> u64 {
        match self.counts_rows() {
            true => self.groups_per_unit.min(self.rows_per_unit),
            false => self.groups_per_unit,
        }
    }

    fn check(&self, delta: f64) -> Result<(), Error> {
        Error::require(!self.measures.is_empty(), "measures", 0, "there must be at least one")?;
        let least = self.rows_per_unit.min(self.groups_per_unit);
        Error::require(least > 0, "rows_per_unit", least, "it must be at least 1")?;
        let range = "choosing groups needs one above 0";
        Error::require(!(self.private_groups && delta <= 0.0), "delta", delta, range)?;
        let of_rows = |measure: &&Measure| {
            measure.per_unit
                && matches!(
                    measure.kind,
                    MeasureKind::Count | MeasureKind::Units | MeasureKind::Distinct
                )
        };
        if let Some(measure) = self.measures.iter().find(of_rows) {
            return Err(Error::argument("per", &measure.name, "it counts rows, units or values"));
        }
        Ok(())
    }
}

/// A measure with its noises and the place of its integers in a group.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub measure: Measure,
    pub noises: Vec<Noise>,
    pub slot: usize,
    /// The position of its value among the values of a row or of a unit.
    pub value: Option<usize>,
    /// The query asks for it; otherwise only the plan itself needs it.
    pub told: bool,
}

/// Everything about a call that is public: noises, thresholds, cost.
///
/// Made from a [`Query`] and a price; the reader uses it to add up and to answer.
#[derive(Debug, Clone)]
pub struct NoisePlan {
    pub(crate) planned: Vec<Planned>,
    pub(crate) selection: Option<Selection>,
    /// The least number of units for an answer, and the measure that counts them.
    pub(crate) min_units: Option<(i128, usize)>,
    /// Units are counted by rows.
    pub(crate) counts_rows: bool,
    slots: usize,
    row_width: usize,
    unit_width: usize,
    charge: Charge,
}

impl NoisePlan {
    /// Splits epsilon over the measures by weight (with one more share for choosing groups), and each share evenly
    /// over the noisy numbers of a measure. If delta is above 0, Gaussian noise replaces Laplace noise where it is
    /// narrower overall; its parts add up in zCDP.
    pub fn new(query: Query, epsilon: f64, delta: f64) -> Result<Self, Error> {
        query.check(delta)?;
        let counts_rows = query.counts_rows();
        let mut measures = query.measures.clone();
        let counter = measures.iter().position(|measure| measure.kind == MeasureKind::Units);
        let min_units = query.min_units.filter(|&least| least > 0).map(|least| {
            // Units are counted once more if no measure does so. That measure has no name, as no answer reports it.
            let counter = counter.unwrap_or_else(|| {
                let weights: f64 = measures.iter().map(|measure| measure.weight).sum();
                let weight = weights / measures.len() as f64;
                let name = String::new();
                measures.push(Measure { name, kind: MeasureKind::Units, weight, per_unit: false });
                measures.len() - 1
            });
            (i128::from(least), counter)
        });
        let spending = calibration::spend(&measures, &query, epsilon, delta)?;
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
        Ok(NoisePlan {
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

    /// The number of integers kept for each group.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of values that a row carries: one for each measure that looks at a column in rows, in the order of
    /// the measures.
    pub fn row_width(&self) -> usize {
        self.row_width
    }

    /// The number of values that a unit carries in each of its groups: one for each measure `per_unit`, in the order
    /// of the measures.
    pub fn unit_width(&self) -> usize {
        self.unit_width
    }

    /// True if rows are needed: for measures that look at rows, which also count the units. Otherwise the units' own
    /// values are enough.
    pub fn reads_rows(&self) -> bool {
        self.counts_rows
    }

    /// The measures with their numbers. The last one has no name and counts units if `min_units` needs that and no
    /// measure does so.
    pub fn measures(&self) -> impl Iterator<Item = (usize, &Measure)> {
        self.planned.iter().map(|planned| &planned.measure).enumerate()
    }
}
