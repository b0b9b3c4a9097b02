//! Upper bounds on binomial probabilities, tight to about one part in 10^11.
//!
//! Counts are floats: they are integers up to 2^53, and beyond that rounding does not matter to the law.

use std::f64::consts::PI;

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// The error of Stirling's formula, ln n! - ln(sqrt(2 pi n) (n/e)^n).
fn stirling_error(n: f64) -> f64 {
    const EXACT: [f64; 16] = [
        0.0,
        8.106_146_679_532_726e-2,
        4.134_069_595_540_93e-2,
        2.767_792_568_499_834e-2,
        2.079_067_210_376_509_3e-2,
        1.664_469_118_982_119_3e-2,
        1.387_612_882_307_074_8e-2,
        1.189_670_994_589_177e-2,
        1.041_126_526_197_209_6e-2,
        9.255_462_182_712_733e-3,
        8.330_563_433_362_87e-3,
        7.573_675_487_951_841e-3,
        6.942_840_107_209_53e-3,
        6.408_994_188_004_207e-3,
        5.951_370_112_758_848e-3,
        5.554_733_551_962_801e-3,
    ];
    if let Some(&exact) = EXACT.get(n as usize) {
        return exact;
    }
    let s = 1.0 / (n * n);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / n
}

/// The deviance x ln(x/m) + m - x without cancellation near x = m (Loader, Fast and accurate
/// computation of binomial probabilities).
fn deviance(x: f64, m: f64) -> f64 {
    let d = x - m;
    if d.abs() >= 0.1 * (x + m) {
        // The quotient is not finite for a mean below 1e-300.
        let ratio = x / m;
        let ln = if ratio.is_finite() { ratio.ln() } else { x.ln() - m.ln() };
        return x * ln - d;
    }
    let v = d / (x + m);
    let (mut sum, mut power) = (d * v, 2.0 * x * v);
    for j in 1.. {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// ln P(Bin(n, p) = x) without its square root factor, a bound on the error, and that factor: for 0 < p < 1, q = 1 -
/// p and integers 0 <= x <= n.
fn pmf_parts(n: f64, x: f64, p: f64, q: f64) -> (f64, f64, f64) {
    // The smaller of p and q is the exact one.
    let ln = |p: f64, q: f64| if p < 0.5 { p.ln() } else { (-q).ln_1p() };
    if x == n {
        let ln = n * ln(p, q);
        (ln, 4.0 * U * ln.abs(), 1.0)
    } else if x == 0.0 {
        let ln = n * ln(q, p);
        (ln, 4.0 * U * ln.abs(), 1.0)
    } else {
        let deviances = deviance(x, n * p) + deviance(n - x, n * q);
        let stirling = stirling_error(n) - stirling_error(x) - stirling_error(n - x);
        // Rounding n p shifts the deviance by at most |x - np| units; where the plain formula is
        // used, x is below 50 deviances, so rounding x / np costs at most 100 units of a deviance.
        let error = U * (128.0 * deviances + 4.0 * (x - n * p).abs() + 16.0);
        (stirling - deviances, error, (n / (2.0 * PI * x * (n - x))).sqrt())
    }
}

/// ln P(Bin(n, p) = x) for 0 < p < 1, q = 1 - p and integers 0 <= x <= n.
pub fn ln_pmf(n: f64, x: f64, p: f64, q: f64) -> f64 {
    let (ln, _, factor) = pmf_parts(n, x, p, q);
    ln + factor.ln()
}

/// At least P(Bin(n, p) = x), for 0 < p < 1 and integers 0 <= x <= n.
fn pmf_above(n: f64, x: f64, p: f64) -> f64 {
    let (ln, error, factor) = pmf_parts(n, x, p, 1.0 - p);
    factor * (ln + error).exp() * (1.0 + 16.0 * U)
}

/// At least the sum over j >= from of weight(j) P(Bin(n, p) = j), for weights that do not decrease
/// and grow by at most `slope` per step. Meant for `from` above the mean, where terms fall fast.
pub fn weighted_tail_above(
    n: f64,
    from: f64,
    p: f64,
    slope: f64,
    weight: impl Fn(f64) -> f64,
) -> f64 {
    if from > n {
        return 0.0;
    }
    let odds = p / (1.0 - p);
    let (mut j, mut term, mut sum, mut terms) = (from, pmf_above(n, from, p), 0.0, 1.0);
    loop {
        sum += term * weight(j);
        if j >= n {
            break;
        }
        let ratio = (n - j) / (j + 1.0) * odds * (1.0 + 8.0 * U);
        if ratio < 1.0 {
            // The ratio only falls from here, so a geometric series bounds the rest.
            let geometric = ratio / (1.0 - ratio);
            let rest = term * geometric * (weight(j) + slope / (1.0 - ratio));
            if rest <= 1e-17 * sum {
                sum += rest;
                break;
            }
        }
        term *= ratio;
        j += 1.0;
        terms += 1.0;
    }
    sum * (1.0 + 4.0 * U * (terms + 4.0))
}

/// At least P(Bin(n, p) >= from).
pub fn tail_above(n: f64, from: f64, p: f64) -> f64 {
    weighted_tail_above(n, from, p, 0.0, |_| 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;

    /// P(Bin(n, p) >= from) for a dyadic p, by exact integers; the last step rounds.
    fn exact_tail(n: u32, from: u32, p: f64) -> f64 {
        let bits = 20;
        let m = UBig::from((p * f64::from(1 << bits)) as u32);
        let rest = (UBig::ONE << bits) - &m;
        let mut choose = UBig::ONE;
        let mut sum = UBig::ZERO;
        for j in 0..=n {
            if j > 0 {
                choose = choose * (n - j + 1) / j;
            }
            if j >= from {
                sum += &choose * m.pow(j as usize) * rest.pow((n - j) as usize);
            }
        }
        crate::Ratio::new(sum, UBig::ONE << (bits * n as usize)).unwrap().to_f64()
    }

    #[test]
    fn tails_are_above_the_exact_value_and_close() {
        for p in [0.25, 0.5, 0.75, 9.0 / 1024.0, 1.0 / 1048576.0, 1048575.0 / 1048576.0] {
            for n in [1, 2, 10, 30, 100, 300] {
                for from in [0, 1, 2, 5, 9, 17, 29, 60, 100, 150, 300] {
                    if from > n || f64::from(from) < f64::from(n) * p {
                        continue;
                    }
                    let exact = exact_tail(n, from, p);
                    let bound = tail_above(f64::from(n), f64::from(from), p);
                    if exact < 1e-290 {
                        continue;
                    }
                    assert!(bound >= exact * (1.0 - 1e-15), "{n} {from} {p}: {bound} {exact}");
                    assert!(bound <= exact * (1.0 + 2e-11), "{n} {from} {p}: {bound} {exact}");
                }
            }
        }
    }

    #[test]
    fn the_least_probabilities_have_tails_below_every_number() {
        for (n, from) in [(1.0, 1.0), (10.0, 2.0), (3e8, 65536.0), (1e15, 1e10)] {
            let tail = tail_above(n, from, 5e-324);
            assert!((0.0..=1e-300).contains(&tail), "{n} {from}: {tail}");
        }
    }

    #[test]
    fn large_counts_agree_with_the_poisson_law() {
        // Bin(n, m/n) tends to Poisson(m); at n = 1e17 they agree to every digit shown.
        let m: f64 = 3.0;
        let mut term = (-m).exp();
        let mut below = 0.0;
        for j in 1..=10 {
            below += term;
            term *= m / f64::from(j);
        }
        let tail = tail_above(1e17, 10.0, m / 1e17);
        assert!((tail / (1.0 - below) - 1.0).abs() < 1e-10, "{tail} {}", 1.0 - below);
    }
}
