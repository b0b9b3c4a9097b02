//! Powers of a primitive element of GF(2^r).

use std::sync::OnceLock;

/// Primitive polynomials of degree 3, 4, …, 26, the powers of x as bits. Part of the layout of seeds.
const POLYNOMIALS: [u32; 24] = [
    0xB, 0x13, 0x25, 0x43, 0x89, 0x11D, 0x211, 0x409, 0x805, 0x1053, 0x201B, 0x4443, 0x8003,
    0x1100B, 0x20009, 0x40081, 0x80027, 0x100009, 0x200005, 0x400003, 0x800021, 0x1000087,
    0x2000009, 0x4000047,
];

/// The smallest and the largest degree.
pub const LEAST_DEGREE: u32 = 3;
pub const LARGEST_DEGREE: u32 = LEAST_DEGREE + POLYNOMIALS.len() as u32 - 1;

/// The largest degree whose powers are all kept: 4 MB. Larger fields multiply two powers from shorter lists.
const LISTED_DEGREE: u32 = 20;

/// The number of bits of an exponent for the fine steps of a larger field.
const FINE_BITS: u32 = 13;

/// A field: alpha^0, alpha^1, … once around, as a shift register steps through them.
#[derive(Debug)]
pub struct Field {
    pub degree: u32,
    /// The polynomial without its leading term.
    tail: u32,
    /// alpha^0, alpha^1, …: all of them, or the first 2^13.
    fine: Vec<u32>,
    /// alpha^(2^13 i) for i = 0, 1, …; none where all are listed.
    coarse: Vec<u32>,
}

impl Field {
    /// The field of a degree, made at its first use: 4 MB and 4 milliseconds for the largest.
    pub fn of(degree: u32) -> &'static Field {
        static FIELDS: [OnceLock<Field>; POLYNOMIALS.len()] =
            [const { OnceLock::new() }; POLYNOMIALS.len()];
        let place = (degree.clamp(LEAST_DEGREE, LARGEST_DEGREE) - LEAST_DEGREE) as usize;
        FIELDS[place].get_or_init(|| Field::new(place))
    }

    fn new(place: usize) -> Self {
        let degree = LEAST_DEGREE + place as u32;
        let tail = POLYNOMIALS[place] ^ 1 << degree;
        let mut field = Field { degree, tail, fine: Vec::new(), coarse: Vec::new() };
        let is_listed = degree <= LISTED_DEGREE;
        let listed = if is_listed { field.order() } else { 1 << FINE_BITS };
        field.fine = field.multiples(2, listed);
        if !is_listed {
            // alpha^(2^13): one step after the last fine one.
            let step = field.multiply(field.fine[listed - 1], 2);
            field.coarse = field.multiples(step, 1 << (degree - FINE_BITS));
        }
        field
    }

    /// 1, step, step², …
    fn multiples(&self, step: u32, count: usize) -> Vec<u32> {
        std::iter::successors(Some(1), |&power| Some(self.multiply(power, step)))
            .take(count)
            .collect()
    }

    /// The number of powers, 2^r - 1.
    pub fn order(&self) -> usize {
        (1 << self.degree) - 1
    }

    /// True if every power is listed.
    pub fn is_listed(&self) -> bool {
        self.coarse.is_empty()
    }

    /// alpha^exponent for an exponent below the order.
    #[inline]
    pub fn power(&self, exponent: usize) -> u32 {
        match self.coarse.get(exponent >> FINE_BITS) {
            None => self.fine[exponent],
            Some(&coarse) => self.multiply(coarse, self.fine[exponent & ((1 << FINE_BITS) - 1)]),
        }
    }

    /// The product of two elements.
    fn multiply(&self, a: u32, b: u32) -> u32 {
        let mut product = 0;
        for bit in table::bits::ones(u64::from(b)) {
            product ^= u64::from(a) << bit;
        }
        // Bits beyond the degree are reduced by the polynomial's other terms until there are none.
        while product >> self.degree != 0 {
            let beyond = product >> self.degree;
            product &= (1 << self.degree) - 1;
            for bit in table::bits::ones(u64::from(self.tail)) {
                product ^= beyond << bit;
            }
        }
        product as u32
    }

    /// Multiplication by one element, which is linear: the products of all bytes at each of four positions.
    pub fn times(&self, factor: u32) -> Times {
        let mut sums = Box::new([[0; 256]; 4]);
        for (place, sums) in sums.iter_mut().enumerate() {
            for byte in 1..sums.len() {
                let bit = 8 * place as u32 + byte.trailing_zeros();
                let product = if bit < self.degree { self.multiply(factor, 1 << bit) } else { 0 };
                sums[byte] = sums[byte & (byte - 1)] ^ product;
            }
        }
        Times(sums)
    }
}

/// Multiplies elements of a field by a fixed one: four look-ups.
pub struct Times(Box<[[u32; 256]; 4]>);

impl Times {
    #[inline]
    pub fn of(&self, element: u32) -> u32 {
        let bytes = element.to_le_bytes();
        self.0.iter().zip(bytes).fold(0, |sum, (sums, byte)| sum ^ sums[byte as usize])
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
            let mut seen = vec![0u64; table::bits::words(field.order() + 1)];
            // Steps like a shift register, independently of the code for products.
            let mut power = 1u32;
            for exponent in 0..field.order() {
                assert!(!table::bits::has(&seen, power as usize), "{degree}");
                table::bits::insert(&mut seen, power as usize);
                if field.is_listed() || exponent % 997 == 0 || exponent + 3 > field.order() {
                    assert_eq!(field.power(exponent), power, "{degree} {exponent}");
                }
                power <<= 1;
                if power >> degree == 1 {
                    power ^= POLYNOMIALS[(degree - LEAST_DEGREE) as usize];
                }
            }
            assert_eq!(power, 1);
        }
    }

    #[test]
    fn multiplication_by_one_element_is_multiplication() {
        for degree in [3, 8, 20, 21, 26] {
            let field = Field::of(degree);
            let factor = field.power(field.order() / 3);
            let times = field.times(factor);
            for exponent in (0..field.order()).step_by(field.order() / 1000 + 1) {
                let element = field.power(exponent);
                assert_eq!(times.of(element), field.multiply(element, factor));
            }
        }
    }
}
