//! Exact audits: how far one unit changes every integer that gets noise, compared with the noise and the charge in
//! rational arithmetic. Audits by sampling miss wrong sensitivities; these do not.

use dashu_int::{IBig, UBig};
use pg_sanitize_aggregate::{
    Bounded, Measure, MeasureKind, NO_VALUE, NoisePlan, Query, Range, Step, UnitRows,
};
use random::{Coins, Noise, Ratio, below};
use std::collections::BTreeMap;

const GROUPS: usize = 9;
const FINE: i128 = 1024;

/// numer / denom, not below 0.
#[derive(Clone)]
struct Fraction(UBig, UBig);

impl Fraction {
    fn zero() -> Self {
        Fraction(UBig::ZERO, UBig::ONE)
    }
    fn of(value: f64) -> Self {
        let ratio = Ratio::exact("value", value).unwrap();
        Fraction(ratio.numer().clone(), ratio.denom().clone())
    }
    fn plus(&self, other: &Self) -> Self {
        Fraction(&self.0 * &other.1 + &other.0 * &self.1, &self.1 * &other.1)
    }
    fn times(&self, other: &Self) -> Self {
        Fraction(&self.0 * &other.0, &self.1 * &other.1)
    }
    fn half(&self) -> Self {
        Fraction(self.0.clone(), &self.1 * 2u8)
    }
    /// Divided by a parameter of a noise.
    fn over(&self, ratio: &Ratio) -> Self {
        Fraction(&self.0 * ratio.denom(), &self.1 * ratio.numer())
    }
    fn at_most(&self, other: &Self) -> bool {
        &self.0 * &other.1 <= &other.0 * &self.1
    }
    fn to_f64(&self) -> f64 {
        Ratio::new(self.0.clone(), self.1.clone()).unwrap().to_f64()
    }
}

/// Rows of a unit: group and one value for each measure that looks at rows; and the unit's own values
/// in groups.
#[derive(Default)]
struct Unit {
    rows: Vec<(u32, Vec<i64>)>,
    own: Vec<(u32, Vec<i64>)>,
}

/// The rows that are kept of the units, by one process or by several shards. Each shard has all rows of its units and
/// reports the kept ones as a bag.
fn keep(query: &Query, width: usize, units: &[&Unit], shards: usize, coins: &mut Coins) -> Bounded {
    let bounded = || Bounded::new(query.rows_per_unit, query.groups_per_unit, width);
    let mut servers: Vec<Bounded> = (0..shards.max(1)).map(|_| bounded()).collect();
    for (number, unit) in (0..).zip(units) {
        let server = &mut servers[number as usize % shards.max(1)];
        for (group, values) in &unit.rows {
            server.row_of_number(number, *group, values, coins);
        }
    }
    if shards == 0 {
        return servers.remove(0);
    }
    let mut whole = bounded();
    for server in &mut servers {
        let mut bag: BTreeMap<(bool, u32, Vec<i64>), u64> = BTreeMap::new();
        server.finish(coins);
        server.each_kept(|is_first, group, values| {
            *bag.entry((is_first, group, values.to_vec())).or_default() += 1;
        });
        for ((is_first, group, values), count) in bag {
            (0..count).for_each(|_| whole.kept_row(is_first, group, &values));
        }
    }
    whole
}

/// The integers of each group, and the units in each. The units' coins are `seed`.
fn totals(query: &Query, units: &[&Unit], shards: usize, seed: i64) -> (Vec<Vec<i128>>, Vec<i128>) {
    // Which groups are shown does not matter here, so all of them are.
    let public = Query { private_groups: false, ..query.clone() };
    let plan = NoisePlan::new(public, 1.0, 0.0).unwrap();
    let mut coins = Coins::seeded(seed);
    let mut rows = keep(query, plan.row_width(), units, shards, &mut coins);
    let mut own = UnitRows::new(plan.unit_width());
    for (group, values) in units.iter().flat_map(|unit| &unit.own) {
        own.push(*group, values);
    }
    let mut slots = Vec::new();
    let visit = |group: u32, found: &[i128], _: &mut Coins| {
        assert_eq!(group as usize, slots.len());
        slots.push(found.to_vec());
        Ok::<(), ()>(())
    };
    // Room for two groups at a time.
    let room = 32 * plan.slots() as u64;
    plan.totals(&mut rows, &own, GROUPS, room, &mut coins, visit).unwrap();
    let mut counts = vec![0; GROUPS];
    if plan.reads_rows() {
        let measure = Measure {
            name: "units".into(),
            kind: MeasureKind::Units,
            weight: 1.0,
            per_unit: false,
        };
        let counter = Query { measures: vec![measure], min_units: None, ..query.clone() };
        let counter = NoisePlan::new(Query { private_groups: false, ..counter }, 1.0, 0.0).unwrap();
        let visit = |group: u32, found: &[i128], _: &mut Coins| {
            counts[group as usize] = found[0];
            Ok::<(), ()>(())
        };
        let none = UnitRows::new(0);
        counter.totals(&mut rows, &none, GROUPS, 0, &mut coins, visit).unwrap();
    } else {
        for (group, _) in units.iter().flat_map(|unit| &unit.own) {
            counts[*group as usize] += 1;
        }
    }
    (slots, counts)
}

/// The cost of a change.
struct Loss {
    /// The sum over the Laplace parts.
    epsilon: Fraction,
    /// The sum over all parts: epsilon^2/2 of each Laplace part, change^2/(2 sigma^2) of each Gaussian number.
    rho: Fraction,
    gaussian: bool,
}

/// The exact loss of one unit more, over all groups.
fn loss(
    plan: &NoisePlan,
    before: &(Vec<Vec<i128>>, Vec<i128>),
    after: &(Vec<Vec<i128>>, Vec<i128>),
) -> Loss {
    let mut loss = Loss { epsilon: Fraction::zero(), rho: Fraction::zero(), gaussian: false };
    // The address of the noise identifies the part of a measure, over all groups.
    let mut parts: BTreeMap<usize, Fraction> = BTreeMap::new();
    let mut moved = |change: i128, noise: &Noise| {
        let change = UBig::try_from(IBig::from(change.abs())).unwrap();
        match noise {
            Noise::Laplace { scale } => {
                let part = parts.entry(std::ptr::from_ref(noise) as usize);
                let part = part.or_insert_with(Fraction::zero);
                *part = part.plus(&Fraction(change, UBig::ONE).over(scale));
            }
            Noise::Gaussian { sigma2 } => {
                let squared = Fraction(&change * &change, UBig::ONE).over(sigma2).half();
                loss.rho = loss.rho.plus(&squared);
                loss.gaussian = true;
            }
        }
    };
    for (before, after) in before.0.iter().zip(&after.0) {
        for ((before, noise), (after, _)) in plan.noised(before).iter().zip(plan.noised(after)) {
            moved(after - before, noise);
        }
    }
    if let Some(selection) = plan.selection() {
        for (before, after) in before.1.iter().zip(&after.1) {
            moved((after - before) * FINE, &selection.noise);
        }
    }
    for part in parts.values() {
        loss.epsilon = loss.epsilon.plus(part);
        loss.rho = loss.rho.plus(&part.times(part).half());
    }
    loss
}

/// The delta of a continuous Gaussian of squared distance 2 rho, by Simpson's rule.
fn gaussian_delta(epsilon: f64, rho: f64) -> f64 {
    let mu = (2.0 * rho).sqrt();
    let tau = epsilon / mu - mu / 2.0;
    let density = |s: f64| {
        (-(tau + s).powi(2) / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * -(-mu * s).exp_m1()
    };
    let (end, n) = (10.0, 4000);
    let step = end / f64::from(n);
    let weight = |i: i32| {
        if i == 0 || i == n {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=n).map(|i| weight(i) * density(f64::from(i) * step)).sum::<f64>() * step / 3.0
}

/// The exact probability that noise reaches y, times `groups`.
fn shown(noise: &Noise, y: f64, groups: u64) -> f64 {
    let tail = match noise {
        Noise::Laplace { scale } => {
            let q = (-1.0 / scale.to_f64()).exp();
            (-y / scale.to_f64()).exp() / (1.0 + q)
        }
        Noise::Gaussian { sigma2 } => {
            let sigma = sigma2.to_f64().sqrt();
            // The sum over whole numbers, with a bounded number of terms per standard deviation.
            let step = (sigma / 512.0).max(1.0);
            let weight = |x: f64| (-0.5 * (x / sigma).powi(2)).exp() * step;
            let many = (20.0 * sigma / step) as i32;
            let upper: f64 = (0..many).map(|i| weight(y + f64::from(i) * step)).sum();
            upper / (sigma * (2.0 * std::f64::consts::PI).sqrt())
        }
    };
    tail * groups as f64
}

/// Fails if the noise does not cover what the unit changed, or the charge not the noise.
fn check(query: &Query, plan: &NoisePlan, loss: &Loss, what: &str) {
    let charge = plan.charge();
    assert!(loss.epsilon.at_most(&Fraction::of(charge.whole.epsilon)), "epsilon, {what}");
    let rho = charge.rho.unwrap();
    let used = loss.rho.to_f64();
    assert!(loss.rho.at_most(&Fraction::of(rho)), "rho {used} of {rho}, {what}");
    let tail = charge.whole.delta - charge.rest.delta;
    if loss.gaussian {
        // Epsilon that Laplace noise of the choice may use is not available to the Gaussian part.
        let groups = groups_counted(query);
        let chosen = match plan.selection().map(|selection| &selection.noise) {
            Some(Noise::Laplace { scale }) => groups as f64 * FINE as f64 / scale.to_f64(),
            _ => 0.0,
        };
        let (epsilon, rho) = match plan.noised(&vec![0; plan.slots()])[0].1 {
            Noise::Gaussian { .. } => (charge.whole.epsilon - chosen, rho - chosen * chosen / 2.0),
            // Only the choice is Gaussian: it has its own share.
            Noise::Laplace { .. } => {
                let measures = plan.measures().count() as f64;
                let share = charge.whole.epsilon / (measures + 1.0);
                let Some(Noise::Gaussian { sigma2 }) = plan.selection().map(|chosen| &chosen.noise)
                else {
                    panic!("{what}")
                };
                (share, groups as f64 * (FINE * FINE) as f64 / (2.0 * sigma2.to_f64()))
            }
        };
        let delta = gaussian_delta(epsilon, rho);
        assert!(delta <= tail * (1.0 + 1e-5), "delta {delta} of {tail}, {what}");
    }
    if let Some(selection) = plan.selection() {
        let found =
            shown(&selection.noise, selection.threshold - FINE as f64, groups_counted(query));
        let rest = charge.rest.delta;
        assert!(found <= rest * 1.02 && found > 0.5 * rest, "shown {found} of {rest}, {what}");
    }
    assert_eq!(charge.rest.epsilon, 0.0);
}

/// In how many groups a unit counts.
fn groups_counted(query: &Query) -> u64 {
    match query.measures.iter().any(|measure| !measure.per_unit) {
        true => query.groups_per_unit.min(query.rows_per_unit),
        false => query.groups_per_unit,
    }
}

/// Small random numbers.
struct Dice(Coins);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        below(&mut self.0, n)
    }
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
    fn range(&mut self) -> Range {
        let (low, high) =
            self.one_of(&[(0, 1), (0, 120), (-7, 3), (-500, -20), (-1 << 40, 1 << 40), (5, 3000)]);
        Range::new(low, high, Step::ONE).unwrap()
    }
    fn kind(&mut self) -> MeasureKind {
        let range = self.range();
        match self.below(9) {
            0 => MeasureKind::Count,
            1 => MeasureKind::CountOf,
            2 => MeasureKind::Units,
            3 => MeasureKind::Distinct,
            4 => MeasureKind::Sum(range),
            5 => MeasureKind::Mean(range),
            6 => MeasureKind::Variance(range),
            7 => MeasureKind::Quantiles(range, vec![0.5]),
            _ => MeasureKind::Histogram(range, 1 + self.below(12) as u32),
        }
    }
    fn measure(&mut self) -> Measure {
        let kind = self.kind();
        let by_rows =
            matches!(kind, MeasureKind::Count | MeasureKind::Units | MeasureKind::Distinct);
        let per_unit = !by_rows && self.below(3) == 0;
        let weight = self.one_of(&[1.0, 1.0, 0.3, 17.0]);
        Measure { name: "m".into(), kind, weight, per_unit }
    }
    fn query(&mut self) -> Query {
        let measures = (0..1 + self.below(5)).map(|_| self.measure()).collect();
        let rows_per_unit = self.one_of(&[1, 2, 3, 7]);
        let groups_per_unit = self.one_of(&[1, 2, 4, 7]);
        let private_groups = self.below(2) == 0;
        let min_units = self.one_of(&[None, Some(10)]);
        Query { measures, rows_per_unit, groups_per_unit, private_groups, min_units }
    }
    /// A value of a measure: often at a bound, beyond it, or none.
    fn value(&mut self, measure: &Measure) -> i64 {
        let (low, high) = measure.kind.range().map_or((0, 9), |range| (range.low, range.high));
        match self.below(8) {
            0 => i64::MAX,
            1 => i64::MIN + 1,
            2 => NO_VALUE,
            3 => low + (self.below((high - low) as u64)) as i64,
            4 => low,
            _ => high,
        }
    }
    /// A unit of `rows` rows, in groups below `groups`.
    fn unit(&mut self, query: &Query, rows: u64, groups: u64) -> Unit {
        let of = |per_unit: bool| {
            let looks = move |m: &&Measure| m.kind.has_value() && m.per_unit == per_unit;
            query.measures.iter().filter(looks)
        };
        let mut unit = Unit::default();
        for _ in 0..rows {
            let values = of(false).map(|measure| self.value(measure)).collect();
            unit.rows.push((self.below(groups) as u32, values));
        }
        for group in 0..query.groups_per_unit.min(groups) as u32 {
            unit.own.push((group, of(true).map(|measure| self.value(measure)).collect()));
        }
        unit
    }
}

/// (epsilon, delta) that make both noises appear.
const PRICES: [(f64, f64); 5] = [(1.0, 1e-6), (0.1, 1e-8), (0.5, 1e-2), (3.0, 1e-4), (0.01, 1e-5)];

#[test]
fn noise_and_charge_cover_every_unit() {
    let mut dice = Dice(Coins::seeded(1));
    let runs = if cfg!(debug_assertions) { 400 } else { 4000 };
    let (mut gaussian, mut laplace) = (0, 0);
    for run in 0..runs {
        let query = dice.query();
        let (epsilon, delta) = dice.one_of(&PRICES);
        // Without a delta only Laplace noise is there, which shows more of the mistakes.
        let delta = if query.private_groups || dice.below(2) == 0 { delta } else { 0.0 };
        let plan = NoisePlan::new(query.clone(), epsilon, delta).unwrap();
        assert_eq!(plan.charge().whole.epsilon, epsilon);
        let limit = query.rows_per_unit.min(query.groups_per_unit);
        let others: Vec<Unit> = (0..4).map(|_| dice.unit(&query, limit, 1)).collect();
        let mut all: Vec<&Unit> = others.iter().collect();
        let shards = dice.below(4) as usize;
        let before = totals(&query, &all, shards, 0);
        let (rows, groups) = (dice.one_of(&[1, 5, 40]), dice.one_of(&[1, 2, GROUPS as u64]));
        let unit = dice.unit(&query, rows, groups);
        all.push(&unit);
        let after = totals(&query, &all, shards, run);
        let loss = loss(&plan, &before, &after);
        *(if loss.gaussian { &mut gaussian } else { &mut laplace }) += 1;
        check(&query, &plan, &loss, &format!("run {run}: {query:?} {epsilon} {delta}"));
    }
    assert!(gaussian > runs / 10 && laplace > runs / 10, "{gaussian} {laplace}");
}

/// The unit that moves a measure most: its rows are equal, in one group or in as many as allowed.
fn worst_unit(query: &Query, value: i64, spread: bool) -> Unit {
    let measure = &query.measures[0];
    let mut unit = Unit::default();
    for row in 0..40 {
        let group = if spread { row % GROUPS as u32 } else { 0 };
        let value =
            if measure.kind == MeasureKind::Distinct { 1000 + i64::from(row) } else { value };
        let looks = measure.kind.has_value() && !measure.per_unit;
        unit.rows.push((group, vec![value; usize::from(looks)]));
    }
    for group in 0..query.groups_per_unit as u32 {
        unit.own.push((group, vec![value; usize::from(measure.per_unit)]));
    }
    unit
}

/// For every measure, number of rows and of groups, noise and way of choosing groups: the worst unit uses the whole
/// charge, and no more.
#[test]
fn the_worst_unit_takes_all_of_the_charge() {
    let ranges =
        [(0, 120), (-7, 3), (-500, -20)].map(|(a, b)| Range::new(a, b, Step::ONE).unwrap());
    let mut kinds =
        vec![MeasureKind::Count, MeasureKind::CountOf, MeasureKind::Units, MeasureKind::Distinct];
    for range in ranges {
        kinds.extend([
            MeasureKind::Sum(range),
            MeasureKind::Mean(range),
            MeasureKind::Variance(range),
        ]);
        kinds.extend([MeasureKind::Quantiles(range, vec![0.5]), MeasureKind::Histogram(range, 5)]);
    }
    for kind in kinds {
        for per_unit in [false, true] {
            if per_unit
                && matches!(kind, MeasureKind::Count | MeasureKind::Units | MeasureKind::Distinct)
            {
                continue;
            }
            for (rows_per_unit, groups_per_unit) in [(1, 1), (1, 6), (5, 1), (5, 3), (3, 7)] {
                for (private_groups, delta) in [(false, 0.0), (false, 0.05), (true, 1e-4)] {
                    let measure =
                        Measure { name: "m".into(), kind: kind.clone(), weight: 1.0, per_unit };
                    let query = Query {
                        measures: vec![measure],
                        rows_per_unit,
                        groups_per_unit,
                        private_groups,
                        min_units: None,
                    };
                    let plan = NoisePlan::new(query.clone(), 1.0, delta).unwrap();
                    let what = format!("{query:?}");
                    let before = totals(&query, &[], 0, 0);
                    let mut most = (0.0f64, 0.0f64);
                    let range = kind.range();
                    for value in range.map_or([0, 1], |range| [range.low, range.high]) {
                        for (spread, shards) in [(false, 0), (true, 0), (false, 2), (true, 2)] {
                            let unit = worst_unit(&query, value, spread);
                            let after = totals(&query, &[&unit], shards, 7);
                            let loss = loss(&plan, &before, &after);
                            check(&query, &plan, &loss, &what);
                            most.0 = most.0.max(loss.epsilon.to_f64());
                            most.1 = most.1.max(loss.rho.to_f64());
                        }
                    }
                    // The choice and the measure need not be at their worst together.
                    let whole = if private_groups { 0.6 } else { 1.0 };
                    let rho = most.1 / plan.charge().rho.unwrap();
                    assert!(rho > whole * 0.999, "{rho} of rho, {what}");
                }
            }
        }
    }
}

#[test]
fn a_unit_has_no_more_rows_and_groups_than_it_may() {
    let mut dice = Dice(Coins::seeded(3));
    for run in 0..300 {
        let (rows, groups) = (dice.one_of(&[1, 2, 5, 20]), dice.one_of(&[1, 2, 3, 30]));
        let measure =
            Measure { name: "n".into(), kind: MeasureKind::Count, weight: 1.0, per_unit: false };
        let query = Query {
            measures: vec![measure],
            rows_per_unit: rows,
            groups_per_unit: groups,
            private_groups: false,
            min_units: None,
        };
        let unit = dice.unit(&query, 60, GROUPS as u64);
        let (slots, units) = totals(&query, &[&unit], run as usize % 3, run);
        let counted: i128 = slots.iter().map(|slots| slots[0]).sum();
        let places = slots.iter().filter(|slots| slots[0] > 0).count() as u64;
        assert!(counted <= i128::from(rows) && places <= groups && places >= 1);
        assert!(units.iter().all(|&count| count <= 1));
        assert_eq!(units.iter().sum::<i128>(), i128::from(places));
        // No row is dropped without need.
        if groups >= GROUPS as u64 {
            assert_eq!(counted, i128::from(rows));
        }
    }
}
