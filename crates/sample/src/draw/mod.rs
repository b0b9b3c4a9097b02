//! Draws a private sample of a table by the scheme of its design.

mod column_scores;
#[cfg(test)]
mod exact_law;
mod noisy_counts;
mod paper;
mod random_choices;
mod rare_cells;
mod rules;

pub use rules::{Rule, Rules};

pub(crate) use column_scores::ClassWorth;

use crate::{Design, Scheme};
use column_scores::Subset;
use random::{Coins, Error};
use random_choices::{Flipped, RandomChoices};
use rare_cells::{Above, Cells, Verdict};
use table::{Bag, Choice, NONE, Release, Reservation, Stop, Watch, bits};

/// Public knowledge, for [`Scheme::Public`].
#[derive(Clone, Copy, Default)]
pub struct Public<'a> {
    /// A public table, with the same columns in the same order.
    pub table: Option<&'a Bag>,
    /// Combinations that are blanked wherever they occur.
    pub rules: Option<&'a Rules>,
}

/// A sample of the bag by the given design.
///
/// The caller must have mapped values that are not in a public domain. NULL is no item: it is never rare, and in the
/// release it looks like a blanked cell. The same table and seed give the same sample, whatever the order of the
/// bag's rows.
pub fn draw(
    bag: &Bag,
    design: &Design,
    public: Public,
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Release, Error> {
    let width = design.request.columns;
    if bag.width() != width || public.table.is_some_and(|table| table.width() != width) {
        return Err(Error::argument("columns", bag.width(), "the plan was made for other columns"));
    }
    // The order in which rows get their coins, a copy while it is sorted, and up to three lists of copies.
    let _held = watch.hold(bag.distinct() as u64 * 32)?;
    let mut flipped = Flipped::new(bag, coins, watch)?;
    match design.request.scheme {
        Scheme::Paper => paper::draw(bag, design, &flipped.order, flipped.coins, watch),
        _ => Draw { bag, design, watch }.sample(public, &mut flipped),
    }
}

/// The number of copies of each distinct row.
type Copies = Vec<u64>;

struct Draw<'a> {
    bag: &'a Bag,
    design: &'a Design,
    watch: &'a Watch,
}

impl Draw<'_> {
    /// A sample by a scheme that guarantees something.
    fn sample(&self, public: Public, chance: &mut impl RandomChoices) -> Result<Release, Error> {
        match self.design.request.scheme {
            Scheme::Public => self.public(public, chance),
            Scheme::DpCounts => self.counts(chance),
            Scheme::DpSplit => self.split(chance),
            Scheme::DpSelect => self.select(chance),
            Scheme::Paper => Err(self.no_design()),
        }
    }

    fn public(&self, public: Public, chance: &mut impl RandomChoices) -> Result<Release, Error> {
        let range = "this scheme needs a public table or rules";
        let is_given = public.table.is_some() || public.rules.is_some();
        Error::require(is_given, "public", "missing", range)?;
        let copies = chance.thin(self.design.beta, self.bag.weights(), self.watch)?;
        let judged = match public.table {
            Some(table) => {
                let (mut cells, mut held) = self.cells(&copies, &[])?;
                held.add((table.distinct() * (table.width() * 4 + 8)) as u64)?;
                append(&mut cells, self.bag, table, self.watch)?;
                self.judge((cells, held), &Above(self.design.theta))?
            }
            None => Judged::default(),
        };
        self.release(&copies, |number, row, mask| {
            judged.blank(number, mask);
            if let Some(rules) = public.rules {
                rules.blank(self.bag.row(row), mask);
            }
        })
    }

    fn counts(&self, chance: &mut impl RandomChoices) -> Result<Release, Error> {
        let noisy = self.noisy(chance)?;
        let weights = self.bag.weights();
        let copies = chance.thin(self.design.beta, weights, self.watch)?;
        let judged = self.judge(self.cells(&copies, weights)?, &noisy)?;
        self.release(&copies, |number, _, mask| judged.blank(number, mask))
    }

    fn split(&self, chance: &mut impl RandomChoices) -> Result<Release, Error> {
        let noisy = self.noisy(chance)?;
        let part = self.design.part.ok_or_else(|| self.no_design())?;
        let counted = chance.thin(part, self.bag.weights(), self.watch)?;
        let rest: Copies =
            self.bag.weights().iter().zip(&counted).map(|(all, counted)| all - counted).collect();
        let copies = chance.thin(self.design.beta, &rest, self.watch)?;
        let judged = self.judge(self.cells(&copies, &counted)?, &noisy)?;
        self.release(&copies, |number, _, mask| judged.blank(number, mask))
    }

    fn select(&self, chance: &mut impl RandomChoices) -> Result<Release, Error> {
        let chosen = self.choose(chance)?;
        let copies = chance.thin(self.design.beta, self.bag.weights(), self.watch)?;
        self.release(&copies, |_, _, mask| {
            for column in 0..self.bag.width() {
                let blank = !chosen.contains(&(column as u32));
                mask[column / 64] |= u64::from(blank) << (column % 64);
            }
        })
    }

    /// The columns that are shown, chosen by the exponential mechanism.
    fn choose(&self, chance: &mut impl RandomChoices) -> Result<Subset, Error> {
        let worth = self.design.worth.ok_or_else(|| self.no_design())?;
        let columns = self.bag.width();
        let mut family = chance.family(columns);
        let scores = column_scores::scores(self.bag, &family, worth, self.watch)?;
        let epsilon = self.design.scheme_cost.epsilon;
        let exponents = column_scores::exponents(&scores, worth, columns, epsilon)?;
        Ok(family.swap_remove(chance.choose(&exponents, self.watch)?))
    }

    fn noisy<C: RandomChoices>(&self, chance: &mut C) -> Result<C::Noisy, Error> {
        let noise = self.design.noise.as_ref().ok_or_else(|| self.no_design())?;
        Ok(chance.noisy(noise, self.design.theta))
    }

    fn no_design(&self) -> Error {
        Error::argument("plan", self.design.request.scheme.name(), "it was made for another scheme")
    }

    /// The rows that are sampled or counted, by column, and their memory; `counted` is empty if no row is counted.
    fn cells(&self, copies: &[u64], counted: &[u64]) -> Result<(Cells, Reservation<'_>), Stop> {
        let counted_at = |row: usize| counted.get(row).copied().unwrap_or(0);
        let rows: Vec<usize> =
            (0..copies.len()).filter(|&row| copies[row] > 0 || counted_at(row) > 0).collect();
        let held = self.watch.hold((rows.len() * (self.bag.width() * 4 + 8 + 8)) as u64)?;
        let mut codes: Vec<Vec<u32>> =
            (0..self.bag.width()).map(|_| Vec::with_capacity(rows.len())).collect();
        let mut wanted = vec![0; bits::words(rows.len())];
        for (number, &row) in rows.iter().enumerate() {
            self.watch.poll(number)?;
            codes.iter_mut().zip(self.bag.row(row)).for_each(|(column, &code)| column.push(code));
            if copies[row] > 0 {
                bits::insert(&mut wanted, number);
            }
        }
        let sizes = self.bag.domains().iter().map(|domain| domain.len().max(1)).collect();
        let counted = rows.iter().map(|&row| counted_at(row)).collect();
        Ok((Cells { codes, sizes, counted, wanted }, held))
    }

    /// Finds the cells of sampled rows that lie in a minimal rare combination.
    fn judge(
        &self,
        (cells, _held): (Cells, Reservation<'_>),
        verdict: &impl Verdict,
    ) -> Result<Judged, Stop> {
        let longest = self.design.request.max_length.unwrap_or(usize::MAX);
        let rare = cells.blanked(verdict, longest, self.watch)?;
        // Sampled rows come in the order of the bag, before rows of another table.
        Ok(Judged { rows: bits::numbers(&cells.wanted).collect(), rare })
    }

    /// Releases the sampled copies of each row, and suppresses forms below k. `blank` adds the cells to blank to the
    /// mask of a row, given the row's number among the sampled ones and in the bag.
    fn release(
        &self,
        copies: &[u64],
        blank: impl Fn(usize, usize, &mut [u64]),
    ) -> Result<Release, Error> {
        let mut released = Release::new(self.bag.width());
        let mut held = Reservation::new(self.watch);
        let mut mask = vec![0; bits::words(self.bag.width())];
        let sampled = copies.iter().enumerate().filter(|&(_, &copies)| copies > 0);
        for (number, (row, &weight)) in sampled.enumerate() {
            self.watch.poll_with(number, || held.raise(released.memory()))?;
            mask.fill(0);
            blank(number, row, &mut mask);
            released.push(row as u32, &mask, weight);
        }
        Ok(released.without_small_classes(self.bag, self.design.request.k, self.watch)?)
    }
}

/// The cells of sampled rows that are to be blanked.
#[derive(Default)]
struct Judged {
    /// The bit of each sampled row.
    rows: Vec<usize>,
    /// The bits of each column.
    rare: Vec<Vec<u64>>,
}

impl Judged {
    /// Adds the blanked columns of a sampled row, given its number among them, to the mask.
    fn blank(&self, number: usize, mask: &mut [u64]) {
        for (column, rare) in self.rare.iter().enumerate() {
            if bits::has(rare, self.rows[number]) {
                bits::insert(mask, column);
            }
        }
    }
}

/// Adds the rows of a public bag as rows that are counted, in the codes of `bag`. Values that only the public bag has
/// get new codes.
fn append(cells: &mut Cells, bag: &Bag, public: &Bag, watch: &Watch) -> Result<(), Stop> {
    for (column, codes) in cells.codes.iter_mut().enumerate() {
        let (own, other) = (bag.domain(column), public.domain(column));
        let translated: Vec<u32> = (0..other.len() as u32)
            .map(|code| own.find(other.value(code)).unwrap_or(own.len() as u32 + code))
            .collect();
        cells.sizes[column] = (own.len() + other.len()).max(1);
        for row in 0..public.distinct() {
            watch.poll(row)?;
            let code = public.row(row)[column];
            codes.push(if code == NONE { NONE } else { translated[code as usize] });
        }
    }
    cells.counted.extend_from_slice(public.weights());
    cells.wanted.resize(bits::words(cells.counted.len()), 0);
    Ok(())
}
