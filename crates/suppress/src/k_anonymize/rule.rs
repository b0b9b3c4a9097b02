//! What every class of a release must have.

use super::{Diversity, DiversityKind};
use crate::Error;

/// The distance t is compared in steps of 1/`STEPS`, rounded down.
const STEPS: f64 = (1u64 << 53) as f64;

/// Entropies are sums of rounded logarithms: a class must exceed the requirement by this.
const ROUNDING: f64 = 1e-12;

/// The part of the distance t that classes may use at first.
const ROOM: f64 = 0.75;

/// Rows by sensitive value.
pub(crate) type Tally = Vec<(u32, u64)>;

/// Adds rows of a value.
pub(crate) fn add(tally: &mut Tally, value: u32, rows: u64) {
    match tally.iter_mut().find(|entry| entry.0 == value) {
        Some(entry) => entry.1 += rows,
        None => tally.push((value, rows)),
    }
}

/// Removes rows of a value.
pub(crate) fn take(tally: &mut Tally, value: u32, rows: u64) {
    if let Some(place) = tally.iter().position(|entry| entry.0 == value) {
        tally[place].1 -= rows;
        if tally[place].1 == 0 {
            tally.swap_remove(place);
        }
    }
}

/// The rows of a tally.
pub(crate) fn rows(tally: &Tally) -> u64 {
    tally.iter().map(|entry| entry.1).sum()
}

/// The least size of a class, and the requirements for its sensitive values.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub k: u64,
    /// True if the rule cannot hold for the whole table, so that rows must be dropped.
    pub drops: bool,
    sensitive: Option<Sensitive>,
}

#[derive(Debug, Clone)]
struct Sensitive {
    asked: Diversity,
    /// The released rows by value, and their total.
    totals: Vec<u64>,
    all: u64,
}

impl Rule {
    /// `totals` are the released rows by sensitive value.
    pub fn new(k: u64, asked: Option<Diversity>, totals: Vec<u64>) -> Self {
        let all = totals.iter().sum();
        let sensitive = asked.map(|asked| Sensitive { asked, totals, all });
        Rule { k: k.max(1), drops: false, sensitive }
    }

    /// The rule for a table with `totals` rows of each sensitive value, or the error why no release can satisfy it.
    ///
    /// If the table does not have enough entropy, frequent values are released less often, as far as necessary.
    pub fn of_table(k: u64, asked: Option<Diversity>, totals: Vec<u64>) -> Result<Self, Error> {
        let mut rule = Rule::new(k, asked, totals);
        let Some(sensitive) = &mut rule.sensitive else { return Ok(rule) };
        let (Some(l), true) = (sensitive.asked.l, sensitive.all > 0) else { return Ok(rule) };
        let least = |cap: u64| -> Tally {
            let values = sensitive.totals.iter().map(|&rows| rows.min(cap));
            (0..).zip(values).filter(|entry| entry.1 > 0).collect()
        };
        let most = sensitive.totals.iter().copied().max().unwrap_or(0);
        let values = least(1).len();
        if (values as f64) < l {
            return Err(Error::NotDiverse { l, values });
        }
        // The lower the limit for frequent values, the more even the values are.
        let (mut even, mut uneven) = (1, most + 1);
        while even + 1 < uneven {
            let cap = even + (uneven - even) / 2;
            if sensitive.is_diverse(&least(cap)) { even = cap } else { uneven = cap }
        }
        if even < most {
            let kept = least(even);
            let rows = rows(&kept);
            if rows < rule.k {
                return Err(Error::NothingLeft { class: rule.k, rows });
            }
            sensitive.totals.iter_mut().for_each(|rows| *rows = (*rows).min(even));
            sensitive.all = rows;
            rule.drops = true;
        }
        Ok(rule)
    }

    /// A stricter rule that leaves room in classes for rows that join later.
    pub fn with_room(&self) -> Self {
        let mut rule = self.clone();
        if let Some(Sensitive { asked: Diversity { t: Some(t), .. }, .. }) = &mut rule.sensitive {
            *t *= ROOM;
        }
        rule
    }

    /// The rule if only some rows are released, given by sensitive value.
    pub fn for_released(&self, released: &Tally) -> Self {
        let mut rule = self.clone();
        if let Some(sensitive) = &mut rule.sensitive {
            sensitive.totals.fill(0);
            released.iter().for_each(|&(value, rows)| sensitive.totals[value as usize] = rows);
            sensitive.all = rows(released);
        }
        rule
    }

    /// True if only the size counts.
    pub fn is_plain(&self) -> bool {
        self.sensitive.is_none()
    }

    /// True if a class with these rows may be released.
    pub fn holds(&self, tally: &Tally) -> bool {
        rows(tally) >= self.k
            && self
                .sensitive
                .as_ref()
                .is_none_or(|sensitive| sensitive.is_diverse(tally) && sensitive.is_close(tally))
    }

    /// Removes rows from a tally, as few as it can find, until the rule holds; false if it holds for no part of the
    /// tally.
    pub fn trim(&self, tally: &mut Tally) -> bool {
        let Some(sensitive) = &self.sensitive else { return rows(tally) >= self.k };
        let mut size = rows(tally);
        // Rows are removed one by one, in large tallies several at once.
        let step = (size / 512).max(1);
        while size >= self.k {
            if sensitive.is_diverse(tally) && sensitive.is_close(tally) {
                return true;
            }
            // The value with the largest excess, compared with the table's shares if closeness is asked for.
            let excess = |&(value, rows): &(u32, u64)| match sensitive.asked.t {
                Some(_) => {
                    let expected = sensitive.totals[value as usize] as f64 / sensitive.all as f64;
                    rows as f64 - expected * size as f64
                }
                None => rows as f64,
            };
            let place = (0..tally.len())
                .max_by(|&a, &b| excess(&tally[a]).total_cmp(&excess(&tally[b])).then(b.cmp(&a)));
            let Some(place) = place else { return false };
            let cut = step.min(tally[place].1);
            tally[place].1 -= cut;
            if tally[place].1 == 0 {
                tally.swap_remove(place);
            }
            size -= cut;
        }
        false
    }
}

impl Sensitive {
    fn is_diverse(&self, tally: &Tally) -> bool {
        let Some(l) = self.asked.l else { return true };
        let values = tally.len() as f64;
        if values < l {
            return false;
        }
        match self.asked.kind {
            DiversityKind::Distinct => true,
            // With equal numbers the entropy is greatest: exp of it is the number of values.
            DiversityKind::Entropy => {
                tally.iter().all(|entry| entry.1 == tally[0].1)
                    || entropy(tally) >= l.ln() + ROUNDING
            }
        }
    }

    /// `1/2 sum |p - q| <= t`, with both sides multiplied by the rows of the class and of the release.
    fn is_close(&self, tally: &Tally) -> bool {
        let Some(t) = self.asked.t else { return true };
        let size = u128::from(rows(tally));
        let beyond: u128 = tally
            .iter()
            .map(|&(value, rows)| {
                let own = u128::from(rows) * u128::from(self.all);
                own.saturating_sub(u128::from(self.totals[value as usize]) * size)
            })
            .sum();
        let steps = (t.clamp(0.0, 1.0) * STEPS) as u128;
        beyond.saturating_mul(STEPS as u128) <= steps.saturating_mul(size * u128::from(self.all))
    }
}

/// The entropy of the values, in natural units.
fn entropy(tally: &Tally) -> f64 {
    let size = rows(tally) as f64;
    let own = |&(_, rows): &(u32, u64)| {
        let share = rows as f64 / size;
        -share * share.ln()
    };
    tally.iter().map(own).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(l: Option<f64>, kind: DiversityKind, t: Option<f64>, totals: &[u64]) -> Rule {
        Rule::new(2, Some(Diversity { l, kind, t }), totals.to_vec())
    }

    #[test]
    fn distinct_values_are_counted() {
        let rule = rule(Some(2.0), DiversityKind::Distinct, None, &[9, 9]);
        assert!(rule.holds(&vec![(0, 5), (1, 1)]));
        assert!(!rule.holds(&vec![(0, 5)]));
        assert!(!rule.holds(&vec![(0, 1)]));
    }

    #[test]
    fn entropy_is_that_of_equally_frequent_values() {
        let two = rule(Some(2.0), DiversityKind::Entropy, None, &[9, 9, 9]);
        assert!(two.holds(&vec![(0, 3), (1, 3)]));
        assert!(!two.holds(&vec![(0, 4), (1, 3)]));
        // Shares 1/2, 1/4, 1/4: exp of the entropy is 2 to the 3/2, 2.83.
        let tally = vec![(0, 2), (1, 1), (2, 1)];
        let of = |l: f64| rule(Some(l), DiversityKind::Entropy, None, &[9, 9, 9]).holds(&tally);
        assert!(of(2.82) && !of(2.83));
    }

    #[test]
    fn closeness_is_exact_at_the_limit() {
        // Shares 3/4 and 1/4 against 1/2 each: a distance of 1/4.
        let of = |t: f64| rule(None, DiversityKind::Distinct, Some(t), &[4, 4]);
        let tally = vec![(0, 3), (1, 1)];
        assert!(of(0.25).holds(&tally));
        assert!(!of(0.2499999999999).holds(&tally));
        assert!(of(0.0).holds(&vec![(0, 2), (1, 2)]));
    }

    #[test]
    fn a_table_with_too_little_entropy_loses_frequent_rows() {
        let asked = |l| Some(Diversity { l: Some(l), kind: DiversityKind::Entropy, t: None });
        let rule = |k, l| Rule::of_table(k, asked(l), vec![7, 3, 0]);
        assert!(!rule(2, 1.5).unwrap().drops);
        let cut = rule(2, 2.0).unwrap();
        assert!(cut.drops);
        assert_eq!(cut.sensitive.unwrap().totals, [3, 3, 0]);
        assert_eq!(rule(2, 2.5).unwrap_err(), Error::NotDiverse { l: 2.5, values: 2 });
        assert_eq!(rule(7, 2.0).unwrap_err(), Error::NothingLeft { class: 7, rows: 6 });
    }

    #[test]
    fn what_is_too_much_goes() {
        let entropy = rule(Some(2.0), DiversityKind::Entropy, None, &[9, 9]);
        let mut tally = vec![(0, 5), (1, 3)];
        assert!(entropy.trim(&mut tally));
        assert_eq!(tally, [(0, 3), (1, 3)]);
        assert!(!entropy.trim(&mut vec![(0, 5)]));
        let close = rule(None, DiversityKind::Distinct, Some(0.0), &[6, 2]);
        let mut tally = vec![(0, 3), (1, 3)];
        assert!(close.trim(&mut tally));
        assert_eq!(tally, [(0, 3), (1, 1)]);
    }
}
