//! Limits, cancelling, progress, threads and extreme shapes.

use pg_sanitize_krimp::{Candidates, CodeTable, Ended, Error, Options, Progress, fit};
use std::time::Duration;
use table::{Bag, Stop, Watch};

/// Rows of few kinds with noise: a linear congruential generator chooses the cells.
fn bag(rows: usize, width: usize, values: u64) -> Bag {
    let mut state = 1u64;
    let mut next = move |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    Bag::from_text(
        width,
        (0..rows).map(|_| {
            let kind = next(4);
            let cells: Vec<Option<String>> = (0..width as u64)
                .map(|c| {
                    let noisy = next(5) == 0;
                    let value = if noisy { next(values) } else { (kind + c) % values };
                    (next(40) > 0).then(|| value.to_string())
                })
                .collect();
            cells
        }),
    )
}

fn fitted(bag: &Bag, options: &Options, watch: &Watch) -> Result<CodeTable, Error> {
    fit(bag, options, watch, &Progress::new())
}

#[test]
fn threads_do_not_change_the_result() {
    let bag = bag(150, 11, 3);
    // Enough candidates for threads to share.
    for (least, options) in [
        (50_000, Options { prune: true, ..Options::new(1) }),
        (20, Options { candidates: Candidates::Pairs, prune: true, ..Options::new(1) }),
    ] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fitted(&bag, &options, &Watch::unlimited()).unwrap())
        };
        let one = with(1);
        assert!(
            one.seen > least && one.patterns().len() > 5,
            "{} {}",
            one.seen,
            one.patterns().len()
        );
        assert_eq!(with(2), one);
        assert_eq!(with(5), one);
    }
}

#[test]
fn a_cancelled_fit_stops() {
    let bag = bag(100, 8, 3);
    for candidates in [Candidates::All, Candidates::Closed, Candidates::Pairs] {
        let watch = Watch::unlimited();
        watch.cancel();
        let options = Options { candidates, ..Options::new(1) };
        assert_eq!(fitted(&bag, &options, &watch), Err(Error::Stop(Stop::Cancelled)));
    }
}

#[test]
fn too_many_candidates_are_the_memory_error() {
    let bag = bag(300, 20, 2);
    let watch = Watch::new(8 << 20, u64::MAX);
    let stopped = fitted(&bag, &Options::new(1), &watch);
    assert_eq!(stopped, Err(Error::Stop(Stop::Memory { limit: 8 << 20 })));
    let watch = Watch::new(u64::MAX, 1000);
    let stopped = fitted(&bag, &Options::new(1), &watch);
    assert_eq!(stopped, Err(Error::Stop(Stop::Itemsets { limit: 1000 })));
}

#[test]
fn pairs_need_little_memory_where_candidates_explode() {
    let bag = bag(300, 20, 2);
    let options = Options { candidates: Candidates::Pairs, ..Options::new(1) };
    let table = fitted(&bag, &options, &Watch::new(8 << 20, u64::MAX)).unwrap();
    assert_eq!(table.ended, Ended::Complete);
    assert!(table.sizes.ratio < 0.8, "{:?}", table.sizes);
}

#[test]
fn pairs_end_with_what_they_have_when_time_or_memory_is_over() {
    let bag = bag(300, 20, 40);
    let options = Options { candidates: Candidates::Pairs, ..Options::new(1) };
    let full = fitted(&bag, &options, &Watch::unlimited()).unwrap();
    assert!(full.ended == Ended::Complete && full.accepted > 0);
    let timed = Options { time: Some(Duration::ZERO), ..options.clone() };
    let table = fitted(&bag, &timed, &Watch::unlimited()).unwrap();
    assert_eq!((table.ended, table.accepted, table.sizes.ratio), (Ended::Time, 0, 1.0));
    let endless = Options { time: Some(Duration::MAX), ..options.clone() };
    assert_eq!(fitted(&bag, &endless, &Watch::unlimited()).unwrap(), full);
    // Room for the rows, not for the pairs of their items.
    let watch = Watch::new(1 << 20, u64::MAX);
    let table = fitted(&bag, &options, &watch).unwrap();
    assert_eq!(table.ended, Ended::Memory);
    assert_eq!(watch.memory(), 0);
}

/// Whatever the time limit, the result is an intermediate state of a fit without a limit.
#[test]
fn no_time_limit_makes_a_wide_model_better_than_none() {
    let bag = bag(300, 70, 3);
    for prune in [false, true] {
        let options = Options { candidates: Candidates::Pairs, prune, ..Options::new(20) };
        let after = |time| {
            let options = Options { time, max_length: Some(4), ..options.clone() };
            fitted(&bag, &options, &Watch::unlimited()).unwrap()
        };
        let whole = after(None).sizes;
        for time in [2, 10, 50] {
            let sizes = after(Some(Duration::from_millis(time))).sizes;
            assert!(whole.total_bits <= sizes.total_bits, "{time} ms: {sizes:?}");
            assert!(sizes.total_bits <= sizes.standard_bits, "{time} ms: {sizes:?}");
        }
        assert!(whole.ratio < 0.9);
        assert_eq!(after(None), after(None));
    }
}

#[test]
fn progress_ends_where_the_result_is() {
    let bag = bag(200, 8, 3);
    let empty = Bag::from_text(2, Vec::<[Option<&str>; 2]>::new());
    for (candidates, bag) in [
        (Candidates::All, &bag),
        (Candidates::Pairs, &bag),
        (Candidates::All, &empty),
        (Candidates::Pairs, &empty),
    ] {
        for prune in [false, true] {
            let progress = Progress::new();
            let options = Options { candidates, prune, ..Options::new(1) };
            let table = fit(bag, &options, &Watch::unlimited(), &progress).unwrap();
            let at = progress.snapshot();
            assert_eq!((at.seen, at.accepted), (table.seen, table.accepted));
            assert_eq!(at.elements, table.patterns().len() as u64);
            assert!((at.ratio - table.sizes.ratio).abs() < 1e-9);
        }
    }
}

#[test]
fn empty_and_tiny_tables() {
    for candidates in [Candidates::All, Candidates::Closed, Candidates::Pairs] {
        let options = Options { candidates, prune: true, ..Options::new(0) };
        let none = Bag::from_text(2, Vec::<[Option<&str>; 2]>::new());
        let table = fitted(&none, &options, &Watch::unlimited()).unwrap();
        assert!(table.elements.is_empty());
        assert_eq!((table.sizes.total_bits, table.sizes.ratio), (0.0, 1.0));
        let narrow = Bag::from_text(0, [[None::<&str>; 0]; 3]);
        assert!(fitted(&narrow, &options, &Watch::unlimited()).unwrap().elements.is_empty());
        let nulls = Bag::from_text(2, [[None::<&str>, None], [None, None]]);
        let table = fitted(&nulls, &options, &Watch::unlimited()).unwrap();
        assert_eq!((table.elements.len(), table.nulls.as_slice()), (0, [2, 2].as_slice()));
        // One distinct row ends as one element, and the data need no bits.
        let one = Bag::from_text(3, vec![[Some("a"), Some("b"), Some("c")]; 5]);
        let table = fitted(&one, &options, &Watch::unlimited()).unwrap();
        assert_eq!((table.patterns().len(), table.sizes.data_bits), (1, 0.0));
    }
}

#[test]
fn wide_tables() {
    for width in [64, 65, 300] {
        let row = |shift: usize| (0..width).map(move |c| Some(((c + shift) % 7).to_string()));
        let bag = Bag::from_text(width, (0..40).map(|i| row(i % 3)));
        let options = Options { candidates: Candidates::Pairs, ..Options::new(1) };
        let table = fitted(&bag, &options, &Watch::unlimited()).unwrap();
        assert_eq!(table.patterns()[0].items.len(), width);
        let options = Options { max_length: Some(2), ..Options::new(20) };
        assert!(fitted(&bag, &options, &Watch::unlimited()).is_ok());
    }
    let row = (0..CodeTable::MAX_COLUMNS + 1).map(|_| None::<&str>);
    let bag = Bag::from_text(CodeTable::MAX_COLUMNS + 1, [row]);
    assert!(matches!(
        fitted(&bag, &Options::new(1), &Watch::unlimited()),
        Err(Error::TooWide { columns: 1665, .. })
    ));
}

/// The widest relation of PostgreSQL, on stacks as large as those of the extension's threads.
#[test]
fn the_widest_tables_fit_the_stack() {
    let width = 1600;
    let row = |i: usize| (0..width).map(move |c| Some(((c * i) % 3).to_string()));
    let bag = Bag::from_text(width, (0..6).map(|i| row(i / 2)));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(16 << 20).build().unwrap();
    let fitted = |bag: &Bag, options: &Options, memory| {
        let watch = Watch::new(memory, u64::MAX);
        pool.install(|| fitted(bag, options, &watch))
    };
    // Every row is an itemset of 1600 items, and so are its subsets: the search goes down to that depth before it
    // runs out of memory.
    let stopped = fitted(&bag, &Options::new(2), 64 << 20);
    assert_eq!(stopped, Err(Error::Stop(Stop::Memory { limit: 64 << 20 })));
    let closed = Options { candidates: Candidates::Closed, ..Options::new(2) };
    let table = fitted(&bag, &closed, u64::MAX).unwrap();
    assert_eq!(table.patterns()[0].items.len(), width);
    let bag = Bag::from_text(width, [row(1), row(1)]);
    let time = Some(Duration::from_secs(6));
    let pairs = Options { candidates: Candidates::Pairs, time, ..Options::new(2) };
    assert!(fitted(&bag, &pairs, u64::MAX).unwrap().sizes.ratio < 1.0);
}
