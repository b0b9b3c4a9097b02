//! Translates the codes of one table to those of another.

use table::{Bag, Item, NONE, Reservation, Stop, Watch};

/// The code of a value that the other table does not have. No value has it, and it is not NULL.
pub(crate) const ABSENT: u32 = NONE - 1;

/// For each column and code of a bag, the code of the same text in the same column of another.
pub(crate) struct Translation<'w> {
    codes: Vec<Vec<u32>>,
    _reservation: Reservation<'w>,
}

impl<'w> Translation<'w> {
    /// The bags have the same columns in the same order.
    pub(crate) fn new(from: &Bag, to: &Bag, watch: &'w Watch) -> Result<Self, Stop> {
        debug_assert_eq!(from.width(), to.width());
        let mut reservation = Reservation::new(watch);
        reservation.add(from.domains().iter().map(|domain| domain.len() as u64 * 4).sum())?;
        let mut codes = Vec::with_capacity(from.width());
        for (from, to) in from.domains().iter().zip(to.domains()) {
            watch.check()?;
            // Both ascend.
            let mut others = to.values().zip(0..).peekable();
            let code = |value: &[u8]| {
                while others.next_if(|&(other, _)| other < value).is_some() {}
                others.next_if(|&(other, _)| other == value).map_or(ABSENT, |(_, code)| code)
            };
            codes.push(from.values().map(code).collect());
        }
        Ok(Translation { codes, _reservation: reservation })
    }

    /// The other bag's code, [`ABSENT`] if it has no such value; NULL stays NULL.
    #[inline]
    pub(crate) fn code(&self, column: usize, code: u32) -> u32 {
        if code == NONE { NONE } else { self.codes[column][code as usize] }
    }

    /// The item of the other bag.
    #[inline]
    pub(crate) fn item(&self, item: Item) -> Item {
        Item { code: self.code(item.column as usize, item.code), ..item }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_found_and_others_are_absent() {
        let from =
            Bag::from_text(2, [[Some("b"), Some("x")], [Some("d"), None], [Some("e"), None]]);
        let to = Bag::from_text(2, [[Some("a"), None], [Some("b"), Some("")], [Some("d"), None]]);
        let watch = Watch::unlimited();
        let translation = Translation::new(&from, &to, &watch).unwrap();
        let codes = [0, 1, 2, NONE].map(|code| translation.code(0, code));
        assert_eq!(codes, [1, 2, ABSENT, NONE]);
        assert_eq!(translation.code(1, 0), ABSENT);
        drop(translation);
        assert_eq!(watch.memory(), 0);
    }
}
