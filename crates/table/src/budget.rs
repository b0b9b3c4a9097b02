//! Memory taken from a watch, given back when its holder goes.

use crate::{Stop, Watch};

/// Bytes reserved of a watch.
pub struct Budget<'w> {
    watch: &'w Watch,
    bytes: u64,
}

impl<'w> Budget<'w> {
    /// Nothing reserved yet.
    pub fn new(watch: &'w Watch) -> Self {
        Budget { watch, bytes: 0 }
    }

    /// The watch it is taken from.
    pub fn watch(&self) -> &'w Watch {
        self.watch
    }

    /// Reserves as much as is needed for `bytes` in all; never gives any back.
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

    /// Leaves `bytes` reserved, for whoever takes over what they are for, and gives back the rest.
    pub fn hand_over(mut self, bytes: u64) -> Result<(), Stop> {
        self.raise(bytes)?;
        self.bytes -= bytes;
        Ok(())
    }
}

impl Drop for Budget<'_> {
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
        let mut budget = Budget::new(&watch);
        assert_eq!(budget.raise(60), Ok(()));
        assert_eq!(budget.raise(40), Ok(()));
        assert_eq!(budget.add(41), Err(Stop::Memory { limit: 100 }));
        assert_eq!(watch.memory(), 60);
        assert_eq!(budget.hand_over(25), Ok(()));
        assert_eq!(watch.memory(), 25);
    }
}
