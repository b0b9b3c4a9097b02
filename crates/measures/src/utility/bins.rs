//! Bins numbers and dates into ranges of equal length.

/// Ranges with readable ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bins {
    scale: Scale,
    /// The number of the first range: it begins at this number times the step of the scale.
    first: f64,
    pub(super) count: usize,
}

/// The length of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// 1, 2 or 5 (`times`) times a power of ten. `whole`: all numbers and ends are whole.
    Decimal {
        times: f64,
        power: i32,
        whole: bool,
    },
    Days(f64),
    Months(f64),
}

/// Lengths of ranges of dates, in days: days, weeks, months, quarters, then 1, 2, 5 times a power of ten years.
const DATES: [(f64, Scale); 13] = [
    (1.0, Scale::Days(1.0)),
    (7.0, Scale::Days(7.0)),
    (30.44, Scale::Months(1.0)),
    (91.3, Scale::Months(3.0)),
    (365.25, Scale::Months(12.0)),
    (730.5, Scale::Months(24.0)),
    (1826.25, Scale::Months(60.0)),
    (3652.5, Scale::Months(120.0)),
    (7305.0, Scale::Months(240.0)),
    (18262.5, Scale::Months(600.0)),
    (36525.0, Scale::Months(1200.0)),
    (73050.0, Scale::Months(2400.0)),
    (182_625.0, Scale::Months(6000.0)),
];

/// The part of a value that decides its bin: the value itself, or the beginning of a range such as `[20,30)`.
fn begin(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    let Some(range) = text.strip_prefix(['[', '(']) else { return Some(text) };
    let (low, high) = range.strip_suffix([']', ')'])?.split_once(',')?;
    Some(if low.is_empty() { high } else { low }.trim_matches('"'))
}

/// A value as a number, if it is written as one.
fn number(value: &[u8]) -> Option<f64> {
    let text = begin(value)?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Codes, such as postcodes, begin with a zero and are not numbers.
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit());
    let number: f64 = if is_plain && !is_code { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

/// Year, month and day of a value, if it begins with a date as the ISO style writes it.
fn date(value: &[u8]) -> Option<[i64; 3]> {
    let text = begin(value)?;
    let day = text.split([' ', 'T']).next()?;
    let mut parts = day.split('-');
    let mut part = |length: usize| {
        let part = parts.next().filter(|part| part.len() >= length)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<i64>().ok()).flatten()
    };
    let found = [part(4)?, part(2)?, part(2)?];
    let fits = (1..=12).contains(&found[1]) && (1..=31).contains(&found[2]) && found[0] < 100_000;
    (fits && parts.next().is_none() && !text.ends_with("BC")).then_some(found)
}

/// Days since 0000-03-01 in the Gregorian calendar.
fn days([year, month, day]: [i64; 3]) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1
}

/// The date of such a number.
fn day(days: i64) -> String {
    // The first estimate of the year is off by at most one.
    let mut year = days.div_euclid(365);
    while self::days([year, 3, 1]) > days {
        year -= 1;
    }
    let rest = days - self::days([year, 3, 1]);
    let month = (5 * rest + 2) / 153;
    let day = rest - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{year:04}-{month:02}-{day:02}")
}

impl Scale {
    /// The number of steps to a value.
    fn steps(self, value: &[u8]) -> Option<f64> {
        Some(match self {
            Scale::Decimal { times, power, .. } => {
                let number = number(value)?;
                let unit = 10f64.powi(power.abs());
                (if power < 0 { number * unit } else { number / unit } / times).floor()
            }
            Scale::Days(step) => (days(date(value)?) as f64 / step).floor(),
            Scale::Months(step) => {
                let [year, month, _] = date(value)?;
                ((12 * year + month - 1) as f64 / step).floor()
            }
        })
    }

    /// The name of the range after this number of steps. Ranges of whole numbers are named by the last number in
    /// them, others by the beginning of the next range.
    fn name(self, steps: f64) -> String {
        match self {
            Scale::Decimal { times, power, whole } => {
                let unit = 10f64.powi(power.abs());
                // Divided, not multiplied: 6 tenths are 0.6, but 6 times the float 0.1 is not.
                let at = |steps: f64| {
                    if power < 0 { steps * times / unit } else { steps * times * unit }
                };
                let (low, high) = (at(steps), at(steps + 1.0) - f64::from(u8::from(whole)));
                if low == high { low.to_string() } else { format!("{low} to {high}") }
            }
            Scale::Days(1.0) => day(steps as i64),
            Scale::Days(step) => {
                let first = (steps * step) as i64;
                format!("{} to {}", day(first), day(first + step as i64 - 1))
            }
            Scale::Months(step) => {
                let first = (steps * step) as i64;
                let (year, month) = (first.div_euclid(12), first.rem_euclid(12));
                match step as i64 {
                    1 => format!("{year:04}-{:02}", month + 1),
                    3 => format!("{year:04} Q{}", month / 3 + 1),
                    12 => format!("{year:04}"),
                    months => format!("{year:04} to {:04}", year + months / 12 - 1),
                }
            }
        }
    }
}

/// True for numbers and dates without a range: infinite ones and NaN.
fn is_endless(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    [b"infinity".as_slice(), b"Infinity", b"NaN"].contains(&value)
}

impl Bins {
    /// At most `limit` + 1 ranges for these values except infinite ones and NaN; `None` if one is neither a number
    /// nor a date, or there are at most `limit` of them.
    pub(super) fn new<'v>(values: impl Iterator<Item = &'v [u8]>, limit: usize) -> Option<Self> {
        let values: Vec<&[u8]> = values.filter(|value| !is_endless(value)).collect();
        if values.len() <= limit {
            return None;
        }
        let scale = match date(values[0]) {
            Some(_) => of_dates(&values, limit),
            None => of_numbers(&values, limit),
        }?;
        let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
        for value in &values {
            let steps = scale.steps(value)?;
            ends = (ends.0.min(steps), ends.1.max(steps));
        }
        let count = (ends.1 - ends.0) as usize + 1;
        (count <= limit + 1).then_some(Bins { scale, first: ends.0, count })
    }

    /// The range of a value; infinite ones and NaN have none.
    pub(super) fn place(&self, value: &[u8]) -> Option<usize> {
        let place = self.scale.steps(value)? - self.first;
        Some((place.max(0.0) as usize).min(self.count - 1))
    }

    /// The name of a range.
    pub(super) fn name(&self, place: usize) -> String {
        self.scale.name(self.first + place as f64)
    }
}

fn of_numbers(values: &[&[u8]], limit: usize) -> Option<Scale> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut whole = true;
    for value in values {
        let number = number(value)?;
        (low, high) = (low.min(number), high.max(number));
        whole &= number.fract() == 0.0;
    }
    let length = (high - low) / limit as f64;
    if !length.is_finite() || length <= 0.0 {
        return None;
    }
    let power = length.log10().floor() as i32;
    let least = length / 10f64.powi(power);
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|&times| times >= least)?;
    let (times, power) = if times == 10.0 { (1.0, power + 1) } else { (times, power) };
    (power.abs() <= 300).then_some(Scale::Decimal { times, power, whole: whole && power >= 0 })
}

fn of_dates(values: &[&[u8]], limit: usize) -> Option<Scale> {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for value in values {
        let days = days(date(value)?);
        (low, high) = (low.min(days), high.max(days));
    }
    let length = (high - low) as f64 / limit as f64;
    DATES.into_iter().find(|&(days, _)| days >= length).map(|(_, scale)| scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(values: &[&str], limit: usize) -> Option<Bins> {
        Bins::new(values.iter().map(|value| value.as_bytes()), limit)
    }

    fn names(bins: Bins) -> Vec<String> {
        (0..bins.count).map(|place| bins.name(place)).collect()
    }

    #[test]
    fn whole_numbers_have_ranges_that_end_with_one() {
        let ages: Vec<String> = (17..91).map(|age| age.to_string()).collect();
        let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
        let found = bins(&ages, 10).unwrap();
        assert_eq!(
            (found.count, found.name(0), found.name(8)),
            (9, "10 to 19".into(), "90 to 99".into())
        );
        assert_eq!(
            ["17", "19", "20", "90", "[20,30)", "(,30)"]
                .map(|x| found.place(x.as_bytes()).unwrap()),
            [0, 0, 1, 8, 1, 2]
        );
    }

    #[test]
    fn fractions_and_negative_numbers_have_ranges() {
        let found = bins(&["-0.25", "0", "0.1", "0.5", "1"], 4).unwrap();
        assert_eq!((found.count, found.name(0)), (4, "-0.5 to 0".into()));
        assert_eq!(found.place(b"-0.25"), Some(0));
        // 6 steps of 0.1 or of 0.2 have ends that need no rounding.
        for (step, limit) in [(0.1, 9), (0.2, 9), (0.3, 13), (0.01, 9), (0.7, 9)] {
            let values: Vec<String> =
                (0..20).map(|i| format!("{:.3}", f64::from(i) * step)).collect();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            for name in names(bins(&values, limit).unwrap()) {
                assert!(name.split(" to ").all(|end| end.len() <= 5), "{name}");
            }
        }
    }

    #[test]
    fn dates_have_ranges_of_the_calendar() {
        let dates = |from: i64, step: i64, count: i64| -> Vec<String> {
            (0..count).map(|i| day(from + i * step)).collect()
        };
        let found = |dates: Vec<String>| {
            let texts: Vec<&str> = dates.iter().map(String::as_str).collect();
            names(bins(&texts, 9).unwrap())
        };
        let new_year = days([2020, 1, 1]);
        assert_eq!(day(new_year + 59), "2020-02-29");
        assert_eq!(found(dates(new_year, 1, 10)), dates(new_year, 1, 10));
        let weeks = found(dates(new_year, 4, 12));
        assert_eq!(weeks[0], "2020-01-01 to 2020-01-07");
        assert_eq!(found(dates(new_year, 9, 22))[..2], ["2020-01", "2020-02"]);
        assert_eq!(found(dates(new_year, 30, 20))[..2], ["2020 Q1", "2020 Q2"]);
        assert_eq!(found(dates(new_year, 99, 30))[7], "2027");
        assert_eq!(found(dates(new_year, 900, 30))[1], "2030 to 2039");
        let found =
            bins(&["2020-01-01 23:00:00+00", "[2021-05-01,2021-06-01)", "1999-12-31"], 2).unwrap();
        assert_eq!(found.place(b"2021-05-03 00:00:00"), found.place(b"[2021-05-01,2021-06-01)"));
        let found =
            bins(&["-infinity", "2020-01-01", "2020-01-02", "2020-01-03", "infinity"], 2).unwrap();
        assert_eq!((found.count, found.place(b"infinity")), (3, None));
    }

    #[test]
    fn days_lead_there_and_back() {
        for number in (days([1582, 10, 15])..days([2420, 1, 1])).step_by(13) {
            let text = day(number);
            assert_eq!(days(date(text.as_bytes()).unwrap()), number, "{text}");
        }
    }

    #[test]
    fn what_is_neither_has_no_ranges() {
        assert_eq!(bins(&["1", "2", "x"], 2), None);
        assert_eq!(bins(&["01017", "1018", "1019"], 2), None);
        assert_eq!(bins(&["1", "2", "NaN"], 2), None);
        assert_eq!(bins(&["1", "2", "3", "inf"], 2), None);
        assert_eq!(bins(&["1", "2", "3"], 3), None);
        assert_eq!(bins(&["1", "-1.7e308", "1.7e308"], 2), None);
        assert_eq!(bins(&["2020-01-01", "2020-13-01", "2020-01-03"], 2), None);
        assert_eq!(bins(&["2020-01-01", "7", "2020-01-03"], 2), None);
    }
}
