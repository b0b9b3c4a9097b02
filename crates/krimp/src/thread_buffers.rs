//! Buffers of threads, kept for reuse.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Buffers that a thread takes, uses and gives back.
#[derive(Default)]
pub(crate) struct ThreadBuffers<T>(Mutex<Vec<T>>);

impl<T: Default> ThreadBuffers<T> {
    /// Calls `work` with a buffer that no other thread has.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let taken = lock(&self.0).pop();
        let mut taken = taken.unwrap_or_default();
        let result = work(&mut taken);
        lock(&self.0).push(taken);
        result
    }
}

/// Locks a mutex: no code here can panic while it is locked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
