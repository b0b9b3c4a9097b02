//! Named choices: the values of a text argument, in one list for reading it and for printing it.

/// A type whose values have names.
///
/// Implemented beside each such enum. Code that reads an argument calls [`Choice::named`], and puts [`Choice::list`]
/// into the error for an unknown name.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value once with its name, in the order in which messages list them.
    const NAMES: &'static [(&'static str, Self)];

    /// The value with a name.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|choice| choice.0 == name).map(|choice| choice.1)
    }

    /// The name of a value; empty for a value that the list leaves out, which a test of each implementation excludes.
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|choice| choice.1 == self).map_or("", |choice| choice.0)
    }

    /// The names as part of a sentence: `'all', 'closed' or 'pairs'`.
    fn list() -> String {
        let mut list = String::new();
        for (i, (name, _)) in Self::NAMES.iter().enumerate() {
            list.push_str(match i {
                0 => "'",
                _ if i + 1 == Self::NAMES.len() => " or '",
                _ => ", '",
            });
            list.push_str(name);
            list.push('\'');
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Word {
        One,
        Two,
        Three,
    }

    impl Choice for Word {
        const NAMES: &'static [(&'static str, Self)] =
            &[("one", Word::One), ("two", Word::Two), ("three", Word::Three)];
    }

    impl Choice for bool {
        const NAMES: &'static [(&'static str, Self)] = &[("yes", true), ("no", false)];
    }

    impl Choice for () {
        const NAMES: &'static [(&'static str, Self)] = &[("only", ())];
    }

    #[test]
    fn names_come_back() {
        for &(name, value) in Word::NAMES {
            assert_eq!((Word::named(name), value.name()), (Some(value), name));
        }
        assert_eq!(Word::named("One"), None);
        assert_eq!(Word::named(""), None);
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        assert_eq!(Word::list(), "'one', 'two' or 'three'");
        assert_eq!(bool::list(), "'yes' or 'no'");
        assert_eq!(<()>::list(), "'only'");
    }
}
