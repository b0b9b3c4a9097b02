//! The rule of the ledger against the best possible analyst.
//!
//! The analyst knows the data of every person but one, sees every answer, and chooses each question after it. For
//! questions with a known exact law the best strategy is found backwards from the last question: the analyst's gain
//! in a state is the larger of stopping there and of asking any question that the budget still allows. The gain at
//! the start is the exact delta of the whole interaction, maximised over all adaptive strategies. Nothing is sampled.

use pg_sanitize_guarantee::{
    Charge, Cost, Spent, concentrated_epsilon, zcdp_delta, zcdp_epsilon, zcdp_rho,
};
use std::collections::HashMap;

/// A question whose answer is true with odds e^(steps unit), and which reveals everything with probability `leak`:
/// the worst case of (epsilon, delta).
struct Question {
    /// Its epsilon in units of the loss.
    steps: i32,
    leak: f64,
    charge: Charge,
}

/// The loss is counted in units, so that different paths reach equal states.
struct Analyst<'a> {
    unit: f64,
    questions: &'a [Question],
    epsilon: f64,
    allows: &'a dyn Fn(&Spent) -> bool,
    allowed: HashMap<Vec<u32>, bool>,
    known: HashMap<(Vec<u32>, i32), f64>,
}

impl Analyst<'_> {
    fn may_have(&mut self, asked: &[u32]) -> bool {
        if let Some(&allowed) = self.allowed.get(asked) {
            return allowed;
        }
        let mut spent = Spent::default();
        for (question, &times) in self.questions.iter().zip(asked) {
            spent = (0..times).fold(spent, |spent, _| spent.plus(&question.charge));
        }
        let allowed = (self.allows)(&spent);
        self.allowed.insert(asked.to_vec(), allowed);
        allowed
    }

    /// P(S) - e^epsilon Q(S) given this state, for the best S and the best further questions, per
    /// probability under P. `loss` is ln(P/Q) of the answers so far.
    fn gain(&mut self, asked: &mut Vec<u32>, loss: i32) -> f64 {
        if let Some(&gain) = self.known.get(&(asked.clone(), loss)) {
            return gain;
        }
        let mut best = (-(self.epsilon - f64::from(loss) * self.unit).exp_m1()).max(0.0);
        for i in 0..self.questions.len() {
            asked[i] += 1;
            if self.may_have(asked) {
                let Question { steps, leak, .. } = self.questions[i];
                let truth = 1.0 / (1.0 + (-f64::from(steps) * self.unit).exp());
                let told = if steps == 0 {
                    self.gain(asked, loss)
                } else {
                    truth * self.gain(asked, loss + steps)
                        + (1.0 - truth) * self.gain(asked, loss - steps)
                };
                best = best.max(leak + (1.0 - leak) * told);
            }
            asked[i] -= 1;
        }
        self.known.insert((asked.clone(), loss), best);
        best
    }
}

/// The exact delta at `epsilon` of everything that can be asked.
fn worst_delta(
    unit: f64,
    questions: &[Question],
    epsilon: f64,
    allows: &dyn Fn(&Spent) -> bool,
) -> f64 {
    let (allowed, known) = (HashMap::new(), HashMap::new());
    let mut analyst = Analyst { unit, questions, epsilon, allows, allowed, known };
    analyst.gain(&mut vec![0; questions.len()], 0)
}

fn pure(unit: f64, steps: i32) -> Question {
    Question { steps, leak: 0.0, charge: Charge::pure(unit * f64::from(steps)) }
}

/// Known by (epsilon, delta) only.
fn plain(unit: f64, steps: i32, delta: f64) -> Question {
    let cost = Cost { epsilon: unit * f64::from(steps), delta };
    Question { steps, leak: delta, charge: Charge::plain(cost) }
}

/// A choice of groups whose noise belongs to another question: only its delta counts here.
fn choice(delta: f64) -> Question {
    let cost = Cost { epsilon: 0.0, delta };
    Question { steps: 0, leak: delta, charge: Charge { whole: cost, rho: Some(0.0), rest: cost } }
}

#[test]
fn no_analyst_beats_the_rule() {
    for (unit, epsilon, delta) in [(0.05, 1.0, 0.1), (0.1, 1.0, 0.3), (0.05, 0.6, 0.02)] {
        let questions = [
            vec![pure(unit, 1), pure(unit, 3)],
            vec![pure(unit, 1), choice(delta / 20.0)],
            vec![pure(unit, 1), plain(unit, 2, delta / 30.0)],
            vec![pure(unit, 2), plain(unit, 5, delta / 40.0), choice(delta / 40.0)],
        ];
        for (i, questions) in questions.iter().enumerate() {
            let found =
                worst_delta(unit, questions, epsilon, &|spent| spent.epsilon(delta) <= epsilon);
            assert!(found <= delta, "{unit} {epsilon} {delta}, {i}: {found}");
            assert!(found > 0.0, "{i}: the analyst learns nothing");
        }
    }
}

#[test]
fn a_rule_that_forgets_something_is_beaten() {
    let (unit, epsilon, delta) = (0.05, 1.0, 0.02);
    let questions = [pure(unit, 1), plain(unit, 4, delta / 100.0), choice(delta / 10.0)];
    let beaten =
        |allows: &dyn Fn(&Spent) -> bool| worst_delta(unit, &questions, epsilon, allows) > delta;
    assert!(!beaten(&|spent| spent.epsilon(delta) <= epsilon));
    // Rules that forget a part: a quarter of rho; deltas that do not count; epsilons beside rho that do not count.
    let with = |spent: &Spent| concentrated_epsilon(spent.rho, spent.rest, delta).unwrap_or(9.0);
    assert!(beaten(&|spent| with(&Spent { rho: spent.rho / 4.0, ..*spent }) <= epsilon));
    assert!(beaten(&|spent| {
        let rest = Cost { delta: 0.0, ..spent.rest };
        spent.rest.delta < 2.0 * delta && with(&Spent { rest, ..*spent }) <= epsilon
    }));
    assert!(beaten(&|spent| {
        let rest = Cost { epsilon: 0.0, ..spent.rest };
        spent.rest.epsilon < 2.0 && with(&Spent { rest, ..*spent }) <= epsilon
    }));
}

#[test]
fn a_hundred_small_gaussian_calls_leave_nine_tenths() {
    let rho = zcdp_rho(0.1, 1e-8).unwrap();
    let call =
        Charge { whole: Cost { epsilon: 0.1, delta: 1e-8 }, rho: Some(rho), rest: Cost::default() };
    let spent = (0..100).fold(Spent::default(), |spent, _| spent.plus(&call));
    let epsilon = spent.epsilon(1e-6);
    assert!(epsilon < 1.0 && epsilon > 0.9, "{epsilon}");
    assert_eq!(Some(epsilon), concentrated_epsilon(spent.rho, spent.rest, 1e-6));
    // The first branch is out of delta: half of it is for the other branches.
    assert!(spent.whole.delta > 0.5e-6 && spent.whole.epsilon >= 10.0);
}

#[test]
fn the_branches_share_delta() {
    let delta = 1e-5;
    let whole =
        |delta: f64| Spent { whole: Cost { epsilon: 2.0, delta }, rho: 1e9, ..Spent::default() };
    assert_eq!(whole(delta / 2.0).epsilon(delta), 2.0);
    assert!(whole(delta / 2.0 * 1.0001).epsilon(delta) > 1e6);
    // Pure charges need no delta.
    assert_eq!(whole(0.0).epsilon(0.0), 2.0);
    assert_eq!(whole(1e-300).epsilon(0.0), f64::INFINITY);
    // The tails of the three branches and the rest add up to at most delta. The test reads what each branch uses at
    // rho 0.3.
    let rho = 0.3;
    let alone = concentrated_epsilon(rho, Cost::default(), delta).unwrap();
    let used = zcdp_delta(rho, alone);
    let beside = 1e-9;
    let mixed = concentrated_epsilon(rho, Cost { epsilon: beside, delta: 0.0 }, delta).unwrap();
    let orders = 16.0;
    let most = orders * zcdp_delta(rho, mixed - beside);
    let rest = (1..1000).rev().map(|i| delta * f64::from(i) / 1000.0);
    let rest = rest.clone().find(|&delta_rest| {
        concentrated_epsilon(rho, Cost { epsilon: 0.0, delta: delta_rest }, delta).is_some()
    });
    let total = 0.5 * delta + used + most + rest.unwrap();
    assert!(total <= delta, "{used} {most} {rest:?}");
    assert!(total > 0.8 * delta, "{used} {most} {rest:?}: delta is left lying about");
}

#[test]
fn epsilons_beside_rho_add_up() {
    let delta = 1e-6;
    for rho in [1e-7, 1e-4, 0.02, 1.0, 30.0] {
        let alone = zcdp_epsilon(rho, delta / 4.0).unwrap();
        for beside in [1e-6, 0.5, 8.0] {
            let rest = Cost { epsilon: beside, delta: 0.0 };
            let both = concentrated_epsilon(rho, rest, delta).unwrap();
            assert!(both > alone + beside, "{rho} {beside}: {both}");
            assert!(both - beside < 1.3 * alone + 0.01, "{rho} {beside}: {both} far above {alone}");
        }
    }
}

#[test]
fn extremes_are_numbers() {
    let values = [0.0, 5e-324, 1e-300, 1e-9, 0.5, 1.0, 1e9, 1e300, f64::MAX, f64::INFINITY];
    for rho in values {
        for epsilon in values {
            for used in [0.0, 1e-300, 1e-7, 1.0] {
                let rest = Cost { epsilon, delta: used };
                let spent = Spent { whole: rest, rho, rest };
                for delta in [0.0, 5e-324, 1e-300, 1e-6, 0.9, 1.0] {
                    assert!(spent.epsilon(delta) >= 0.0, "{spent:?} {delta}");
                    let found = concentrated_epsilon(rho, rest, delta);
                    assert!(found.is_none_or(|found| found.is_finite() && found >= 0.0));
                }
                let charge = Charge { whole: rest, rho: Some(rho), rest };
                for rows in [1, 2, u64::MAX] {
                    let charge = charge.of_rows(rows);
                    assert!(charge.whole.epsilon >= epsilon && charge.whole.delta >= used);
                    assert!(charge.rho.is_none_or(|many| many >= rho));
                }
            }
        }
        assert!(Charge::pure(rho).rho.unwrap() >= rho * rho / 2.0);
    }
}

#[test]
fn charges_round_up() {
    let third = Charge::pure(0.1);
    let spent = (0..10).fold(Spent::default(), |spent, _| spent.plus(&third));
    // Ten times 0.1, which is a little above a tenth as a float.
    assert!(spent.whole.epsilon >= 1.0 && spent.whole.epsilon < 1.0 + 1e-14);
    assert!(spent.rho >= 0.05 && spent.rho < 0.05 + 1e-15);
    let group = third.of_rows(3);
    assert!(group.rho.unwrap() >= 9.0 * 0.005 && group.whole.epsilon >= 0.3);
    // A delta beside rho does not extend to several rows.
    let cost = Cost { epsilon: 0.5, delta: 1e-6 };
    let shown = Charge { whole: cost, rho: Some(0.01), rest: Cost { epsilon: 0.0, delta: 1e-6 } };
    assert_eq!(shown.of_rows(1), shown);
    assert_eq!(shown.of_rows(4), Charge::plain(cost.of_rows(4)));
}
