//! The stored form of a private model: what its columns are, the model, and its label.

use crate::api::prelude::*;
use crate::pg::read::bins::Bins;
use crate::rules::public_source::PublicColumn;
use serde::{Deserialize, Serialize};
use synth::SynthesisModel;

const FORMAT: &str = "pg_sanitize synthesizer";
const VERSION: u64 = 1;

/// A model fitted to public columns. Made by `dp_synthesizer` or read from its jsonb, drawn from by
/// `dp_synthesize`.
pub struct Synthesizer {
    pub columns: Vec<PublicColumn>,
    pub model: SynthesisModel,
}

/// The fields of the jsonb.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    format: String,
    version: u64,
    columns: Vec<ColumnForm>,
    model: SynthesisModel,
    /// For readers of the jsonb; drawing rows does not use it.
    label: Json,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnForm {
    name: String,
    nullable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<RangeForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeForm {
    low: String,
    high: String,
    bins: u32,
}

impl Synthesizer {
    /// The model and its label as a value to store.
    pub fn to_json(&self, label: Json) -> Result<Json> {
        let form = |column: &PublicColumn| {
            let (values, range) = match &column.public {
                Public::Values(values) => (Some(values.clone()), None),
                Public::Range { low, high, bins } => {
                    let (low, high) = (low.clone(), high.clone());
                    (None, Some(RangeForm { low, high, bins: bins.count() }))
                }
            };
            ColumnForm { name: column.name.clone(), nullable: column.nullable, values, range }
        };
        // Written and read once: the model itself is not copied.
        serde_json::to_value(Form {
            format: FORMAT.into(),
            version: VERSION,
            columns: self.columns.iter().map(form).collect(),
            model: self.model.clone(),
            label,
        })
        .map_err(Error::query)
    }

    /// The model of a jsonb, for rows of this type. Everything in it is checked: it may come from anywhere.
    pub fn from_json(value: &Json, relation: &Relation) -> Result<Self> {
        match value.get("version").and_then(Json::as_u64) {
            Some(VERSION) => {}
            Some(version) => {
                return Err(refused(format!(
                    "version {version} is not known here, only version {VERSION}"
                )));
            }
            None => return Err(refused("field \"version\" is not a number".into())),
        }
        let form = Form::deserialize(value).map_err(|error| refused(error.to_string()))?;
        if form.format != FORMAT {
            return Err(refused(format!("its format is \"{}\"", form.format)));
        }
        form.model.check().map_err(refused)?;
        let mut columns = Vec::with_capacity(form.columns.len());
        for column in form.columns {
            columns.push(public_column(column, relation)?);
        }
        let sizes: Vec<u32> = columns.iter().map(PublicColumn::size).collect();
        if sizes != form.model.sizes() {
            return Err(refused("its columns have other numbers of values than its tables".into()));
        }
        for (place, column) in columns.iter().enumerate() {
            if columns[..place].iter().any(|other| other.name == column.name) {
                return Err(refused(format!("column \"{}\" comes twice", column.name)));
            }
        }
        Ok(Synthesizer { columns, model: form.model })
    }
}

/// A stored column for rows of this type.
fn public_column(stored: ColumnForm, relation: &Relation) -> Result<PublicColumn> {
    let ColumnForm { name, nullable, values, range } = stored;
    let column = &relation.columns[relation.position(&name)?];
    let public = match (values, range) {
        (Some(values), None) => Public::Values(values),
        (None, Some(RangeForm { low, high, bins })) => {
            let is_range = bounds::has_range(column)
                && rights::with_fixed_formats(|| bounds::is_range(column, &low, &high))?;
            if !is_range {
                return Err(refused(format!("column \"{name}\" is no range of {low} to {high}")));
            }
            let cut = Bins::new(column, &low, &high, bins)?;
            if cut.count() != bins {
                return Err(refused(format!("column \"{name}\" has no {bins} bins")));
            }
            Public::Range { low, high, bins: cut }
        }
        _ => return Err(refused(format!("column \"{name}\" needs either values or a range"))),
    };
    Ok(PublicColumn { name, public, nullable })
}

fn refused(what: String) -> Error {
    Error::argument(
        format!("model cannot be used: {what}"),
        "Pass what sanitize.dp_synthesizer returned, unchanged.",
    )
}
