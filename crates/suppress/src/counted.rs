//! What is counted: rows, or units that have them.

use table::{Bag, Release, ReleaseClasses, Stop, UnitCounter, Units, Watch};

/// The number of rows, or of units that have one.
pub(crate) fn counted(bag: &Bag, units: Option<&Units>, watch: &Watch) -> Result<u64, Stop> {
    units.map_or(Ok(bag.row_count()), |units| units.count(watch))
}

/// The classes of a release, and how many rows or units each has.
pub(crate) struct CountedClasses {
    pub classes: ReleaseClasses,
    /// The units of each class, if these are counted.
    units: Option<Vec<u64>>,
}

impl CountedClasses {
    /// Rows that are shown alike in the first `width` columns are in one class.
    pub fn new(
        release: &Release,
        bag: &Bag,
        units: Option<&Units>,
        width: usize,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let classes = release.classes_on(bag, width, watch)?;
        let Some(units) = units else { return Ok(CountedClasses { classes, units: None }) };
        let _held =
            watch.hold(UnitCounter::bytes(units.domain()) + PiecesByClass::bytes(release))?;
        let pieces = PiecesByClass::new(release, &classes);
        let mut counter = UnitCounter::new(units.domain());
        let mut found = Vec::with_capacity(classes.sizes().len());
        for class in 0..classes.sizes().len() {
            watch.poll_every(64, class)?;
            let of = pieces.of(class).iter();
            let of = of.flat_map(|&piece| release.units_of(piece as usize, bag, units));
            found.push(counter.count(of.map(|of| of.unit), u64::MAX));
        }
        Ok(CountedClasses { classes, units: Some(found) })
    }

    /// How many rows or units each class has.
    pub fn sizes(&self) -> &[u64] {
        self.units.as_deref().unwrap_or(self.classes.sizes())
    }

    /// How many rows or units the class of a piece has.
    pub fn size(&self, piece: usize) -> u64 {
        self.sizes()[self.classes.of(piece) as usize]
    }
}

/// The pieces of a release, class by class.
pub(crate) struct PiecesByClass {
    pieces: Vec<u32>,
    ends: Vec<usize>,
}

impl PiecesByClass {
    pub fn new(release: &Release, classes: &ReleaseClasses) -> Self {
        let all = || (0..release.pieces().len()).map(|piece| (classes.of(piece) as usize, piece));
        // Where the pieces of a class begin; filling its list moves that to where they end.
        let mut ends = vec![0; classes.sizes().len() + 1];
        all().for_each(|(class, _)| ends[class + 1] += 1);
        for class in 1..ends.len() {
            ends[class] += ends[class - 1];
        }
        let mut pieces = vec![0; release.pieces().len()];
        for (class, piece) in all() {
            pieces[ends[class]] = piece as u32;
            ends[class] += 1;
        }
        PiecesByClass { pieces, ends }
    }

    /// The pieces of a class, ascending.
    pub fn of(&self, class: usize) -> &[u32] {
        let begin = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pieces[begin..self.ends[class]]
    }

    /// The bytes of the lists of a release, and of a number for each class.
    pub fn bytes(release: &Release) -> u64 {
        release.pieces().len() as u64 * (4 + 8 + 8)
    }
}
