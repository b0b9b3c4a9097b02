//! The last look at a generalised release.

use super::rule::{self, Rule, Tally};
use super::{Request, totals_of};
use crate::Error;
use table::{Bag, NONE, Release, Watch};

/// Fails if what the reader of the release sees as a class has fewer than k rows, or not the diversity or
/// closeness that was asked for: what is promised does not depend on how the release was made.
pub(super) fn check(
    release: &Release,
    bag: &Bag,
    request: &Request,
    watch: &Watch,
) -> Result<(), Error> {
    let width = request.hierarchies.len();
    let _held = watch.hold(release.memory())?;
    let classes = release.classes_on(bag, width, watch)?;
    if let Some(&smallest) = classes.sizes().iter().filter(|&&size| size < request.k).min() {
        return Err(Error::Broken { k: request.k, smallest });
    }
    if request.sensitive.is_none() {
        return Ok(());
    }
    let pieces = release.pieces().iter();
    let counts = pieces.clone().map(|piece| (piece.row as usize, piece.weight));
    let rule = Rule::new(request.k, request.sensitive, totals_of(bag, width, counts));
    let null = bag.domain(width).len() as u32;
    let _held =
        watch.hold(release.pieces().len() as u64 * 16 + classes.sizes().len() as u64 * 24)?;
    let mut tallies = vec![Tally::new(); classes.sizes().len()];
    for (number, piece) in pieces.enumerate() {
        watch.poll(number)?;
        let value = match bag.row(piece.row as usize)[width] {
            NONE => null,
            code => code,
        };
        rule::add(&mut tallies[classes.of(number) as usize], value, piece.weight);
    }
    match tallies.iter().find(|tally| !rule.holds(tally)) {
        Some(tally) => Err(Error::NotKept { rows: rule::rows(tally) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diversity, DiversityKind, General, Hierarchy};

    /// Dates with their year above them, which looks like its first day, and a disease.
    fn table() -> (Bag, [Hierarchy; 1]) {
        let rows =
            [("1987-01-01", "a"), ("1987-03-01", "b"), ("1988-05-01", "a"), ("1988-06-01", "a")];
        let bag = Bag::from_text(2, rows.map(|(date, value)| [Some(date), Some(value)]));
        let years = bag.domain(0).values().map(|v| Some(if v < b"1988" { 1987 } else { 1988 }));
        let general =
            |_: usize, year: i32| General { text: format!("{year}-01-01").into_bytes(), loss: 0.1 };
        let hierarchy = Hierarchy::new(bag.domain(0), &[years.collect()], general).unwrap();
        (bag, [hierarchy])
    }

    fn checked(levels: [Option<usize>; 4], k: u64, asked: Option<Diversity>) -> Result<(), Error> {
        let (bag, hierarchies) = table();
        let mut release = Release::new(2);
        for (row, level) in levels.iter().enumerate() {
            let Some(level) = *level else { continue };
            let shown = hierarchies[0].shown(bag.row(row)[0], level);
            release.push_filled(row as u32, &[1], &[shown], 1);
        }
        let request = Request { k, hierarchies: &hierarchies, weights: None, sensitive: asked };
        check(&release, &bag, &request, &Watch::unlimited())
    }

    #[test]
    fn small_classes_are_refused() {
        assert_eq!(checked([Some(1); 4], 2, None), Ok(()));
        assert_eq!(checked([Some(1); 4], 3, None), Err(Error::Broken { k: 3, smallest: 2 }));
        let apart = [Some(1), Some(1), Some(1), Some(0)];
        assert_eq!(checked(apart, 2, None), Err(Error::Broken { k: 2, smallest: 1 }));
    }

    #[test]
    fn what_looks_alike_is_counted_together() {
        assert_eq!(checked([Some(0), Some(1), Some(1), Some(1)], 2, None), Ok(()));
    }

    #[test]
    fn classes_that_tell_the_value_are_refused() {
        let asked = |l, kind| Some(Diversity { l: Some(l), kind, t: None });
        let refused = Err(Error::NotKept { rows: 2 });
        assert_eq!(checked([Some(1); 4], 2, asked(2.0, DiversityKind::Distinct)), refused);
        assert_eq!(checked([Some(2); 4], 2, asked(2.0, DiversityKind::Distinct)), Ok(()));
        let refused = Err(Error::NotKept { rows: 4 });
        assert_eq!(checked([Some(2); 4], 2, asked(2.0, DiversityKind::Entropy)), refused);
        let even = [Some(1), Some(1), None, None];
        assert_eq!(checked(even, 2, asked(2.0, DiversityKind::Entropy)), Ok(()));
    }

    /// A class of both values is 1/4 away from the table, but not from a release of nothing else.
    #[test]
    fn closeness_is_to_the_released_rows() {
        let asked = Some(Diversity { l: None, kind: DiversityKind::Distinct, t: Some(0.1) });
        assert_eq!(checked([Some(1); 4], 2, asked), Err(Error::NotKept { rows: 2 }));
        assert_eq!(checked([Some(1), Some(1), None, None], 2, asked), Ok(()));
    }
}
