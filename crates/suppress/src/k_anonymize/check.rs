//! The last check of a k-anonymous release.

use super::rule::{self, Rule, Tally};
use super::{Diversity, KAnonymity, OfUnit, Terms, value};
use crate::Error;
use crate::counted::PiecesByClass;
use table::{Bag, Release, Units, Watch};

/// How often classes are dropped, because closeness is to the rows that are left.
const ROUNDS: usize = 64;

/// Drops the classes, as a reader of the release sees them, that have fewer than k rows, or units; fails if a remaining class is
/// smaller or lacks the diversity or closeness that was asked for. So the guarantee does not depend on how the release
/// was made. With units the search only approaches diversity and closeness, so classes that lack them are dropped.
pub(super) fn checked(
    release: Release,
    bag: &Bag,
    units: Option<&Units>,
    width: usize,
    asked: &KAnonymity,
    watch: &Watch,
) -> Result<Release, Error> {
    let release = crate::checked(release, bag, units, width, asked.k, watch)?;
    if let (Some(units), Some(diversity)) = (units, asked.diversity) {
        return checked_units(release, bag, units, width, (asked.k, diversity), watch);
    }
    if asked.diversity.is_none() {
        return Ok(release);
    }
    let _held = watch.hold(release.memory())?;
    let classes = release.classes_on(bag, width, watch)?;
    let pieces = release.pieces().iter();
    let _held =
        watch.hold(release.pieces().len() as u64 * 16 + classes.sizes().len() as u64 * 24)?;
    let mut totals = vec![0; bag.domain(width).len() + 1];
    let mut tallies = vec![Tally::new(); classes.sizes().len()];
    for (number, piece) in pieces.enumerate() {
        watch.poll(number)?;
        let value = value(bag, piece.row as usize, width);
        totals[value as usize] += piece.weight;
        rule::add(&mut tallies[classes.of(number) as usize], value, piece.weight);
    }
    let rule = Rule::new(asked.k, asked.diversity, totals);
    match tallies.iter().find(|tally| !rule.holds(tally)) {
        Some(tally) => Err(Error::NotKept { rows: rule::rows(tally) }),
        None => Ok(release),
    }
}

/// Drops the classes of units that lack diversity or closeness, until none does.
fn checked_units(
    mut release: Release,
    bag: &Bag,
    units: &Units,
    width: usize,
    (k, diversity): (u64, Diversity),
    watch: &Watch,
) -> Result<Release, Error> {
    let _held = watch.hold(release.memory() + units.pairs() as u64 * 96)?;
    let mut lacking = 0;
    for _ in 0..ROUNDS {
        watch.check()?;
        let classes = release.classes_on(bag, width, watch)?;
        let _lists = watch.hold(PiecesByClass::bytes(&release))?;
        let pieces = PiecesByClass::new(&release, &classes);
        let rows = |class: usize| -> Vec<OfUnit> {
            let of = |&piece: &u32| {
                let row = release.pieces()[piece as usize].row as usize;
                let value = value(bag, row, width);
                let own = release.units_of(piece as usize, bag, units).iter();
                own.map(move |of| OfUnit { value, unit: of.unit, rows: of.rows })
            };
            pieces.of(class).iter().flat_map(of).collect()
        };
        let count = classes.sizes().len();
        let mut all: Vec<OfUnit> = (0..count).flat_map(rows).collect();
        let terms = Terms::new(k, diversity, bag.domain(width).len() + 1, &mut all);
        drop(all);
        let mut holds = Vec::with_capacity(count);
        for class in 0..count {
            watch.check()?;
            holds.push(terms.hold(&mut rows(class)));
        }
        let Some(place) = holds.iter().position(|holds| !holds) else { return Ok(release) };
        lacking = classes.sizes()[place];
        let weights: Vec<u64> = release.pieces().iter().map(|piece| piece.weight).collect();
        let stays = |piece: usize| holds[classes.of(piece) as usize];
        release = release.reweigh(|piece| if stays(piece) { weights[piece] } else { 0 });
    }
    Err(Error::NotKept { rows: lacking })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiversityKind, General, Hierarchy};

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

    /// The rows of a release at these levels that the last check keeps.
    fn rows(
        levels: [Option<usize>; 4],
        k: u64,
        diversity: Option<Diversity>,
    ) -> Result<Vec<u32>, Error> {
        let (bag, hierarchies) = table();
        let mut release = Release::new(2);
        for (row, level) in levels.iter().enumerate() {
            let Some(level) = *level else { continue };
            let shown = hierarchies[0].shown(bag.row(row)[0], level);
            release.push_filled(row as u32, &[1], &[shown], 1);
        }
        let asked = KAnonymity { k, diversity, ..KAnonymity::default() };
        let release = checked(release, &bag, None, 1, &asked, &Watch::unlimited())?;
        Ok(release.pieces().iter().map(|piece| piece.row).collect())
    }

    #[test]
    fn small_classes_go() {
        assert_eq!(rows([Some(1); 4], 2, None), Ok(vec![0, 1, 2, 3]));
        assert_eq!(rows([Some(1); 4], 3, None), Ok(vec![]));
        let apart = [Some(1), Some(1), Some(1), Some(0)];
        assert_eq!(rows(apart, 2, None), Ok(vec![0, 1]));
    }

    #[test]
    fn what_looks_alike_is_counted_together() {
        assert_eq!(rows([Some(0), Some(1), Some(1), Some(1)], 2, None), Ok(vec![0, 1, 2, 3]));
    }

    #[test]
    fn classes_that_tell_the_value_are_refused() {
        let asked = |l, kind| Some(Diversity { l: Some(l), kind, t: None });
        let refused = Err(Error::NotKept { rows: 2 });
        assert_eq!(rows([Some(1); 4], 2, asked(2.0, DiversityKind::Distinct)), refused);
        assert_eq!(
            rows([Some(2); 4], 2, asked(2.0, DiversityKind::Distinct)),
            Ok(vec![0, 1, 2, 3])
        );
        let refused = Err(Error::NotKept { rows: 4 });
        assert_eq!(rows([Some(2); 4], 2, asked(2.0, DiversityKind::Entropy)), refused);
        let even = [Some(1), Some(1), None, None];
        assert_eq!(rows(even, 2, asked(2.0, DiversityKind::Entropy)), Ok(vec![0, 1]));
    }

    /// A class of both values is 1/4 away from the table, but 0 from a release that has only this class.
    #[test]
    fn closeness_is_to_the_released_rows() {
        let asked = Some(Diversity { l: None, kind: DiversityKind::Distinct, t: Some(0.1) });
        assert_eq!(rows([Some(1); 4], 2, asked), Err(Error::NotKept { rows: 2 }));
        assert_eq!(rows([Some(1), Some(1), None, None], 2, asked), Ok(vec![0, 1]));
    }

    /// Rows that are shown alike in twos: the first two are of different people with different values, of the other two
    /// one person has both values. Whatever was searched, the class that lacks diversity goes, and its rows no longer
    /// count for closeness.
    #[test]
    fn classes_of_units_that_lack_something_go() {
        let rows = [
            ["a", "x", "1"],
            ["a", "y", "2"],
            ["b", "x", "3"],
            ["b", "y", "3"],
            ["b", "x", "4"],
            ["b", "x", "5"],
        ];
        let whole = Bag::from_text(3, rows.map(|row| row.map(Some)));
        let watch = Watch::unlimited();
        let (bag, units) = whole.split_units(&watch).unwrap();
        let kept = |l, t, kind| -> Result<Vec<u32>, Error> {
            let release = Release::from_masks(&bag, &[0; 4], &watch).unwrap();
            let diversity = Some(Diversity { l, kind, t });
            let asked = KAnonymity { k: 2, diversity, ..KAnonymity::default() };
            let release = checked(release, &bag, Some(&units), 1, &asked, &watch)?;
            Ok(release.pieces().iter().map(|piece| piece.row).collect())
        };
        let (distinct, entropy) = (DiversityKind::Distinct, DiversityKind::Entropy);
        assert_eq!(kept(Some(2.0), None, distinct), Ok(vec![0, 1, 2, 3]));
        assert_eq!(kept(Some(2.0), None, entropy), Ok(vec![0, 1]));
        // Of b's three people one weighs half in y: a share of 1/6 against 1/2.
        assert_eq!(kept(Some(1.5), None, entropy), Ok(vec![0, 1, 2, 3]));
        assert_eq!(kept(Some(1.6), None, entropy), Ok(vec![0, 1]));
        assert_eq!(kept(None, Some(0.25), distinct), Ok(vec![0, 1, 2, 3]));
        assert_eq!(kept(None, Some(0.1), distinct), Ok(vec![]));
    }
}
