//! Frequent itemsets by a bitmap for each item: for tables of many columns with few values each.
//!
//! Where rows do not become equal, a projection is as large as the rows that it was made of, and making it takes
//! longer than counting in it. Here the rows that have an itemset are a bitmap, and its support with a further item
//! is the size of an intersection. A row that occurs several times has as many bits. Where units are counted, a row has
//! a bit for each of its units, and the bits of a unit are a run: the support is the number of runs that an
//! intersection meets.
//!
//! An itemset is closed if its rows do not all agree on a further item. Rows of wide tables that share a few items
//! seldom agree on more, so that comparing a few of them is enough.

use crate::bitmaps::{Numbering, each_pair, memory};
use crate::itemset_list::ItemsetList;
use crate::mii::Sink;
use crate::project::unit_rows::UnitRows;
use rayon::prelude::*;
use std::collections::HashMap;
use table::bits::{self, BitSets};
use table::{Bag, Item, Keyed, NONE, Reservation, Stop, Watch};

/// The number of items per row from which rows that share a few items hardly become equal: projections merge too
/// little then.
const WIDE: f64 = 24.0;

/// The length of the longest closed itemsets that are searched here. There may be far fewer closed itemsets than
/// frequent ones, the more so the longer they are.
const LONGEST_CLOSED: usize = 4;

/// The number of rows in a pilot before closed itemsets are searched, and in how many of them an item must be to
/// count.
const PILOT_ROWS: usize = 1000;
const PILOT_SUPPORT: u64 = 30;

/// The number of words that are intersected and counted in the time in which a row gets one bit in a bitmap.
const WORDS_PER_BIT: usize = 6;

/// The number of intersections between two polls of the watch.
const STEP: usize = 1 << 10;

/// The request of a search.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub min_support: u64,
    pub max_length: usize,
    pub closed: bool,
}

impl Asked {
    pub(crate) fn new(min_support: u64, max_length: Option<usize>, closed: bool) -> Self {
        let max_length = max_length.unwrap_or(usize::MAX);
        Asked { min_support: min_support.max(1), max_length, closed }
    }
}

/// Whether the search uses bitmaps for these items: whether the table is wide and all pairs of bitmaps have fewer
/// words than the rows have pairs of cells, which projections visit.
pub(super) fn pay(
    bag: &Bag,
    supports: &[Vec<u64>],
    items: &[Item],
    asked: Asked,
    watch: &Watch,
) -> bool {
    let support = |item: &Item| supports[item.column as usize][item.code as usize] as f64;
    let rows = bag.row_count() as usize;
    let per_row = items.iter().map(support).sum::<f64>() / rows as f64;
    let words = (items.len() as f64).powi(2) / 2.0 * bits::words(rows) as f64;
    let free = watch.memory_limit().saturating_sub(watch.memory());
    per_row >= WIDE
        && words <= per_row * per_row * bag.distinct() as f64
        && memory(rows, items.len()) <= free / 4
        && (!asked.closed || asked.max_length <= LONGEST_CLOSED && rows_differ(bag))
}

/// Whether the rows that share an item seldom all agree on another one, judged by some rows.
fn rows_differ(bag: &Bag) -> bool {
    // For each item the first row that has it, how many rows do, and the columns where they agree.
    let mut seen: HashMap<Item, (usize, u64, Vec<u32>), Keyed> = HashMap::default();
    for number in (0..bag.distinct()).step_by(bag.distinct().div_ceil(PILOT_ROWS).max(1)) {
        let row = bag.row(number);
        for item in Bag::row_items(row) {
            let others = || Bag::row_items(row).filter(|other| other.column != item.column);
            let (first, rows, columns) = seen
                .entry(item)
                .or_insert_with(|| (number, 0, others().map(|o| o.column).collect()));
            let first = bag.row(*first);
            *rows += 1;
            columns.retain(|&column| first[column as usize] == row[column as usize]);
        }
    }
    let often = seen.values().filter(|(_, rows, _)| *rows >= PILOT_SUPPORT);
    let implying = often.clone().filter(|(.., columns)| !columns.is_empty());
    2 * implying.count() < often.count()
}

/// The frequent itemsets of these items, which are the frequent ones in rank order. With `unit_rows`, units are
/// counted; closed itemsets cannot be asked for then.
pub(super) fn search<'w>(
    bag: &Bag,
    unit_rows: Option<&UnitRows>,
    asked: Asked,
    items: &[Item],
    watch: &'w Watch,
) -> Result<ItemsetList<'w>, Stop> {
    let max_length = asked.max_length;
    let mut found = ItemsetList::new(watch);
    if max_length == 0 {
        return Ok(found);
    }
    let mut budget = Reservation::new(watch);
    let rows = bag.row_count() as usize;
    let matrix = items.len() * bits::words(items.len()) * size_of::<u64>();
    let by_unit = unit_rows.is_some();
    budget.add(memory(rows, items.len()) + unit_memory(by_unit, rows) + matrix as u64)?;
    let rows = match unit_rows {
        None => BitmapRows::new(bag),
        Some(unit_rows) => BitmapRows::of_units(unit_rows),
    };
    let mut root =
        BitmapLevel { rows, items: (0..items.len() as u32).collect(), ..BitmapLevel::default() };
    Numbering::new(bag, items).fill(&root.rows.numbers, &mut root.having, watch)?;
    let mut bitmaps = Bitmaps { bag, asked, by_unit, items, frequent: BitSets::default() };
    let mut columns = Vec::new();
    for (rank, &item) in items.iter().enumerate() {
        let rows = root.having.set(rank);
        if bitmaps.is_asked(&[item], &root.rows, [rows, rows], &mut columns) {
            found.push(&[item], root.rows.support(rows, rows))?;
        }
    }
    if max_length == 1 {
        return Ok(found);
    }
    watch.begin(items.len() as u64 * if max_length > 2 { 2 } else { 1 });
    let pairs = bitmaps.pairs(&root, watch)?;
    found = found.then(pairs)?;
    if max_length == 2 {
        return Ok(found);
    }
    // The larger part first, because the second is copied.
    bitmaps.longer(&root, watch)?.then(found)
}

struct Bitmaps<'a> {
    bag: &'a Bag,
    asked: Asked,
    by_unit: bool,
    items: &'a [Item],
    /// The later items that are frequent with an item.
    frequent: BitSets,
}

/// Rows that bitmaps refer to.
#[derive(Default)]
struct BitmapRows {
    /// Their numbers in the bag.
    numbers: Vec<u32>,
    /// A number for the unit of each row; the rows of a unit follow one another. Empty if rows count.
    units: Vec<u32>,
    /// The last row of each unit.
    ends: Vec<u64>,
}

impl BitmapRows {
    /// Each row as often as it occurs.
    fn new(bag: &Bag) -> Self {
        let numbers = (0..bag.distinct())
            .flat_map(|row| std::iter::repeat_n(row as u32, bag.weight(row) as usize));
        BitmapRows { numbers: numbers.collect(), ..BitmapRows::default() }
    }

    /// Each row once for each of its units.
    fn of_units(unit_rows: &UnitRows) -> Self {
        let mut rows = BitmapRows::default();
        let (mut last, mut unit) = (NONE, 0);
        for of in &unit_rows.rows {
            for _ in 0..of.units {
                unit += u32::from(of.unit == NONE || of.unit != last);
                rows.numbers.push(of.row);
                rows.units.push(unit);
            }
            last = of.unit;
        }
        rows.end_units();
        rows
    }

    /// Makes these the rows of `parent` at the given places.
    fn fill(&mut self, parent: &BitmapRows, places: impl Iterator<Item = usize> + Clone) {
        self.numbers.extend(places.clone().map(|place| parent.numbers[place]));
        if !parent.units.is_empty() {
            self.units.extend(places.map(|place| parent.units[place]));
            self.end_units();
        }
    }

    fn end_units(&mut self) {
        self.ends.clear();
        self.ends.resize(bits::words(self.units.len()), 0);
        for (place, unit) in self.units.iter().enumerate() {
            if self.units.get(place + 1) != Some(unit) {
                bits::insert(&mut self.ends, place);
            }
        }
    }

    /// The support of the rows that two bitmaps share.
    #[inline]
    fn support(&self, a: &[u64], b: &[u64]) -> u64 {
        if self.units.is_empty() {
            bits::count_common(a, b)
        } else {
            bits::count_common_runs(a, b, &self.ends)
        }
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.units.clear();
    }

    fn memory(&self) -> usize {
        (self.numbers.capacity() + self.units.capacity()) * 4 + self.ends.capacity() * 8
    }
}

/// The bytes of the units of this number of rows, if they are counted.
fn unit_memory(by_unit: bool, rows: usize) -> u64 {
    if by_unit { (rows * 4 + bits::words(rows) * 8) as u64 } else { 0 }
}

/// Items that extend a prefix, and the rows that have prefix and item.
#[derive(Default)]
struct BitmapLevel {
    /// The ranks of the items, ascending.
    items: Vec<u32>,
    /// By position in `items`; may have one more set.
    having: BitSets,
    /// The rows of the prefix, if the bitmaps refer to them.
    rows: BitmapRows,
    /// The number of the level to whose rows the bitmaps refer, if it is another one.
    base: Option<usize>,
    /// The next item to extend the prefix by.
    next: usize,
}

impl BitmapLevel {
    /// Empties the level and sets its items.
    fn begin(&mut self, items: impl Iterator<Item = u32>) {
        self.items.clear();
        self.items.extend(items);
        self.rows.clear();
        self.base = None;
        self.next = 0;
    }

    /// The rows to which the bitmaps refer.
    fn rows<'l>(&'l self, levels: &'l [BitmapLevel], root: &'l BitmapLevel) -> &'l BitmapRows {
        match self.base {
            Some(0) => &root.rows,
            Some(base) => &levels[base - 1].rows,
            None => &self.rows,
        }
    }

    fn memory(&self) -> u64 {
        (self.having.memory() + self.items.capacity() * 4 + self.rows.memory()) as u64
    }
}

impl Bitmaps<'_> {
    /// The frequent pairs; also records them for later.
    fn pairs<'w>(&mut self, root: &BitmapLevel, watch: &'w Watch) -> Result<ItemsetList<'w>, Stop> {
        let list = || ItemsetList::new(watch);
        let visit = |pair: [usize; 2], found: &mut ItemsetList<'w>, columns: &mut Vec<u32>| {
            let rows = pair.map(|item| root.having.set(item));
            let support = root.rows.support(rows[0], rows[1]);
            if support < self.asked.min_support {
                return Ok(false);
            }
            let set = pair.map(|item| self.items[item]);
            if self.is_asked(&set, &root.rows, rows, columns) {
                found.push(&set, support)?;
            }
            Ok(true)
        };
        let (found, frequent) = each_pair(self.items, watch, &list, visit)?;
        self.frequent = frequent;
        Ok(found)
    }

    /// The frequent itemsets of three and more items.
    fn longer<'w>(&self, root: &BitmapLevel, watch: &'w Watch) -> Result<ItemsetList<'w>, Stop> {
        (0..self.items.len())
            .into_par_iter()
            .try_fold(
                || BitmapTask::new(self, root, watch),
                |mut task, first| {
                    task.below(first)?;
                    watch.advance(1);
                    Ok(task)
                },
            )
            .map(|task| task.map(|task| task.found))
            .try_reduce(|| ItemsetList::new(watch), ItemsetList::then)
    }

    /// Whether a frequent itemset is requested; its rows are those of `rows` that two bitmaps share.
    #[inline]
    fn is_asked(
        &self,
        set: &[Item],
        rows: &BitmapRows,
        [a, b]: [&[u64]; 2],
        columns: &mut Vec<u32>,
    ) -> bool {
        if !self.asked.closed {
            return true;
        }
        let mut rows = bits::common(a, b).map(|place| self.bag.row(rows.numbers[place] as usize));
        let Some(first) = rows.next() else { return true };
        let further = |item: &Item| set.iter().all(|own| own.column != item.column);
        columns.clear();
        columns.extend(Bag::row_items(first).filter(further).map(|item| item.column));
        !rows.all(|row| {
            columns.retain(|&column| row[column as usize] == first[column as usize]);
            !columns.is_empty()
        }) || columns.is_empty()
    }
}

/// A part of the search, run by one thread.
struct BitmapTask<'a, 'w> {
    bitmaps: &'a Bitmaps<'a>,
    root: &'a BitmapLevel,
    numbering: Numbering<'a>,
    found: ItemsetList<'w>,
    /// The current itemset.
    set: Vec<Item>,
    /// A level for each prefix of the set. The level of the empty prefix, number 0, is `root`.
    levels: Vec<BitmapLevel>,
    /// Unused levels, kept for reuse.
    spare: Vec<BitmapLevel>,
    /// The positions in the previous level of the items that a new level takes over.
    positions: Vec<usize>,
    columns: Vec<u32>,
    budget: Reservation<'w>,
    watch: &'w Watch,
    counted: usize,
}

impl<'a, 'w> BitmapTask<'a, 'w> {
    fn new(bitmaps: &'a Bitmaps<'a>, root: &'a BitmapLevel, watch: &'w Watch) -> Self {
        BitmapTask {
            bitmaps,
            root,
            numbering: Numbering::new(bitmaps.bag, &[]),
            found: ItemsetList::new(watch),
            set: Vec::new(),
            levels: Vec::new(),
            spare: Vec::new(),
            positions: Vec::new(),
            columns: Vec::new(),
            budget: Reservation::new(watch),
            watch,
            counted: 0,
        }
    }

    /// Lists the frequent itemsets of three and more items that begin with an item.
    ///
    /// A set can have as many items as there are columns: too many for recursion.
    fn below(&mut self, first: usize) -> Result<(), Stop> {
        self.positions.clear();
        self.positions.extend(bits::numbers(self.bitmaps.frequent.set(first)));
        self.set.push(self.bitmaps.items[first]);
        self.descend(first)?;
        while let Some(level) = self.levels.last_mut() {
            let at = level.next;
            level.next += 1;
            if at < level.items.len() {
                self.extend(at)?;
            } else {
                self.spare.extend(self.levels.pop());
                self.set.pop();
            }
        }
        Ok(())
    }

    /// Extends the set by an item of its level and lists it with each later item with which it is frequent. These
    /// items form the next level, if longer sets are requested.
    fn extend(&mut self, at: usize) -> Result<(), Stop> {
        let Bitmaps { items, frequent, asked, .. } = self.bitmaps;
        let Some(level) = self.levels.last() else { return Ok(()) };
        let (item, own) = (level.items[at], level.having.set(at));
        let with = frequent.set(item as usize);
        let rows = level.rows(&self.levels, self.root);
        self.set.push(items[item as usize]);
        self.positions.clear();
        for position in at + 1..level.items.len() {
            let later = level.items[position] as usize;
            if !bits::has(with, later) {
                continue;
            }
            self.counted += 1;
            self.watch.poll_every(STEP, self.counted)?;
            let both = [own, level.having.set(position)];
            let support = rows.support(both[0], both[1]);
            if support >= asked.min_support {
                self.set.push(items[later]);
                if self.bitmaps.is_asked(&self.set, rows, both, &mut self.columns) {
                    self.found.push(&self.set, support)?;
                }
                self.set.pop();
                self.positions.push(position);
            }
        }
        if self.positions.len() < 2 || self.set.len() + 2 > asked.max_length {
            self.set.pop();
            return Ok(());
        }
        self.descend(at)
    }

    /// Makes the level of the items at `positions` of the current one, after the set has got the item at `at`.
    fn descend(&mut self, at: usize) -> Result<(), Stop> {
        let mut child = self.spare.pop().unwrap_or_default();
        let held: u64 = self.levels.iter().chain(&self.spare).map(BitmapLevel::memory).sum();
        let level = self.levels.last().unwrap_or(self.root);
        child.begin(self.positions.iter().map(|&position| level.items[position]));
        let own = level.having.set(at);
        let (items, rows) = (child.items.len(), bits::count(own) as usize);
        self.numbering.assign(child.items.iter().map(|&rank| self.bitmaps.items[rank as usize]));
        // Counting pairs takes less time in bitmaps of these rows only, but these have to be made.
        let pairs = items * items / 2;
        let anew = rows * self.numbering.width() * WORDS_PER_BIT + pairs * bits::words(rows);
        if anew < (items + pairs) * own.len() {
            let units = unit_memory(self.bitmaps.by_unit, rows);
            self.budget.raise(held + memory(rows, items) + units)?;
            let rows = level.rows(&self.levels, self.root);
            child.rows.fill(rows, bits::numbers(own));
            self.numbering.fill(&child.rows.numbers, &mut child.having, self.watch)?;
        } else {
            self.budget.raise(held + (items * size_of_val(own)) as u64)?;
            child.base = Some(level.base.unwrap_or(self.levels.len()));
            child.having.reset(items, own.len() * u64::BITS as usize);
            for (to, &position) in self.positions.iter().enumerate() {
                let words = own.iter().zip(level.having.set(position));
                let to = child.having.set_mut(to).iter_mut();
                to.zip(words).for_each(|(to, (a, b))| *to = a & b);
            }
        }
        self.levels.push(child);
        Ok(())
    }
}
