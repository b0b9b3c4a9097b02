//! Formats numbers and values for readers.

/// A share in per cent, with as many digits as are meaningful.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        p if p == 0.0 || p >= 99.95 => format!("{percent:.0}\u{a0}%"),
        p if p < 0.05 => String::from("<\u{a0}0.1\u{a0}%"),
        _ => format!("{percent:.1}\u{a0}%"),
    }
}

/// The share that some of all rows are.
pub fn of_all(some: u64, all: u64) -> f64 {
    some as f64 / all.max(1) as f64
}

/// What a number that may be missing is written as.
pub fn or_dash<T>(known: Option<T>, write: impl Fn(T) -> String) -> String {
    known.map_or_else(|| String::from("–"), write)
}

/// A count with separated thousands.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let mut text = String::from(&digits[..first]);
    for (i, digit) in digits[first..].chars().enumerate() {
        if i % 3 == 0 && !text.is_empty() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three significant digits.
pub fn plain(number: f64) -> String {
    match number.abs() {
        0.0 => String::from("0"),
        n if n >= 1e6 => format!("{number:.2e}"),
        n if n >= 100.0 => {
            let sign = if number < 0.0 { "−" } else { "" };
            format!("{sign}{}", count(n.round() as u64))
        }
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 0.01 => format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').into(),
        _ => format!("{number:.1e}"),
    }
}

/// A number with its noun in the singular or plural.
pub fn of(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// Columns by name, or their number.
pub fn names(columns: &[String]) -> String {
    match columns {
        [] => String::from("no column"),
        [one] => format!("the column {one}"),
        [first @ .., last] if columns.len() <= 6 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} columns", columns.len()),
    }
}

/// A text cut for a narrow place: at most as wide as this number of characters of average width.
pub fn cut(text: &str, characters: u32) -> String {
    let room = characters * 10;
    if text.chars().map(width).sum::<u32>() <= room {
        return text.into();
    }
    let mut used = 10;
    let fits = |c: &char| {
        used += width(*c);
        used <= room
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

/// The approximate width of a character, in tenths of an average one.
fn width(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ' ' | '\'' | '|' | '-' => 6,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 15,
        'A'..='Z' => 11,
        '\u{1100}'.. => 20,
        _ => 10,
    }
}

/// The text of a value; `None` is NULL.
pub fn value(value: Option<&str>) -> &str {
    match value {
        None => "NULL",
        Some("") => "(empty text)",
        Some(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let shares = [0.0, 0.0001, 0.1234, 0.9999, 1.0].map(share);
        assert_eq!(
            shares,
            ["0\u{a0}%", "<\u{a0}0.1\u{a0}%", "12.3\u{a0}%", "100\u{a0}%", "100\u{a0}%"]
        );
        assert_eq!(
            [0, 12, 123, 1234, 1_234_567].map(count),
            ["0", "12", "123", "1,234", "1,234,567"]
        );
        let numbers = [0.0, 1.0, 0.5, 12.345, 1234.5, 1e-9, -250.0, 5e7].map(plain);
        assert_eq!(numbers, ["0", "1", "0.5", "12.3", "1,235", "1.0e-9", "−250", "5.00e7"]);
        let cuts =
            [cut("Schöneberg", 11), cut("Schöneberg", 6), cut("東京都港区", 6), cut("illicit", 5)];
        assert_eq!(cuts, ["Schöneberg", "Schö…", "東京…", "illicit"]);
        assert_eq!((of(1, "row", "rows"), of(2, "row", "rows")), ("1 row".into(), "2 rows".into()));
    }
}
