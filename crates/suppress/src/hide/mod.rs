//! Sensitive itemsets brought below a support: cells of rows that contain them are blanked, as few as we can find.
//! Nothing else is protected: all other cells, and all rows, are released unchanged.
//!
//! 1. `find` finds the itemsets that a row contains. Itemsets that are infrequent already are left alone.
//! 2. Rows that contain the same itemsets are of one kind: blanking them has the same effect. `plan` decides how many
//!    rows of each kind lose which cells.
//! 3. The blanks are spread evenly over the rows of a kind, in the order of their values, so that they do not
//!    accumulate in one part of the table.
//! 4. The supports are counted again on the release before it is returned.
//!
//! With units, supports are numbers of units. `units` then plans for units instead of rows: a unit is of the kind of all
//! its rows together, and what it loses it loses in all of them.

mod find;
mod plan;
mod units;

use crate::Error;
use find::Finder;
use plan::{Pattern, plan};
use table::{Bag, Index, Item, NONE, Release, Reservation, Stop, Units, Watch, Whose, bits};

/// Blanks cells until fewer than `min_support` rows, or units, contain each of the itemsets. A unit contains an itemset
/// if one of its rows does. No cell of the columns
/// `keep` is blanked, so every itemset must have an item in another column. All rows are kept.
///
/// The search is greedy: the cell that hides most itemsets at once is blanked first; among equals, the most frequent
/// value. Blanks that turn out not to be needed are undone. One itemset alone, and several without a common item, are
/// hidden by the fewest cells that can do it.
pub fn hide_itemsets(
    bag: &Bag,
    units: Option<&Units>,
    itemsets: &[Vec<Item>],
    keep: &[usize],
    min_support: u64,
    watch: &Watch,
) -> Result<Release, Error> {
    let mut sensitive: Vec<Vec<Item>> = itemsets.to_vec();
    sensitive.iter_mut().for_each(|items| items.sort_unstable());
    // The order of the list and duplicates in it must not change the result.
    sensitive.sort();
    sensitive.dedup();
    let kinds = Kinds::new(bag, &sensitive, watch)?;
    let release = match units {
        None => {
            let excess = excess(&kinds.all, sensitive.len(), min_support);
            let patterns = plan(bag, &sensitive, &excess, &kinds.all, keep, watch)?;
            spread(bag, &kinds, &patterns, watch)?
        }
        Some(units) => units::hidden(bag, units, &kinds, &sensitive, (keep, min_support), watch)?,
    };
    checked(release, bag, units, &sensitive, min_support, watch)
}

/// In how many rows of these kinds each of the itemsets must be hidden.
fn excess(kinds: &[Kind], itemsets: usize, min_support: u64) -> Vec<u64> {
    let mut excess = vec![0u64; itemsets];
    for kind in kinds {
        kind.sets.iter().for_each(|&set| excess[set as usize] += kind.rows);
    }
    excess.iter_mut().for_each(|rows| *rows = (*rows + 1).saturating_sub(min_support));
    excess
}

/// Rows, or units, that contain the same sensitive itemsets.
struct Kind {
    /// The itemsets, as numbers, ascending.
    sets: Vec<u32>,
    /// The number of rows, or of units.
    rows: u64,
}

/// The kinds of the rows that contain a sensitive itemset, in the order of their itemsets.
struct Kinds<'w> {
    all: Vec<Kind>,
    /// The distinct rows, ordered by kind and then by their values.
    rows: Vec<u32>,
    /// The kind of each distinct row; [`NONE`] if it contains no sensitive itemset.
    of: Vec<u32>,
    _held: Reservation<'w>,
}

impl<'w> Kinds<'w> {
    fn new(bag: &Bag, itemsets: &[Vec<Item>], watch: &'w Watch) -> Result<Self, Stop> {
        // The kind of each row and its place among the rows, twice while they are sorted.
        let mut held = watch.hold(bag.distinct() as u64 * 12)?;
        let finder = Finder::new(bag, itemsets);
        let (mut index, mut all, mut kept) = (Index::new(), Vec::<Kind>::new(), 0);
        let mut of = Vec::with_capacity(bag.distinct());
        let mut rows = Vec::new();
        let mut sets = Vec::new();
        for row in 0..bag.distinct() {
            watch.poll_with(row, || held.raise(bag.distinct() as u64 * 12 + kept))?;
            finder.find(bag.row(row), &mut sets);
            if sets.is_empty() {
                of.push(NONE);
                continue;
            }
            let kind = index.number(sets.as_slice(), |kind| all[kind as usize].sets.as_slice());
            let kind = kind.unwrap_or_else(|new| {
                // Its itemsets, and places in an index and in lists that grow by doubling.
                kept += (sets.len() * 4 + 128) as u64;
                all.push(Kind { sets: sets.clone(), rows: 0 });
                new
            });
            all[kind as usize].rows += bag.weight(row);
            of.push(kind);
            rows.push(row as u32);
        }
        // The result must not depend on the order of reading.
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| all[a as usize].sets.cmp(&all[b as usize].sets));
        let mut place = vec![0; all.len()];
        order.iter().zip(0..).for_each(|(&kind, new)| place[kind as usize] = new);
        of.iter_mut().filter(|kind| **kind != NONE).for_each(|kind| *kind = place[*kind as usize]);
        all.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
        let key = |row: u32| (of[row as usize], bag.row(row as usize));
        table::sort_watched(&mut rows, watch, |a, b| key(a).cmp(&key(b)))?;
        Ok(Kinds { all, rows, of, _held: held })
    }

    /// The distinct rows of each kind.
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.rows.chunk_by(|&a, &b| self.of[a as usize] == self.of[b as usize])
    }
}

/// The table with the planned number of rows of each kind blanked by each of its patterns.
fn spread(
    bag: &Bag,
    kinds: &Kinds,
    patterns: &[Vec<Pattern>],
    watch: &Watch,
) -> Result<Release, Stop> {
    let mut release = Release::new(bag.width());
    let mut held = Reservation::new(watch);
    let mut mask = vec![0; bits::words(bag.width())];
    for (row, _) in kinds.of.iter().enumerate().filter(|(_, kind)| **kind == NONE) {
        watch.poll_with(row, || held.raise(release.memory() * 2))?;
        release.push(row as u32, &mask, bag.weight(row));
    }
    for (rows, patterns) in kinds.rows().zip(patterns) {
        held.raise(release.memory() * 2 + rows.len() as u64 * 8)?;
        let mut left: Vec<u64> = rows.iter().map(|&row| bag.weight(row as usize)).collect();
        for pattern in patterns {
            watch.check()?;
            pattern.columns.iter().for_each(|&column| bits::insert(&mut mask, column as usize));
            let all: u128 = left.iter().map(|&copies| u128::from(copies)).sum();
            let wanted = u128::from(pattern.rows);
            let mut before = 0u128;
            for (i, (&row, left)) in rows.iter().zip(&mut left).enumerate() {
                watch.poll(i)?;
                // Any run of consecutive copies gets its share of the blanks, rounded up or down.
                let after = before + u128::from(*left);
                let taken = (after * wanted / all - before * wanted / all) as u64;
                if taken > 0 {
                    release.push(row, &mask, taken);
                }
                *left -= taken;
                before = after;
            }
            mask.fill(0);
        }
        for (&row, &left) in rows.iter().zip(&left).filter(|(_, left)| **left > 0) {
            release.push(row, &mask, left);
        }
    }
    held.raise(release.memory() * 2)?;
    release.sort();
    Ok(release)
}

/// Checks the supports in the release: so the guarantee does not depend on how it was made.
fn checked(
    release: Release,
    bag: &Bag,
    units: Option<&Units>,
    itemsets: &[Vec<Item>],
    min_support: u64,
    watch: &Watch,
) -> Result<Release, Error> {
    let mut held = watch.hold(release.memory())?;
    let before = held.bytes();
    let finder = Finder::new(bag, itemsets);
    let mut supports = vec![0; itemsets.len()];
    let mut found = Vec::new();
    let mut cells = vec![NONE; bag.width()];
    // Itemsets and the units that contain them.
    let mut contained: Vec<(u32, u32)> = Vec::new();
    for (i, piece) in release.pieces().iter().enumerate() {
        watch.poll_with(i, || held.raise(before + contained.capacity() as u64 * 16))?;
        release.write(bag, piece, &mut cells);
        finder.find(&cells, &mut found);
        match units {
            None => found.iter().for_each(|&set| supports[set as usize] += piece.weight),
            Some(units) => {
                let of = release.units_of(i, bag, units);
                let is_some = piece.weight != bag.weight(piece.row as usize);
                if is_some && release.whose(i) == Whose::All {
                    // It is not known whose copies these are: each may be another unit's.
                    found.iter().for_each(|&set| supports[set as usize] += piece.weight);
                }
                contained
                    .extend(found.iter().flat_map(|&set| of.iter().map(move |of| (set, of.unit))));
            }
        }
    }
    held.raise(before + contained.len() as u64 * 24)?;
    let mut order: Vec<u32> = (0..contained.len() as u32).collect();
    let pair = |place: u32| contained[place as usize];
    table::sort_watched(&mut order, watch, |a, b| pair(a).cmp(&pair(b)))?;
    order.dedup_by_key(|place| pair(*place));
    order.iter().for_each(|&place| supports[pair(place).0 as usize] += 1);
    match supports.into_iter().find(|&support| support >= min_support) {
        Some(support) => Err(Error::Shown { support, min_support }),
        None => Ok(release),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_refuses_what_is_still_frequent() {
        let bag = Bag::from_text(2, [["a", "x"], ["a", "x"], ["a", "y"]].map(|row| row.map(Some)));
        let watch = Watch::unlimited();
        let itemsets = [vec![Item { column: 0, code: 0 }, Item { column: 1, code: 0 }]];
        let as_it_is = || Release::from_masks(&bag, &[0, 0], &watch).unwrap();
        assert_eq!(
            checked(as_it_is(), &bag, None, &itemsets, 2, &watch),
            Err(Error::Shown { support: 2, min_support: 2 })
        );
        assert!(checked(as_it_is(), &bag, None, &itemsets, 3, &watch).is_ok());
    }

    /// Three rows of one person contain the itemset, and one of another.
    #[test]
    fn the_last_look_counts_units() {
        let rows = [["a", "x", "u"], ["a", "x", "u"], ["a", "y", "u"], ["a", "x", "v"]];
        let bag = Bag::from_text(3, rows.map(|row| row.map(Some)));
        let watch = Watch::unlimited();
        let (bag, units) = bag.split_units(&watch).unwrap();
        let itemsets = [vec![Item { column: 0, code: 0 }]];
        let look = |release, min| checked(release, &bag, Some(&units), &itemsets, min, &watch);
        let whole = || Release::from_masks(&bag, &[0, 0], &watch).unwrap();
        assert_eq!(look(whole(), 2), Err(Error::Shown { support: 2, min_support: 2 }));
        assert!(look(whole(), 3).is_ok());
        // Copies that nobody says whose they are may be of as many units.
        let mut some = Release::new(2);
        some.push(0, &[0], 2);
        assert_eq!(look(some, 2), Err(Error::Shown { support: 2, min_support: 2 }));
    }
}
