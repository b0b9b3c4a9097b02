//! Bisection on floats. Callers need no proof of it, because it tries every end that it returns, except the given ones.

/// Narrows (low, high) around the point where `below` changes from true to false. `below` is false at the returned
/// high end (or it is still `high`), and true at the returned low end unless that is still `low`.
pub fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> (f64, f64) {
    for _ in 0..2000 {
        let middle =
            if low > 0.0 && high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high || high - low <= 1e-12 * high {
            break;
        }
        if below(middle) { low = middle } else { high = middle }
    }
    (low, high)
}
