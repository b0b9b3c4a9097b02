//! Memory that is reserved of a watch's limit, and released when its holder is dropped.

use crate::{Stop, Watch};

/// Bytes reserved of a watch's limit, as long as this value lives. Code that allocates keeps one beside its
/// allocation, so that freed memory is released and memory that is held twice counts twice.
pub struct Reservation<'w> {
    watch: &'w Watch,
    bytes: u64,
}

impl<'w> Reservation<'w> {
    /// A reservation of nothing yet.
    pub fn new(watch: &'w Watch) -> Self {
        Reservation { watch, bytes: 0 }
    }

    /// The watch from which it is taken.
    pub fn watch(&self) -> &'w Watch {
        self.watch
    }

    /// The bytes reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves as much as is needed for a total of `bytes`; never releases any.
    pub fn raise(&mut self, bytes: u64) -> Result<(), Stop> {
        if bytes > self.bytes {
            self.watch.reserve(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Reserves `bytes` more.
    pub fn add(&mut self, bytes: u64) -> Result<(), Stop> {
        self.raise(self.bytes.saturating_add(bytes))
    }

    /// Releases everything beyond `bytes`.
    pub fn lower(&mut self, bytes: u64) {
        if bytes < self.bytes {
            self.watch.release(self.bytes - bytes);
            self.bytes = bytes;
        }
    }

    /// Leaves `bytes` reserved for a new owner, and releases the rest.
    pub fn hand_over(mut self, bytes: u64) -> Result<(), Stop> {
        self.raise(bytes)?;
        self.bytes -= bytes;
        Ok(())
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.watch.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_handed_over_is_given_back() {
        let watch = Watch::new(100, 0);
        let mut reservation = Reservation::new(&watch);
        assert_eq!(reservation.raise(60), Ok(()));
        assert_eq!(reservation.raise(40), Ok(()));
        assert_eq!(reservation.add(41), Err(Stop::Memory { limit: 100 }));
        assert_eq!(watch.memory(), 60);
        assert_eq!(reservation.hand_over(25), Ok(()));
        assert_eq!(watch.memory(), 25);
    }

    #[test]
    fn what_is_held_twice_counts_twice_and_what_goes_does_not() {
        let watch = Watch::new(100, 0);
        let first = watch.hold(60).unwrap();
        assert_eq!(watch.hold(60).err(), Some(Stop::Memory { limit: 100 }));
        let mut second = watch.hold(40).unwrap();
        second.lower(10);
        second.lower(50);
        assert_eq!(watch.memory(), 70);
        drop(first);
        assert_eq!(watch.memory(), 10);
        drop(second);
        assert_eq!(watch.memory(), 0);
    }
}
