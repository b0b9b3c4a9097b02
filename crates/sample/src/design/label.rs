//! The facts about a design that the label of a private sample needs.

use super::{Design, Scheme};
use guarantee::{Cost, Sampled};
use table::Choice;

impl From<&Design> for Sampled {
    fn from(design: &Design) -> Self {
        let request = &design.request;
        Sampled {
            scheme: request.scheme.name(),
            k: request.k,
            asked: Cost { epsilon: request.epsilon, delta: request.delta },
            total: design.total,
            delta_li: design.delta_li,
            assumption: match request.scheme {
                Scheme::Public => {
                    Some("the public table and the rules were made without the private table")
                }
                Scheme::DpCounts | Scheme::DpSplit => {
                    Some("domains are public; values outside them are mapped before")
                }
                Scheme::DpSelect | Scheme::Paper => None,
            },
        }
    }
}
