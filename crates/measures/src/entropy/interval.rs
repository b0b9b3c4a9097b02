//! Privacy by intervals (Agrawal and Srikant, discussed in the paper): how wide an interval has to be to hold a value
//! with a given confidence, if noise was added to it.

/// The width of the shortest interval that holds at least the share `confidence` of the noise values, which are
/// equally likely; `None` without values. A share counts as reached if at most 1e-9 of a value is missing.
pub fn interval_privacy(noise: &[f64], confidence: f64) -> Option<f64> {
    let mut sorted = noise.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let wanted = (confidence * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted
        .windows(wanted.min(sorted.len()).max(1))
        .map(|held| held[held.len() - 1] - held[0])
        .reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_noise_has_the_widths_of_the_paper() {
        // Uniform between -1 and 1: a width of 2 at 100 %, of 1 at 50 %.
        let noise: Vec<f64> = (0..=20_000).map(|i| f64::from(i) / 10_000.0 - 1.0).collect();
        assert_eq!(interval_privacy(&noise, 1.0), Some(2.0));
        assert!((interval_privacy(&noise, 0.5).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_shortest_interval_need_not_be_in_the_middle() {
        let noise = [5.0, 0.0, 0.1, 0.2, -9.0, 3.0, 0.3, 8.0, 8.5, 9.0];
        assert_eq!(interval_privacy(&noise, 0.4), Some(0.3));
        assert_eq!(interval_privacy(&noise, 0.1), Some(0.0));
        assert_eq!(interval_privacy(&noise, 1.0), Some(18.0));
        assert_eq!(interval_privacy(&[], 0.5), None);
    }

    #[test]
    fn it_is_the_shortest_of_all_intervals() {
        let noise: Vec<f64> = (0..40).map(|i| f64::from(i * i * 7919 % 101)).collect();
        for confidence in [0.05, 0.3, 0.5, 0.75, 0.95, 1.0] {
            let mut shortest = f64::INFINITY;
            for a in &noise {
                for b in &noise {
                    let held = noise.iter().filter(|x| (a..=b).contains(x)).count();
                    if held as f64 >= confidence * 40.0 - 1e-9 {
                        shortest = shortest.min(b - a);
                    }
                }
            }
            assert_eq!(interval_privacy(&noise, confidence), Some(shortest));
        }
    }
}
