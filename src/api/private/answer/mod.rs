//! Answers a question: in a reader process, whose settings and memory the caller cannot reach.
//!
//! The order is: understand, look for a stored answer, try to read, charge, read, add noise, send, store. After the
//! charge only the noisy answers may depend on the data in a way that others can see, and no error gives a refund.
//! [`reading`] reads and adds noise, [`crate::api::shards::bounded_bags`] adds up the rows that other servers kept,
//! [`sorted`] adds up what does not fit into memory; the catalog keeps answers.

pub mod reading;
mod sorted;

use super::grid;
use super::question::{Posed, Request};
use crate::api::prelude::*;
use crate::catalog::answers::{self, ResultRow};
use crate::catalog::ledger::Outcome;
use crate::pg::process::worker::{isolated, worker_function};
use aggregate::Answer;
use question::Key;
use reading::Reading;
use std::time::Instant;

/// How often the terms may change during a question before it gives up.
const TRIES: usize = 5;
/// The longest question, and the longest answer, that are stored, in bytes of JSON.
const STORED: usize = 1 << 20;

/// Processes a question in the reader.
fn answer(request: &[u8], send: &mut dyn FnMut(&[u8])) -> Result<()> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    for _ in 0..TRIES {
        // With the asker's rights, so that the reader sees the same catalog as the asker.
        let posed = rights::with_rights_of(request.asker.user, || Posed::new(&request))?;
        let (relation, question) = (&posed.relation, &posed.question);
        // An asker who may not ask learns nothing else.
        ledger::remaining(relation, &request.asker)?;
        if let Some(age) = request.reuse
            && let Some(stored) = answers::find(relation.oid, &question.normal, age)?
        {
            send(stored.as_bytes());
            return Ok(());
        }
        let owner = reading::readable_as(&posed)?;
        let charged = ledger::charge(
            relation,
            request.asker,
            &question.what,
            &question.charge,
            Some(&question.terms),
        )?;
        if let Outcome::Charged { entry } = charged {
            let began = Instant::now();
            let mut sending = Sending::new(&posed, question.normal.len() < STORED, send);
            let outcome =
                Reading::new(&posed, owner).and_then(|reading| reading.answer(&mut sending));
            grid::wait(began);
            outcome?;
            let kept = sending.end();
            if let Some(kept) = kept {
                isolated::counted(|| answers::keep(relation.oid, &question.normal, entry, &kept))?;
            }
            return Ok(());
        }
    }
    Err(Error::Ledger { certain: true, why: "the terms of the protection keep changing" })
}

worker_function!(sanitize_reader_worker, isolated::serve, answer);

/// Sends answers to the caller, and stores them if they are short.
pub struct Sending<'a> {
    posed: &'a Posed,
    send: &'a mut dyn FnMut(&[u8]),
    /// The parts sent so far; `None` if they are too long to store.
    kept: Option<String>,
    /// Parts that are held back until the time of the grid, if there is one.
    held: Option<Vec<String>>,
}

impl<'a> Sending<'a> {
    fn new(posed: &'a Posed, store: bool, send: &'a mut dyn FnMut(&[u8])) -> Self {
        let held = settings::answer_grid().map(|_| Vec::new());
        Sending { posed, send, kept: store.then(String::new), held }
    }

    /// Sends the parts that were held back; returns the answer to store.
    fn end(self) -> Option<String> {
        let Sending { send, kept, held, .. } = self;
        held.into_iter().flatten().for_each(|text| send(text.as_bytes()));
        kept
    }

    fn group(&mut self, key: &Key, answers: Vec<Answer>) -> Result<()> {
        pgrx::check_for_interrupts!();
        let names = self.posed.group_names();
        let groups: Map<String, serde_json::Value> = names
            .into_iter()
            .map(String::from)
            .zip(key.iter().map(|text| text.clone().map_or(serde_json::Value::Null, Into::into)))
            .collect();
        let finite = |x: f64| x.is_finite().then_some(x);
        let row = |answer: Answer| ResultRow {
            groups: groups.clone(),
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
        match &mut self.held {
            Some(held) => held.push(text.clone()),
            None => (self.send)(text.as_bytes()),
        }
        self.kept = self.kept.take().filter(|kept| kept.len() + text.len() < STORED).map(|kept| {
            let inner = &text[1..text.len() - 1];
            if kept.is_empty() { inner.to_string() } else { kept + "," + inner }
        });
        Ok(())
    }
}
