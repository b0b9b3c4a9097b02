//! Sensitive itemsets hidden in the rows of units, because supports count units.
//!
//! A unit contains an itemset if one of its rows does, so hiding it takes all of them. Units whose rows together contain
//! the same itemsets are of one kind, and the plan says how many units of a kind lose which columns. A unit loses a
//! column in those of its rows in which that hides something. Rows without a unit count for nobody and stay as they are.

use super::plan::{Pattern, plan};
use super::{Kind, Kinds, excess};
use std::cmp::Reverse;
use table::{Bag, Index, Item, NONE, Release, Reservation, Stop, Units, Watch, Whose, bits};

/// The table with the planned number of units of each kind blanked by each of its patterns.
pub(super) fn hidden(
    bag: &Bag,
    units: &Units,
    kinds: &Kinds<'_>,
    itemsets: &[Vec<Item>],
    (keep, min_support): (&[usize], u64),
    watch: &Watch,
) -> Result<Release, Stop> {
    let own = UnitKinds::new(units, kinds, watch)?;
    let excess = excess(&own.all, itemsets.len(), min_support);
    let mut patterns = plan(bag, itemsets, &excess, &own.all, keep, watch)?;
    // The units with the fewest rows lose the most columns.
    for patterns in &mut patterns {
        patterns.sort_by_key(|pattern| Reverse(pattern.columns.len()));
    }
    let _held = watch.hold(units.domain() as u64 * 16)?;
    let mut lost: Vec<&[u32]> = vec![&[]; units.domain()];
    for (members, patterns) in own.members.iter().zip(&patterns) {
        watch.check()?;
        let mut chosen = chosen(members, patterns.iter().map(|pattern| pattern.rows).sum());
        for Pattern { columns, rows } in patterns {
            for &(_, unit) in chosen.drain(..*rows as usize) {
                lost[unit as usize] = columns;
            }
        }
    }
    spread(bag, units, kinds, itemsets, &lost, watch)
}

/// The kinds of the units that have a row with a sensitive itemset, in the order of their itemsets.
struct UnitKinds<'w> {
    all: Vec<Kind>,
    /// The units of each kind, each with the number of its rows that contain a sensitive itemset; fewest rows first.
    members: Vec<Vec<(u64, u32)>>,
    _held: Reservation<'w>,
}

impl<'w> UnitKinds<'w> {
    fn new(units: &Units, kinds: &Kinds<'_>, watch: &'w Watch) -> Result<Self, Stop> {
        // A unit, the kind of a row of it, and the number of such rows; and their order, twice while it is sorted.
        let mut pairs: Vec<(u32, u32, u64)> = Vec::new();
        let count: usize = kinds.rows.iter().map(|&row| units.of(row as usize).len()).sum();
        let mut held = watch.hold(count as u64 * (16 + 8 + 16))?;
        let mut kept = held.bytes();
        for (i, &row) in kinds.rows.iter().enumerate() {
            watch.poll(i)?;
            let of = units.of(row as usize).iter();
            pairs.extend(of.map(|of| (of.unit, kinds.of[row as usize], of.rows)));
        }
        let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
        table::sort_watched(&mut order, watch, |a, b| pairs[a as usize].cmp(&pairs[b as usize]))?;
        let pair = |place: u32| pairs[place as usize];
        let (mut index, mut all, mut members) = (Index::new(), Vec::<Kind>::new(), Vec::new());
        let mut sets: Vec<u32> = Vec::new();
        for (i, own) in order.chunk_by(|&a, &b| pair(a).0 == pair(b).0).enumerate() {
            let rows = || own.iter().map(|&place| pair(place));
            watch.poll_with(i, || held.raise(kept))?;
            sets.clear();
            sets.extend(rows().flat_map(|row| &kinds.all[row.1 as usize].sets));
            sets.sort_unstable();
            sets.dedup();
            let kind = index.number(sets.as_slice(), |kind| all[kind as usize].sets.as_slice());
            let kind = kind.unwrap_or_else(|new| {
                // As in `Kinds`, and a list of units.
                kept += (sets.len() * 4 + 128 + 24) as u64;
                all.push(Kind { sets: sets.clone(), rows: 0 });
                members.push(Vec::new());
                new
            });
            all[kind as usize].rows += 1;
            members[kind as usize].push((rows().map(|row| row.2).sum::<u64>(), pair(own[0]).0));
        }
        // The result must not depend on the order of reading.
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_unstable_by(|&a, &b| all[a].sets.cmp(&all[b].sets));
        let mut members: Vec<Vec<(u64, u32)>> =
            order.iter().map(|&kind| std::mem::take(&mut members[kind])).collect();
        members.iter_mut().for_each(|members| members.sort_unstable());
        all.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
        Ok(UnitKinds { all, members, _held: held })
    }
}

/// So many of the units, those with the fewest rows; units with equally many rows are chosen at equal distances.
fn chosen(members: &[(u64, u32)], count: u64) -> Vec<&(u64, u32)> {
    let mut chosen = Vec::new();
    for alike in members.chunk_by(|a, b| a.0 == b.0) {
        let all = alike.len() as u128;
        let wanted = u128::from(count - chosen.len() as u64).min(all);
        let numbered = (0u128..).zip(alike);
        let taken = numbered.filter(|(i, _)| (i + 1) * wanted / all > i * wanted / all);
        chosen.extend(taken.map(|(_, member)| member));
    }
    chosen
}

/// The table with the columns blanked that each unit loses.
fn spread(
    bag: &Bag,
    units: &Units,
    kinds: &Kinds<'_>,
    itemsets: &[Vec<Item>],
    lost: &[&[u32]],
    watch: &Watch,
) -> Result<Release, Stop> {
    let mut release = Release::new(bag.width());
    let mut held = Reservation::new(watch);
    let nothing = vec![0; bits::words(bag.width())];
    let mut masks: Vec<Vec<u64>> = Vec::new();
    for row in 0..bag.distinct() {
        watch.poll_with(row, || held.raise(release.memory() * 2))?;
        masks.clear();
        let (of, weight) = (units.of(row), bag.weight(row));
        if kinds.of[row] != NONE {
            let sets = &kinds.all[kinds.of[row] as usize].sets;
            masks.extend(of.iter().map(|of| blanked(bag, itemsets, sets, lost[of.unit as usize])));
        }
        let nobody = weight - of.iter().map(|of| of.rows).sum::<u64>();
        let first = masks.first().unwrap_or(&nothing);
        if masks.iter().all(|mask| mask == first) && (nobody == 0 || *first == nothing) {
            release.push(row as u32, first, weight);
            continue;
        }
        for (of, mask) in of.iter().zip(&masks) {
            release.push_of(row as u32, mask, &[], Whose::Unit(of.unit), of.rows);
        }
        if nobody > 0 {
            release.push_of(row as u32, &nothing, &[], Whose::Nobody, nobody);
        }
    }
    held.raise(release.memory() * 2)?;
    Ok(release)
}

/// The columns of `lost` that hide one of these itemsets, without those that the others make needless.
fn blanked(bag: &Bag, itemsets: &[Vec<Item>], sets: &[u32], lost: &[u32]) -> Vec<u64> {
    let mut mask = vec![0; bits::words(bag.width())];
    let has = |set: u32, column: u32| itemsets[set as usize].iter().any(|i| i.column == column);
    let hides = |column: u32| sets.iter().any(move |&set| has(set, column));
    let useful = lost.iter().filter(|&&column| hides(column));
    useful.for_each(|&column| bits::insert(&mut mask, column as usize));
    for &column in lost.iter().rev() {
        let other = |&c: &u32| c != column && bits::has(&mask, c as usize);
        let hidden = |set: u32| lost.iter().filter(|c| other(c)).any(|&c| has(set, c));
        if sets.iter().all(|&set| !has(set, column) || hidden(set)) {
            bits::remove(&mut mask, column as usize);
        }
    }
    mask
}
