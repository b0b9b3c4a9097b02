//! Audits every sampling scheme with fresh coins: `cargo run --release --example audit -- 100000`.
//!
//! Prints a line per case and scheme; exits with 1 if a label is refuted, or if the published scheme
//! is not.

#[path = "../tests/audit/cases.rs"]
mod cases;

use cases::{ALPHA, cases};
use pg_sanitize_sample::Scheme;
use random::Coins;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let runs = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    println!(
        "lower bounds on epsilon at {} % confidence, {runs} runs on each table",
        100.0 * (1.0 - ALPHA)
    );
    println!("{:<10} {:<27} {:<8} {:<10} bound", "scheme", "case", "epsilon", "delta");
    let mut as_expected = true;
    for scheme in Scheme::ALL {
        let mut refuted = false;
        for case in cases(scheme) {
            let start = Instant::now();
            let found =
                case.run(scheme, runs, |_| Coins::os().expect("coins of the operating system"));
            refuted |= found.bound > found.epsilon;
            let verdict = if found.bound > found.epsilon { "refuted" } else { "" };
            println!("{found}  {:.1} s  {verdict}", start.elapsed().as_secs_f64());
        }
        as_expected &= refuted == (scheme == Scheme::Paper);
    }
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
