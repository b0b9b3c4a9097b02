//! What is counted for a report, on the threads and in the tables' own bytes.

use measures::utility::{Joint, Seen, Utility};
use measures::{CommonRecords, Comparison};
use mining::Counts;
use random::Coins;
use report::Unicity;
use std::ops::RangeInclusive;
use suppress::Hierarchy;
use table::{Bag, Stop, Watch};

/// Columns of the combinations by which rows stand out, and items of a frequent itemset: longer ones take
/// long to count and say little more.
pub const RISK_LENGTH: usize = 3;
pub const ITEMSET_LENGTH: usize = 4;

/// Values that are listed as risky, values of a column and of a pair that are shown, and columns and pairs
/// for which they are.
const RISKY_VALUES: usize = 12;
const VALUES: usize = 9;
const CROSSED_VALUES: usize = 5;
const COLUMNS: usize = 40;
const CROSSED: usize = 2;

/// Values of a column whose combinations are not worth looking at.
const MANY: u64 = 45;

/// Cells of a row that somebody may know, at most; and how many rows and choices of such cells are tried
/// where they are too many to count.
const KNOWN: usize = 4;
const SAMPLES: u64 = 10_000;

/// What is to be counted.
pub struct Plan {
    pub min_support: f64,
    /// Combinations that at most so many rows share stand out.
    pub theta: u64,
}

/// What was counted.
pub struct Measured {
    /// By column.
    pub risk: Vec<Counts>,
    pub risky_values: Vec<RiskyValue>,
    pub unicity: Vec<Unicity>,
    pub releases: Vec<MeasuredRelease>,
}

/// A value and what it does, by column and code of the original.
pub struct RiskyValue {
    pub column: usize,
    pub code: u32,
    pub counts: Counts,
}

/// What was counted of a release beside the original.
pub struct MeasuredRelease {
    pub utility: Utility,
    pub itemsets: Comparison,
    pub score: Option<f64>,
    pub common: CommonRecords,
    pub unicity: Vec<Unicity>,
    /// What a cell of each column lost.
    pub loss: Vec<f64>,
    /// By column; nothing beyond [`COLUMNS`].
    pub shown: Vec<ShownColumn>,
    pub crossed: Vec<CrossedValues>,
}

/// What is shown of a column, with the rows of both tables.
pub type ShownColumn = Vec<(Text, [u64; 2])>;

/// A value to be written, in the bytes of its table.
pub enum Text {
    Value(Option<Vec<u8>>),
    Range(RangeInclusive<f64>),
    Others(u64),
}

/// The combinations of two columns.
pub struct CrossedValues {
    pub a: usize,
    pub b: usize,
    pub a_values: Vec<Option<Vec<u8>>>,
    pub b_values: Vec<Option<Vec<u8>>>,
    pub original: Vec<Vec<u64>>,
    pub released: Vec<Vec<u64>>,
}

impl Plan {
    /// The hierarchies are those of the original's columns.
    pub fn measure(
        &self,
        original: &Bag,
        hierarchies: &[Hierarchy],
        releases: Vec<&Bag>,
        watch: &Watch,
    ) -> Result<Measured, Stop> {
        let (risk, risky_values) = self.risk(original, watch)?;
        let unicity = unicity(original, watch)?;
        let releases = releases.into_iter();
        let releases = releases.map(|release| self.release(original, hierarchies, release, watch));
        let releases = releases.collect::<Result<_, _>>()?;
        Ok(Measured { risk, risky_values, unicity, releases })
    }

    fn risk(&self, original: &Bag, watch: &Watch) -> Result<(Vec<Counts>, Vec<RiskyValue>), Stop> {
        let mut values: Vec<RiskyValue> = Vec::new();
        if original.row_count() == 0 {
            return Ok((vec![Counts::default(); original.width()], values));
        }
        let theta = self.theta.min(original.row_count());
        let risk = mining::risk(original, theta, Some(RISK_LENGTH), watch)?;
        for (column, risk) in risk.iter().enumerate() {
            for (code, &counts) in (0..).zip(&risk.values) {
                let least = values.get(RISKY_VALUES - 1).map_or(0, |value| value.counts.cells);
                if counts.cells > least {
                    let place = values.partition_point(|value| value.counts.cells >= counts.cells);
                    values.insert(place, RiskyValue { column, code, counts });
                    values.truncate(RISKY_VALUES);
                }
            }
        }
        Ok((risk.into_iter().map(|column| column.total).collect(), values))
    }

    fn release(
        &self,
        original: &Bag,
        hierarchies: &[Hierarchy],
        released: &Bag,
        watch: &Watch,
    ) -> Result<MeasuredRelease, Stop> {
        let columns = hierarchies.iter().enumerate();
        let loss = columns
            .map(|(c, h)| Ok(suppress::column_loss(released, original, c, h, watch)?.mean()))
            .collect::<Result<_, Stop>>()?;
        let (utility, shown, crossed) = {
            let joint = Joint::new(original, released, watch)?;
            let utility = Utility::of(&joint, watch)?;
            let shown = shown(&joint, &utility, watch)?;
            let crossed = crossed(&joint, &utility, watch)?;
            (utility, shown, crossed)
        };
        let length = Some(ITEMSET_LENGTH);
        Ok(MeasuredRelease {
            utility,
            itemsets: measures::compare_itemsets(original, released, self.min_support, length, watch)?,
            score: measures::anonymity_score(released, original, watch)?.map(|score| score.normalised),
            common: measures::common_records(released, original, watch)?,
            unicity: unicity(released, watch)?,
            loss,
            shown,
            crossed,
        })
    }
}

/// The share of rows that somebody finds who knows one cell of them, two, and so on. Where it is sampled it
/// is so with the same coins each time, so that a report can be repeated.
fn unicity(bag: &Bag, watch: &Watch) -> Result<Vec<Unicity>, Stop> {
    let mut coins = Coins::seeded(1);
    let mut found = Vec::new();
    for known in 1..=KNOWN.min(bag.width()) {
        let below = |n| random::below(&mut coins, n);
        if let Some(unicity) = measures::unicity(bag, known, 1, SAMPLES, below, watch)? {
            found.push(Unicity { known: known as u32, share: unicity.share });
        }
    }
    Ok(found)
}

/// What is shown of each column.
fn shown(
    joint: &Joint<'_>,
    utility: &Utility,
    watch: &Watch,
) -> Result<Vec<ShownColumn>, Stop> {
    (0..utility.columns.len().min(COLUMNS))
        .map(|column| {
            let shown = joint.shown(column, VALUES, watch)?;
            let text = |seen| match seen {
                Seen::Value(value) => Text::Value(value.map(<[u8]>::to_vec)),
                Seen::Range(range) => Text::Range(range),
                Seen::Others(values) => Text::Others(values),
            };
            Ok(shown.into_iter().map(|one| (text(one.seen), [one.original, one.released])).collect())
        })
        .collect()
}

/// The combinations of the pairs that differ most, no column in more than one of them.
fn crossed(
    joint: &Joint<'_>,
    utility: &Utility,
    watch: &Watch,
) -> Result<Vec<CrossedValues>, Stop> {
    // Of a column with many values the most common ones say little.
    let has_many = |column: usize| {
        let change = &utility.columns[column];
        change.original_values.max(change.released_values) > MANY
    };
    let mut pairs: Vec<_> =
        utility.pairs.iter().filter(|pair| !has_many(pair.a) && !has_many(pair.b)).collect();
    pairs.sort_by(|x, y| y.tv.total_cmp(&x.tv).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut found: Vec<CrossedValues> = Vec::new();
    for pair in pairs {
        if found.len() == CROSSED {
            break;
        }
        if found.iter().any(|one| [one.a, one.b].iter().any(|x| [pair.a, pair.b].contains(x))) {
            continue;
        }
        let crossed = joint.cross(pair.a, pair.b, CROSSED_VALUES, watch)?;
        let owned = |values: Vec<Option<&[u8]>>| {
            values.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect()
        };
        found.push(CrossedValues {
            a: pair.a,
            b: pair.b,
            a_values: owned(crossed.a),
            b_values: owned(crossed.b),
            original: crossed.original,
            released: crossed.released,
        });
    }
    Ok(found)
}
