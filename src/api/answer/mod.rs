//! Answers a question: in a reader process, where the caller's settings and eyes do not reach.
//!
//! The order is: understand, look for a stored answer, charge, read, add noise, send, store. From the
//! charge on nothing but the noisy answers may tell about the data, and no error gives a refund.
//! [`reading`] reads and adds noise, [`sorted`] adds up what does not fit into memory, [`stored`] keeps
//! answers.

mod reading;
mod sorted;
pub mod stored;

use super::ledger::{self, Outcome};
use super::question::{Question, Request};
use crate::pg::error::Error;
use crate::pg::unit_rows::Key;
use crate::pg::worker::{isolated, worker_function};
use crate::pg::{rights, settings};
use dp::aggregate::Answer;
use reading::Reading;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// One row of the result, as it travels and as it is stored.
#[derive(Serialize, Deserialize)]
pub struct ResultRow {
    pub groups: serde_json::Value,
    pub measure: String,
    /// A decimal number.
    pub value: Option<String>,
    pub stddev: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How often terms may change under a question before it gives up.
const TRIES: usize = 5;
/// The longest answer that is stored, in bytes of JSON.
const STORED: usize = 1 << 20;

/// What a reader does for a question.
fn answer(request: &[u8], send: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    for _ in 0..TRIES {
        // With the asker's rights: what is known of the catalog must not differ from what they see.
        let question = rights::with_rights_of(request.asker.user, || Question::new(&request))?;
        if let Some(age) = request.reuse {
            ledger::remaining(&question.relation, &request.asker)?;
            if let Some(stored) = stored::find(&question, age)? {
                send(stored.as_bytes());
                return Ok(());
            }
        }
        let charged = ledger::charge(
            &question.relation,
            request.asker,
            &question.what,
            &question.charge,
            Some(&question.terms),
        )?;
        if let Outcome::Charged { entry } = charged {
            let began = Instant::now();
            let mut sending = Sending { question: &question, send, kept: Some(String::new()) };
            let outcome = Reading::new(&question)?.answer(&mut sending);
            let kept = sending.kept;
            wait_for_grid(began);
            outcome?;
            if let Some(kept) = kept {
                isolated::counted(|| stored::keep(&question, entry, &kept))?;
            }
            return Ok(());
        }
    }
    Err(Error::Ledger { certain: true, why: "the terms of the protection keep changing" })
}

worker_function!(sanitize_reader_worker, isolated::serve, answer);

/// Waits until the time since `began` is a multiple of the grid.
fn wait_for_grid(began: Instant) {
    let Some(grid) = settings::answer_grid() else { return };
    let rounds = began.elapsed().as_nanos() / grid.as_nanos() + 1;
    isolated::wait_until(began + grid * u32::try_from(rounds).unwrap_or(u32::MAX));
}

/// Where answers go: to the caller, and into the store as long as they are short.
struct Sending<'a> {
    question: &'a Question,
    send: &'a mut dyn FnMut(&[u8]),
    /// The parts sent so far; `None` if they are too long to store.
    kept: Option<String>,
}

impl Sending<'_> {
    fn group(&mut self, key: &Key, answers: Vec<Answer>) -> Result<(), Error> {
        pgrx::check_for_interrupts!();
        let names = self.question.group_names();
        let groups: serde_json::Map<String, serde_json::Value> = names
            .into_iter()
            .map(String::from)
            .zip(key.iter().map(|text| text.clone().map_or(serde_json::Value::Null, Into::into)))
            .collect();
        let finite = |x: f64| x.is_finite().then_some(x);
        let row = |answer: Answer| ResultRow {
            groups: groups.clone().into(),
            measure: answer.measure,
            value: answer.value,
            stddev: answer.stddev.and_then(finite),
            low: finite(answer.low),
            high: finite(answer.high),
        };
        let rows: Vec<ResultRow> = answers.into_iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let text = serde_json::to_string(&rows).map_err(Error::query)?;
        (self.send)(text.as_bytes());
        self.kept = self.kept.take().filter(|kept| kept.len() + text.len() < STORED).map(|kept| {
            let inner = &text[1..text.len() - 1];
            if kept.is_empty() { inner.to_string() } else { kept + "," + inner }
        });
        Ok(())
    }
}
