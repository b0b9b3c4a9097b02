//! Draws itemsets with exact probabilities. The proofs are in `sampler.md`.

use super::enclosed_choice::{Masses, Uniform};
use super::itemset_space::ItemsetSpace;
use super::powers::Powers;
use super::subsets::Subsets;
use super::support::Supports;
use super::support_levels::SupportLevels;
use super::threshold::{self, SamplerPurpose};
use dashu_int::{UBig, ops::BitTest};
use rand::Rng;
use random::enclosure::{ExpNeg, Real, bernoulli_real, ceil_div};
use random::{Error, Ratio, below, below_big};
use std::collections::BTreeSet;
use table::{Bag, Item, Stop, Watch};

/// The parameters of an itemset's weight, exp(c min(theta, supp)).
#[derive(Debug, Clone)]
pub struct Weights {
    pub c: Ratio,
    pub theta: u64,
}

/// Bits beyond those that separate enclosures; they determine how seldom a choice needs more bits.
const SPARE: usize = 96;

/// The weight that masses are divided by may exceed what is left by this power of e; that uses some of the spare
/// bits.
const FADED: f64 = 20.0;

/// Draws itemsets of a bag whose domains are public.
///
/// The weight of an itemset is 1 plus an excess, exp(c min(theta, supp)) - 1. One of three is chosen in proportion to
/// its mass: a mined itemset by its excess; any itemset, by the 1; or a pair of a row and an itemset in it. Such a
/// pair is accepted in proportion to the excess of its itemset, and never if the itemset was mined.
pub struct Sampler<'a> {
    weights: Weights,
    supports: Supports<'a>,
    space: ItemsetSpace,
    count: UBig,
    subsets: Subsets<'a>,
    levels: SupportLevels,
    /// The support from which all itemsets were mined.
    mined_from: u64,
    /// The largest support, up to theta, of an itemset that was not mined.
    most: u64,
    /// The support whose weight divides all masses.
    top: u64,
    bits: usize,
    masses: Masses,
    /// The itemsets that were taken.
    taken: BTreeSet<Vec<Item>>,
    watch: &'a Watch,
}

impl<'a> Sampler<'a> {
    /// A sampler for the requested number of draws; mines itemsets to make them quick. Returns an error if there are
    /// no itemsets, or fewer than are to be taken, which depends on the domains alone.
    pub fn new(
        bag: &'a Bag,
        weights: Weights,
        max_length: usize,
        wanted: SamplerPurpose,
        watch: &'a Watch,
    ) -> Result<Self, Error> {
        let sampler = Sampler::without_mining(bag, weights, max_length, watch)?;
        check_count(&sampler.count, wanted)?;
        let facts = threshold::Facts {
            weights: &sampler.weights,
            itemsets: &sampler.count,
            subsets: &sampler.subsets,
            supports: &sampler.supports,
            most: largest(bag),
            wanted,
        };
        let (mined_from, levels) = facts.mine(bag, max_length, watch)?;
        Ok(sampler.with_mined(mined_from, levels, bag)?)
    }

    fn without_mining(
        bag: &'a Bag,
        weights: Weights,
        max_length: usize,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let sizes = bag.domains().iter().map(|domain| domain.len() as u32).collect();
        let space = ItemsetSpace::new(sizes, max_length, watch)?;
        let subsets = Subsets::new(bag, max_length, watch)?;
        let count = space.count();
        Ok(Sampler {
            supports: Supports::new(bag, watch)?,
            bits: SPARE + count.bit_len() + subsets.total().bit_len(),
            weights,
            space,
            count,
            subsets,
            levels: SupportLevels::new(Default::default(), 0, watch)?,
            mined_from: u64::MAX,
            most: 0,
            top: 0,
            masses: Masses::new(Vec::new()),
            taken: BTreeSet::new(),
            watch,
        })
    }

    /// Adds the itemsets from a support on.
    pub(super) fn with_mined(
        mut self,
        mined_from: u64,
        levels: SupportLevels,
        bag: &Bag,
    ) -> Result<Self, Stop> {
        self.most = self.weights.theta.min(mined_from.saturating_sub(1)).min(largest(bag));
        self.mined_from = mined_from;
        // A level's masses take some hundred bytes.
        let each = 4 * (self.bits as u64 / 8 + 40);
        self.watch.reserve(levels.all().len() as u64 * each)?;
        self.levels = levels;
        self.top = self.largest_left();
        self.masses = self.masses_of(self.bits)?;
        Ok(self)
    }

    /// The largest support, up to theta, of an itemset that was not taken.
    fn largest_left(&self) -> u64 {
        let level = self.levels.all().iter().find(|level| level.left > 0);
        level.map_or(0, |level| level.support).max(self.most)
    }

    /// Draws an itemset, in item order; it may be drawn again.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<Vec<Item>, Stop> {
        for trial in 0.. {
            self.watch.poll_every(64, trial)?;
            if let Some(items) = self.propose(rng)? {
                return Ok(items);
            }
        }
        Err(Stop::Cancelled)
    }

    /// Draws an itemset that will not be drawn again; also returns its support.
    pub fn take<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<(Vec<Item>, u64), Stop> {
        let items = self.draw(rng)?;
        let support = self.supports.of(&items);
        let powers = self.powers(self.bits);
        let counted = support.min(self.weights.theta);
        if let Some(level) = self.levels.remove(&items, counted) {
            self.masses.lower(level, &self.excess(&powers, counted));
        }
        self.masses.lower(self.levels.all().len(), &powers.enclose(self.top));
        self.taken.insert(items.clone());
        let top = self.largest_left();
        if self.weights.c.to_f64() * (self.top - top) as f64 > FADED {
            self.top = top;
            self.masses = self.masses_of(self.bits)?;
        }
        Ok((items, support))
    }

    /// One trial; `None` if it is rejected.
    fn propose<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<Option<Vec<Item>>, Stop> {
        let (chosen, levels) = (self.choose(rng)?, self.levels.all());
        if let Some(level) = levels.get(chosen) {
            let number = below(rng, level.left as u64);
            return Ok(Some(self.levels.itemset(chosen, number as usize).to_vec()));
        }
        if chosen == levels.len() {
            for trial in 0.. {
                self.watch.poll_every(64, trial)?;
                let items = self.space.itemset(below_big(rng, &self.count));
                if !self.taken.contains(&items) {
                    return Ok(Some(items));
                }
            }
        }
        let items = self.subsets.itemset(below_big(rng, self.subsets.total()));
        let support = self.supports.up_to(&items, self.mined_from);
        let accepted = support < self.mined_from
            && !self.taken.contains(&items)
            && bernoulli_real(rng, &self.acceptance(support));
        Ok(accepted.then_some(items))
    }

    /// The probability with which a pair is accepted whose itemset has this support and was not mined.
    pub(super) fn acceptance(&self, support: u64) -> Acceptance<'_> {
        Acceptance { c: &self.weights.c, most: self.most, support }
    }

    /// Chooses a level, the space (the number after the levels) or the pairs (the number after that).
    fn choose<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<usize, Stop> {
        let mut uniform = Uniform::new();
        let mut bits = self.bits;
        uniform.extend(rng, bits);
        let mut chosen = self.masses.choose(&uniform);
        loop {
            if let Some(chosen) = chosen {
                return Ok(chosen);
            }
            bits *= 2;
            uniform.extend(rng, bits);
            chosen = self.masses_of(bits)?.choose(&uniform);
        }
    }

    fn masses_of(&self, bits: usize) -> Result<Masses, Stop> {
        Ok(Masses::new(self.enclosed(bits)?))
    }

    /// The masses of the levels, of the space and of the pairs, times 2^bits exp(-c top).
    pub(super) fn enclosed(&self, bits: usize) -> Result<Vec<(UBig, UBig)>, Stop> {
        let powers = self.powers(bits);
        let mut masses = Vec::with_capacity(self.levels.all().len() + 2);
        for (i, level) in self.levels.all().iter().enumerate() {
            self.watch.poll_every(256, i)?;
            if level.left == 0 {
                masses.push((UBig::ZERO, UBig::ZERO));
                continue;
            }
            let (low, high) = self.excess(&powers, level.support);
            masses.push((low * level.left, high * level.left));
        }
        let (low, high) = powers.enclose(self.top);
        let left = &self.count - self.taken.len();
        masses.push((low * &left, high * left));
        if self.most > 0 {
            let (low, high) = self.excess(&powers, self.most);
            let (pairs, most) = (self.subsets.total(), UBig::from(self.most));
            masses.push((low * pairs / &most, ceil_div(high * pairs, &most)));
        }
        Ok(masses)
    }

    fn powers(&self, bits: usize) -> Powers {
        Powers::new(&self.weights.c, self.top, bits)
    }

    /// exp(c support) - 1, times 2^bits exp(-c top).
    fn excess(&self, powers: &Powers, support: u64) -> (UBig, UBig) {
        minus(powers.enclose(self.top - support), powers.enclose(self.top))
    }
}

#[cfg(test)]
impl<'a> Sampler<'a> {
    /// A sampler that has mined from a support on, and looks at only a few bits first.
    pub(super) fn mined_from(
        bag: &'a Bag,
        weights: Weights,
        max_length: usize,
        (mined_from, bits): (u64, usize),
        watch: &'a Watch,
    ) -> Self {
        let itemsets = mining::frequent(bag, None, mined_from, Some(max_length), watch).unwrap();
        let levels = SupportLevels::new(itemsets, weights.theta, watch).unwrap();
        let sampler = Sampler::without_mining(bag, weights, max_length, watch).unwrap();
        Sampler { bits, ..sampler }.with_mined(mined_from, levels, bag).unwrap()
    }

    pub(super) fn parts(&self) -> (&SupportLevels, &ItemsetSpace, &Subsets<'a>, &Supports<'a>) {
        (&self.levels, &self.space, &self.subsets, &self.supports)
    }

    pub(super) fn is_mined(&self, support: u64) -> bool {
        support >= self.mined_from
    }
}

/// Refuses to draw where there are no itemsets, or fewer than are to be taken. This depends on the sizes of the
/// domains alone, so a call can be refused before it reads a row.
pub fn check_space(
    sizes: Vec<u32>,
    max_length: usize,
    wanted: SamplerPurpose,
    watch: &Watch,
) -> Result<(), Error> {
    check_count(&ItemsetSpace::new(sizes, max_length, watch)?.count(), wanted)
}

fn check_count(count: &UBig, wanted: SamplerPurpose) -> Result<(), Error> {
    match wanted {
        SamplerPurpose::Distinct(top) if *count < UBig::from(top) => {
            let range = "the public domains do not make so many itemsets";
            Err(Error::argument("top", top, range))
        }
        _ if count.is_zero() => {
            Err(Error::argument("columns", "without values", "itemsets are made of values"))
        }
        _ => Ok(()),
    }
}

/// The largest support of an itemset: that of an item.
fn largest(bag: &Bag) -> u64 {
    bag.supports().into_iter().flatten().max().unwrap_or(0)
}

/// The probability with which a pair is accepted: the excess of its itemset over the support, as a share of the same
/// for the support `most`, which is the largest possible one.
pub(super) struct Acceptance<'a> {
    c: &'a Ratio,
    most: u64,
    support: u64,
}

impl Real for Acceptance<'_> {
    fn enclose(&self, bits: usize) -> (UBig, UBig) {
        let power = |k: u64, bits: usize| ExpNeg(self.c.times(k)).enclose(bits);
        // 1 - exp(-c most) is at least the smaller of 1/2 and c/2: that number of extra bits keeps the quotient
        // within a unit or two.
        let small = (self.c.denom().bit_len() + 1).saturating_sub(self.c.numer().bit_len());
        let scale = bits + small + self.most.bit_len() + 8;
        let one = UBig::ONE << scale;
        let none = power(self.most, scale);
        let counted = power(self.most - self.support.min(self.most), scale);
        let (low, high) = minus(counted, none.clone());
        let (whole_low, whole_high) = minus((one.clone(), one), none);
        let (above, below) = (UBig::from(self.most), UBig::from(self.support));
        (
            ((low * &above) << bits) / (whole_high * &below),
            ceil_div((high * above) << bits, &(whole_low * below)),
        )
    }
}

/// The difference of two enclosed numbers, the first of which is not the smaller one.
fn minus(a: (UBig, UBig), b: (UBig, UBig)) -> (UBig, UBig) {
    (&a.0 - (&b.1).min(&a.0), a.1 - b.0)
}
