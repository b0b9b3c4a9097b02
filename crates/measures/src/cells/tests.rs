//! Intervals compared with those found by enumerating all tables, and tables from which no small count can be
//! computed.

use super::*;
use proptest::prelude::*;
use table::Watch;

/// The largest count that is tried when all tables are enumerated.
const MOST: u64 = 6;

fn watch() -> Watch {
    Watch::unlimited()
}

/// The least and the largest count of each suppressed cell in tables with inner counts up to [`MOST`].
fn by_enumeration(layout: &Layout, inner: usize, shown: &[Option<u64>]) -> Option<Vec<(u64, u64)>> {
    let mut found: Option<Vec<(u64, u64)>> = None;
    let base = MOST + 1;
    for table in 0..base.pow(inner as u32) {
        let cells: Vec<u64> = (0..inner).map(|i| table / base.pow(i as u32) % base).collect();
        let shows = |cell: usize, count: u64| shown[cell].is_none_or(|shown| shown == count);
        if !cells.iter().enumerate().all(|(cell, &count)| shows(cell, count)) {
            continue;
        }
        let counts = layout.counts(&cells);
        if !counts.iter().enumerate().all(|(cell, &count)| shows(cell, count)) {
            continue;
        }
        let hidden = counts.iter().zip(shown).filter(|(_, shown)| shown.is_none());
        let hidden: Vec<u64> = hidden.map(|(&count, _)| count).collect();
        match &mut found {
            None => found = Some(hidden.into_iter().map(|count| (count, count)).collect()),
            Some(found) => found.iter_mut().zip(hidden).for_each(|(ends, count)| {
                *ends = (ends.0.min(count), ends.1.max(count));
            }),
        }
    }
    found
}

fn layouts() -> impl Strategy<Value = (Layout, usize)> {
    prop_oneof![
        Just((Layout::flat(2, 2), 4)),
        Just((Layout::flat(1, 3), 3)),
        Just((Layout::flat(2, 3), 6)),
        Just((Layout::flat(3, 2), 6)),
        Just((Layout::grouped(vec![0, 0, 1], 2), 6)),
        Just((Layout::grouped(vec![1, 0], 2), 4)),
    ]
}

/// A layout, inner counts, and which cells are suppressed.
fn tables() -> impl Strategy<Value = (Layout, Vec<u64>, Vec<bool>)> {
    layouts().prop_flat_map(|(layout, inner)| {
        // The total stays within the tried counts, so that no cell has to be larger to compensate for another.
        let counts = prop::collection::vec(0..4u64, inner)
            .prop_filter("a small total", |counts| counts.iter().sum::<u64>() <= MOST);
        let hidden = prop::collection::vec(prop::bool::weighted(0.6), layout.len());
        (Just(layout), counts, hidden)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn intervals_are_those_of_all_tables((layout, inner, hidden) in tables()) {
        let counts = layout.counts(&inner);
        let shown: Vec<Option<u64>> =
            counts.iter().zip(&hidden).map(|(&count, &hidden)| (!hidden).then_some(count)).collect();
        let found = audit(&layout, &shown, &watch()).unwrap().unwrap();
        let expected = by_enumeration(&layout, inner.len(), &shown).unwrap();
        prop_assert_eq!(found.len(), expected.len());
        for (found, (low, high)) in found.iter().zip(expected) {
            prop_assert_eq!(found.low, low);
            // An unbounded cell reaches the largest tried count.
            match found.high {
                Some(most) if most <= MOST => prop_assert_eq!(most, high),
                _ => prop_assert!(high >= MOST - 3),
            }
        }
    }

    #[test]
    fn shown_cells_that_fit_no_table_contradict((layout, inner, hidden) in tables(), cell in 0..12usize) {
        let mut counts = layout.counts(&inner);
        let cell = cell % counts.len();
        counts[cell] += 1;
        let shown: Vec<Option<u64>> =
            counts.iter().zip(&hidden).map(|(&count, &hidden)| (!hidden).then_some(count)).collect();
        let expected = by_enumeration(&layout, inner.len(), &shown).is_none();
        prop_assert_eq!(audit(&layout, &shown, &watch()).unwrap().is_none(), expected);
    }

    #[test]
    fn nothing_small_can_be_computed_back(
        (layout, inner) in layouts().prop_flat_map(|(layout, n)| (Just(layout), prop::collection::vec(0..9u64, n))),
        threshold in 1..6u64, width in 0..8u64,
    ) {
        let counts = layout.counts(&inner);
        let protection = Protection { threshold, width };
        let made = suppress(&layout, &counts, protection, &watch()).unwrap();
        prop_assert!(made.is_safe);
        let shown: Vec<Option<u64>> = (made.statuses.iter().zip(&counts))
            .map(|(&status, &count)| (status == Status::Shown).then_some(count))
            .collect();
        let mut found = audit(&layout, &shown, &watch()).unwrap().unwrap().into_iter();
        for (&status, &count) in made.statuses.iter().zip(&counts) {
            let small = count > 0 && count < threshold;
            prop_assert_eq!(small, status == Status::Primary);
            let interval = if status == Status::Shown { continue } else { found.next().unwrap() };
            prop_assert!(interval.low <= count && interval.high.is_none_or(|high| high >= count));
            if small {
                prop_assert!(interval.reaches(width) && interval.reaches(threshold - 1));
            }
        }
        if !made.statuses.contains(&Status::Primary) {
            prop_assert!(made.statuses.iter().all(|&status| status == Status::Shown));
        }
    }
}

fn statuses(layout: &Layout, inner: &[u64], threshold: u64) -> String {
    let counts = layout.counts(inner);
    let made = suppress(layout, &counts, Protection { threshold, width: threshold }, &watch());
    let letter = |status: &Status| match status {
        Status::Shown => '.',
        Status::Primary => 'p',
        Status::Complementary => 'c',
    };
    made.unwrap().statuses.iter().map(letter).collect()
}

#[test]
fn a_small_cell_takes_a_rectangle_with_it() {
    let inner = [3, 20, 30, 20, 25, 90, 40, 95, 99];
    assert_eq!(statuses(&Layout::flat(3, 3), &inner, 5), "pc.cc...........");
    // Nothing is small.
    assert_eq!(statuses(&Layout::flat(3, 3), &inner, 2), "................");
}

#[test]
fn a_row_of_one_small_cell_takes_its_total_with_it() {
    // The total of the second row is small itself.
    let found = statuses(&Layout::flat(2, 2), &[50, 60, 3, 0], 5);
    assert_eq!((&found[2..3], &found[5..6]), ("p", "p"));
    let layout = Layout::flat(1, 1);
    assert_eq!(statuses(&layout, &[3], 5), "pppp");
    // A protection wider than every total: the totals are suppressed.
    let counts = layout.counts(&[7]);
    let made =
        suppress(&layout, &counts, Protection { threshold: 8, width: 100 }, &watch()).unwrap();
    assert!(made.is_safe && made.statuses.iter().all(|&status| status == Status::Primary));
}

#[test]
fn totals_of_groups_are_cells_too() {
    // Two groups of two rows; without the totals of groups a rectangle across them would be enough.
    let layout = Layout::grouped(vec![0, 0, 1, 1], 2);
    let inner = [2, 50, 60, 70, 10, 10, 90, 90];
    let counts = layout.counts(&inner);
    let made = suppress(&layout, &counts, Protection { threshold: 5, width: 5 }, &watch()).unwrap();
    assert!(made.is_safe);
    let gone = |row, column| {
        let place = Place { group: Some(row / 2), row: Some(row), column: Some(column) };
        made.statuses[layout.cell(place).unwrap()] != Status::Shown
    };
    assert!(gone(0, 0) && gone(0, 1) && gone(1, 0) && gone(1, 1));
    assert!(!gone(2, 0) && !gone(3, 1));
}

#[test]
fn places_and_numbers_are_each_other() {
    for layout in [Layout::flat(3, 2), Layout::grouped(vec![0, 2, 1, 2], 3)] {
        let places = layout.places();
        assert_eq!(places.len(), layout.len());
        for (cell, &place) in places.iter().enumerate() {
            assert_eq!(layout.cell(place), Some(cell));
        }
    }
    let layout = Layout::grouped(vec![0, 1], 2);
    let place = |group, row, column| layout.cell(Place { group, row, column });
    assert_eq!(place(Some(1), Some(0), None), None);
    assert_eq!((place(None, Some(0), None), place(Some(2), None, None)), (None, None));
    assert_eq!((place(None, None, Some(2)), place(None, None, Some(1))), (None, Some(13)));
}

#[test]
fn a_table_without_rows_is_its_total() {
    let layout = Layout::flat(0, 0);
    assert!(layout.is_empty());
    assert_eq!(statuses(&layout, &[], 5), ".");
}

#[test]
fn a_cancelled_watch_ends_it() {
    let layout = Layout::flat(20, 20);
    let counts = layout.counts(&[2; 400]);
    let cancelled = watch();
    cancelled.cancel();
    let protection = Protection { threshold: 5, width: 5 };
    assert_eq!(suppress(&layout, &counts, protection, &cancelled), Err(table::Stop::Cancelled));
    let hidden = vec![None; counts.len()];
    assert_eq!(audit(&layout, &hidden, &cancelled), Err(table::Stop::Cancelled));
}
