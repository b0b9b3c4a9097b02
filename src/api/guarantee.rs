//! The guarantee label of a method.

use super::budget;
use super::private::scheme;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb;
use dp::guarantee::{Answers, Groups};
use dp::{Cost, Guarantee, Plan, Request, Source};
use pgrx::pg_sys::Datum;
use serde_json::{Map, Value};

/// The options of a method: those of its function's arguments, by name.
struct Options(Map<String, Value>);

impl Options {
    fn parse(options: Value, known: &[&str]) -> Result<Self, Error> {
        let Value::Object(options) = options else {
            return Err(Error::argument(
                "options is no object",
                "Give the method's arguments by name: {\"k\": 5}.",
            ));
        };
        match options.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Options(options)),
            Some(name) => Err(Error::argument(
                format!("there is no option \"{name}\""),
                format!("The options of this method are: {}.", known.join(", ")),
            )),
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    fn get<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| {
                Error::argument(format!("option {name} is {value}"), format!("{name} is {what}."))
            }),
        }
    }

    fn needed<T>(&self, name: &str, found: Option<T>) -> Result<T, Error> {
        found.ok_or_else(|| {
            Error::argument(
                format!("option {name} is missing"),
                "Give every option that the label depends on.",
            )
        })
    }

    fn count(&self, name: &str, least: u64) -> Result<Option<u64>, Error> {
        let what = format!("a whole number of at least {least}");
        self.get(name, &what, |value| value.as_u64().filter(|&n| n >= least))
    }

    fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        self.get(name, "a number", Value::as_f64)
    }

    fn names(&self, name: &str) -> Result<Option<Vec<&str>>, Error> {
        let read = |value: &Value| value.as_array().is_some_and(|a| a.iter().all(Value::is_string));
        self.get(name, "an array of column names", |value| read(value).then_some(()))?;
        let names = self.0.get(name).and_then(Value::as_array);
        Ok(names.map(|names| names.iter().filter_map(Value::as_str).collect()))
    }

    fn rng(&self) -> Result<Source, Error> {
        let seed = self.get("seed", "a whole number", Value::as_i64)?;
        Ok(if seed.is_some() { Source::Seeded } else { Source::Os })
    }

    fn max_length(&self) -> Result<Option<usize>, Error> {
        Ok(self.count("max_length", 1)?.map(|length| length as usize))
    }
}

fn label(method: &str, options: Value) -> Result<Guarantee, Error> {
    let suppression = ["theta", "k", "weights", "max_length", "columns", "keep"];
    let (options, label) = match method {
        "mii_suppress" => {
            let options = Options::parse(options, &suppression)?;
            let theta = options.needed("theta", options.count("theta", 0)?)?;
            let label = Guarantee::mii_suppress(theta, options.max_length()?);
            (options, label)
        }
        "k_mii" | "k_anonymize" => {
            let options = Options::parse(options, &suppression)?;
            let k = options.needed("k", options.count("k", 2)?)?;
            let of = if method == "k_mii" { Guarantee::k_mii } else { Guarantee::k_anonymize };
            let label = of(k, options.max_length()?);
            (options, label)
        }
        "dp_mii_sample" => {
            let known = [
                "epsilon",
                "delta",
                "k",
                "scheme",
                "public_source",
                "split",
                "max_length",
                "columns",
                "keep",
                "seed",
                "theta1",
                "rules",
            ];
            let options = Options::parse(options, &known)?;
            let label = dp_mii_sample(&options)?;
            (options, label)
        }
        "dp_aggregate" => {
            let known = [
                "source",
                "measures",
                "epsilon",
                "delta",
                "group_by",
                "filter",
                "groups",
                "reuse",
                "unit",
                "max_rows_per_unit",
                "max_groups_per_unit",
                "assume_stable",
            ];
            let options = Options::parse(options, &known)?;
            let label = dp_aggregate(&options)?;
            (options, label)
        }
        "krimp_generate" => {
            let known = [
                "n",
                "min_support",
                "model",
                "laplace",
                "laplace_by",
                "class",
                "columns",
                "max_length",
                "candidates",
                "forbidden",
                "seed",
                "max_time",
            ];
            let options = Options::parse(options, &known)?;
            let class =
                options.get("class", "the name of a column", |v| Some(v.as_str()?.to_string()))?;
            let label = Guarantee::krimp_generate(class.as_deref(), options.rng()?);
            (options, label)
        }
        "impute" => {
            let options = Options::parse(
                options,
                &["columns", "method", "seed", "keep", "of", "of_options"],
            )?;
            let of = options
                .get("of", "the name of a method", |value| value.as_str().map(String::from))?;
            let of_options =
                options.0.get("of_options").cloned().unwrap_or_else(|| Map::new().into());
            let of = of.map(|method| label(&method, of_options)).transpose()?;
            let filled = Guarantee::impute(of.as_ref());
            (options, filled)
        }
        _ => {
            return Err(Error::argument(
                format!("method is \"{method}\""),
                "method is 'mii_suppress', 'k_mii', 'k_anonymize', 'dp_mii_sample', 'dp_aggregate', 'krimp_generate' or 'impute'.",
            ));
        }
    };
    let keep = options.names("keep")?.unwrap_or_default();
    Ok(label.keeping(&keep))
}

fn dp_mii_sample(options: &Options) -> Result<Guarantee, Error> {
    let name = options.get("scheme", "the name of a scheme", |v| v.as_str().map(String::from))?;
    let is_public = options.is_given("public_source") || options.is_given("rules");
    let scheme = scheme(name.as_deref(), is_public)?;
    let columns = options.names("columns")?;
    let request = Request {
        scheme,
        epsilon: options.needed("epsilon", options.number("epsilon")?)?,
        delta: options.needed("delta", options.number("delta")?)?,
        k: options.needed("k", options.count("k", 2)?)?,
        split: options.number("split")?.unwrap_or(0.1),
        max_length: options.max_length()?.or(scheme.usual_length()),
        columns: columns.as_ref().map_or(1, Vec::len),
        theta1: options.count("theta1", 0)?,
    };
    let mut label = Guarantee::dp_mii_sample(&Plan::new(request)?, options.rng()?);
    if columns.is_none() {
        // How delta is used depends on the number of columns; what was asked for is never passed.
        let asked = |delta: f64| delta.max(request.delta);
        label.delta = label.delta.map(asked);
        if let Some(proved) = &mut label.proved {
            proved.delta = proved.delta.map(asked);
        }
    }
    Ok(label)
}

fn dp_aggregate(options: &Options) -> Result<Guarantee, Error> {
    options.get("measures", "an object with at least one measure", |measures| {
        measures.as_object().filter(|measures| !measures.is_empty()).map(|_| ())
    })?;
    options.get("groups", "the list of groups", |groups| groups.as_array().map(|_| ()))?;
    let grouped = options.names("group_by")?.is_some_and(|names| !names.is_empty());
    let groups = match (grouped, options.is_given("groups")) {
        (false, true) => {
            return Err(Error::argument(
                "option groups is given, but group_by is not",
                "Name the columns of the groups in group_by.",
            ));
        }
        (false, false) => Groups::None,
        (true, true) => Groups::Public,
        (true, false) => Groups::Private,
    };
    let delta = options.number("delta")?.map(budget::delta).transpose()?;
    let delta = match groups {
        Groups::Private => options.needed("delta", delta.filter(|&delta| delta > 0.0))?,
        _ => delta.unwrap_or(0.0),
    };
    let epsilon = budget::epsilon(options.needed("epsilon", options.number("epsilon")?)?)?;
    let unit = options.get("unit", "the name of a column", |v| v.as_str().map(String::from))?;
    let assumed = options.get("assume_stable", "true or false", Value::as_bool)?;
    Ok(Guarantee::dp_aggregate(&Answers {
        cost: Cost { epsilon, delta },
        groups,
        unit: unit.as_deref(),
        rows_per_unit: options.count("max_rows_per_unit", 1)?,
        groups_per_unit: options.count("max_groups_per_unit", 1)?,
        assumed_stable: assumed.unwrap_or(false),
    }))
}

fn guarantee(call: &Call) -> Result<Datum, Error> {
    let method = call.text(0, "method")?;
    let options =
        jsonb::argument(call, 1, "options")?.ok_or(Error::Null { argument: "options" })?;
    let label = label(&method, options)?;
    let label = serde_json::to_value(label.label());
    jsonb::datum(&label.map_err(|error| Error::Broken { what: error.to_string() })?)
}

sql_function!(sanitize_guarantee, guarantee);
