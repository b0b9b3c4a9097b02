//! Counters of units for several threads.

use std::sync::Mutex;
use table::{Reservation, Stop, UnitCounter, Units, Watch};

/// Counts the units of distinct rows. Threads count at the same time, each with a counter that the next one takes
/// after it.
pub(crate) struct UnitCounters<'a> {
    units: &'a Units,
    idle: Mutex<(Vec<UnitCounter>, Reservation<'a>)>,
}

impl<'a> UnitCounters<'a> {
    pub(crate) fn new(units: &'a Units, watch: &'a Watch) -> Self {
        UnitCounters { units, idle: Mutex::new((Vec::new(), Reservation::new(watch))) }
    }

    /// Runs work with a counter of its own.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut UnitCounter) -> T) -> Result<T, Stop> {
        let domain = self.units.domain();
        let idle = || self.idle.lock().unwrap_or_else(|e| e.into_inner());
        let counter = {
            let (counters, held) = &mut *idle();
            match counters.pop() {
                Some(counter) => Ok(counter),
                None => held.add(UnitCounter::bytes(domain)).map(|()| UnitCounter::new(domain)),
            }
        };
        let mut counter = counter?;
        let result = work(&mut counter);
        idle().0.push(counter);
        Ok(result)
    }

    pub(crate) fn units(&self) -> &'a Units {
        self.units
    }
}
