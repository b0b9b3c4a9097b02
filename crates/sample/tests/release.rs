//! Private samples of small tables: the released rows, and what they may depend on.

use pg_sanitize_sample::{Design, Public, Rule, Rules, SampleRequest, Scheme, draw};
use proptest::prelude::*;
use random::{Coins, Error};
use table::{Bag, Item, NONE, Release, Stop, Watch};

fn request(scheme: Scheme, columns: usize) -> SampleRequest {
    SampleRequest {
        scheme,
        epsilon: 2.0,
        delta: 1e-3,
        k: 5,
        split: 0.3,
        max_length: (scheme != Scheme::DpSelect).then_some(2),
        columns,
        theta1: None,
    }
}

fn public(table: &Bag) -> Public<'_> {
    Public { table: Some(table), rules: None }
}

fn run(bag: &Bag, request: SampleRequest, seed: i64) -> Release {
    let design = Design::new(request).unwrap();
    draw(bag, &design, public(bag), &mut Coins::seeded(seed), &Watch::unlimited()).unwrap()
}

/// Two frequent values in two columns, a rare value, and a rare pair of frequent values.
fn table(copies: usize) -> Vec<[Option<&'static str>; 2]> {
    let mut rows = Vec::new();
    for _ in 0..copies {
        rows.extend([[Some("a"), Some("x")], [Some("b"), Some("y")], [Some("a"), None]]);
    }
    rows.extend([[Some("a"), Some("y")]; 3]);
    rows.extend([[Some("rare"), Some("x")]; 3]);
    rows
}

#[test]
fn rare_combinations_are_blanked_and_frequent_ones_are_not() {
    let bag = Bag::from_text(2, table(2000));
    for scheme in Scheme::ALL {
        let released = run(&bag, request(scheme, 2), 1);
        let shown = released.to_bag(&bag, &Watch::unlimited()).unwrap();
        let mut rows: Vec<(Vec<&[u8]>, u64)> = (0..shown.distinct())
            .map(|i| {
                let cells = shown.row(i).iter().enumerate();
                let value = |(c, &code): (usize, &u32)| match code {
                    NONE => &b"-"[..],
                    code => shown.domain(c).value(code),
                };
                (cells.map(value).collect(), shown.weight(i))
            })
            .collect();
        rows.sort();
        let forms: Vec<_> = rows.iter().map(|(cells, _)| cells.clone()).collect();
        if scheme == Scheme::DpSelect {
            // Whole columns are shown or not.
            assert!(rows.iter().all(|&(_, weight)| weight >= 5));
            continue;
        }
        // The paper's scheme may or may not see the three rows of a rare pair in its part.
        let expected = [[&b"a"[..], b"-"], [b"a", b"x"], [b"b", b"y"]];
        assert!(expected.iter().all(|form| forms.contains(&form.to_vec())), "{scheme:?} {forms:?}");
        assert!(!forms.contains(&vec![&b"rare"[..], b"x"]), "{scheme:?}");
        assert!(rows.iter().all(|&(_, weight)| weight >= 5), "{scheme:?}");
    }
}

#[test]
fn sampled_rows_are_about_as_many_as_the_rate_says() {
    let bag = Bag::from_text(1, vec![[Some("a")]; 50_000]);
    for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit] {
        let request = request(scheme, 1);
        let design = Design::new(request).unwrap();
        // Rows that are counted in a part are not released.
        let rest = 1.0 - design.part.map_or(0.0, |part| part.get());
        let n = design.beta.get() * rest * 50_000.0;
        let drawn = run(&bag, request, 3).pieces()[0].weight as f64;
        assert!((drawn - n).abs() < 5.0 * n.sqrt(), "{drawn} {n}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_class_of_every_release_has_k_rows(
        rows in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, "[a-c]"), 3), 0..300),
        seed: i64,
        max_length in prop::option::of(1usize..4),
    ) {
        let bag = Bag::from_text(3, rows);
        for scheme in Scheme::ALL {
            let request = SampleRequest { k: 3, max_length: max_length.filter(|_| scheme != Scheme::DpSelect), ..request(scheme, 3) };
            let released = run(&bag, request, seed);
            let shown = released.to_bag(&bag, &Watch::unlimited()).unwrap();
            prop_assert!(shown.weights().iter().all(|&weight| weight >= 3));
            prop_assert!(released.pieces().is_sorted_by_key(|piece| piece.row));
            if scheme != Scheme::Paper {
                for piece in released.pieces() {
                    prop_assert!(piece.weight <= bag.weight(piece.row as usize));
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter(
        mut rows in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, "[a-c]"), 3), 0..200),
        seed: i64,
    ) {
        let one = Bag::from_text(3, rows.clone());
        rows.reverse();
        let other = Bag::from_text(3, rows);
        for scheme in Scheme::ALL {
            let request = SampleRequest { k: 2, ..request(scheme, 3) };
            let shown = |bag: &Bag| {
                let mut shown = run(bag, request, seed).to_bag(bag, &Watch::unlimited()).unwrap();
                shown.encode("", &Watch::unlimited()).unwrap()
            };
            prop_assert_eq!(shown(&one), shown(&other), "{:?}", scheme);
        }
    }
}

#[test]
fn values_of_a_public_table_need_not_be_coded_alike() {
    // "b" is frequent in public, "c" is not; the public table knows values the private one lacks.
    let private = Bag::from_text(1, [vec![[Some("b")]; 900], vec![[Some("c")]; 900]].concat());
    let public =
        [vec![[Some("a")]; 500], vec![[Some("b")]; 500], vec![[Some("c")]; 2], vec![[None]; 9]]
            .concat();
    let public = Bag::from_text(1, public);
    let design = Design::new(request(Scheme::Public, 1)).unwrap();
    let coins = &mut Coins::seeded(1);
    let released =
        draw(&private, &design, self::public(&public), coins, &Watch::unlimited()).unwrap();
    let masks: Vec<(u32, u64)> =
        released.pieces().iter().map(|p| (p.row, released.mask(p.form)[0])).collect();
    assert_eq!(masks, [(0, 0), (1, 1)]);
}

#[test]
fn rules_blank_what_they_name_with_and_without_a_table() {
    let rows = [vec![[Some("b"), Some("x")]; 900], vec![[Some("c"), None]; 900]].concat();
    let private = Bag::from_text(2, rows);
    let design = Design::new(request(Scheme::Public, 2)).unwrap();
    let masks = |table, rules: &[Rule]| -> Vec<(u32, u64)> {
        let rules = Rules::new(rules.to_vec());
        let public = Public { table, rules: Some(&rules) };
        let watch = Watch::unlimited();
        let drawn = draw(&private, &design, public, &mut Coins::seeded(1), &watch).unwrap();
        drawn.pieces().iter().map(|p| (p.row, drawn.mask(p.form)[0])).collect()
    };
    let item = |column, code| Item { column, code };
    let pair = Rule::Columns(vec![0, 1]);
    assert_eq!(masks(None, &[]), [(0, 0), (1, 0)]);
    // The second row has no value in column 1, so it does not have the pair.
    assert_eq!(masks(None, std::slice::from_ref(&pair)), [(0, 3), (1, 0)]);
    assert_eq!(masks(None, &[Rule::Items(vec![item(0, 1)])]), [(0, 0), (1, 1)]);
    assert_eq!(masks(None, &[Rule::Items(vec![item(0, 1), item(1, 0)])]), [(0, 0), (1, 0)]);
    // A table in which "x" is rare, and a rule for the other row.
    let table = Bag::from_text(2, vec![[Some("b"), None]; 900]);
    let found = masks(Some(&table), &[Rule::Items(vec![item(0, 1)])]);
    assert_eq!(found, [(0, 2), (1, 1)]);
}

#[test]
fn the_best_columns_are_chosen_where_the_choice_is_clear() {
    // Column 1 is nearly a key: with it no form has k rows.
    let rows = (0..4000u32).map(|i| [i % 3, i, i % 2].map(|v| Some(v.to_string())));
    let bag = Bag::from_text(3, rows);
    let released = run(&bag, request(Scheme::DpSelect, 3), 4);
    assert!(!released.pieces().is_empty());
    for piece in released.pieces() {
        assert_eq!(released.mask(piece.form), [0b010]);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let rows =
        (0..3000u32).map(|i| [i % 3, i % 7, i % 11, (i * i) % 5].map(|v| Some(v.to_string())));
    let bag = Bag::from_text(4, rows);
    for scheme in Scheme::ALL {
        let request = SampleRequest { epsilon: 4.0, ..request(scheme, 4) };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&bag, request, 5))
        };
        assert_eq!(with(1), with(4), "{scheme:?}");
    }
}

#[test]
fn empty_tables_give_empty_releases() {
    let bag = Bag::from_text(2, [[None::<&str>; 2]; 0]);
    for scheme in Scheme::ALL {
        assert!(run(&bag, request(scheme, 2), 1).pieces().is_empty());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let bag = Bag::from_text(2, table(10));
    let watch = Watch::unlimited();
    let run = |columns, scheme, table: Option<&Bag>| {
        let design = Design::new(request(scheme, columns)).unwrap();
        draw(&bag, &design, Public { table, rules: None }, &mut Coins::seeded(1), &watch)
    };
    let narrow = Bag::from_text(1, [[Some("a")]]);
    assert!(matches!(run(3, Scheme::DpCounts, None), Err(Error::Argument { .. })));
    assert!(matches!(run(2, Scheme::Public, None), Err(Error::Argument { .. })));
    assert!(matches!(run(2, Scheme::Public, Some(&narrow)), Err(Error::Argument { .. })));
    watch.cancel();
    for scheme in Scheme::ALL {
        assert_eq!(run(2, scheme, Some(&bag)).unwrap_err(), Error::Stop(Stop::Cancelled));
    }
    let tight = Watch::new(10, 10);
    let design = Design::new(request(Scheme::DpCounts, 2)).unwrap();
    let found = draw(&bag, &design, Public::default(), &mut Coins::seeded(1), &tight);
    assert!(matches!(found, Err(Error::Stop(Stop::Memory { .. }))), "{found:?}");
}
