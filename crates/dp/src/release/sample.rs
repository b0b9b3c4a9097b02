//! Drawing a private sample.

use super::levels::{Above, Cells};
use super::noisy::Noisy;
use super::{Plan, Released, Scheme, paper};
use crate::random::Source;
use crate::{Coins, Error, Rate, Thinning};
use table::{Bag, NONE, Stop, Watch};

/// Rows handled between two looks at the watch.
const STRIDE: usize = 1 << 12;

/// A sample of the bag as the plan says.
///
/// `public` is the public table of [`Scheme::Public`], with the same columns in the same order.
/// Values that no public domain knows must have been mapped by the caller. NULL is no item: it is
/// never rare, and in the release it looks like a blanked cell. The same table and seed give the same
/// sample, in whatever order the bag has its rows.
pub fn sample(
    bag: &Bag,
    plan: &Plan,
    public: Option<&Bag>,
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Released, Error> {
    let width = plan.request.columns;
    if bag.width() != width || public.is_some_and(|public| public.width() != width) {
        return Err(Error::argument("columns", bag.width(), "the plan was made for other columns"));
    }
    let draw = Draw { bag, plan, watch };
    match plan.request.scheme {
        Scheme::Public => {
            let range = "this scheme needs a public table";
            let public = public.ok_or_else(|| Error::argument("public", "missing", range))?;
            draw.public(public, coins)
        }
        Scheme::DpCounts => draw.counts(coins),
        Scheme::DpSplit => draw.split(coins),
        Scheme::Paper => paper::sample(bag, plan, &draw.order(coins)?, coins, watch),
    }
}

/// Copies by distinct row.
type Copies = Vec<u64>;

struct Draw<'a> {
    bag: &'a Bag,
    plan: &'a Plan,
    watch: &'a Watch,
}

impl Draw<'_> {
    fn public(&self, public: &Bag, coins: &mut Coins) -> Result<Released, Error> {
        let copies = self.thin(self.plan.beta, self.bag.weights(), &self.order(coins)?, coins)?;
        let mut cells = self.cells(&copies, &[])?;
        append(&mut cells, self.bag, public, self.watch)?;
        self.release(&cells, &copies, |cells, longest| {
            cells.blanked(&Above(self.plan.theta), longest, self.watch)
        })
    }

    fn counts(&self, coins: &mut Coins) -> Result<Released, Error> {
        let noisy = self.noisy(coins)?;
        let weights = self.bag.weights();
        let copies = self.thin(self.plan.beta, weights, &self.order(coins)?, coins)?;
        let cells = self.cells(&copies, weights)?;
        self.release(&cells, &copies, |cells, longest| cells.blanked(&noisy, longest, self.watch))
    }

    fn split(&self, coins: &mut Coins) -> Result<Released, Error> {
        let noisy = self.noisy(coins)?;
        let part = self.plan.part.ok_or_else(|| self.no_plan())?;
        let order = self.order(coins)?;
        let counted = self.thin(part, self.bag.weights(), &order, coins)?;
        let rest: Copies =
            self.bag.weights().iter().zip(&counted).map(|(all, counted)| all - counted).collect();
        let copies = self.thin(self.plan.beta, &rest, &order, coins)?;
        let cells = self.cells(&copies, &counted)?;
        self.release(&cells, &copies, |cells, longest| cells.blanked(&noisy, longest, self.watch))
    }

    fn noisy(&self, coins: &mut Coins) -> Result<Noisy, Error> {
        let noise = self.plan.noise.clone().ok_or_else(|| self.no_plan())?;
        Ok(Noisy { key: coins.key(), noise, theta: self.plan.theta })
    }

    fn no_plan(&self) -> Error {
        Error::argument("plan", self.plan.request.scheme.name(), "it was made for another scheme")
    }

    /// The order in which rows get their coins. Coins of a seed must not depend on the order in
    /// which the rows were read; fresh coins are all alike.
    fn order(&self, coins: &Coins) -> Result<Vec<u32>, Stop> {
        let mut order: Vec<u32> = (0..self.bag.distinct() as u32).collect();
        if coins.source() == Source::Seeded {
            table::sort_watched(&mut order, self.watch, |a, b| {
                self.bag.row(a as usize).cmp(self.bag.row(b as usize))
            })?;
        }
        Ok(order)
    }

    /// Copies of each row that coins of the given rate keep.
    fn thin(
        &self,
        rate: Rate,
        weights: &[u64],
        order: &[u32],
        coins: &mut Coins,
    ) -> Result<Copies, Stop> {
        let mut thinning = Thinning::new(rate);
        let mut copies = vec![0; weights.len()];
        let mut since = 0u64;
        for &row in order {
            let mut left = weights[row as usize];
            while left > 0 {
                // A row may stand for millions: look at the watch by coins, not by rows.
                let some = left.min(1 << 20);
                copies[row as usize] += thinning.keep(coins, some);
                left -= some;
                since += some;
                if since > 1 << 20 {
                    self.watch.check()?;
                    since = 0;
                }
            }
        }
        Ok(copies)
    }

    /// The rows that are sampled or counted, by column; `counted` is empty if none is.
    fn cells(&self, copies: &[u64], counted: &[u64]) -> Result<Cells, Stop> {
        let counted_at = |row: usize| counted.get(row).copied().unwrap_or(0);
        let rows: Vec<usize> =
            (0..copies.len()).filter(|&row| copies[row] > 0 || counted_at(row) > 0).collect();
        self.watch.reserve((rows.len() * (self.bag.width() * 4 + 8)) as u64)?;
        let mut codes: Vec<Vec<u32>> =
            (0..self.bag.width()).map(|_| Vec::with_capacity(rows.len())).collect();
        let mut wanted = vec![0; rows.len().div_ceil(64)];
        for (number, &row) in rows.iter().enumerate() {
            if number % STRIDE == 0 {
                self.watch.check()?;
            }
            codes.iter_mut().zip(self.bag.row(row)).for_each(|(column, &code)| column.push(code));
            wanted[number / 64] |= u64::from(copies[row] > 0) << (number % 64);
        }
        let sizes = self.bag.domains().iter().map(|domain| domain.len().max(1)).collect();
        Ok(Cells {
            codes,
            sizes,
            counted: rows.iter().map(|&row| counted_at(row)).collect(),
            wanted,
        })
    }

    /// Blanks what `judge` finds, releases the sampled copies, and suppresses forms below k.
    fn release(
        &self,
        cells: &Cells,
        copies: &[u64],
        judge: impl FnOnce(&Cells, usize) -> Result<Vec<Vec<u64>>, Stop>,
    ) -> Result<Released, Error> {
        let longest = self.plan.request.max_length.unwrap_or(usize::MAX);
        let blanked = judge(cells, longest)?;
        let mut released = Released::new(self.bag.width());
        // Sampled rows come in the order of the bag, and before rows of another table.
        let sampled = copies.iter().enumerate().filter(|&(_, &copies)| copies > 0);
        let wanted = super::levels::ones(&cells.wanted);
        let mut mask = vec![0; self.bag.width().div_ceil(64)];
        for ((row, &weight), number) in sampled.zip(wanted) {
            mask.fill(0);
            for (column, bits) in blanked.iter().enumerate() {
                let blank = bits[number as usize / 64] >> (number % 64) & 1;
                mask[column / 64] |= blank << (column % 64);
            }
            released.push(row as u32, weight, &mask);
        }
        self.watch.release((cells.counted.len() * (self.bag.width() * 4 + 8)) as u64);
        Ok(released.suppress(self.bag, self.plan.request.k, self.watch)?)
    }
}

/// Adds the rows of a public bag as rows that are counted, in the codes of `bag`. Values that only
/// the public bag has get codes of their own.
fn append(cells: &mut Cells, bag: &Bag, public: &Bag, watch: &Watch) -> Result<(), Stop> {
    watch.reserve((public.distinct() * (bag.width() * 4 + 8)) as u64)?;
    for (column, codes) in cells.codes.iter_mut().enumerate() {
        let (own, other) = (bag.domain(column), public.domain(column));
        let translated: Vec<u32> = (0..other.len() as u32)
            .map(|code| own.find(other.value(code)).unwrap_or(own.len() as u32 + code))
            .collect();
        cells.sizes[column] = (own.len() + other.len()).max(1);
        for row in 0..public.distinct() {
            if row % STRIDE == 0 {
                watch.check()?;
            }
            let code = public.row(row)[column];
            codes.push(if code == NONE { NONE } else { translated[code as usize] });
        }
    }
    cells.counted.extend_from_slice(public.weights());
    cells.wanted.resize(cells.counted.len().div_ceil(64), 0);
    Ok(())
}
