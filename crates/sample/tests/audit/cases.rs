//! Neighbouring tables on which sampling schemes are audited.

use guarantee::audit::epsilon_bound;
use pg_sanitize_sample::{Design, Public, SampleRequest, Scheme, draw};
use random::Coins;
use std::fmt;
use table::{Bag, Choice, Release, Watch};

/// The probability with which a bound may be too high.
pub const ALPHA: f64 = 0.001;

/// The attacker's view of a release: coarse enough that results repeat.
type View = fn(&Shown) -> u64;

/// Released rows, by how many of their cells are blank.
#[derive(Default)]
struct Shown {
    whole: u64,
    blank: u64,
    all: u64,
}

impl Shown {
    fn new(bag: &Bag, released: &Release) -> Self {
        let mut shown = Shown::default();
        for piece in released.pieces() {
            let mask = released.mask(piece.form).iter();
            match mask.map(|word| word.count_ones()).sum::<u32>() as usize {
                0 => shown.whole += piece.weight,
                blanks if blanks == bag.width() => shown.blank += piece.weight,
                _ => (),
            }
            shown.all += piece.weight;
        }
        shown
    }
}

pub struct Case {
    pub name: &'static str,
    pub request: SampleRequest,
    /// The table with the row and without it.
    pub tables: [Bag; 2],
    pub public: Bag,
    view: View,
}

/// The result of a case: the lower bound on epsilon at the label's delta.
pub struct Finding {
    pub name: &'static str,
    pub scheme: Scheme,
    pub bound: f64,
    /// The label's epsilon and delta; for the paper's scheme its claim.
    pub epsilon: f64,
    pub delta: f64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { name, scheme, bound, epsilon, delta } = self;
        let scheme = scheme.name();
        write!(f, "{scheme:<10} {name:<27} {epsilon:<8} {delta:<10.3e} {bound:.3}")
    }
}

impl Case {
    /// Runs the case with the coins that `coins` gives to each run.
    pub fn run(&self, scheme: Scheme, runs: usize, coins: impl Fn(i64) -> Coins + Sync) -> Finding {
        let request = of_scheme(self.request, scheme);
        let design = Design::new(request).unwrap();
        let views = |side: usize| -> Vec<u64> {
            let bag = &self.tables[side];
            (0..runs)
                .map(|run| {
                    let mut coins = coins((2 * run + side) as i64);
                    let public = Public { table: Some(&self.public), rules: None };
                    let watch = Watch::unlimited();
                    let released = draw(bag, &design, public, &mut coins, &watch).unwrap();
                    (self.view)(&Shown::new(bag, &released))
                })
                .collect()
        };
        let (one, other) = rayon::join(|| views(0), || views(1));
        let (epsilon, delta) = match design.total {
            Some(total) => (total.epsilon, total.delta),
            None => (request.epsilon, design.delta_li),
        };
        let bound = epsilon_bound(&one, &other, delta, ALPHA);
        Finding { name: self.name, scheme, bound, epsilon, delta }
    }
}

fn bag(width: usize, rows: &[(Vec<&str>, usize)]) -> Bag {
    let copies = rows.iter().flat_map(|(row, n)| std::iter::repeat_n(row, *n));
    Bag::from_text(width, copies.map(|row| row.iter().map(|&value| Some(value))))
}

fn pair(width: usize, rest: &[(Vec<&str>, usize)], row: &[&str]) -> [Bag; 2] {
    let mut with = rest.to_vec();
    with.push((row.to_vec(), 1));
    [bag(width, &with), bag(width, rest)]
}

fn request(epsilon: f64, delta: f64, k: u64, max_length: usize, columns: usize) -> SampleRequest {
    let (scheme, split, max_length) = (Scheme::Public, 0.1, Some(max_length));
    SampleRequest { scheme, epsilon, delta, k, split, max_length, columns, theta1: None }
}

/// The same request with another scheme.
fn of_scheme(request: SampleRequest, scheme: Scheme) -> SampleRequest {
    let max_length = request.max_length.filter(|_| scheme != Scheme::DpSelect);
    SampleRequest { scheme, max_length, ..request }
}

/// A class of the size at which the sampling theorem is tight.
pub fn tight_class() -> Case {
    let request = request(1.0, 0.025, 8, 1, 1);
    let design = Design::new(request).unwrap();
    let gamma = 1.0 - (1.0 - design.beta.get()) * (-request.epsilon).exp();
    let size = ((request.k - 1) as f64 / gamma).ceil() as usize;
    Case {
        name: "a class of the worst size",
        request,
        tables: pair(1, &[(vec!["x"], size - 1)], &["x"]),
        public: bag(1, &[(vec!["x"], 1000)]),
        view: |shown| shown.whole,
    }
}

/// A class whose count lies at the threshold of `dp_counts`, so that the noise decides.
pub fn class_at_the_threshold(scheme: Scheme) -> Case {
    let request = SampleRequest { split: 0.5, ..request(2.0, 0.01, 4, 1, 1) };
    let design = Design::new(of_scheme(request, scheme)).unwrap();
    let size = match design.part {
        Some(part) => design.theta as f64 / part.get(),
        None => design.theta as f64,
    } as usize;
    Case {
        name: "a class at the threshold",
        request,
        tables: pair(1, &[(vec!["x"], size)], &["x"]),
        public: bag(1, &[(vec!["x"], design.theta as usize)]),
        view: |shown| 2 * shown.all + u64::from(shown.whole > 0),
    }
}

/// m identical rows against m + 1, where floor(beta m) differs.
pub fn identical_rows() -> Case {
    let request = request(0.1, 0.01, 10, 2, 1);
    let design = Design::new(SampleRequest { scheme: Scheme::Paper, ..request }).unwrap();
    let drawn = |m: u64| design.beta.of(m - (m as f64 * request.split).floor() as u64);
    let m = (500..).find(|&m| drawn(m) != drawn(m + 1)).unwrap() as usize;
    Case {
        name: "m identical rows",
        request,
        tables: pair(1, &[(vec!["x"], m)], &["x"]),
        public: bag(1, &[(vec!["x"], m)]),
        view: |shown| shown.all,
    }
}

/// One row t whose pairs of values are each just rare. If t is counted, some pair becomes frequent while its triples
/// stay rare, and a whole class is blanked.
pub fn pairs_at_the_threshold() -> Case {
    let width = 6;
    let request = SampleRequest { split: 0.3, ..request(0.1, 0.01, 10, 3, width) };
    let theta =
        Design::new(SampleRequest { scheme: Scheme::Paper, ..request }).unwrap().theta as usize;
    let row = |set: &[usize]| -> Vec<&str> {
        (0..width).map(|column| if set.contains(&column) { "t" } else { "o" }).collect()
    };
    let mut rows = vec![(row(&[]), 1500)];
    for i in 0..width {
        rows.push((row(&[i]), 400));
        rows.extend((0..i).map(|j| (row(&[i, j]), theta * 10 / 3)));
    }
    let all: Vec<usize> = (0..width).collect();
    Case {
        name: "pairs at the threshold",
        request,
        tables: pair(width, &rows, &row(&all)),
        public: bag(width, &rows),
        view: |shown| u64::from(shown.blank > 0),
    }
}

pub fn cases(scheme: Scheme) -> Vec<Case> {
    vec![tight_class(), class_at_the_threshold(scheme), identical_rows(), pairs_at_the_threshold()]
}
