use super::*;
use crate::ColumnPart;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bag() -> Bag {
    Bag::from_text(
        2,
        [[Some("a"), Some("x")], [Some("a"), Some("x")], [Some("a"), Some("y")], [Some("a"), None]],
    )
}

/// The rows of a release, and the cells of them that were not NULL and are blanked.
fn counts(release: &Release, bag: &Bag) -> (u64, u64) {
    let blanked = |piece: &Piece| {
        let cells = bag.row(piece.row as usize).iter().enumerate();
        cells.filter(|&(c, &code)| code != NONE && release.suppresses(piece.form, c)).count() as u64
    };
    let pieces = release.pieces().iter();
    pieces.fold((0, 0), |(kept, cells), p| (kept + p.weight, cells + blanked(p) * p.weight))
}

#[test]
fn suppressed_cells_equal_cells_that_were_null() {
    let bag = bag();
    let release = Release::from_masks(&bag, &[0, 0b10, 0], &Watch::unlimited()).unwrap();
    let watch = Watch::unlimited();
    let classes = release.classes(&bag, &watch).unwrap();
    assert_eq!(classes.sizes(), [2, 2]);
    assert_eq!(classes.of(1), classes.of(2));
    assert_eq!(release.k(&bag, &watch).unwrap(), Some(2));
    assert_eq!(counts(&release, &bag), (4, 1));
    assert_eq!(release.to_bag(&bag, &watch).unwrap().weights(), [2, 2]);
}

#[test]
fn copies_of_a_row_may_differ_and_small_classes_go() {
    let bag = bag();
    let mut release = Release::new(2);
    release.push(0, &[0], 1);
    release.push(0, &[0b10], 1);
    release.push(1, &[0b10], 1);
    let watch = Watch::unlimited();
    let release = release.without_small_classes(&bag, 2, &watch).unwrap();
    assert_eq!(counts(&release, &bag), (2, 2));
    assert_eq!(release.k(&bag, &watch).unwrap(), Some(2));
    assert_eq!(watch.memory(), 0);
}

#[test]
fn classes_are_counted_as_the_reader_sees_them() {
    let rows =
        [[Some("a"), Some("x")], [Some("a"), Some("y")], [Some("a"), None], [Some("b"), None]];
    let bag = Bag::from_text(2, rows);
    let mut released = Release::new(2);
    released.push(0, &[0b10], 1);
    released.push(1, &[0b10], 1);
    released.push(2, &[0], 1);
    released.push(3, &[0], 2);
    let watch = Watch::unlimited();
    let kept = released.without_small_classes(&bag, 3, &watch).unwrap();
    assert_eq!(kept.pieces().iter().map(|p| p.row).collect::<Vec<_>>(), [0, 1, 2]);
    let shown = kept.to_bag(&bag, &watch).unwrap();
    assert_eq!((shown.distinct(), shown.row_count()), (1, 3));
    assert_eq!(shown.row(0), [0, NONE]);
}

#[test]
fn filled_cells_get_their_codes() {
    let bag = Bag::from_text(3, [[Some("a"), None, None], [Some("b"), Some("x"), Some("1")]]);
    let mut release = Release::new(3);
    release.push_filled(0, &[0b110], &[0, 0], 2);
    release.push_filled(0, &[0b100], &[0], 1);
    release.push(1, &[0b100], 1);
    let shown = release.to_bag(&bag, &Watch::unlimited()).unwrap();
    let rows: Vec<&[u32]> = (0..3).map(|i| shown.row(i)).collect();
    assert_eq!(rows, [[0, 0, 0], [0, NONE, 0], [1, 0, NONE]]);
    assert_eq!(shown.weights(), [2, 1, 1]);
    // Filled cells are not suppressed, and differ from blanked cells in the same columns.
    assert_eq!(counts(&release, &bag).1, 1);
    assert_ne!(release.pieces()[1].form, release.pieces()[2].form);
    assert_eq!(release.mask(1), release.mask(2));
}

#[test]
fn filled_and_blanked_cells_may_share_a_form() {
    let bag = Bag::from_text(3, [[Some("a"), Some("x"), Some("1")], [None, Some("x"), Some("2")]]);
    let mut release = Release::new(3);
    release.push_filled(0, &[0b11], &[NONE, 7], 2);
    release.push_filled(1, &[0b10], &[7], 1);
    let watch = Watch::unlimited();
    let shown = release.to_bag(&bag, &watch).unwrap();
    assert_eq!((shown.row(0), shown.row(1)), (&[NONE, 7, 0][..], &[NONE, 7, 1][..]));
    assert!(release.suppresses(0, 0) && !release.suppresses(0, 1) && !release.suppresses(0, 2));
    assert_eq!(counts(&release, &bag).1, 2);
    // Without the last column both rows are equal.
    assert_eq!(release.classes(&bag, &watch).unwrap().sizes(), [2, 1]);
    assert_eq!(release.classes_on(&bag, 2, &watch).unwrap().sizes(), [3]);
}

#[test]
fn tables_may_have_more_than_64_columns() {
    let row = |v: &'static str| (0..70).map(move |c| Some(if c == 69 { v } else { "a" }));
    let bag = Bag::from_text(70, [row("x"), row("y")]);
    let release = Release::from_masks(&bag, &[0, 1 << 5, 0, 1 << 5], &Watch::unlimited()).unwrap();
    assert!(release.suppresses(0, 69) && !release.suppresses(0, 5));
    assert_eq!(release.k(&bag, &Watch::unlimited()).unwrap(), Some(2));
    assert_eq!(counts(&release, &bag).1, 2);
    let shown = release.reweigh(|_| 5).to_bag(&bag, &Watch::unlimited()).unwrap();
    assert_eq!((shown.row(0)[69], shown.row(0)[0], shown.weight(0)), (NONE, 0, 10));
}

#[test]
fn tables_without_columns_or_rows_have_releases() {
    let none: [[Option<&str>; 0]; 2] = [[], []];
    let bag = Bag::from_text(0, none);
    let release = Release::from_masks(&bag, &[], &Watch::unlimited()).unwrap();
    assert_eq!(release.k(&bag, &Watch::unlimited()).unwrap(), Some(2));
    let empty = Bag::from_text(1, [[Some("a"); 1]; 0]);
    let release = Release::from_masks(&empty, &[], &Watch::unlimited()).unwrap();
    assert_eq!(release.k(&empty, &Watch::unlimited()).unwrap(), None);
    assert_eq!(counts(&release, &empty), (0, 0));
    assert_eq!(release.rows(&empty, None, &Watch::unlimited()).unwrap().distinct(), 0);
}

#[test]
fn memory_is_limited() {
    let bag = bag();
    let release = Release::from_masks(&bag, &[0, 0, 0], &Watch::unlimited()).unwrap();
    for limit in [0, 100, 300] {
        let watch = Watch::new(limit, 0);
        let stop = Some(Stop::Memory { limit });
        assert_eq!(release.rows(&bag, None, &watch).err(), stop);
        assert_eq!(watch.memory(), 0);
    }
    assert_eq!(release.classes(&bag, &Watch::new(150, 0)).err(), Some(Stop::Memory { limit: 150 }));
}

/// A table of four columns, and a release for the first `width` of them: for each row of that part some pieces, in
/// random forms and numbers.
fn releases() -> impl Strategy<Value = (Bag, usize, Vec<Vec<(u8, u64)>>)> {
    let cell = prop::option::weighted(0.8, "[a-b]");
    let rows = prop::collection::vec(prop::collection::vec(cell, 4), 1..30);
    let pieces = prop::collection::vec(prop::collection::vec((any::<u8>(), 1u64..5), 0..3), 30);
    (rows, 0usize..=4, pieces)
        .prop_map(|(rows, width, pieces)| (Bag::from_text(4, rows), width, pieces))
}

proptest! {
    #[test]
    fn rows_are_the_copies_in_turn_and_sorted((table, width, forms) in releases()) {
        let watch = Watch::unlimited();
        let part = (width < 4).then(|| ColumnPart::new(&table, width, &watch).unwrap());
        let bag = part.as_ref().map_or(&table, |part| &part.bag);
        let mut release = Release::new(width);
        for (row, pieces) in forms.iter().take(bag.distinct()).enumerate() {
            for &(form, weight) in pieces {
                release.push(row as u32, &[u64::from(form) & ((1 << width) - 1)][..width.min(1)], weight);
            }
        }
        // Each copy by itself: the copies of a row of the part, in the order of the table, repeated.
        let mut expected: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for row in 0..bag.distinct() {
            let same = |i: &usize| table.row(*i)[..width] == *bag.row(row);
            let mut copies = (0..table.distinct())
                .filter(same)
                .flat_map(|i| std::iter::repeat_n(i, table.weight(i) as usize))
                .collect::<Vec<_>>()
                .into_iter()
                .cycle();
            for piece in release.pieces().iter().filter(|piece| piece.row as usize == row) {
                for copy in copies.by_ref().take(piece.weight as usize) {
                    let mut cells = table.row(copy).to_vec();
                    for column in (0..width).filter(|&c| release.suppresses(piece.form, c)) {
                        cells[column] = NONE;
                    }
                    *expected.entry(cells).or_default() += 1;
                }
            }
        }
        let rows = release.rows(&table, part.as_ref(), &watch).unwrap();
        let found: Vec<(Vec<u32>, u64)> =
            (0..rows.distinct()).map(|i| (rows.row(i).to_vec(), rows.weight(i))).collect();
        prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn classes_are_the_rows_that_look_alike((table, _, forms) in releases()) {
        let watch = Watch::unlimited();
        let mut release = Release::new(4);
        for (row, pieces) in forms.iter().take(table.distinct()).enumerate() {
            for &(form, weight) in pieces {
                // Even forms blank, odd ones fill with the first value.
                let mask = u64::from(form) & 15;
                let mask = (0..4).filter(|&c| !table.domain(c).is_empty()).fold(0, |m, c| m | (mask & 1 << c));
                let fills = vec![0; if form & 16 == 0 { 0 } else { mask.count_ones() as usize }];
                release.push_filled(row as u32, &[mask], &fills, weight);
            }
        }
        let shown = release.to_bag(&table, &watch).unwrap();
        let classes = release.classes(&table, &watch).unwrap();
        let mut sizes = classes.sizes().to_vec();
        sizes.sort_unstable();
        let mut weights = shown.weights().to_vec();
        weights.sort_unstable();
        prop_assert_eq!(sizes, weights);
        let mut cells = [NONE; 4];
        for (number, piece) in release.pieces().iter().enumerate() {
            release.write(&table, piece, &mut cells);
            let row = (0..shown.distinct()).find(|&i| *shown.row(i) == cells).unwrap();
            prop_assert_eq!(shown.weight(row), classes.sizes()[classes.of(number) as usize]);
        }
        let k = 4;
        let kept = release.without_small_classes(&table, k, &watch).unwrap();
        prop_assert!(kept.k(&table, &watch).unwrap().is_none_or(|smallest| smallest >= k));
        let large: u64 = shown.weights().iter().filter(|&&weight| weight >= k).sum();
        prop_assert_eq!(kept.to_bag(&table, &watch).unwrap().row_count(), large);
        prop_assert_eq!(watch.memory(), 0);
    }
}
