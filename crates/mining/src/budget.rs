//! Memory taken from a watch, given back when its holder goes.

use table::{Stop, Watch};

/// Bytes reserved of a watch.
pub(crate) struct Budget<'w> {
    watch: &'w Watch,
    bytes: u64,
}

impl<'w> Budget<'w> {
    pub(crate) fn new(watch: &'w Watch) -> Self {
        Budget { watch, bytes: 0 }
    }

    pub(crate) fn watch(&self) -> &'w Watch {
        self.watch
    }

    /// Reserves as much as is needed for `bytes` in all; never gives any back.
    pub(crate) fn raise(&mut self, bytes: u64) -> Result<(), Stop> {
        if bytes > self.bytes {
            self.watch.reserve(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Reserves `bytes` more.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), Stop> {
        self.raise(self.bytes.saturating_add(bytes))
    }

    /// Leaves `bytes` reserved, for whoever takes over what they are for, and gives back the rest.
    pub(crate) fn hand_over(mut self, bytes: u64) -> Result<(), Stop> {
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
