//! The meaning of the cells of a released table in its original: a value, or all values that a general value covers.

use crate::postings::Postings;
use crate::supports::column_counts;
use crate::translation::{ABSENT, Translation};
use std::collections::HashMap;
use table::{Bag, Item, NONE, Reservation, Stop, Watch};

/// The meaning of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// One value of the original, by its code there; [`NONE`] is NULL. A code that no row has stands for a value that
    /// the original does not have.
    Value(u32),
    /// Any of several values, by their codes there, ascending.
    General(&'a [u32]),
    /// Any value, and NULL.
    Blank,
}

/// How a released column was made from the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Unknown: the rule of [`Meaning`] decides.
    Somehow,
    /// Every text stands for itself.
    AsItIs,
    /// Cells were blanked, if there are more that are NULL.
    Blanked,
    /// The same, and general values stand for what they cover.
    Coarser,
}

/// The meaning of the cells of a released table.
///
/// Texts alone do not say whether a 20 is the number or the range from 20 to 29. It may be known how a column was
/// made. If it is not, the following rule of coarser cells decides: *no text occurs in more cells than in the
/// original, unless it is a general value, or NULL*. A column that satisfies it is read as coarser if some text does
/// occur in more cells: a general value stands for everything that it covers, and NULL for everything if there is
/// more of it. In all other columns, in particular those drawn from a model, a text stands for itself.
pub struct Meaning<'w> {
    exact: Translation<'w>,
    /// By column: what general values cover, by released code; nothing if texts stand for themselves.
    general: Vec<HashMap<u32, Vec<u32>>>,
    /// By column: whether NULL stands for everything.
    blank: Vec<bool>,
    _held: Reservation<'w>,
}

impl<'w> Meaning<'w> {
    /// The meaning of cells by that rule; see [`Meaning::of`].
    pub fn new(
        released: &Bag,
        original: &Bag,
        general: Vec<HashMap<u32, Vec<u32>>>,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        Meaning::of(released, original, general, |_| Made::Somehow, watch)
    }

    /// `general` has for each column (or for none) the released texts that may be general values, and what they
    /// cover: codes of the released column and, ascending, of the original one. `made` says how a column was made.
    /// The bags have the same columns in the same order. Costs a pass over both.
    pub fn of(
        released: &Bag,
        original: &Bag,
        mut general: Vec<HashMap<u32, Vec<u32>>>,
        made: impl Fn(usize) -> Made,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let exact = Translation::new(released, original, watch)?;
        let mut held = Reservation::new(watch);
        let covered =
            general.iter().flat_map(HashMap::values).map(|codes| 64 + 4 * codes.len() as u64);
        held.add(covered.sum())?;
        general.resize_with(original.width(), HashMap::new);
        let gains = gains(released, original, &exact, watch)?;
        let mut blank = Vec::with_capacity(gains.len());
        for (column, (gain, general)) in gains.iter().zip(&mut general).enumerate() {
            let keeps = || gain.codes.iter().all(|code| general.contains_key(code));
            let made = match made(column) {
                Made::Somehow if keeps() => Made::Coarser,
                Made::Somehow => Made::AsItIs,
                known => known,
            };
            if made != Made::Coarser || (gain.codes.is_empty() && !gain.null) {
                general.clear();
            }
            blank.push(gain.null && made != Made::AsItIs);
        }
        Ok(Meaning { exact, general, blank, _held: held })
    }

    /// The columns in which some text, or NULL, occurs in more cells than in the original: only there general values
    /// matter.
    pub fn gaining(released: &Bag, original: &Bag, watch: &Watch) -> Result<Vec<bool>, Stop> {
        let gains =
            gains(released, original, &Translation::new(released, original, watch)?, watch)?;
        Ok(gains.iter().map(|gain| !gain.codes.is_empty() || gain.null).collect())
    }

    /// Every text stands for itself.
    #[cfg(test)]
    pub(crate) fn plain(released: &Bag, original: &Bag, watch: &'w Watch) -> Result<Self, Stop> {
        let mut meaning = Meaning::new(released, original, Vec::new(), watch)?;
        meaning.blank.fill(false);
        Ok(meaning)
    }

    /// True if general values stand for what they cover.
    pub fn reads_general_values(&self) -> bool {
        self.general.iter().any(|column| !column.is_empty()) || self.blank.contains(&true)
    }

    /// The meaning of a released cell.
    pub fn cell(&self, column: usize, code: u32) -> Cell<'_> {
        if code == NONE && self.blank[column] {
            return Cell::Blank;
        }
        match self.general[column].get(&code) {
            Some(covered) => match covered.as_slice() {
                [only] => Cell::Value(*only),
                several => Cell::General(several),
            },
            None => Cell::Value(self.exact.code(column, code)),
        }
    }
}

/// The values of a column that occur in more released cells than in the original.
struct Gain {
    /// Released codes.
    codes: Vec<u32>,
    null: bool,
}

/// By column the values that it gained.
fn gains(
    released: &Bag,
    original: &Bag,
    exact: &Translation<'_>,
    watch: &Watch,
) -> Result<Vec<Gain>, Stop> {
    let of_column = |column: usize| {
        watch.check()?;
        let widest = original.domain(column).len().max(released.domain(column).len());
        let _held = watch.hold(16 * widest as u64)?;
        let (ours, our_nulls) = column_counts(original, column, watch)?;
        let (theirs, their_nulls) = column_counts(released, column, watch)?;
        let before = |code| ours.get(exact.code(column, code) as usize).copied().unwrap_or(0);
        let codes = (0..).zip(&theirs).filter(|&(code, &cells)| cells > before(code));
        Ok(Gain { codes: codes.map(|(code, _)| code).collect(), null: their_nulls > our_nulls })
    };
    (0..original.width()).map(of_column).collect()
}

impl Cell<'_> {
    /// Whether a cell of the original, by its code, may be the one that is shown.
    fn covers(&self, code: u32) -> bool {
        match self {
            Cell::Value(value) => *value == code,
            Cell::General(values) => values.binary_search(&code).is_ok(),
            Cell::Blank => true,
        }
    }
}

/// The rows of an original, indexed by value.
pub(crate) struct OriginalRows<'a> {
    bag: &'a Bag,
    postings: Postings<'a>,
}

impl<'a> OriginalRows<'a> {
    pub(crate) fn new(original: &'a Bag, watch: &'a Watch) -> Result<Self, Stop> {
        Ok(OriginalRows { bag: original, postings: Postings::new(original, watch)? })
    }

    /// Calls `found` with the distinct rows that cells cover, until it returns true. Looks at the rows that have a
    /// value of the cell that covers the fewest.
    pub(crate) fn covered(&self, cells: &[Cell<'_>], mut found: impl FnMut(u32) -> bool) {
        let count =
            |column: usize, code: u32| self.postings.count(Item { column: column as u32, code });
        let rows = |(column, cell): (usize, &Cell<'_>)| match cell {
            Cell::Value(NONE) | Cell::Blank => None,
            Cell::Value(ABSENT) => Some((0, column)),
            Cell::Value(code) => Some((u64::from(count(column, *code)), column)),
            Cell::General(codes) => {
                Some((codes.iter().map(|&code| u64::from(count(column, code))).sum(), column))
            }
        };
        let mut fits = |row: u32| {
            let codes = self.bag.row(row as usize).iter();
            codes.zip(cells).all(|(&code, cell)| cell.covers(code)) && found(row)
        };
        match cells.iter().enumerate().filter_map(rows).min() {
            Some((0, _)) => {}
            None => {
                let _ = (0..self.bag.distinct() as u32).any(fits);
            }
            Some((_, column)) => {
                let codes = match &cells[column] {
                    Cell::Value(code) => std::slice::from_ref(code),
                    Cell::General(codes) => codes,
                    Cell::Blank => &[],
                };
                let item = |&code: &u32| Item { column: column as u32, code };
                let _ = codes.iter().map(item).any(|item| self.postings.find(&[item], &mut fits));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bag(values: &[&str]) -> Bag {
        Bag::from_text(1, values.iter().map(|&value| [(!value.is_empty()).then_some(value)]))
    }

    /// How released cells are read where "2" may be any of 20 and 21.
    fn read(released: &[&str], original: &[&str]) -> Vec<String> {
        read_as(Made::Somehow, released, original)
    }

    fn read_as(made: Made, released: &[&str], original: &[&str]) -> Vec<String> {
        let (released, original) = (bag(released), bag(original));
        let code = |text: &str| original.domain(0).find(text.as_bytes()).unwrap();
        let general = released.domain(0).find(b"2").map(|two| (two, vec![code("20"), code("21")]));
        let watch = Watch::unlimited();
        let general = vec![general.into_iter().collect()];
        let meaning = Meaning::of(&released, &original, general, |_| made, &watch).unwrap();
        let codes = (0..released.domain(0).len() as u32).chain([NONE]);
        codes.map(|code| format!("{:?}", meaning.cell(0, code))).collect()
    }

    #[test]
    fn coarser_tables_are_told_from_drawn_ones() {
        let original = ["20", "21", "30", ""];
        let absent = format!("Value({ABSENT})");
        let null = format!("Value({NONE})");
        // Two cells moved to their general value.
        assert_eq!(read(&["2", "2", "30", ""], &original), ["General([0, 1])", "Value(2)", &null]);
        // One of them was blanked, so that NULL may be anything.
        assert_eq!(read(&["2", "", "30", ""], &original)[2], "Blank");
        // A second 30 was drawn: the 2 is not a general value of the original.
        assert_eq!(read(&["2", "30", "30", ""], &original), [&absent, "Value(2)", &null]);
        // Nothing moved.
        assert_eq!(read(&["20", "30"], &original), ["Value(0)", "Value(2)", &null]);
    }

    #[test]
    fn what_is_known_of_a_column_comes_before_its_counts() {
        let original = ["20", "21", "30", ""];
        let (absent, null) = (format!("Value({ABSENT})"), format!("Value({NONE})"));
        // A row of the original with 31 has gone since: this 31 does not make the others exact.
        let released = ["2", "2", "31", "", ""];
        assert_eq!(read(&released, &original), [absent.as_str(), &absent, &null]);
        assert_eq!(
            read_as(Made::Coarser, &released, &original),
            ["General([0, 1])", &absent, "Blank"]
        );
        assert_eq!(
            read_as(Made::Blanked, &released, &original),
            [&absent, absent.as_str(), "Blank"]
        );
        // A drawn table may look like one that was made coarser.
        let released = ["2", "2", "30", "", ""];
        assert_eq!(read_as(Made::AsItIs, &released, &original), [&absent, "Value(2)", &null]);
    }

    #[test]
    fn columns_are_read_apart() {
        let table = |rows: &[[&str; 2]]| Bag::from_text(2, rows.iter().map(|row| row.map(Some)));
        let (original, released) =
            (table(&[["20", "a"], ["21", "b"]]), table(&[["2", "b"], ["2", "b"]]));
        let two = released.domain(0).find(b"2").unwrap();
        let watch = Watch::unlimited();
        let general = vec![HashMap::from([(two, vec![0, 1])]), HashMap::new()];
        let meaning = Meaning::new(&released, &original, general, &watch).unwrap();
        assert_eq!(meaning.cell(0, two), Cell::General(&[0, 1]));
        assert_eq!(meaning.cell(1, 0), Cell::Value(1));
    }
}
