//! Which cells are blanked, by kind of row.
//!
//! Blanking a cell of a row hides there all itemsets that have an item in its column. Each itemset must be hidden in
//! all rows above the permitted number, with as few blanks as possible: a covering problem, which is NP-hard. The
//! number of rows in which itemsets are hidden, counted up to the number needed, is a submodular function of the cells.
//! So the greedy choice, which always takes a cell that hides most of what is still needed, takes at most 1 + 1/2 + … +
//! 1/m times the fewest cells if no item is in more than m itemsets (Wolsey, An analysis of the greedy algorithm for
//! the submodular set covering problem).

use super::Kind;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use table::{Bag, Item, Reservation, Stop, Watch};

/// Rows of a kind that lose the same cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The columns of the cells, ascending.
    pub columns: Vec<u32>,
    pub rows: u64,
}

/// For each kind the patterns in which rows of it are blanked; the other rows stay as they are. Each itemset is then
/// hidden in at least as many rows as `excess` requires, if it has an item in a column that is not kept.
pub(super) fn plan(
    bag: &Bag,
    itemsets: &[Vec<Item>],
    excess: &[u64],
    kinds: &[Kind],
    keep: &[usize],
    watch: &Watch,
) -> Result<Vec<Vec<Pattern>>, Stop> {
    let mut plan = Plan::new(bag, itemsets, excess, kinds, keep, watch)?;
    plan.choose()?;
    plan.give_back()?;
    Ok(plan.patterns())
}

/// Rows of a kind that have lost the same cells so far.
struct State {
    kind: u32,
    columns: Vec<u32>,
    rows: u64,
}

/// A cell that may be blanked: how many itemsets it hides, how many rows have its value, the state and the column.
type Choice = (usize, u64, Reverse<(u32, u32)>);

struct Plan<'a> {
    itemsets: &'a [Vec<Item>],
    kinds: &'a [Kind],
    keep: &'a [usize],
    /// How many rows have each value that is in an itemset.
    supports: BTreeMap<Item, u64>,
    /// In how many more rows each itemset must be hidden, and in how many rows beyond the needed number it is hidden.
    needed: Vec<u64>,
    spare: Vec<u64>,
    states: Vec<State>,
    state_bytes: u64,
    /// The state of the rows of a kind that have lost these columns.
    places: BTreeMap<(u32, Vec<u32>), u32>,
    choices: BinaryHeap<Choice>,
    held: Reservation<'a>,
}

impl<'a> Plan<'a> {
    fn new(
        bag: &Bag,
        itemsets: &'a [Vec<Item>],
        excess: &[u64],
        kinds: &'a [Kind],
        keep: &'a [usize],
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let values: usize = bag.domains().iter().map(|domain| domain.len()).sum();
        let _held = watch.hold(values as u64 * 8)?;
        let all = bag.supports();
        let support = |item: &Item| (*item, all[item.column as usize][item.code as usize]);
        Ok(Plan {
            itemsets,
            kinds,
            keep,
            supports: itemsets.iter().flatten().map(support).collect(),
            needed: excess.to_vec(),
            spare: vec![0; excess.len()],
            states: Vec::new(),
            state_bytes: 0,
            places: BTreeMap::new(),
            choices: BinaryHeap::new(),
            held: Reservation::new(watch),
        })
    }

    /// The itemsets of a state's rows that only the cell of this column hides, and no other blanked cell.
    fn hidden_by<'s>(&'s self, state: &'s State, column: u32) -> impl Iterator<Item = usize> + 's {
        let has =
            |set: usize, column: u32| self.itemsets[set].iter().any(|item| item.column == column);
        let sets = self.kinds[state.kind as usize].sets.iter().map(|&set| set as usize);
        sets.filter(move |&set| {
            has(set, column) && !state.columns.iter().any(|&c| c != column && has(set, c))
        })
    }

    /// How many itemsets that are still needed a cell hides, and in how many rows it can be blanked before one of them
    /// is no longer needed.
    fn worth(&self, state: u32, column: u32) -> (usize, u64) {
        let state = &self.states[state as usize];
        let needed = self.hidden_by(state, column).map(|set| self.needed[set]);
        let needed = needed.filter(|&rows| rows > 0);
        needed.fold((0, state.rows), |(sets, rows), needed| (sets + 1, rows.min(needed)))
    }

    /// Blanks cells, each time one that hides most, until all itemsets are hidden.
    fn choose(&mut self) -> Result<(), Stop> {
        for (kind, number) in self.kinds.iter().zip(0..) {
            let state = self.enter(number, Vec::new(), kind.rows);
            self.offer(state);
            self.poll(number as usize)?;
        }
        let mut steps = 0;
        while let Some((hides, support, Reverse((state, column)))) = self.choices.pop() {
            steps += 1;
            self.poll(steps)?;
            let (sets, rows) = self.worth(state, column);
            if sets == 0 || rows == 0 {
                continue;
            }
            // It hid more when it was put on the heap; by now another cell may hide as many.
            if sets == hides {
                self.lose(state, column, rows);
            }
            self.choices.push((sets, support, Reverse((state, column))));
        }
        Ok(())
    }

    /// Adds rows to those of a kind that have lost these columns; returns their state.
    fn enter(&mut self, kind: u32, columns: Vec<u32>, rows: u64) -> u32 {
        let (states, bytes) = (&mut self.states, &mut self.state_bytes);
        let state = *self.places.entry((kind, columns)).or_insert_with_key(|(kind, columns)| {
            // The state itself, its columns twice, and its entry in `places`.
            *bytes += 200 + columns.len() as u64 * 8;
            states.push(State { kind: *kind, columns: columns.clone(), rows: 0 });
            states.len() as u32 - 1
        });
        states[state as usize].rows += rows;
        state
    }

    /// Puts the cells of a state that may be blanked on the heap.
    fn offer(&mut self, number: u32) {
        let state = &self.states[number as usize];
        let sets = &self.kinds[state.kind as usize].sets;
        let items = sets.iter().flat_map(|&set| &self.itemsets[set as usize]);
        let mut items: Vec<Item> = items.copied().collect();
        items.sort_unstable();
        items.dedup();
        let stays =
            |column| self.keep.contains(&(column as usize)) || state.columns.contains(&column);
        items.retain(|item| !stays(item.column));
        for item in items {
            let (hides, _) = self.worth(number, item.column);
            if hides > 0 {
                let choice = Reverse((number, item.column));
                self.choices.push((hides, self.supports[&item], choice));
            }
        }
    }

    /// Blanks the column in `rows` rows of a state.
    fn lose(&mut self, number: u32, column: u32, rows: u64) {
        let state = &self.states[number as usize];
        let sets: Vec<usize> = self.hidden_by(state, column).collect();
        for set in sets {
            let used = rows.min(self.needed[set]);
            self.needed[set] -= used;
            self.spare[set] += rows - used;
        }
        let mut columns = state.columns.clone();
        columns.insert(columns.partition_point(|&c| c < column), column);
        let to = self.shift(number, columns, rows);
        self.offer(to);
    }

    /// Moves rows of a state to the state that has lost these columns.
    fn shift(&mut self, from: u32, columns: Vec<u32>, rows: u64) -> u32 {
        self.states[from as usize].rows -= rows;
        self.enter(self.states[from as usize].kind, columns, rows)
    }

    /// Undoes blanks whose itemsets are hidden in enough rows without them, the last blanks first.
    fn give_back(&mut self) -> Result<(), Stop> {
        let mut steps = 0;
        loop {
            let before = steps;
            for number in (0..self.states.len() as u32).rev() {
                self.poll(number as usize)?;
                for column in self.states[number as usize].columns.clone() {
                    let state = &self.states[number as usize];
                    let sets: Vec<usize> = self.hidden_by(state, column).collect();
                    let rows = sets.iter().fold(state.rows, |rows, &set| rows.min(self.spare[set]));
                    if rows == 0 {
                        continue;
                    }
                    sets.into_iter().for_each(|set| self.spare[set] -= rows);
                    let columns = state.columns.iter().copied().filter(|&c| c != column).collect();
                    self.shift(number, columns, rows);
                    steps += 1;
                }
            }
            if steps == before {
                return Ok(());
            }
        }
    }

    fn patterns(&self) -> Vec<Vec<Pattern>> {
        let mut patterns = vec![Vec::new(); self.kinds.len()];
        for ((kind, columns), &state) in &self.places {
            let rows = self.states[state as usize].rows;
            if rows > 0 && !columns.is_empty() {
                patterns[*kind as usize].push(Pattern { columns: columns.clone(), rows });
            }
        }
        patterns
    }

    /// Polls the watch, and reserves the memory of new states and of choices in a heap that doubles.
    fn poll(&mut self, done: usize) -> Result<(), Stop> {
        self.held.watch().poll_every(256, done)?;
        let choices = self.choices.capacity() * size_of::<Choice>() * 2;
        self.held.raise(self.state_bytes + choices as u64)
    }
}
