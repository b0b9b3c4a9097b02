//! The rows that are most like each row.

use crate::k_anonymize::group::{Meeting, meetings};
use crate::k_anonymize::prepare::People;
use crate::k_anonymize::search::Form;
use table::{Stop, Watch};

/// The most rows that are stored for each row.
const MOST: usize = 10;

/// The most cells examined: one or two tenths of a second. Each band gets its share.
const CELLS: usize = 1 << 26;

/// For each row some rows that it equals in forms of low loss.
pub(crate) struct Near {
    rows: Vec<[u32; MOST]>,
    counts: Vec<u8>,
}

impl Near {
    /// Goes through the forms, given band by band, until each row has met enough others.
    pub fn new(people: &People, bands: &[Vec<Form>], watch: &Watch) -> Result<Self, Stop> {
        let mut near = Near { rows: vec![[0; MOST]; people.len()], counts: vec![0; people.len()] };
        let mut seekers: Vec<u32> = (0..people.len() as u32).collect();
        for forms in bands {
            if seekers.is_empty() {
                break;
            }
            let cells = seekers.len() * people.width() * bands.len();
            let forms = &forms[..forms.len().min(1 + CELLS / cells.max(1))];
            // As many forms at once as there may be threads.
            for forms in forms.chunks(16) {
                let meetings = meetings(people, &seekers, |_| 1, forms, 2, watch)?;
                meetings.iter().for_each(|meeting| near.introduce(meeting, &seekers));
            }
            seekers.retain(|&row| usize::from(near.counts[row as usize]) < MOST);
        }
        Ok(near)
    }

    /// Each row stores the rows that follow it in its group; the first one follows the last.
    fn introduce(&mut self, meeting: &Meeting, seekers: &[u32]) {
        for group in 0..meeting.keys.len() {
            let places = meeting.members.list(group);
            for (i, &place) in places.iter().enumerate() {
                let others = places[i + 1..].iter().chain(&places[..i]).take(MOST);
                for &other in others {
                    self.add(seekers[place as usize], seekers[other as usize]);
                }
            }
        }
    }

    fn add(&mut self, row: u32, other: u32) {
        let (rows, count) = (&mut self.rows[row as usize], &mut self.counts[row as usize]);
        let known = usize::from(*count);
        if known < MOST && !rows[..known].contains(&other) {
            rows[known] = other;
            *count += 1;
        }
    }

    /// The rows that are similar to a row, nearest first.
    pub fn of(&self, row: u32) -> &[u32] {
        &self.rows[row as usize][..usize::from(self.counts[row as usize])]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn bytes(rows: usize) -> u64 {
        rows as u64 * (MOST as u64 * 4 + 1)
    }
}
