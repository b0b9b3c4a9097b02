//! What was published: the existing releases (`published`), and the history of all publishes and refreshes
//! (`release_entry`).

use crate::catalog::ledger::account::decimal;
use crate::catalog::{Stored, damaged, execute, look, oid, run, value};
use crate::pg::prelude::*;
use guarantee::Cost;
use serde_json::{Map, Value as Json};

/// How a release is made.
pub struct Recipe {
    pub source: Oid,
    pub method: String,
    pub options: Map<String, Json>,
    /// The publisher's comment on it.
    pub comment: Option<String>,
}

/// How the release in a table was made; `None` if the table is not a release. A source that was dropped is given as no
/// relation, even if another relation has its OID.
pub fn find(target: Oid) -> Result<Option<Recipe>, Error> {
    let found = Stored::first("published", FIND, &[Some(&oid(target))])?;
    let Some(row) = found else { return Ok(None) };
    let options = serde_json::from_str(row.text(2, "options")?);
    Ok(Some(Recipe {
        source: row.oid(0, "source")?,
        method: row.text(1, "method")?.to_string(),
        options: options.map_err(|_| row.damaged("options"))?,
        comment: row.optional(3).map(String::from),
    }))
}

const FIND: &str = "SELECT
        (CASE WHEN coalesce(p.source_row_type = sanitize_internal.row_type(p.source), true) THEN p.source::oid ELSE 0 END)::text,
        p.method, p.options::text, p.comment
    FROM sanitize.published p
    WHERE p.target = $1::oid AND p.row_type = sanitize_internal.row_type(p.target)";

/// True if a table is recorded as a release of another.
pub fn is_release_of(target: Oid, source: Oid) -> Result<bool, Error> {
    Ok(!look::<1>(IS_RELEASE, &[Some(&oid(target)), Some(&oid(source))])?.is_empty())
}

const IS_RELEASE: &str = "SELECT 'release'
    FROM sanitize.published p
    WHERE p.target = $1::oid AND p.row_type = sanitize_internal.row_type(p.target)
      AND p.source = $2::oid AND p.source_row_type = sanitize_internal.row_type(p.source)";

/// The options of a release once it is no draft any more.
pub fn approved(mut options: Map<String, Json>) -> Map<String, Json> {
    options.remove("draft");
    options
}

/// How many releases of the source were made, retired ones included, whose promises do not compose. A draft does not
/// count as long as only its owner could read it. Once another role can read it, or its table was dropped by hand, it
/// counts for ever.
pub fn earlier(source: Oid) -> Result<u64, Error> {
    execute(CLEAN, &[])?;
    execute(&seen_drafts("e.source"), &[Some(&oid(source))])?;
    let found = value(EARLIER, &[Some(&oid(source))])?;
    let count = found.and_then(|count| count.parse().ok());
    count.ok_or_else(|| damaged("release_entry", "kind"))
}

const EARLIER: &str = "SELECT count(*)::text FROM sanitize.release_entry
    WHERE source = $1::oid AND row_type = sanitize_internal.row_type(source)
      AND kind NOT IN ('dp', 'ldp') AND NOT draft";

/// Makes drafts count that were granted to other roles meanwhile, or given to another owner: those whose `what` is $1.
fn seen_drafts(what: &str) -> String {
    format!(
        "UPDATE sanitize.release_entry AS e SET draft = false
           FROM sanitize.published p JOIN pg_class c ON c.oid = p.target AND c.reltype = p.row_type
          WHERE e.draft AND {what} = $1::oid AND e.id = p.entry AND ({GRANTED} OR {GIVEN_AWAY})"
    )
}

/// A condition: the owner of table c has not made the release of entry e, neither now nor before a refresh.
const GIVEN_AWAY: &str = "NOT EXISTS (SELECT FROM sanitize.release_entry f
    WHERE f.source = e.source AND f.target = e.target AND f.published_by = pg_get_userbyid(c.relowner))";

/// A condition: a role other than the owner was granted a right on table c or on one of its columns.
const GRANTED: &str = "(
    EXISTS (SELECT FROM aclexplode(c.relacl) AS a WHERE a.grantee <> c.relowner)
    OR EXISTS (SELECT FROM pg_attribute t, aclexplode(t.attacl) AS a
                WHERE t.attrelid = c.oid AND a.grantee <> c.relowner))";

/// True if a role other than the owner was granted a right on the table or on one of its columns.
pub fn is_granted(target: Oid) -> Result<bool, Error> {
    let query = format!("SELECT 'granted' FROM pg_class c WHERE c.oid = $1::oid AND {GRANTED}");
    Ok(!run(&query, &[Some(&oid(target))])?.is_empty())
}

/// The label of the release in a table.
pub fn label(target: Oid) -> Result<Json, Error> {
    let found = value(LABEL, &[Some(&oid(target))])?;
    let label = found.and_then(|label| serde_json::from_str(&label).ok());
    label.ok_or_else(|| damaged("published", "guarantee"))
}

const LABEL: &str = "SELECT guarantee::text FROM sanitize.published WHERE target = $1::oid";

/// Makes the draft in a table count as a release, with a new label.
pub fn approve(target: Oid, options: &Map<String, Json>, label: &Json) -> Result<(), Error> {
    let options = Json::Object(options.clone()).to_string();
    execute(APPROVE, &[Some(&oid(target)), Some(&options), Some(&label.to_string())])
}

const APPROVE: &str = "WITH approved AS (
        UPDATE sanitize.published SET options = $2::jsonb, guarantee = $3::jsonb
         WHERE target = $1::oid RETURNING entry)
    UPDATE sanitize.release_entry SET draft = false WHERE id IN (SELECT entry FROM approved)";

/// A release that was made just now.
pub struct Made<'a> {
    pub target: Oid,
    pub recipe: &'a Recipe,
    pub label: &'a Json,
    /// What it costs, even if the label covers only a part of it.
    pub cost: Option<Cost>,
    pub rows: u64,
    pub suppressed_share: Option<f64>,
    pub by: &'a str,
    pub is_draft: bool,
}

/// Records a release, in place of the one that the table held before.
pub fn enter(made: &Made<'_>) -> Result<(), Error> {
    let Made { recipe, .. } = made;
    let (target, source) = (oid(made.target), oid(recipe.source));
    let options = Json::Object(recipe.options.clone()).to_string();
    let (label, rows) = (made.label.to_string(), made.rows.to_string());
    let share = made.suppressed_share.map(|share| share.to_string());
    let said = |field: &str| made.label.get(field).and_then(Json::as_str);
    let kind = said("kind").unwrap_or("none");
    let cost = made.cost.map(|cost| (decimal(cost.epsilon), decimal(cost.delta)));
    let (epsilon, delta) = cost.unzip();
    let draft = made.is_draft.to_string();
    let entry = value(
        ENTER,
        &[
            Some(&source),
            Some(&target),
            Some(&recipe.method),
            Some(kind),
            epsilon.as_deref(),
            Some(made.by),
            Some(&draft),
            delta.as_deref(),
            said("unit"),
            said("neighbours"),
        ],
    )?;
    execute(
        PUBLISH,
        &[
            Some(&target),
            Some(&source),
            Some(&recipe.method),
            Some(&options),
            recipe.comment.as_deref(),
            Some(&label),
            Some(&rows),
            share.as_deref(),
            Some(made.by),
            entry.as_deref(),
        ],
    )?;
    execute(CLEAN, &[])
}

const PUBLISH: &str =
    "INSERT INTO sanitize.published (target, row_type, source, method, options, comment,
        guarantee, rows, suppressed_share, published_at, published_by, entry)
    SELECT $1::oid, c.reltype, $2::oid, $3, $4::jsonb, $5, $6::jsonb, $7::bigint, $8::float8,
           clock_timestamp(), $9, $10::bigint
      FROM pg_class c WHERE c.oid = $1::oid
    ON CONFLICT (target) DO UPDATE SET row_type = excluded.row_type, source = excluded.source,
        method = excluded.method, options = excluded.options, comment = excluded.comment,
        guarantee = excluded.guarantee, rows = excluded.rows,
        suppressed_share = excluded.suppressed_share, published_at = excluded.published_at,
        published_by = excluded.published_by, entry = excluded.entry";

const ENTER: &str = "INSERT INTO sanitize.release_entry
        (published_at, source, target, method, kind, epsilon, published_by, draft, delta, unit, neighbours, unit_column)
    SELECT clock_timestamp(), $1::oid, $2::oid::regclass::text, $3, $4, $5::numeric, $6, $7::bool,
           $8::numeric, $9, $10,
           (SELECT p.unit FROM sanitize.protection p WHERE $9 = 'person' AND p.source = $1::oid
               AND p.row_type = sanitize_internal.row_type(p.source))
    RETURNING id::text";

/// Removes the records of tables that were dropped by hand. It is unknown who could read a draft among them, so it
/// counts. Rows that other transactions are removing are skipped.
const CLEAN: &str = "WITH dropped AS (
        DELETE FROM sanitize.published WHERE target IN (
            SELECT p.target FROM sanitize.published p
             WHERE p.row_type IS DISTINCT FROM sanitize_internal.row_type(p.target)
               FOR UPDATE SKIP LOCKED)
        RETURNING entry)
    UPDATE sanitize.release_entry SET draft = false WHERE draft AND id IN (SELECT entry FROM dropped)";

/// Makes the draft in a table count if others could read it.
pub fn note_seen(target: Oid) -> Result<(), Error> {
    execute(&seen_drafts("p.target"), &[Some(&oid(target))])
}

/// Forgets the release in a table.
pub fn forget(target: Oid) -> Result<(), Error> {
    execute("DELETE FROM sanitize.published WHERE target = $1::oid", &[Some(&oid(target))])
}

/// Names the constraints of a relation that its release does not have, because blanked, repeated or drawn values would
/// violate them.
pub fn left_out(source: Oid) -> Result<Vec<String>, Error> {
    Ok(run(LEFT_OUT, &[Some(&oid(source))])?.into_iter().flatten().flatten().collect())
}

const LEFT_OUT: &str = "SELECT said FROM (
        SELECT 0 AS part, a.attnum::text AS place, format('column %I: %s', a.attname, w.what) AS said
          FROM pg_attribute a CROSS JOIN LATERAL unnest(ARRAY[
               CASE WHEN a.attnotnull THEN 'NOT NULL' END,
               CASE WHEN a.attidentity <> '' THEN 'identity'
                    WHEN a.attgenerated <> '' THEN 'generated'
                    WHEN a.atthasdef THEN 'default' END]) AS w(what)
         WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND w.what IS NOT NULL
        UNION ALL
        SELECT 1, c.conname, format('constraint %I: %s', c.conname, pg_get_constraintdef(c.oid))
          FROM pg_constraint c WHERE c.conrelid = $1::oid AND c.contype IN ('p', 'u', 'c', 'f', 'x')) AS s
    ORDER BY part, length(place), place, said";
