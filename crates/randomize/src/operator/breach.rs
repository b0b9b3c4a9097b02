//! Breaches for a known prior: the properties that an output moves furthest. The proofs are in `breach.md`.

use super::amplification::check_breach;
use super::matrix::sum;
use super::{Operator, Prior};
use random::Error;
use rayon::prelude::*;
use table::{Stop, Watch};

/// The relative rounding error of sums of probabilities: a property this close to a breach counts as one.
const SLACK: f64 = 1e-12;

/// The number of properties tried for one output before its breach is reported as undecided.
const TRIES: usize = 20_000;

/// Whether an unlikely property becomes likely, or a likely one unlikely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Upward,
    Downward,
}

/// How far an output can move a property in one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worst {
    pub y: usize,
    pub direction: Direction,
    /// Between these bounds lies, upward, the largest posterior of a property whose prior is at most rho1;
    /// downward, the least posterior of a property whose prior is at least rho2.
    pub low: f64,
    pub high: f64,
    /// Whether there is a breach; `None` if that is undecided.
    pub breach: Option<bool>,
}

/// For every output that can occur, how far it can move a property upward and downward, and whether that is a breach.
/// O(|X| log |X|) for each output, and more only where the bounds do not decide.
pub fn breach_check(
    operator: &Operator,
    prior: &Prior,
    rho1: f64,
    rho2: f64,
    watch: &Watch,
) -> Result<Vec<Worst>, Error> {
    check_breach(rho1, rho2)?;
    let outputs = operator.outputs() as u64;
    let _held = watch.hold(outputs * 2 * size_of::<Worst>() as u64)?;
    watch.begin(outputs);
    let both = |y: usize| -> Result<Option<[Worst; 2]>, Stop> {
        watch.check()?;
        watch.advance(1);
        let Some(inputs) = Inputs::new(operator, prior, y) else { return Ok(None) };
        let up = inputs.largest(rho1, rho2);
        // A property becomes unlikely when its complement becomes likely.
        let down = inputs.largest(1.0 - rho2, 1.0 - rho1);
        let worst = |direction, low, high, breach| Worst { y, direction, low, high, breach };
        Ok(Some([
            worst(Direction::Upward, up.low, up.high, up.breach),
            worst(Direction::Downward, 1.0 - down.high, 1.0 - down.low, down.breach),
        ]))
    };
    let found: Result<Vec<_>, Stop> = (0..operator.outputs()).into_par_iter().map(both).collect();
    Ok(found?.into_iter().flatten().flatten().collect())
}

/// The possible inputs, in descending order of how much an output raises their probability.
struct Inputs {
    inputs: Vec<Input>,
    /// The prior and the posterior of the first inputs, by their number.
    priors: Vec<f64>,
    posteriors: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
struct Input {
    prior: f64,
    posterior: f64,
    /// The posterior over the prior, up to a common factor.
    gain: f64,
}

/// Bounds on the largest posterior.
struct Largest {
    low: f64,
    high: f64,
    breach: Option<bool>,
}

impl Inputs {
    /// `None` if the output cannot occur.
    fn new(operator: &Operator, prior: &Prior, y: usize) -> Option<Self> {
        let possible = operator.column(y).zip(prior.probabilities().iter().copied());
        let possible = possible.filter(|&(_, prior)| prior > 0.0);
        let mut inputs: Vec<Input> =
            possible.map(|(gain, prior)| Input { prior, posterior: gain * prior, gain }).collect();
        let total = sum(inputs.iter().map(|input| input.posterior));
        if total <= 0.0 {
            return None;
        }
        inputs.iter_mut().for_each(|input| input.posterior /= total);
        inputs.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(b.prior.total_cmp(&a.prior)));
        let running = |of: fn(&Input) -> f64| {
            let sums = inputs.iter().scan(0.0, |sum, input| {
                *sum += of(input);
                Some(*sum)
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        let (priors, posteriors) = (running(|input| input.prior), running(|input| input.posterior));
        Some(Inputs { inputs, priors, posteriors })
    }

    /// The largest posterior of a property whose prior is at most `rho1`, and whether it reaches `rho2`.
    fn largest(&self, rho1: f64, rho2: f64) -> Largest {
        let (room, goal) = (rho1 * (1.0 + SLACK), rho2 * (1.0 - SLACK));
        let mut low = self.greedy(room).max(self.single(room));
        let high = self.bound(0, rho1).min(1.0).max(low);
        let breach = if low >= goal {
            Some(true)
        } else if high < goal {
            Some(false)
        } else {
            match self.search(room, goal) {
                Search::Found(posterior) => {
                    low = low.max(posterior);
                    Some(true)
                }
                Search::None => Some(false),
                Search::GivenUp => None,
            }
        };
        Largest { low, high: high.max(low), breach }
    }

    /// The posterior that inputs from `first` on add if they fill a prior of `room`, the last one in part: no
    /// property adds more.
    fn bound(&self, first: usize, room: f64) -> f64 {
        let filled = self.priors[first] + room;
        let last = first + self.priors[first + 1..].partition_point(|&prior| prior <= filled);
        let whole = self.posteriors[last] - self.posteriors[first];
        let part = self.inputs.get(last).map_or(0.0, |input| {
            input.posterior * ((filled - self.priors[last]) / input.prior).max(0.0)
        });
        whole + part
    }

    /// The posterior of a property that takes each input that still fits.
    fn greedy(&self, mut room: f64) -> f64 {
        let mut taken = 0.0;
        for input in &self.inputs {
            if input.prior <= room {
                room -= input.prior;
                taken += input.posterior;
            }
        }
        taken
    }

    /// The largest posterior of a single input.
    fn single(&self, room: f64) -> f64 {
        let fitting = self.inputs.iter().filter(|input| input.prior <= room);
        fitting.map(|input| input.posterior).fold(0.0, f64::max)
    }

    /// Looks for a property whose prior is at most `room` and whose posterior is at least `goal`.
    fn search(&self, room: f64, goal: f64) -> Search {
        // States of the search: the first undecided input, the room left, the posterior reached.
        let mut open = vec![(0, room, 0.0)];
        for _ in 0..TRIES {
            let Some((first, room, reached)) = open.pop() else { return Search::None };
            if reached >= goal {
                return Search::Found(reached);
            }
            // The bound is a difference of sums and may be off by rounding.
            if first == self.inputs.len() || reached + self.bound(first, room) < goal - SLACK {
                continue;
            }
            let input = self.inputs[first];
            // Among equal inputs the first ones are taken.
            let equal = self.inputs[first..].iter().take_while(|&&other| other == input).count();
            open.push((first + equal, room, reached));
            if input.prior <= room {
                open.push((first + 1, room - input.prior, reached + input.posterior));
            }
        }
        Search::GivenUp
    }
}

enum Search {
    Found(f64),
    None,
    GivenUp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::NumberOperator;
    use proptest::prelude::*;

    fn check(operator: &Operator, prior: &[f64], rho1: f64, rho2: f64) -> Vec<Worst> {
        let prior = Prior::new(prior.to_vec(), operator).unwrap();
        breach_check(operator, &prior, rho1, rho2, &Watch::unlimited()).unwrap()
    }

    fn example() -> Vec<f64> {
        (0..=1000).map(|x| if x == 0 { 0.01 } else { 0.00099 }).collect()
    }

    #[test]
    fn the_breaches_that_the_paper_names() {
        let r1 = Operator::randomised_response(1001, 0.2).unwrap();
        let found = check(&r1, &example(), 0.01, 0.7);
        // Only output 0 makes an unlikely property likely.
        let upward = found.iter().filter(|one| one.direction == Direction::Upward);
        assert!(upward.clone().all(|one| one.breach == Some(one.y == 0)));
        assert!((found[0].low - 0.7163323782234957).abs() < 1e-12);
        let number = |mix| NumberOperator::new(0, 1000, 100, mix).unwrap().matrix().unwrap();
        let r2 = check(&number(0.0), &example(), 0.41, 0.9999);
        assert!(r2.iter().any(|one| one.breach == Some(true) && one.y == 0));
        // Gamma of R3 is below the limit of these.
        let r3 = check(&number(0.5), &example(), 1.0 / 7.0, 0.5);
        assert_eq!(r3.len(), 2002);
        assert!(r3.iter().all(|one| one.breach == Some(false)));
    }

    #[test]
    fn a_breach_at_the_limit_is_a_breach() {
        // Odds of 1 to 6 become even by a factor of 6.
        let operator = Operator::new(vec![0.6, 0.4, 0.1, 0.9], 2).unwrap();
        let prior = [1.0 / 7.0, 6.0 / 7.0];
        assert_eq!(check(&operator, &prior, 1.0 / 7.0, 0.5)[0].breach, Some(true));
        assert_eq!(check(&operator, &prior, 1.0 / 7.0, 0.500001)[0].breach, Some(false));
        assert_eq!(check(&operator, &prior, 0.142857, 0.5)[0].breach, Some(false));
    }

    #[test]
    fn outputs_that_cannot_occur_are_left_out() {
        let operator = Operator::new(vec![1.0, 0.0, 0.0, 1.0], 2).unwrap();
        let found = check(&operator, &[1.0, 0.0], 0.1, 0.5);
        assert_eq!(found.iter().map(|one| one.y).collect::<Vec<_>>(), [0, 0]);
    }

    /// The extreme posteriors by trying every property.
    fn brute(operator: &Operator, prior: &[f64], y: usize, rho1: f64, rho2: f64) -> (f64, f64) {
        let joint: Vec<f64> = operator.column(y).zip(prior).map(|(p, prior)| p * prior).collect();
        let total: f64 = joint.iter().sum();
        let (mut up, mut down) = (0.0f64, 1.0f64);
        for property in 0u32..1 << prior.len() {
            let of = |law: &[f64]| -> f64 {
                (0..law.len()).filter(|x| property >> x & 1 == 1).map(|x| law[x]).sum()
            };
            let (before, after) = (of(prior), of(&joint) / total);
            if before <= rho1 * (1.0 + 1e-12) {
                up = up.max(after);
            }
            if before >= rho2 * (1.0 - 1e-12) {
                down = down.min(after);
            }
        }
        (up, down)
    }

    proptest! {
        /// The bounds contain the result of trying every property, and whether there is a breach is exact.
        #[test]
        fn bounds_and_breaches_agree_with_all_properties(
            (weights, prior) in (2usize..9).prop_flat_map(|inputs| (
                prop::collection::vec(0u32..6, inputs * 3),
                prop::collection::vec(0u32..20, inputs),
            )),
            rho1 in 0.02f64..0.9, above in 0.02f64..0.98,
        ) {
            let rho2 = rho1 + above * (1.0 - rho1);
            let cells = weights.chunks(3).flat_map(|row| {
                let total = f64::from(row.iter().sum::<u32>());
                let even = total == 0.0;
                row.iter().map(move |&w| if even { 1.0 / 3.0 } else { f64::from(w) / total }).collect::<Vec<_>>()
            }).collect();
            let operator = Operator::new(cells, 3).unwrap();
            let total = f64::from(prior.iter().sum::<u32>());
            prop_assume!(total > 0.0);
            let prior: Vec<f64> = prior.iter().map(|&w| f64::from(w) / total).collect();
            let found = check(&operator, &prior, rho1, rho2);
            prop_assert_eq!(found.len() % 2, 0);
            for pair in found.chunks(2) {
                let (up, down) = brute(&operator, &prior, pair[0].y, rho1, rho2);
                prop_assert!(pair[0].low - 1e-9 <= up && up <= pair[0].high + 1e-9);
                prop_assert!(pair[1].low - 1e-9 <= down && down <= pair[1].high + 1e-9);
                // Within the slack both answers are right.
                if (up - rho2).abs() > 1e-9 {
                    prop_assert_eq!(pair[0].breach, Some(up > rho2));
                }
                if (down - rho1).abs() > 1e-9 {
                    prop_assert_eq!(pair[1].breach, Some(down < rho1));
                }
            }
        }
    }
}
