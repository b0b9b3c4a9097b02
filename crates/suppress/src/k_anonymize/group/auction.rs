//! Groups that compete for rows that others have to spare.

use super::Meeting;
use std::collections::BinaryHeap;
use table::{Stop, Watch};

/// Serves the groups of the meetings one after the other, the greatest rank first.
///
/// `offer` says what a group, by form and number, could get as things are, and its rank; nothing if it could
/// get nothing. `accept` gives it that, which may lower the ranks of others: a group whose turn has come is asked
/// again, and waits if its rank has changed. Groups of equal rank go by their keys.
pub(crate) fn auction<S, R: Ord, O>(
    state: &mut S,
    meetings: &[Meeting],
    mut offer: impl FnMut(&S, usize, usize) -> Option<(R, O)>,
    mut accept: impl FnMut(&mut S, usize, usize, O),
    watch: &Watch,
) -> Result<(), Stop> {
    let mut heap = BinaryHeap::new();
    for (form, meeting) in meetings.iter().enumerate() {
        for group in 0..meeting.keys.len() {
            if let Some((rank, _)) = offer(state, form, group) {
                heap.push((rank, meeting.keys[group], form as u32, group as u32));
            }
        }
    }
    let mut steps = 0;
    while let Some((rank, key, form, group)) = heap.pop() {
        steps += 1;
        watch.poll_every(256, steps)?;
        let Some((now, best)) = offer(state, form as usize, group as usize) else { continue };
        if now != rank {
            heap.push((now, key, form, group));
            continue;
        }
        accept(state, form as usize, group as usize, best);
    }
    Ok(())
}
