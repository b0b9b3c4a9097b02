//! A relation that no database has, and questions about it.
#![allow(dead_code)] // Each test uses some of it.

use pg_sanitize_question::{Arguments, Column, ColumnType, Error, Question, Schema, Terms};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// A relation with columns of every type, some with known bounds.
pub struct Patients {
    columns: Vec<Column>,
}

pub const COLUMNS: [(&str, ColumnType); 7] = [
    ("id", ColumnType::Integer),
    ("age", ColumnType::ShortInteger),
    ("weight", ColumnType::Number),
    ("ward", ColumnType::Text),
    ("born", ColumnType::Exact),
    ("photo", ColumnType::Other),
    ("low", ColumnType::Number),
];

impl Patients {
    pub fn new() -> Self {
        let column = |&(name, of): &(&str, ColumnType)| Column { name: name.into(), of };
        Patients { columns: COLUMNS.iter().map(column).collect() }
    }
}

fn refused(message: String) -> Error {
    Error::Argument { message, hint: String::new() }
}

impl Schema for Patients {
    type Error = Error;

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn position(&self, name: &str) -> Result<usize, Error> {
        let found = self.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| refused(format!("no column {name}")))
    }

    fn bounds(&self, column: usize) -> Result<Option<(String, String)>, Error> {
        let known = |low: &str, high: &str| Some((low.to_string(), high.to_string()));
        Ok(match self.columns[column].name.as_str() {
            "age" => known("0", "120"),
            "weight" => known("0.35", "300"),
            "low" => known("NaN", "1e+300"),
            _ => None,
        })
    }

    fn canonical(&self, column: usize, value: &str) -> Result<String, Error> {
        let wrong = || refused(format!("no value: {value}"));
        match self.columns[column].of {
            of if of.is_integer() => {
                value.trim().parse::<i64>().map(|n| n.to_string()).map_err(|_| wrong())
            }
            ColumnType::Number => {
                value.parse::<f64>().map(|x| (x + 0.0).to_string()).map_err(|_| wrong())
            }
            _ => Ok(value.to_string()),
        }
    }
}

/// A question as it comes from a caller.
#[derive(Debug, Clone)]
pub struct Call {
    pub measures: Value,
    pub filter: Option<Value>,
    pub groups: Option<Value>,
    pub group_by: Vec<String>,
    pub epsilon: f64,
    pub delta: Option<f64>,
    pub terms: Terms,
    pub one_row_each: bool,
}

impl Call {
    pub fn read(&self) -> Result<Question, Error> {
        let arguments = Arguments {
            measures: &self.measures,
            filter: self.filter.as_ref(),
            groups: self.groups.as_ref(),
            group_by: &self.group_by,
            epsilon: self.epsilon,
            delta: self.delta,
        };
        Question::read(&Patients::new(), self.terms.clone(), self.one_row_each, &arguments)
    }

    /// The call that a printed question stands for.
    pub fn printed(question: &Question, one_row_each: bool) -> Self {
        let printed: Value = serde_json::from_str(&question.normal).unwrap();
        let part = |name: &str| Some(printed[name].clone()).filter(|part| !part.is_null());
        Call {
            measures: printed["measures"].clone(),
            filter: part("filter"),
            groups: part("groups"),
            group_by: serde_json::from_value(printed["group_by"].clone()).unwrap(),
            epsilon: printed["epsilon"].as_f64().unwrap(),
            delta: printed["delta"].as_f64(),
            terms: serde_json::from_value(printed["terms"].clone()).unwrap(),
            one_row_each,
        }
    }
}

fn terms() -> impl Strategy<Value = Terms> {
    let some = proptest::option::of(1..20u64);
    (1..50u64, some.clone(), select(vec![0.0, 1e-6, 1e-3]), some).prop_map(
        |(max_rows_per_unit, max_groups_per_unit, delta, min_query_set)| Terms {
            unit: "id".into(),
            max_rows_per_unit,
            max_groups_per_unit,
            delta,
            min_epsilon: 0.001,
            min_query_set,
            assume_stable: false,
            row_count_public: false,
        },
    )
}

/// A measure that makes sense.
fn measure() -> impl Strategy<Value = Value> {
    let number = || select(vec!["age", "weight", "id"]);
    let bounds = prop_oneof![
        (-1000..1000i64, 1..1000i64)
            .prop_map(|(low, span)| json!({"low": low, "high": low + span})),
        (-1000..1000i64, 1..1000i64).prop_map(
            |(low, span)| json!({"low": low as f64 / 8.0, "high": (low + span) as f64 / 8.0})
        ),
        Just(json!({"bounds": "private"})),
        Just(json!({"bounds": "private", "step": 0.25})),
    ];
    let shares = subsequence(vec![0.0, 0.05, 0.25, 0.5, 0.75, 0.9, 1.0], 1..5);
    let kind = prop_oneof![
        number().prop_map(|column| json!({"sum": column})),
        number().prop_map(|column| json!({"avg": column})),
        number().prop_map(|column| json!({"variance": column})),
        (number(), shares).prop_map(|(column, shares)| json!({"quantile": shares, "of": column})),
        (number(), 1..50).prop_map(|(column, bins)| json!({"histogram": column, "bins": bins})),
        Just(json!({"count": "ward", "per": "unit"})),
    ];
    let per = select(vec![None, None, Some("unit")]);
    let weight = select(vec![None, Some(0.5), Some(3.0)]);
    let bounded = (kind, bounds, per, weight).prop_map(|(kind, bounds, per, weight)| {
        let mut object: Map<String, Value> = Map::new();
        for part in [kind, bounds] {
            object.extend(part.as_object().cloned().unwrap());
        }
        if let Some(per) = per {
            object.insert("per".into(), per.into());
        }
        if let Some(weight) = weight {
            object.insert("weight".into(), weight.into());
        }
        if object.contains_key("count") {
            object.remove("step");
        }
        Value::Object(object)
    });
    prop_oneof![
        Just(json!("count")),
        Just(json!("units")),
        Just(json!({"count": "photo"})),
        Just(json!({"distinct": "ward", "weight": 2})),
        Just(json!({"avg": "age"})),
        bounded,
    ]
}

/// A condition of a filter on a column.
fn wanted() -> impl Strategy<Value = (String, Value)> {
    let word = || select(vec![json!("A"), json!("B"), json!("it's"), Value::Null]);
    let operator = || select(vec!["=", "<>", "!=", "<", "<=", ">", ">="]);
    prop_oneof![
        word().prop_map(|word| ("ward".to_string(), word)),
        proptest::collection::vec(word(), 0..4).prop_map(|list| ("ward".into(), list.into())),
        (operator(), -9..9i64, operator(), -9..9i64)
            .prop_map(|(a, x, b, y)| ("age".into(), json!({a: x, b: y}))),
        (operator(), any::<f32>().prop_filter("finite", |x| x.is_finite()))
            .prop_map(|(a, x)| ("weight".into(), json!({a: x}))),
    ]
}

/// The columns of groups, with or without a public list.
fn groups() -> impl Strategy<Value = (Vec<String>, Option<Value>)> {
    let columns = subsequence(vec!["ward", "age", "born"], 0..4).prop_shuffle();
    let columns = columns.prop_map(|names| names.into_iter().map(String::from).collect());
    (columns, any::<bool>(), 1..4usize).prop_map(
        |(columns, listed, n): (Vec<String>, bool, usize)| {
            let value = |column: &str, i: usize| match column {
                "age" => json!(i),
                _ if i == 0 => Value::Null,
                _ => json!(format!("v{i}")),
            };
            let list = |column: &String| {
                let values: Vec<Value> = (0..n).map(|i| value(column, i)).collect();
                (column.clone(), Value::from(values))
            };
            let listed = listed && !columns.is_empty();
            let all = listed.then(|| Value::Object(columns.iter().map(list).collect()));
            (columns, all)
        },
    )
}

/// Questions that make sense.
pub fn call() -> impl Strategy<Value = Call> {
    let measures = proptest::collection::btree_map("[a-zé \"]{1,3}", measure(), 1..5);
    let filter = proptest::option::of(
        proptest::collection::vec(wanted(), 0..3)
            .prop_map(|filter| Value::Object(filter.into_iter().collect())),
    );
    let price = (select(vec![0.01, 0.5, 1.0, 7.25]), select(vec![None, Some(1e-7), Some(1e-4)]));
    (measures, filter, groups(), price, terms(), any::<bool>())
        .prop_map(
            |(measures, filter, (group_by, groups), (epsilon, delta), terms, one_row_each)| Call {
                measures: Value::Object(measures.into_iter().collect()),
                filter,
                groups,
                group_by,
                epsilon,
                delta,
                terms,
                one_row_each,
            },
        )
        .prop_filter("data that chooses groups needs a delta", |call| {
            call.delta.is_some()
                || call.terms.delta > 0.0
                || call.group_by.is_empty()
                || call.groups.is_some()
        })
}

/// Any JSON, with the words of questions in it more often than by chance.
pub fn json() -> impl Strategy<Value = Value> {
    let word = || {
        select(vec![
            "count",
            "units",
            "distinct",
            "sum",
            "avg",
            "variance",
            "quantile",
            "histogram",
            "of",
            "bins",
            "low",
            "high",
            "step",
            "bounds",
            "private",
            "per",
            "unit",
            "weight",
            "id",
            "age",
            "ward",
            "born",
            "photo",
            "=",
            "<>",
            "<",
            ">=",
            "",
            "x",
            "\u{0}",
            "1",
            "-0",
            "1e999",
        ])
    };
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-20..20i32, -320..310i32).prop_map(|(x, e)| json!(f64::from(x) * 10f64.powi(e))),
        (-3..4i64).prop_map(Value::from),
        select(vec![0.1, 0.5, -0.0, 1.0]).prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.clone(),
        number,
        word().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let key = prop_oneof![4 => word().prop_map(String::from), 1 => any::<String>()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|parts| Value::Object(parts.into_iter().collect())),
        ]
    })
}
