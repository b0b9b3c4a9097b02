//! Answers that are kept for whoever asks the same again. They are noisy and paid for.

use crate::api::question::Question;
use crate::pg::error::Error;
use crate::pg::{rights, sql};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The stored answer to the question that is at most so many microseconds old, for whoever may ask.
pub fn find(question: &Question, age: i64) -> Result<Option<String>, Error> {
    let source = question.relation.oid.to_u32().to_string();
    let arguments = [Some(source.as_str()), Some(&question.normal), Some(&age.to_string())];
    let rows = rights::with_extension_rights(|| sql::run(FIND, &arguments))?;
    Ok(rows.into_iter().flatten().flatten().next())
}

/// Keeps an answer for whoever asks the same again, in place of an older one.
pub fn keep(question: &Question, entry: i64, rows: &str) -> Result<(), Error> {
    let source = question.relation.oid.to_u32().to_string();
    let rows = format!("[{rows}]");
    let entry = entry.to_string();
    let arguments =
        [Some(source.as_str()), Some(&question.normal), Some(&entry), Some(rows.as_str())];
    rights::with_extension_rights(|| sql::run(KEEP, &arguments)).map(|_| ())
}

const FIND: &str = "SELECT answer::text FROM sanitize.answer
    WHERE source = $1::oid::regclass AND question_hash = sha256(convert_to($2, 'UTF8'))
      AND answered_at > clock_timestamp() - make_interval(secs => $3::float8 / 1e6)";

const KEEP: &str = "INSERT INTO sanitize.answer
        (source, question_hash, question, answered_at, entry, answer)
    VALUES ($1::oid::regclass, sha256(convert_to($2, 'UTF8')), $2::jsonb, clock_timestamp(), $3::int8, $4::jsonb)
    ON CONFLICT (source, question_hash) DO UPDATE SET
        answered_at = excluded.answered_at, entry = excluded.entry, answer = excluded.answer";

/// The hash by which callers of the same question wait for each other.
pub fn hash(question: &Question) -> u32 {
    // Without a key: the same in every process of the server.
    let mut hasher = DefaultHasher::new();
    question.normal.hash(&mut hasher);
    hasher.finish() as u32
}
