//! The progress of a long call: NOTICE lines for the caller, and what the view `progress` shows of a publish.

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
    /// 100 % was reported already: later lines have no percentage.
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

    /// Reports how many rows are read, at most once per interval.
    pub fn rows(&mut self, rows: u64) {
        running::tell(self.phase, rows, None);
        if self.due() {
            let seconds = self.began.elapsed().as_secs();
            notice(&format!("pg_sanitize: {}, {rows} rows, {seconds} s", self.phase));
        }
    }

    /// A share as a percentage for a line: rounded down; 100 % is reported once.
    fn percent(&mut self, share: f64) -> String {
        match share >= 1.0 {
            true if self.is_complete => "finishing".into(),
            is_complete => {
                self.is_complete = is_complete;
                format!("{:.0} %", (share * 100.0).floor())
            }
        }
    }

    /// Reports the progress of the work under `watch`, at most once per interval; `tell` describes the results so far.
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
