//! The request for a private sample: scheme, budget and limits.

use table::Choice;

/// The source of the rare combinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// A table that is public.
    Public,
    /// Noisy counts of the whole table.
    DpCounts,
    /// Noisy counts of a random part of the table; rows are released from the rest.
    DpSplit,
    /// None: the same columns are blanked in all rows, chosen by the exponential mechanism.
    DpSelect,
    /// As published (ten Tusscher, DP-MII-suppress): a random part of the table, without noise, and a sample with
    /// replacement. Not differentially private.
    Paper,
}

impl Choice for Scheme {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("public", Scheme::Public),
        ("dp_counts", Scheme::DpCounts),
        ("dp_split", Scheme::DpSplit),
        ("dp_select", Scheme::DpSelect),
        ("paper", Scheme::Paper),
    ];
}

impl Scheme {
    pub const ALL: [Scheme; 5] =
        [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::DpSelect, Scheme::Paper];

    /// The default length of the longest combinations that the scheme looks at. Noise is paid for every marginal that
    /// is counted, so schemes that count stop at pairs.
    pub fn usual_length(self) -> Option<usize> {
        match self {
            Scheme::DpCounts | Scheme::DpSplit => Some(2),
            Scheme::Public | Scheme::DpSelect | Scheme::Paper => None,
        }
    }
}

/// The request for a private sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRequest {
    pub scheme: Scheme,
    pub epsilon: f64,
    pub delta: f64,
    /// The number of rows that must share a form.
    pub k: u64,
    /// `dp_counts` and `dp_select`: the share of the budget that goes to the rare combinations, or to the choice of
    /// columns. `dp_split` and `paper`: the share of the rows in which rare combinations are found. `public`: the
    /// public table's share of all rows, public and private, as its owner estimates it.
    pub split: f64,
    /// The longest combinations that are looked at; `None` for any length.
    pub max_length: Option<usize>,
    /// The number of columns.
    pub columns: usize,
    /// The support up to which a combination is rare (before the margin for noise), or up to which a class has no
    /// value for `dp_select`; `None` for the default of the sampling rate.
    pub theta1: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for scheme in Scheme::ALL {
            assert_eq!(Scheme::named(scheme.name()), Some(scheme));
        }
        assert_eq!(Scheme::named("none"), None);
    }
}
