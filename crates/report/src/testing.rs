//! Reports for tests.

use crate::data::*;
use serde_json::json;

/// Texts by which a table may try to inject something into the page.
pub const HOSTILE: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style></svg></title><script>alert(2)</script>",
    "' onmouseover='alert(3)",
];

/// A report in which every text is hostile, with this number of releases and of columns.
pub fn hostile(releases: usize, columns: usize) -> Report {
    let text = |i: usize| format!("{}{}", HOSTILE[i % HOSTILE.len()], "x".repeat(i % 40));
    let names: Vec<String> = (0..columns).map(text).collect();
    let sizes = [1, 2, 5, 100].map(|from| ClassSize {
        from,
        to: (from < 100).then_some(from),
        classes: 3,
        rows: 9,
    });
    let classes = ClassSizes { smallest: Some(1), number: 12, alone: 9, sizes: sizes.into() };
    let value = |i: usize| ValueShare {
        value: (!i.is_multiple_of(5)).then(|| text(i)),
        grouped: i == 8,
        original: 0.1,
        released: 0.2,
    };
    let column = |name: &String| ColumnChange {
        column: name.clone(),
        original_nulls: 0.01,
        released_nulls: 0.4,
        original_values: 12,
        released_values: 5,
        changed: 0.39,
        loss: Some(0.5),
        values: (0..11).map(value).collect(),
    };
    let pair = |i: usize| PairChange {
        a: text(i),
        b: text(i + 1),
        changed: 0.5,
        original_v: 0.3,
        released_v: 0.0,
    };
    let crossed = Crossed {
        a: text(0),
        b: text(1),
        a_values: (0..5).map(|i| (i > 0).then(|| text(i))).collect(),
        b_values: (0..5).map(|i| Some(text(i))).collect(),
        original: vec![vec![1.0 / 36.0; 6]; 6],
        released: vec![vec![0.0, 0.0001, 0.02, 0.3, 0.0, 0.1]; 6],
    };
    let unicity = |share| (1..4).map(|known| Unicity { known, share }).collect::<Vec<_>>();
    let release = |i: usize| {
        Release {
        name: text(i),
        rows: 1000,
        method: Some(text(i + 1)),
        guarantee: (i == 0).then(|| {
            let texts = [text(0), text(1)];
            json!({"kind": "k-anonymity", "k": 6, "sentence": text(2), "assumptions": texts, "not_covered": texts})
        }),
        verdict: Vec::new(),
        class_columns: names.iter().skip(i).cloned().collect(),
        not_compared: Vec::new(),
        coarser: true,
        classes: classes.clone(),
        classes_before: classes.clone(),
        sensitive: Some(Sensitive { column: text(3), distinct_l: Some(2.0), entropy_l: Some(1.5), t: Some(0.3) }),
        people: Some(People { unit: text(0), classes: 9, surely_fewer: 1, perhaps_fewer: 2, fewest: 1, fewest_at_most: 3 }),
        coarse: (0..5)
            .map(|i| CoarseValue { column: text(i), value: text(i + 1), rows: 0.1, values: 3, first: text(i + 2), last: text(i + 3) })
            .collect(),
        columns: names.iter().map(column).collect(),
        pairs: (0..153).map(pair).collect(),
        crossed: vec![crossed.clone(), crossed.clone()],
        utility: [("tv_one_mean".into(), Some(0.1)), ("tv_two_mean".into(), None)].into(),
        itemsets: ItemsetChange { min_share: 0.1, max_length: 4, original: 9, common: 6, missing: 3, ..ItemsetChange::default() },
        anonymity_score: Some(0.25),
        common_rows: CommonRows { of_released: Some(0.5), of_original: None },
        unicity: unicity(0.1),
    }
    };
    let mut report = Report {
        title: text(0),
        made_at: text(1),
        columns: names.clone(),
        known_columns: names.iter().take(2).cloned().collect(),
        notes: vec![text(1)],
        original: Original {
            name: text(3),
            rows: 1000,
            classes: classes.clone(),
            theta: 5,
            max_length: 3,
            risk: names
                .iter()
                .map(|column| ColumnRisk { column: column.clone(), combinations: 4, rows: 70 })
                .collect(),
            risky_values: (0..12)
                .map(|i| ValueRisk {
                    column: text(i),
                    value: text(i + 1),
                    combinations: 2,
                    rows: 3,
                })
                .collect(),
            unicity: unicity(0.9),
        },
        releases: (0..releases).map(release).collect(),
        budget: vec![Account {
            grantee: Some(text(2)),
            epsilon: Some(1.0),
            epsilon_spent: 0.5,
            delta: None,
            delta_spent: 0.0,
        }],
    };
    let original = report.original.clone();
    report.releases.iter_mut().for_each(|release| release.verdict = release.judge(&original));
    report
}
