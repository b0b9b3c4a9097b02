//! Finite fields GF(p^x): elements are numbered by the base-p digits of their polynomial.

/// The largest order that [`Field::new`] accepts: keeps the tables small and products in 32 bits.
pub const MAX_ORDER: u32 = 1 << 16;

/// A finite field; element `i` is the polynomial whose coefficients are the base-p digits of `i`.
pub(crate) struct Field {
    p: u32,
    order: u32,
    /// The powers of a generator of the multiplicative group, and the exponent of each element.
    powers: Vec<u32>,
    logs: Vec<u32>,
}

/// The p and x with p^x = `order`, p prime and x at least 1.
fn prime_power(order: u32) -> Option<(u32, u32)> {
    let p =
        (2..).take_while(|p| p * p <= order).find(|p| order.is_multiple_of(*p)).unwrap_or(order);
    let (mut rest, mut x) = (order, 0);
    while rest > 1 {
        if !rest.is_multiple_of(p) {
            return None;
        }
        rest /= p;
        x += 1;
    }
    (x > 0).then_some((p, x))
}

/// The `count` lowest base-p digits of `number`, lowest first.
fn digits(number: u32, p: u32, count: u32) -> Vec<u32> {
    (0..count).map(|i| number / p.pow(i) % p).collect()
}

fn number(digits: &[u32], p: u32) -> u32 {
    digits.iter().rev().fold(0, |n, d| n * p + d)
}

/// The remainder of `a` modulo the monic polynomial `m`; coefficients in GF(p), lowest first.
fn remainder(mut a: Vec<u32>, m: &[u32], p: u32) -> Vec<u32> {
    let degree = m.len() - 1;
    while a.len() > degree {
        let lead = a[a.len() - 1];
        let shift = a.len() - 1 - degree;
        for (cell, &coefficient) in a[shift..].iter_mut().zip(m) {
            *cell = (*cell + lead * (p - coefficient)) % p;
        }
        a.pop();
    }
    a
}

/// The first monic irreducible polynomial of degree `x` over GF(p) in the order of the number
/// that its coefficients form: x²+x+1 for GF(4), x³+x+1 for GF(8), x²+1 for GF(9) and so on.
fn modulus(p: u32, x: u32) -> Vec<u32> {
    let monic = |n: u32, degree: u32| {
        let mut m = digits(n, p, degree);
        m.push(1);
        m
    };
    let reducible = |m: &[u32]| {
        (1..=x / 2).any(|degree| {
            (0..p.pow(degree))
                .any(|n| remainder(m.to_vec(), &monic(n, degree), p).iter().all(|&c| c == 0))
        })
    };
    // There is an irreducible polynomial of every degree, so the search ends.
    let mut candidates = (0..).map(|n| monic(n, x));
    loop {
        match candidates.next() {
            Some(m) if !reducible(&m) => return m,
            _ => {}
        }
    }
}

impl Field {
    /// The field of the given order, if that is a prime power of at most [`MAX_ORDER`].
    pub(crate) fn new(order: u32) -> Option<Field> {
        if order > MAX_ORDER {
            return None;
        }
        let (p, x) = prime_power(order)?;
        let modulus = modulus(p, x);
        let multiply = |a: u32, b: u32| {
            let (a, b) = (digits(a, p, x), digits(b, p, x));
            let mut product = vec![0; 2 * x as usize - 1];
            for (i, a) in a.iter().enumerate() {
                for (cell, b) in product[i..].iter_mut().zip(&b) {
                    *cell = (*cell + a * b) % p;
                }
            }
            number(&remainder(product, &modulus, p), p)
        };
        // The multiplicative group is cyclic: some element's powers reach all of it.
        let powers = (1..order)
            .map(|g| {
                let mut powers = vec![1];
                let mut power = g;
                while power != 1 {
                    powers.push(power);
                    power = multiply(power, g);
                }
                powers
            })
            .find(|powers| powers.len() + 1 == order as usize)?;
        let mut logs = vec![0; order as usize];
        for (exponent, &element) in powers.iter().enumerate() {
            logs[element as usize] = exponent as u32;
        }
        Some(Field { p, order, powers, logs })
    }

    /// The sum of two elements: their digits added modulo p.
    pub(crate) fn add(&self, a: u32, b: u32) -> u32 {
        self.digitwise(a, b, |a, b| a + b)
    }

    /// The difference of two elements.
    pub(crate) fn subtract(&self, a: u32, b: u32) -> u32 {
        self.digitwise(a, b, |a, b| a + self.p - b)
    }

    fn digitwise(&self, mut a: u32, mut b: u32, operation: impl Fn(u32, u32) -> u32) -> u32 {
        let (mut result, mut place) = (0, 1);
        while a > 0 || b > 0 {
            result += operation(a % self.p, b % self.p) % self.p * place;
            (a, b, place) = (a / self.p, b / self.p, place * self.p);
        }
        result
    }

    /// The product of two elements.
    pub(crate) fn multiply(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.logs[a as usize] + self.logs[b as usize])
    }

    /// The inverse of an element; zero has none and gives zero.
    pub(crate) fn invert(&self, a: u32) -> u32 {
        if a == 0 { 0 } else { self.power(self.order - 1 - self.logs[a as usize]) }
    }

    fn power(&self, exponent: u32) -> u32 {
        self.powers[(exponent % (self.order - 1)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_are_the_usual_ones() {
        for (p, x, expected) in [
            (2, 2, vec![1, 1, 1]),
            (2, 3, vec![1, 1, 0, 1]),
            (3, 2, vec![1, 0, 1]),
            (2, 4, vec![1, 1, 0, 0, 1]),
            (5, 2, vec![2, 0, 1]),
            (3, 3, vec![1, 2, 0, 1]),
        ] {
            assert_eq!(modulus(p, x), expected, "GF({p}^{x})");
        }
    }

    #[test]
    fn only_prime_powers_are_orders() {
        let orders: Vec<u32> = (0..50).filter(|&n| Field::new(n).is_some()).collect();
        assert_eq!(
            orders,
            [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49]
        );
        assert!(Field::new(MAX_ORDER).is_some());
        assert!(Field::new(MAX_ORDER + 1).is_none());
        assert!(Field::new(u32::MAX).is_none());
    }

    #[test]
    fn the_field_axioms_hold() {
        for order in [2, 3, 4, 8, 9, 16, 25, 27] {
            let f = Field::new(order).unwrap();
            for a in 0..order {
                assert_eq!(f.add(a, 0), a);
                assert_eq!(f.multiply(a, 1), a);
                assert_eq!(f.subtract(a, a), 0);
                assert!(a == 0 || f.multiply(a, f.invert(a)) == 1);
                for b in 0..order {
                    assert_eq!(f.add(a, b), f.add(b, a));
                    assert_eq!(f.multiply(a, b), f.multiply(b, a));
                    assert_eq!(f.subtract(f.add(a, b), b), a);
                    for c in 0..order {
                        assert_eq!(
                            f.multiply(a, f.multiply(b, c)),
                            f.multiply(f.multiply(a, b), c)
                        );
                        assert_eq!(
                            f.multiply(a, f.add(b, c)),
                            f.add(f.multiply(a, b), f.multiply(a, c))
                        );
                    }
                }
            }
        }
    }
}
