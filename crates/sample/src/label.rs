//! What the label of a private sample says of its plan.

use crate::{Plan, Scheme};
use guarantee::{Cost, Sampled};

impl From<&Plan> for Sampled {
    fn from(plan: &Plan) -> Self {
        let request = &plan.request;
        Sampled {
            scheme: request.scheme.name(),
            k: request.k,
            asked: Cost { epsilon: request.epsilon, delta: request.delta },
            total: plan.total,
            delta_li: plan.delta_li,
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
