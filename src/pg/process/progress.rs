//! How far a long call is: NOTICE lines for the caller, and what others are told of a publish.

use super::worker::running;
use crate::pg::call::notice::notice;
use crate::pg::call::settings;
use std::time::{Duration, Instant};
use table::Watch;

pub struct Progress {
    phase: &'static str,
    interval: Option<Duration>,
    began: Instant,
    last: Instant,
    /// It was said that all is done: the rest has no share.
    is_complete: bool,
}

impl Progress {
    pub fn begin(phase: &'static str) -> Self {
        let now = Instant::now();
        running::tell(phase, 0, None);
        Progress {
            phase,
            interval: settings::progress(),
            began: now,
            last: now,
            is_complete: false,
        }
    }

    /// True once per interval.
    fn due(&mut self) -> bool {
        let due = self.interval.is_some_and(|interval| self.last.elapsed() >= interval);
        if due {
            self.last = Instant::now();
        }
        due
    }

    /// Tells how many rows are read, if it is time.
    pub fn rows(&mut self, rows: u64) {
        running::tell(self.phase, rows, None);
        if self.due() {
            let seconds = self.began.elapsed().as_secs();
            notice(&format!("pg_sanitize: {}, {rows} rows, {seconds} s", self.phase));
        }
    }

    /// A share for a line: rounded down, and 100 % once.
    fn percent(&mut self, share: f64) -> String {
        match share >= 1.0 {
            true if self.is_complete => "finishing".into(),
            is_complete => {
                self.is_complete = is_complete;
                format!("{:.0} %", (share * 100.0).floor())
            }
        }
    }

    /// Tells how far the work under `watch` is, if it is time; `tell` says what there is so far, if anything.
    pub fn work(&mut self, watch: &Watch, tell: impl Fn(&Watch) -> String) {
        running::tell(self.phase, 0, watch.share());
        if self.due() {
            let share = watch.share().map(|share| self.percent(share));
            let parts = [Some(self.phase.into()), share, Some(tell(watch))];
            let parts: Vec<String> =
                parts.into_iter().flatten().filter(|p| !p.is_empty()).collect();
            let seconds = self.began.elapsed().as_secs();
            notice(&format!("pg_sanitize: {}, {seconds} s", parts.join(", ")));
        }
    }
}
