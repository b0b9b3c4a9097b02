//! The label beside every output, and the costs of mechanisms, alone and together. Rounding never favours the
//! spender: costs are rounded up, allowances down.
//!
//! * `cost`: [`Cost`] is (epsilon, delta); [`Charge`] is what one release takes out of a budget, in both currencies
//!   of the ledger. Mechanisms make it before they look at data. Also sums that round up, costs of people with
//!   several rows, and mixtures.
//! * `zcdp`: conversion of rho, the second currency, to epsilon and back. Noise is calibrated by it.
//! * `gaussian_vector`: the same for Gaussian noise by its own law, which allows more; [`gaussian_rho`]
//!   falls back to `zcdp`.
//! * `ledger`: [`Spent`] adds charges up and says which budget admits them, by `cost` and `zcdp`.
//! * `label`: [`Guarantee`] and its JSON. The files of `label` have a constructor for each method, from plain facts
//!   ([`Sampled`], [`Answers`]) that mechanisms hand over. `label/composition` adds the effect of earlier releases,
//!   `label/sentence` puts the label into words.
//! * `share`: confidence limits of a share, for measures that sample.
//! * `audit` (a feature, `testing`): what two laws, or runs on two tables, refute. Only tests and the long audit call
//!   it.
//!
//! A call: the mechanism's plan or design makes a charge, the ledger (in tables of the extension) adds it to the
//! charges so far, the release is made, and the label is returned beside it. Proofs are in the `.md` files named
//! after the code.
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "testing"))]
pub mod audit;
mod cost;
mod gaussian_vector;
mod label;
mod ledger;
mod share;
mod zcdp;

pub use cost::{Charge, Cost, add_up, check_epsilon, mixture, rest_of};
pub use gaussian_vector::gaussian_rho;
pub use label::{
    AnswerGroups, Answers, ClassTerms, DeltaMethod, DrawnItemsets, Guarantee, GuaranteeKind, Label,
    Mode, Neighbours, Numeric, PrivacyUnit, Protected, Protects, Proved, RandomisedTransaction,
    Sampled, Sensitive, told_after,
};
pub use ledger::{REST, Spent, concentrated_epsilon};
pub use share::Share;
pub use zcdp::{pure_rho, zcdp_delta, zcdp_epsilon, zcdp_rho};
