//! Changes of the code table: the trait that observes them, and the changes of usages that they cause.

/// Observes changes of the code table while they are made.
pub(crate) trait Observer {
    /// False if [`Observer::row`] does nothing, so that nothing is collected for it.
    const SEES_ROWS: bool = true;

    /// An element enters at a slot; the rows that use it follow.
    fn enters(&mut self, slot: u32);

    /// This number of rows will follow.
    fn begins(&mut self, _rows: usize) {}

    /// A row's cover, as ids in no fixed order, before and after the change.
    fn row(&mut self, weight: u64, before: &[u32], after: &[u32]);

    /// All rows have been reported.
    fn ends(&mut self) {}

    /// An element has left its slot.
    fn leaves(&mut self, slot: u32);
}

/// For a fit from a list, where pairs are not counted.
impl Observer for () {
    const SEES_ROWS: bool = false;

    fn enters(&mut self, _: u32) {}

    fn row(&mut self, _: u64, _: &[u32], _: &[u32]) {}

    fn leaves(&mut self, _: u32) {}
}

/// Changes of usages while they are added up.
#[derive(Default)]
pub(super) struct Deltas {
    /// By id; zero between evaluations.
    pub by_id: Vec<i64>,
    touched: Vec<u32>,
}

impl Deltas {
    #[inline]
    pub(super) fn add(&mut self, id: u32, weight: i64) {
        let delta = &mut self.by_id[id as usize];
        if *delta == 0 {
            self.touched.push(id);
        }
        *delta += weight;
    }

    /// The ids whose usage changes and by how much; all changes are zero afterwards.
    #[inline]
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u32, i64)> + '_ {
        let Deltas { by_id, touched } = self;
        touched
            .drain(..)
            .map(|id| (id, std::mem::take(&mut by_id[id as usize])))
            .filter(|&(_, delta)| delta != 0)
    }
}

/// Buffers of an evaluation, kept for the next one.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(super) deltas: Deltas,
    pub(super) offsets: Vec<usize>,
    pub(super) rows: Vec<u32>,
}
