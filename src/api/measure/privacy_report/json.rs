//! The report as a value, made of the counts.

use super::measured::{ITEMSET_LENGTH, Measured, MeasuredRelease, Plan, RISK_LENGTH, Text};
use super::options::{Candidate, Options};
use super::tables::{Beside, Tables};
use crate::pg::call::text::to_utf8;
use report::{
    ClassSize, ClassSizes, CoarseValue, ColumnChange, ColumnRisk, CommonRows, Crossed,
    ItemsetChange, Original, PairChange, People, Release, Report, ValueRisk, ValueShare,
};

/// The most characters of a value in a report.
const LONGEST_VALUE: usize = 60;

/// Pairs that are listed: all pairs of 18 columns, which is what a page draws.
const PAIRS: usize = 153;

/// The ranges of class sizes that are counted together.
const SIZES: [(u64, Option<u64>); 8] = [
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(4)),
    (5, Some(9)),
    (10, Some(19)),
    (20, Some(49)),
    (50, Some(99)),
    (100, None),
];

pub fn report(tables: &Tables, options: &Options, plan: &Plan, measured: Measured) -> Report {
    let names: Vec<String> =
        tables.original.bag.domains().iter().map(|d| d.name().into()).collect();
    let original = original(tables, &names, plan, &measured);
    let releases = tables.releases.iter().zip(&options.candidates).zip(measured.releases);
    let releases: Vec<Release> = releases
        .map(|((beside, candidate), measured)| {
            let mut release = release(tables, beside, candidate, plan, &names, measured);
            release.verdict = release.judge(&original);
            release
        })
        .collect();
    let known_columns = tables.known.iter().map(|&column| names[column].clone()).collect();
    Report {
        title: title(tables, options),
        columns: names,
        known_columns,
        notes: tables.notes.clone(),
        original,
        releases,
        ..Report::default()
    }
}

/// A report on releases that share no column with the original, for example answers to questions: nothing is compared.
pub fn label_alone(tables: &Tables, options: &Options) -> Report {
    let original = Original { name: tables.original.name.clone(), ..Original::default() };
    let releases = tables.releases.iter().zip(&options.candidates).map(|(beside, candidate)| {
        let rows = candidate.guarantee.as_ref().and_then(|label| label.get("rows")?.as_u64());
        let mut release = Release {
            name: beside.input.name.clone(),
            rows: rows.unwrap_or(0),
            method: candidate.method.clone(),
            guarantee: candidate.guarantee.clone(),
            not_compared: not_compared(beside, candidate),
            ..Release::default()
        };
        release.verdict = release.judge(&original);
        release
    });
    let notes = vec![String::from(
        "The release has no column of the original's: its rows are not compared, and the label is all there is.",
    )];
    Report {
        title: title(tables, options),
        notes,
        releases: releases.collect(),
        original,
        ..Report::default()
    }
}

fn title(tables: &Tables, options: &Options) -> String {
    options.title.clone().unwrap_or_else(|| {
        let names: Vec<&str> =
            tables.releases.iter().map(|release| release.input.name.as_str()).collect();
        format!("Privacy report: {}", names.join(" and "))
    })
}

fn original(tables: &Tables, names: &[String], plan: &Plan, measured: &Measured) -> Original {
    let table = &tables.original;
    let columns = tables.known.iter().map(|&column| &names[column]).zip(&measured.risk);
    let values = measured.risky_values.iter().map(|risky| ValueRisk {
        column: names[risky.column].clone(),
        value: written(table.bag.domain(risky.column).value(risky.code)),
        combinations: risky.counts.miis,
        rows: risky.counts.cells,
    });
    Original {
        name: table.name.clone(),
        rows: table.bag.row_count(),
        classes: classes(&measured.known_classes),
        theta: plan.theta,
        max_length: RISK_LENGTH.min(tables.known.len()),
        risk: columns
            .map(|(name, counts)| ColumnRisk {
                column: name.clone(),
                combinations: counts.miis,
                rows: counts.cells,
            })
            .collect(),
        risky_values: values.collect(),
        unicity: measured.unicity.clone(),
    }
}

fn release(
    tables: &Tables,
    beside: &Beside,
    candidate: &Candidate,
    plan: &Plan,
    names: &[String],
    measured: MeasuredRelease,
) -> Release {
    let table = &beside.input;
    let rows = [&tables.original, table].map(|table| table.bag.row_count());
    let name = |column: usize| names[column].clone();
    let coarse = measured.coarse.iter().map(|coarse| CoarseValue {
        column: name(coarse.column),
        value: written(&coarse.text),
        rows: share(coarse.rows, rows[1]),
        values: coarse.values as u64,
        first: written(&coarse.ends[0]),
        last: written(&coarse.ends[1]),
    });
    let unit = tables.people.as_ref().map(|people| people.name.clone());
    let people = unit.zip(measured.people);
    let measures = measured.utility.measures().into_iter();
    let itemsets = measured.itemsets;
    Release {
        name: table.name.clone(),
        rows: table.bag.row_count(),
        method: candidate.method.clone(),
        guarantee: candidate.guarantee.clone(),
        verdict: Vec::new(),
        class_columns: beside.class.iter().map(|&column| name(column)).collect(),
        not_compared: not_compared(beside, candidate),
        classes: classes(&measured.classes[1]),
        classes_before: classes(&measured.classes[0]),
        sensitive: measured.sensitive.clone(),
        people: people.map(|(unit, people)| People {
            unit,
            classes: people.classes,
            surely_fewer: people.surely_fewer,
            perhaps_fewer: people.perhaps_fewer,
            fewest: people.fewest,
            fewest_at_most: people.fewest_at_most,
        }),
        coarser: measured.coarser,
        coarse: coarse.collect(),
        columns: columns(&measured, names, rows),
        pairs: pairs(&measured, names),
        crossed: crossed(&measured, names, rows),
        utility: measures.map(|(name, value)| (name.into(), value)).collect(),
        itemsets: ItemsetChange {
            min_share: plan.min_share,
            max_length: ITEMSET_LENGTH.min(names.len()),
            original: itemsets.original,
            released: itemsets.released,
            common: itemsets.common,
            missing: itemsets.missing,
            added: itemsets.added,
            support_difference: itemsets.common_difference,
        },
        anonymity_score: measured.score,
        common_rows: CommonRows {
            of_released: measured.common.of_released,
            of_original: measured.common.of_original,
        },
        unicity: measured.unicity,
    }
}

/// The columns that a promise about classes covers and that are not compared; empty if there is no such promise.
fn not_compared(beside: &Beside, candidate: &Candidate) -> Vec<String> {
    match candidate.k() {
        Some(_) => beside.not_compared.clone(),
        None => Vec::new(),
    }
}

/// Classes by their sizes.
fn classes(rows_of: &[u64]) -> ClassSizes {
    let mut sizes: Vec<ClassSize> =
        SIZES.iter().map(|&(from, to)| ClassSize { from, to, classes: 0, rows: 0 }).collect();
    for &rows in rows_of {
        if let Some(size) = sizes.iter_mut().rfind(|size| size.from <= rows) {
            size.classes += 1;
            size.rows += rows;
        }
    }
    ClassSizes {
        smallest: rows_of.iter().copied().min(),
        number: rows_of.len() as u64,
        alone: sizes[0].rows,
        sizes,
    }
}

fn columns(measured: &MeasuredRelease, names: &[String], rows: [u64; 2]) -> Vec<ColumnChange> {
    let nothing = Vec::new();
    let columns = names.iter().zip(&measured.utility.columns).enumerate();
    columns
        .map(|(i, (name, change))| ColumnChange {
            column: name.clone(),
            original_nulls: share(change.original_nulls, rows[0]),
            released_nulls: share(change.released_nulls, rows[1]),
            original_values: change.original_values,
            released_values: change.released_values,
            changed: change.tv,
            loss: measured.loss.get(i).copied(),
            values: measured
                .shown
                .get(i)
                .unwrap_or(&nothing)
                .iter()
                .map(|(text, [original, released])| {
                    let (value, grouped) = match text {
                        Text::Value(value) => (value.as_deref().map(written), false),
                        Text::Range(name) => (Some(name.clone()), true),
                        Text::Others(1) => (Some("1 other".into()), true),
                        Text::Others(values) => (Some(format!("{values} others")), true),
                    };
                    let (original, released) =
                        (share(*original, rows[0]), share(*released, rows[1]));
                    ValueShare { value, grouped, original, released }
                })
                .collect(),
        })
        .collect()
}

fn pairs(measured: &MeasuredRelease, names: &[String]) -> Vec<PairChange> {
    let mut pairs: Vec<_> = measured.utility.pairs.iter().collect();
    pairs.sort_by(|x, y| y.tv.total_cmp(&x.tv).then((x.a, x.b).cmp(&(y.a, y.b))));
    let pairs = pairs.into_iter().take(PAIRS);
    pairs
        .map(|pair| PairChange {
            a: names[pair.a].clone(),
            b: names[pair.b].clone(),
            changed: pair.tv,
            original_v: pair.original_v,
            released_v: pair.released_v,
        })
        .collect()
}

fn crossed(measured: &MeasuredRelease, names: &[String], rows: [u64; 2]) -> Vec<Crossed> {
    let texts =
        |values: &[Option<Vec<u8>>]| values.iter().map(|v| v.as_deref().map(written)).collect();
    let shares = |counts: &[Vec<u64>], rows: u64| {
        counts.iter().map(|line| line.iter().map(|&count| share(count, rows)).collect()).collect()
    };
    let crossed = measured.crossed.iter();
    crossed
        .map(|crossed| Crossed {
            a: names[crossed.a].clone(),
            b: names[crossed.b].clone(),
            a_values: texts(&crossed.a_values),
            b_values: texts(&crossed.b_values),
            original: shares(&crossed.original, rows[0]),
            released: shares(&crossed.released, rows[1]),
        })
        .collect()
}

fn share(count: u64, rows: u64) -> f64 {
    count as f64 / rows.max(1) as f64
}

/// A value of a table as text, cut where it is long.
fn written(value: &[u8]) -> String {
    let text = to_utf8(value);
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
