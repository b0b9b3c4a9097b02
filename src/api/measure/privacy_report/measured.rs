//! The counts for a report, computed on threads and with values as the tables' own bytes.

use super::tables::{Beside, Tables};
use crate::api::prelude::*;
use crate::api::release::hierarchy::general;
use measures::utility::{Joint, Seen, Utility, shown};
use measures::{Cell, CommonRecords, Comparison, Diversity, Meaning, People};
use mining::RiskCounts;
use report::{Sensitive, Unicity};

/// The most columns of combinations by which rows stand out, and the most items of a frequent itemset: longer ones take
/// long to count and add little.
pub const RISK_LENGTH: usize = 3;
pub const ITEMSET_LENGTH: usize = 4;

/// Limits: values that are listed as risky, values shown of a column and of a pair, and columns and pairs that are
/// shown.
const RISKY_VALUES: usize = 12;
const VALUES: usize = 9;
const CROSSED_VALUES: usize = 5;
const COLUMNS: usize = 40;
const CROSSED: usize = 2;

/// General values of a column for which the covered values are listed.
const COARSE: usize = 3;

/// From this number of values on the combinations of a column are not examined.
const MANY: u64 = 45;

/// The most cells of a row that an attacker may know; and how many rows and choices of cells are sampled if there are
/// too many to count.
const KNOWN: usize = 4;
const SAMPLES: u64 = 10_000;

/// What is to be counted.
pub struct Plan {
    pub min_share: f64,
    /// Combinations that at most this number of rows share stand out.
    pub theta: u64,
}

/// What was counted.
pub struct Measured {
    /// The risk of each column by which a person may be known.
    pub risk: Vec<RiskCounts>,
    pub risky_values: Vec<RiskyValue>,
    /// The sizes of the original's classes in these columns.
    pub known_classes: Vec<u64>,
    pub unicity: Vec<Unicity>,
    pub releases: Vec<MeasuredRelease>,
}

/// A value with its risk, by column and code of the original.
pub struct RiskyValue {
    pub column: usize,
    pub code: u32,
    pub counts: RiskCounts,
}

/// What was counted of a release compared with the original.
pub struct MeasuredRelease {
    pub utility: Utility,
    pub itemsets: Comparison,
    pub score: Option<f64>,
    pub common: CommonRecords,
    pub unicity: Vec<Unicity>,
    /// The mean loss of a cell, by column.
    pub loss: Vec<f64>,
    /// The sizes of the classes of the original and of the release.
    pub classes: [Vec<u64>; 2],
    /// Diversity and closeness of the sensitive column in the classes of the release.
    pub sensitive: Option<Sensitive>,
    pub people: Option<People>,
    /// True if values were made coarser or blanked, not drawn.
    pub coarser: bool,
    pub coarse: Vec<Coarse>,
    /// The shown values by column; empty for columns beyond [`COLUMNS`].
    pub shown: Vec<ShownColumn>,
    pub crossed: Vec<CrossedValues>,
}

/// A general value, by column and in the bytes of its table: how many rows show it, how many values of the
/// original it covers, and the first and the last of them.
pub struct Coarse {
    pub column: usize,
    pub text: Vec<u8>,
    pub rows: u64,
    pub values: usize,
    pub ends: [Vec<u8>; 2],
}

/// The shown values of a column, with the numbers of rows of the original and of the release.
pub type ShownColumn = Vec<(Text, [u64; 2])>;

/// A value to be written, in the bytes of its table.
#[derive(Clone)]
pub enum Text {
    Value(Option<Vec<u8>>),
    Range(String),
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
    pub fn measure(&self, tables: &Tables, watch: &Watch) -> Result<Measured, Stop> {
        let known = tables.original.bag.project(&tables.known, watch)?;
        let _held = watch.hold(known.own_memory())?;
        let (risk, mut risky_values) = self.risk(&known, watch)?;
        risky_values.iter_mut().for_each(|value| value.column = tables.known[value.column]);
        let unicity = unicity(&known, watch)?;
        let releases = tables.releases.iter();
        let releases = releases.map(|release| self.release(tables, release, watch));
        let mut releases = releases.collect::<Result<Vec<_>, _>>()?;
        share_out(tables, &mut releases, watch)?;
        let known_classes = known.weights().to_vec();
        Ok(Measured { risk, risky_values, known_classes, unicity, releases })
    }

    fn risk(
        &self,
        original: &Bag,
        watch: &Watch,
    ) -> Result<(Vec<RiskCounts>, Vec<RiskyValue>), Stop> {
        let mut values: Vec<RiskyValue> = Vec::new();
        if original.row_count() == 0 {
            return Ok((vec![RiskCounts::default(); original.width()], values));
        }
        let theta = self.theta.min(original.row_count());
        let risk = mining::risk(original, None, theta, Some(RISK_LENGTH), watch)?;
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
        tables: &Tables,
        release: &Beside,
        watch: &Watch,
    ) -> Result<MeasuredRelease, Stop> {
        let (original, released) = (&tables.original.bag, &release.input.bag);
        let columns = release.written.iter().enumerate();
        let loss = columns
            .map(|(c, written)| {
                Ok(suppress::column_loss(released, original, c, written, watch)?.mean())
            })
            .collect::<Result<_, Stop>>()?;
        let (utility, crossed) = {
            let joint = Joint::new(original, released, watch)?;
            let utility = Utility::of(&joint, watch)?;
            let crossed = crossed(&joint, &utility, watch)?;
            (utility, crossed)
        };
        let all: Vec<usize> = (0..original.width()).collect();
        let meaning = meaning(release, &all, original, released, watch)?;
        let length = Some(ITEMSET_LENGTH);
        let [before, after] = [original, released].map(|bag| bag.project(&release.class, watch));
        let (before, after) = (before?, after?);
        let known = released.project(&tables.known, watch)?;
        let (score, common) = got_through(tables, release, watch)?;
        Ok(MeasuredRelease {
            utility,
            itemsets: measures::compare_itemsets(
                original,
                released,
                self.min_share,
                length,
                watch,
            )?,
            score,
            common,
            unicity: unicity(&known, watch)?,
            loss,
            sensitive: sensitive(release, watch)?,
            people: people(tables, release, &before, &after, watch)?,
            classes: [before, after].map(|bag| bag.weights().to_vec()),
            coarser: meaning.reads_general_values(),
            coarse: coarse(&meaning, released, original),
            shown: Vec::new(),
            crossed,
        })
    }
}

/// How much of the original's rows the release still shows, in all columns but the sensitive one, which attackers are
/// assumed not to know.
fn got_through(
    tables: &Tables,
    release: &Beside,
    watch: &Watch,
) -> Result<(Option<f64>, CommonRecords), Stop> {
    let columns: Vec<usize> = (0..tables.original.bag.width())
        .filter(|&column| Some(column) != release.sensitive)
        .collect();
    let (original, released) = (
        tables.original.bag.project(&columns, watch)?,
        release.input.bag.project(&columns, watch)?,
    );
    let meaning = meaning(release, &columns, &original, &released, watch)?;
    let score = measures::anonymity_score(&released, &original, &meaning, watch)?;
    let common = measures::common_records(&released, &original, &meaning, watch)?;
    Ok((score.map(|score| score.normalised), common))
}

/// The meaning of a release's cells, in the columns to which both tables are cut.
fn meaning<'w>(
    release: &Beside,
    columns: &[usize],
    original: &Bag,
    released: &Bag,
    watch: &'w Watch,
) -> Result<Meaning<'w>, Stop> {
    let written: Vec<Written> =
        columns.iter().map(|&column| release.written[column].clone()).collect();
    let general = general(&written, original.domains(), released.domains());
    Meaning::of(released, original, general, |column| release.made[columns[column]], watch)
}

/// Diversity and closeness of the sensitive column in the classes of a release.
fn sensitive(release: &Beside, watch: &Watch) -> Result<Option<Sensitive>, Stop> {
    let Some(column) = release.sensitive else { return Ok(None) };
    let columns: Vec<usize> = release.class.iter().copied().chain([column]).collect();
    let (bag, last) = (release.input.bag.project(&columns, watch)?, release.class.len());
    Ok(Some(Sensitive {
        column: release.input.bag.domain(column).name().into(),
        distinct_l: measures::l_diversity(&bag, None, last, Diversity::Distinct, watch)?,
        entropy_l: measures::l_diversity(&bag, None, last, Diversity::Entropy, watch)?,
        t: measures::t_closeness(&bag, None, last, false, watch)?,
    }))
}

/// The people in the classes of a release, if the original has a column that identifies people and classes have a
/// promised size. The tables are cut to the columns of the classes.
fn people(
    tables: &Tables,
    release: &Beside,
    before: &Bag,
    after: &Bag,
    watch: &Watch,
) -> Result<Option<People>, Stop> {
    let (Some(k), Some(people)) = (release.k, &tables.people) else { return Ok(None) };
    let columns: Vec<usize> = release.class.iter().copied().chain([people.unit]).collect();
    let rows = people.rows.project(&columns, watch)?;
    let _held = watch.hold(rows.own_memory())?;
    let (rows, units) = rows.split_units(watch)?;
    let meaning = meaning(release, &release.class, before, after, watch)?;
    measures::people(after, &rows, &units, &meaning, k, watch)
}

/// The general values that most rows show, and what they cover.
fn coarse(meaning: &Meaning<'_>, released: &Bag, original: &Bag) -> Vec<Coarse> {
    let mut found = Vec::new();
    for (column, supports) in released.supports().into_iter().enumerate().take(COLUMNS) {
        let mut general: Vec<(u64, u32, &[u32])> = (0..)
            .zip(supports)
            .filter_map(|(code, rows)| match meaning.cell(column, code) {
                Cell::General(covered) => Some((rows, code, covered)),
                _ => None,
            })
            .collect();
        general.sort_by_key(|&(rows, code, _)| (std::cmp::Reverse(rows), code));
        for (rows, code, covered) in general.into_iter().take(COARSE) {
            let texts: Vec<&[u8]> =
                covered.iter().map(|&code| original.domain(column).value(code)).collect();
            let text = released.domain(column).value(code).to_vec();
            found.push(Coarse { column, text, rows, values: texts.len(), ends: ends(texts) });
        }
    }
    found
}

/// The first and the last of some values: by number if all are numbers, else in the order of their texts.
fn ends(mut texts: Vec<&[u8]>) -> [Vec<u8>; 2] {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    if texts.iter().all(|text| number(text).is_some()) {
        texts
            .sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(std::cmp::Ordering::Equal));
    }
    [texts.first(), texts.last()].map(|end| end.map_or_else(Vec::new, |text| text.to_vec()))
}

/// Chooses the shown values of each column: the same values or ranges for all releases.
fn share_out(tables: &Tables, releases: &mut [MeasuredRelease], watch: &Watch) -> Result<(), Stop> {
    let bags: Vec<&Bag> = [&tables.original]
        .into_iter()
        .chain(tables.releases.iter().map(|r| &r.input))
        .map(|t| &t.bag)
        .collect();
    for column in 0..tables.original.bag.width().min(COLUMNS) {
        let parts = shown(&bags, column, VALUES, watch)?;
        for (i, release) in releases.iter_mut().enumerate() {
            let text = |seen: &Seen<'_>| match seen {
                Seen::Value(value) => Text::Value(value.map(<[u8]>::to_vec)),
                Seen::Range(name) => Text::Range(name.clone()),
                Seen::Others(values) => Text::Others(*values),
            };
            let parts =
                parts.iter().map(|part| (text(&part.seen), [part.rows[0], part.rows[i + 1]]));
            release.shown.push(parts.collect());
        }
    }
    Ok(())
}

/// The share of rows that an attacker finds who knows one of their cells, two, and so on. Sampling uses the same random
/// numbers each time, so that a report can be repeated.
fn unicity(bag: &Bag, watch: &Watch) -> Result<Vec<Unicity>, Stop> {
    let mut coins = Coins::seeded(1);
    let mut found = Vec::new();
    for known in 1..=KNOWN.min(bag.width()) {
        let below = |n| random::below(&mut coins, n);
        if let Some(unicity) = measures::unicity(bag, None, known, 1, SAMPLES, below, watch)? {
            found.push(Unicity { known: known as u32, share: unicity.share });
        }
    }
    Ok(found)
}

/// The combinations of the pairs that differ most; each column is in at most one pair.
fn crossed(
    joint: &Joint<'_>,
    utility: &Utility,
    watch: &Watch,
) -> Result<Vec<CrossedValues>, Stop> {
    // The most common values of a column with many values say little.
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
