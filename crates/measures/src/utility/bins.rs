//! Numbers in ranges of equal length.

use std::ops::RangeInclusive;

/// Ranges for numbers, with ends that read well: 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bins {
    step: f64,
    /// The number of the first range: it begins at this times the step.
    first: f64,
    pub(super) count: usize,
    /// All numbers are whole.
    whole: bool,
}

/// A value as a number, if it is written as one.
fn number(value: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(value).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Codes, of a place say, begin with a zero and are no numbers.
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit());
    let number: f64 = if is_plain && !is_code { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

impl Bins {
    /// At most `limit` + 1 ranges for these values; `None` if one is no number, or there are no more than
    /// `limit` of them.
    pub(super) fn new<'v>(values: impl Iterator<Item = &'v [u8]>, limit: usize) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut whole, mut found) = (true, 0);
        for value in values {
            let number = number(value)?;
            (low, high) = (low.min(number), high.max(number));
            whole &= number.fract() == 0.0;
            found += 1;
        }
        let length = (high - low) / limit as f64;
        if found <= limit || !length.is_finite() || length <= 0.0 {
            return None;
        }
        let power = 10f64.powf(length.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|times| times * power)
            .into_iter()
            .find(|&step| step >= length)?;
        let (first, last) = ((low / step).floor(), (high / step).floor());
        let count = (last - first) as usize + 1;
        (count <= limit + 1).then_some(Bins { step, first, count, whole: whole && step >= 1.0 })
    }

    /// The range of a value.
    pub(super) fn place(&self, value: &[u8]) -> Option<usize> {
        let place = (number(value)? / self.step).floor() - self.first;
        Some((place.max(0.0) as usize).min(self.count - 1))
    }

    /// The ends of a range: of whole numbers the last one that is in it, else where the next begins.
    pub(super) fn ends(&self, place: usize) -> RangeInclusive<f64> {
        let begin = |place: usize| (self.first + place as f64) * self.step;
        begin(place)..=begin(place + 1) - f64::from(u8::from(self.whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(values: &[&str], limit: usize) -> Option<Bins> {
        Bins::new(values.iter().map(|value| value.as_bytes()), limit)
    }

    #[test]
    fn whole_numbers_have_ranges_that_end_with_one() {
        let ages: Vec<String> = (17..91).map(|age| age.to_string()).collect();
        let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
        let found = bins(&ages, 10).unwrap();
        assert_eq!((found.count, found.ends(0), found.ends(8)), (9, 10.0..=19.0, 90.0..=99.0));
        assert_eq!(
            ["17", "19", "20", "90"].map(|x| found.place(x.as_bytes()).unwrap()),
            [0, 0, 1, 8]
        );
    }

    #[test]
    fn fractions_and_negative_numbers_have_ranges() {
        let found = bins(&["-0.25", "0", "0.1", "0.5", "1"], 4).unwrap();
        assert_eq!((found.count, found.ends(0)), (4, -0.5..=0.0));
        assert_eq!(found.place(b"-0.25"), Some(0));
    }

    #[test]
    fn what_is_no_number_has_no_ranges() {
        assert_eq!(bins(&["1", "2", "x"], 2), None);
        assert_eq!(bins(&["01017", "1018", "1019"], 2), None);
        assert_eq!(bins(&["1", "2", "NaN"], 2), None);
        assert_eq!(bins(&["1", "2", "inf"], 2), None);
        assert_eq!(bins(&["1", "2", "3"], 3), None);
        assert_eq!(bins(&["1", "-1.7e308", "1.7e308"], 2), None);
    }
}
