//! Groups of columns shuffled independently: the cells of a group stay together, and are combined with those of other
//! groups at random. That protects no one: every value and every combination within a group is still there.

use rand_core::Rng;
use table::{Bag, Stop, Watch};

/// A table whose groups of columns are in independent random orders.
pub struct Shuffled {
    /// For each group the distinct row that its cells come from, by row.
    orders: Vec<Vec<u32>>,
}

/// Puts the rows into as many orders as there are groups, each uniformly random and independent of
/// the others.
///
/// Rows are shuffled in the order of their codes, so equal tables and equal draws give equal results.
/// Takes four bytes for each row and group.
pub fn shuffle_groups<R: Rng + ?Sized>(
    bag: &Bag,
    groups: usize,
    rng: &mut R,
    watch: &Watch,
) -> Result<Shuffled, Stop> {
    let rows = bag.row_count();
    // The orders; and the distinct rows, twice while they are sorted.
    let numbers = rows.saturating_mul(groups as u64).saturating_add(bag.distinct() as u64 * 2);
    let _held = watch.hold(numbers.saturating_mul(4))?;
    watch.begin(rows.saturating_mul(groups as u64));
    let mut distinct: Vec<u32> = (0..bag.distinct() as u32).collect();
    table::sort_watched(&mut distinct, watch, |a, b| bag.row(a as usize).cmp(bag.row(b as usize)))?;
    let copies = |&row: &u32| std::iter::repeat_n(row, bag.weight(row as usize) as usize);
    let mut orders = Vec::with_capacity(groups);
    for _ in 0..groups {
        watch.check()?;
        let mut order = Vec::with_capacity(rows as usize);
        order.extend(distinct.iter().flat_map(copies));
        shuffle(rng, &mut order, watch)?;
        orders.push(order);
    }
    Ok(Shuffled { orders })
}

/// As [`random::shuffle`], with polls of the watch.
fn shuffle<R: Rng + ?Sized>(rng: &mut R, order: &mut [u32], watch: &Watch) -> Result<(), Stop> {
    for i in (1..order.len()).rev() {
        watch.poll_with(i, || {
            watch.advance(Watch::STEP as u64);
            Ok(())
        })?;
        let j = random::below(rng, i as u64 + 1) as usize;
        order.swap(i, j);
    }
    Ok(())
}

impl Shuffled {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.orders.first().map_or(0, Vec::len)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the codes of a row: those of the columns of each group, from where its order says.
    pub fn write(&self, bag: &Bag, groups: &[Vec<usize>], row: usize, cells: &mut [u32]) {
        for (order, columns) in self.orders.iter().zip(groups) {
            let from = bag.row(order[row] as usize);
            columns.iter().for_each(|&column| cells[column] = from[column]);
        }
    }
}
