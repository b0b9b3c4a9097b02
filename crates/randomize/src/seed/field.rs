//! Powers of a primitive element of GF(2^r).

use std::sync::OnceLock;

/// Primitive polynomials of degree 3, 4, …, 20, the powers of x as bits. Part of the layout of seeds.
const POLYNOMIALS: [u32; 18] = [
    0xB, 0x13, 0x25, 0x43, 0x89, 0x11D, 0x211, 0x409, 0x805, 0x1053, 0x201B, 0x4443, 0x8003,
    0x1100B, 0x20009, 0x40081, 0x80027, 0x100009,
];

/// The degrees that there are.
pub const LEAST_DEGREE: u32 = 3;
pub const LARGEST_DEGREE: u32 = LEAST_DEGREE + POLYNOMIALS.len() as u32 - 1;

/// A field: alpha^0, alpha^1, … once around, as a shift register steps through them.
#[derive(Debug)]
pub struct Field {
    pub degree: u32,
    powers: Vec<u32>,
}

impl Field {
    /// The field of a degree, made when it is first asked for: 4 MB and 4 milliseconds for the largest.
    pub fn of(degree: u32) -> &'static Field {
        static FIELDS: [OnceLock<Field>; POLYNOMIALS.len()] =
            [const { OnceLock::new() }; POLYNOMIALS.len()];
        let place = (degree.clamp(LEAST_DEGREE, LARGEST_DEGREE) - LEAST_DEGREE) as usize;
        FIELDS[place].get_or_init(|| Field::new(place))
    }

    fn new(place: usize) -> Self {
        let degree = LEAST_DEGREE + place as u32;
        let mut power = 1;
        let step = |_| {
            let now = power;
            power <<= 1;
            if power >> degree == 1 {
                power ^= POLYNOMIALS[place];
            }
            now
        };
        Field { degree, powers: (0..(1 << degree) - 1).map(step).collect() }
    }

    /// The number of powers, 2^r - 1.
    pub fn order(&self) -> usize {
        self.powers.len()
    }

    /// alpha^exponent for an exponent below the order.
    #[inline]
    pub fn power(&self, exponent: usize) -> u32 {
        self.powers[exponent]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_all_elements_but_zero() {
        for degree in LEAST_DEGREE..=LARGEST_DEGREE {
            let field = Field::of(degree);
            assert_eq!(field.degree, degree);
            let mut seen = vec![false; field.order() + 1];
            for exponent in 0..field.order() {
                let power = field.power(exponent) as usize;
                assert!(power > 0 && !std::mem::replace(&mut seen[power], true), "{degree}");
            }
        }
    }
}
