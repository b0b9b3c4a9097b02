//! Calendar units. Those of several months are counted from the year 0, those of several hours, days or weeks
//! from a Monday: so a unit nests in every other whose length is a multiple of its own.

/// A calendar unit with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub name: String,
    pub length: Length,
}

/// The length of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Hours(i64),
    Months(i64),
}

impl Length {
    /// How many hours, or months.
    pub fn count(self) -> i64 {
        match self {
            Length::Hours(count) | Length::Months(count) => count,
        }
    }
}

/// Hours.
const DAY: i64 = 24;

/// A thousand years in hours, and in months. Units must not be longer, so that they begin and end within the calendar.
const LONGEST: (i64, i64) = (8_766_000, 12_000);

impl Unit {
    /// Reads "month" or "5 years".
    pub fn read(name: &str) -> Option<Self> {
        let (count, unit) = match name.split_once(' ') {
            None => (1, name),
            Some((count, unit)) => {
                let is_number = count.bytes().all(|b| b.is_ascii_digit());
                let count: i64 = count.parse().ok().filter(|&count| is_number && count > 0)?;
                (count, unit.strip_suffix('s').unwrap_or(unit))
            }
        };
        let hours = |hours: i64| count.checked_mul(hours).filter(|&hours| hours <= LONGEST.0);
        let months = |months: i64| count.checked_mul(months).filter(|&months| months <= LONGEST.1);
        let length = match unit {
            "hour" => Length::Hours(hours(1)?),
            "day" => Length::Hours(hours(DAY)?),
            "week" => Length::Hours(hours(7 * DAY)?),
            "month" => Length::Months(months(1)?),
            "quarter" => Length::Months(months(3)?),
            "year" => Length::Months(months(12)?),
            "decade" => Length::Months(months(120)?),
            "century" | "centurie" => Length::Months(months(1200)?),
            _ => return None,
        };
        Some(Unit { name: name.into(), length })
    }

    /// True if each unit `above`, which is longer, consists of whole units of this kind.
    pub fn nests_in(&self, above: &Unit) -> bool {
        match (self.length, above.length) {
            (Length::Hours(a), Length::Hours(b)) | (Length::Months(a), Length::Months(b)) => {
                a < b && b % a == 0
            }
            // Months begin at midnight, on any day of the week.
            (Length::Hours(a), Length::Months(_)) => DAY % a == 0,
            (Length::Months(_), Length::Hours(_)) => false,
        }
    }

    /// True if it consists of several whole days.
    pub fn joins_days(&self) -> bool {
        match self.length {
            Length::Hours(hours) => hours > DAY && hours % DAY == 0,
            Length::Months(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(name: &str) -> Unit {
        Unit::read(name).unwrap()
    }

    #[test]
    fn units_are_read() {
        assert_eq!(unit("quarter").length, Length::Months(3));
        assert_eq!(unit("5 years").length, Length::Months(60));
        assert_eq!(unit("2 weeks").length, Length::Hours(336));
        assert_eq!(unit("2 centuries").length, Length::Months(2400));
        let wrong = ["", " ", "moon", "0 days", "-1 day", "+1 day", "1.5 days", "11 centuries"];
        for name in [wrong.as_slice(), &["9999999999999999999 days", "months", "1  day"]].concat() {
            assert_eq!(Unit::read(name), None, "{name}");
        }
    }

    #[test]
    fn only_some_units_nest() {
        let nests = |below: &str, above: &str| unit(below).nests_in(&unit(above));
        assert!(nests("month", "quarter") && nests("quarter", "year") && nests("year", "5 years"));
        assert!(nests("5 years", "decade") && nests("decade", "century") && nests("day", "month"));
        assert!(nests("hour", "day") && nests("day", "week") && nests("week", "2 weeks"));
        assert!(!nests("week", "month") && !nests("week", "year") && !nests("month", "week"));
        assert!(!nests("5 months", "year") && !nests("year", "year") && !nests("year", "month"));
        assert!(
            !nests("5 hours", "day") && !nests("5 hours", "month") && !nests("2 days", "month")
        );
        assert!(!nests("2 years", "5 years") && !nests("2 weeks", "3 weeks"));
    }

    proptest! {
        /// Units that nest do so everywhere, checked by their beginnings.
        #[test]
        fn nested_units_share_what_is_above(a in 1i64..40, b in 1i64..40, at in -5000i64..5000) {
            let [below, above] = [a, b].map(|n| unit(&format!("{n} hours")));
            let begin = |at: i64, length: i64| at.div_euclid(length) * length;
            if below.nests_in(&above) {
                let last = begin(at, a) + a - 1;
                prop_assert_eq!(begin(at, b), begin(begin(at, a), b));
                prop_assert_eq!(begin(last, b), begin(begin(at, a), b));
            }
        }
    }
}
