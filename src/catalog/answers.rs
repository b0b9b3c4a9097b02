//! Stored answers, which are returned if the same question is asked again: the table `answer`. They are noisy and have
//! been charged for.

use crate::catalog::{Stored, execute, oid};
use crate::pg::prelude::*;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One row of the result, as it travels and as it is stored.
#[derive(Serialize, Deserialize)]
pub struct ResultRow {
    pub groups: serde_json::Map<String, serde_json::Value>,
    pub measure: String,
    /// A decimal number.
    pub value: Option<String>,
    pub stddev: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl ResultRow {
    fn is_number(&self) -> bool {
        let finite = |text: &String| text.parse::<f64>().is_ok_and(f64::is_finite);
        self.value.as_ref().is_none_or(finite)
    }
}

/// The stored answer to a question in its normal form, if it is at most `age` microseconds old: a list of
/// [`ResultRow`]s.
pub fn find(source: Oid, question: &str, age: i64) -> Result<Option<String>, Error> {
    let arguments = [Some(&*oid(source)), Some(question), Some(&age.to_string())];
    let Some(row) = Stored::first("answer", FIND, &arguments)? else { return Ok(None) };
    if !row.truth(0, "answered_at")? {
        return Ok(None);
    }
    if !row.truth(1, "question")? {
        return Err(row.damaged("question"));
    }
    row.count(2, "entry")?.ok_or_else(|| row.damaged("entry"))?;
    let answer = row.text(3, "answer")?;
    let is_readable = serde_json::from_str::<Vec<ResultRow>>(answer)
        .is_ok_and(|rows| rows.iter().all(ResultRow::is_number));
    match is_readable {
        true => Ok(Some(answer.to_string())),
        false => Err(row.damaged("answer")),
    }
}

/// Stores an answer in place of an older one, for the next time the same question is asked.
pub fn keep(source: Oid, question: &str, entry: i64, rows: &str) -> Result<(), Error> {
    let (source, entry, rows) = (oid(source), entry.to_string(), format!("[{rows}]"));
    execute(KEEP, &[Some(&source), Some(question), Some(&entry), Some(&rows)])
}

const FIND: &str = "SELECT CASE WHEN isfinite(answered_at) THEN
           answered_at > clock_timestamp() - make_interval(secs => $3::float8 / 1e6) END::text,
           (question = $2::jsonb)::text, entry::text, answer::text
    FROM sanitize.answer
    WHERE source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)
      AND question_hash = sha256(convert_to($2, 'UTF8'))";

const KEEP: &str = "INSERT INTO sanitize.answer
        (source, question_hash, question, answered_at, entry, answer)
    VALUES ($1::oid::regclass, sha256(convert_to($2, 'UTF8')), $2::jsonb, clock_timestamp(), $3::int8, $4::jsonb)
    ON CONFLICT (source, question_hash) DO UPDATE SET source = excluded.source,
        answered_at = excluded.answered_at, entry = excluded.entry, answer = excluded.answer";

/// The hash by which callers of the same question wait for each other.
pub fn hash(question: &str) -> u32 {
    // Without a key: the same in every process of the server.
    let mut hasher = DefaultHasher::new();
    question.hash(&mut hasher);
    hasher.finish() as u32
}
