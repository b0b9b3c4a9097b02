//! Encoded sizes of data and code table.
//!
//! With u the usages, U their sum, K the number of elements in use and st the standard code length, the data takes
//! -sum u lg(u/U) bits and the table sum (st - lg(u/U)) over the elements in use. Together: (U + K) lg U - sum (u +
//! 1) lg u + sum st, in which a changed usage changes one term of each sum.

/// The difference in bits from which a total size counts as smaller than another: sizes that are equal in exact
/// arithmetic must compare as equal.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// Encoded sizes in bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The data, encoded with the table.
    pub data_bits: f64,
    /// The table.
    pub model_bits: f64,
    /// Both.
    pub total_bits: f64,
    /// Data and table if the table has singletons only.
    pub standard_bits: f64,
    /// `total_bits / standard_bits`; 1 for a table without items.
    pub ratio: f64,
}

impl Sizes {
    pub(crate) fn new(data_bits: f64, model_bits: f64, standard_bits: f64) -> Self {
        let total_bits = data_bits + model_bits;
        let ratio = share_of(total_bits, standard_bits);
        Sizes { data_bits, model_bits, total_bits, standard_bits, ratio }
    }
}

/// A size as a share of that under singletons; 1 for a table without items.
pub(crate) fn share_of(bits: f64, standard: f64) -> f64 {
    if standard > 0.0 { bits / standard } else { 1.0 }
}

/// The size of data and table under usages and standard code lengths, each part by itself.
pub(crate) fn encoded(elements: impl Iterator<Item = (u64, f64)> + Clone) -> (f64, f64) {
    let total: u64 = elements.clone().map(|(usage, _)| usage).sum();
    let mut data = 0.0;
    let mut model = 0.0;
    for (usage, standard) in elements.filter(|&(usage, _)| usage > 0) {
        let code = (total as f64 / usage as f64).log2();
        data += usage as f64 * code;
        model += standard + code;
    }
    (data, model)
}

/// The largest usage for which [`Terms`] are looked up.
const KNOWN: u64 = 1 << 16;

/// (u + 1) lg u by usage, tabulated: logarithms would take a third of the time of an evaluation.
pub(crate) struct Terms(Vec<f64>);

impl Terms {
    pub(crate) fn new(rows: u64) -> Self {
        Terms((0..=rows.min(KNOWN)).map(Terms::compute).collect())
    }

    #[inline]
    pub(crate) fn of(&self, usage: u64) -> f64 {
        self.0.get(usage as usize).copied().unwrap_or_else(|| Terms::compute(usage))
    }

    fn compute(usage: u64) -> f64 {
        if usage < 2 { 0.0 } else { (usage as f64 + 1.0) * (usage as f64).log2() }
    }
}

/// The counts that the size depends on besides single usages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Sum of usages.
    pub usage: u64,
    /// Elements in use.
    pub used: u64,
}

impl Totals {
    /// The change of (U + K) lg U, without the cancellation of subtracting two large numbers.
    pub(crate) fn change(self, new: Totals) -> f64 {
        if self.usage == 0 || new.usage == 0 {
            let term = |t: Totals| match t.usage {
                0 => 0.0,
                usage => (usage + t.used) as f64 * (usage as f64).log2(),
            };
            return term(new) - term(self);
        }
        let old_sum = (self.usage + self.used) as f64;
        let new_sum = (new.usage + new.used) as f64;
        let growth = (new.usage as f64 - self.usage as f64) / self.usage as f64;
        (new_sum - old_sum) * (self.usage as f64).log2()
            + new_sum * growth.ln_1p() * std::f64::consts::LOG2_E
    }
}
