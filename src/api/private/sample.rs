//! Differentially private releases, and the arithmetic behind them.

use crate::api::prelude::*;
use crate::api::release::suppression::keeping;
use crate::api::shared::typed_source::{PublicDomains, chosen, same_columns};
use crate::rules::public;
use guarantee::DeltaMethod;
use sample::{Design, Public, Rule, Rules, SampleRequest, Scheme};
use table::Choice;

const SPLIT: Argument<f64> = Argument::of("split")
    .or("0.1")
    .about("The share of epsilon that goes to finding what is rare.");

const METHOD: Argument<DeltaMethod> = Argument::choice("method")
    .or("\"exact\"")
    .about("How delta is found: 'exact', the smallest that holds, or 'li', the published bound.");

const DP_MII_PARAMETERS: Method = Method::new(
    "dp_mii_parameters",
    &[&EPSILON, &DELTA, &K, &SPLIT, &METHOD],
    columns![beta: Float8, theta1: Int4, delta: Float8, delta_li: Float8],
    |call| {
        let (epsilon, delta, k) = (call.get(&EPSILON)?, call.get(&DELTA)?, call.get(&K)?);
        let found = sample::parameters(epsilon, delta, k, call.get(&SPLIT)?, call.get(&METHOD)?)?;
        call.one_row([
            Value::Float(found.beta.get()),
            Value::Int(i32::try_from(found.theta1).unwrap_or(i32::MAX)),
            Value::Float(found.delta),
            Value::Float(found.delta_li),
        ])
    },
)
.pure()
.rows(1)
.about(
    "the largest sampling rate beta that epsilon and delta allow with classes of at least k \
         sampled rows, the threshold theta1 that goes with it, and the delta reached: the \
         smallest that holds, and the bound of Li, Qardaji and Su",
);

const SAMPLED: Argument<u64> = Argument::new("k", Type::Int4, |given| {
    given.at_least(1, "k is a number of sampled rows: 1 or more.")
})
.about("How many sampled rows must share what is shown.");

const BETA: Argument<f64> = Argument::of("beta").about("The chance of each row to be sampled.");

const SAMPLING_DELTA: Method = Method::new(
    "sampling_delta",
    &[&SAMPLED, &BETA, &EPSILON],
    columns![delta: Float8, delta_li: Float8],
    |call| {
        let (k, beta) = (call.get(&SAMPLED)?, call.get(&BETA)?);
        let found = sample::sampling_delta(k, beta, call.get(&EPSILON)?)?;
        call.one_row([Value::Float(found.delta), Value::Float(found.delta_li)])
    },
)
.pure()
.rows(1)
.about(
    "delta of sampling rows with probability beta and showing only what at least k sampled \
         rows share: the smallest that holds, and the bound of Li, Qardaji and Su",
);

/// The scheme; `None`: chosen by what is public.
const SCHEME: Argument<Option<Scheme>> = Argument::optional("scheme", Type::Text, |given| {
    given.if_given(|given| given.choice())
})
.about("How rare combinations are found: 'public', 'dp_counts', 'dp_split', 'dp_select' or, as published, 'paper'.");

const PUBLIC_SOURCE: Argument<Option<Oid>> = Argument::of("public_source")
    .about("A public relation with the same columns that says what is rare.");

const THETA1: Argument<Option<u64>> = Argument::optional("theta1", Type::Int4, |given| {
    let hint = "theta1 is a number of rows: 0 or more. Combinations that at most theta1 rows share are rare.";
    given.if_given(|given| given.at_least(0, hint))
})
.about("Up to how many rows a combination counts as rare; found from epsilon and delta if it is left out.");

/// Rare combinations that the caller lists; they are matched with the rows later.
const RULES: Argument<Option<Json>> = Argument::of("rules")
    .about("Itemsets and column lists that count as rare: [{\"zip\": \"1017\", \"sex\": \"F\"}, [\"zip\", \"job\"]].");

/// The request for a source with this number of columns.
fn request(arguments: &Arguments<'_>, columns: usize) -> Result<SampleRequest> {
    let is_public = arguments.has(&PUBLIC_SOURCE)? || arguments.has(&RULES)?;
    let usual = if is_public { Scheme::Public } else { Scheme::DpCounts };
    let scheme = arguments.get(&SCHEME)?.unwrap_or(usual);
    let theta1 = arguments.get(&THETA1)?;
    Ok(SampleRequest {
        scheme,
        epsilon: arguments.get(&EPSILON)?,
        delta: arguments.get(&DELTA)?,
        k: arguments.get(&K)?,
        split: arguments.get(&SPLIT)?,
        max_length: arguments.get(&MAX_LENGTH)?.or(scheme.usual_length()),
        columns,
        theta1,
    })
}

fn label(options: &Arguments<'_>) -> Result<Guarantee> {
    let columns = options.get(&COLUMNS)?;
    let request = request(options, columns.as_ref().map_or(1, Vec::len))?;
    let coins = coins_of(options.get(&SEED)?);
    let mut label = Guarantee::dp_mii_sample(&Design::new(request)?, coins);
    if columns.is_none() {
        // How delta is split depends on the number of columns; the delta that was asked for is never exceeded.
        let asked = |delta: f64| delta.max(request.delta);
        label.delta = label.delta.map(asked);
        if let Some(proved) = &mut label.proved {
            proved.delta = proved.delta.map(asked);
        }
    }
    keeping(label, options)
}

/// Refuses public knowledge that the scheme does not use, and a threshold without a table.
fn check_public(request: &SampleRequest, table: bool, rules: bool) -> Result<()> {
    let is_public = request.scheme == Scheme::Public;
    if is_public != (table || rules) {
        return Err(Error::argument(
            format!(
                "scheme is '{}' and {}",
                request.scheme.name(),
                match (table, rules) {
                    (true, _) => "public_source is given",
                    (_, true) => "rules are given",
                    _ => "neither public_source nor rules are given",
                }
            ),
            "Scheme 'public' takes its rare combinations from public_source, from rules or from both; the others take neither.",
        ));
    }
    if is_public && !table && request.theta1.is_some() {
        return Err(Error::argument(
            "theta1 is given, but public_source is not",
            "theta1 says up to how many rows of public_source are rare; rules need none.",
        ));
    }
    Ok(())
}

/// Refuses a table of rare combinations that is not public.
fn check_public_source(source: &Relation, other: Oid) -> Result<()> {
    match public::refusal(source.oid, other)? {
        None => Ok(()),
        Some(why) => Err(Error::NotPublic {
            argument: "public_source",
            relation: Relation::row_type(other)?.name,
            reason: why.reason(),
        }),
    }
}

const RULES_HINT: &str = "rules is an array of itemsets and column lists: [{\"zip\": \"1017\", \"sex\": \"F\"}, [\"zip\", \"job\"]]; values are texts as Postgres shows them.";

/// The rules of a list, for these columns.
fn said(list: &Json, relation: &Relation, columns: &[usize]) -> Result<Vec<Combination>> {
    let names: Vec<&str> = columns.iter().map(|&c| relation.columns[c].name.as_str()).collect();
    combinations(RULES.name, list, RULES_HINT, (&relation.name, &names))
}

const DP_MII_SAMPLE: Method = Method::release(
    "dp_mii_sample",
    &[
        &ROWS_OF,
        &EPSILON,
        &DELTA,
        &K,
        &SCHEME,
        &PUBLIC_SOURCE,
        &SPLIT,
        &MAX_LENGTH,
        &COLUMNS,
        &KEEP,
        &SEED,
        &THETA1,
        &RULES,
    ],
    Release::new(dp_mii_sample).blanking(),
)
.about(
    "an (epsilon, delta)-differentially private sample of the relation: rows are sampled \
         with fresh coins, cells in rare combinations or of columns that were chosen privately \
         are blanked, and only what at least k sampled rows share is shown. With keep or seed, \
         and in scheme 'paper', which is as published, it is not differentially private",
)
.labelled(TERMS, label)
.priced(Protects::Rows, |arguments, columns| {
    Ok(Design::new(request(arguments, columns)?)?.charge())
});

fn dp_mii_sample(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let public_source = call.get(&PUBLIC_SOURCE)?;
    let listed = call.get(&RULES)?;
    let mut request = request(call.arguments, 1)?;
    let scheme = request.scheme;
    // All that can be refused without the data is refused before it is read.
    Design::new(request)?;
    check_public(&request, public_source.is_some(), listed.is_some())?;
    let relation = call.source()?;
    public_source.map_or(Ok(()), |other| check_public_source(&relation, other))?;
    let as_published = (scheme == Scheme::Paper).then_some("scheme 'paper'");
    let terms = ledger::check_protecting(call, &relation, as_published)?;

    let (columns, keep) = chosen(call, &relation, None)?;
    request.columns = columns.len();
    let design = Design::new(request)?;
    let public = match scheme {
        Scheme::DpCounts | Scheme::DpSplit => Some(PublicDomains::of(&relation, &columns)?),
        _ => None,
    };
    let table = public_source.map(|oid| same_columns(&relation, &columns, oid)).transpose()?;
    let rules = listed.map(|list| said(&list, &relation, &columns)).transpose()?;
    let mut coins = coins(call.get(&SEED)?)?;
    let bound = ledger::charge_call(call, &relation, terms.as_ref(), &columns)?;
    let mut source = TypedSource::read_charged(relation, columns, keep, bound.as_ref())?;
    if let Some(public) = &public {
        source = source.within(public)?;
    }
    let rules =
        rules.map(|rules| Rules::new(coded(rules, source.bag(), Rule::Columns, Rule::Items)));
    let public = Public { table: table.as_ref(), rules: rules.as_ref() };
    let released = source.run("sampling", |bag, _, watch| {
        match sample::draw(bag, &design, public, &mut coins, watch) {
            Err(random::Error::Stop(stop)) => Err(stop),
            drawn => Ok(drawn),
        }
    })??;
    source.release(rows, released)
}

methods! {
    sanitize_dp_mii_sample => DP_MII_SAMPLE;
    sanitize_dp_mii_parameters => DP_MII_PARAMETERS;
    sanitize_sampling_delta => SAMPLING_DELTA;
}
