//! From times to g.
//!
//! T(h) = g h + l over six decades of h: in a plain least-squares fit the longest times would decide everything, and l
//! would come out as noise. So l is not fitted but measured, as the time of an empty step, and g alone is fitted, to
//! the logarithms (each point weighs the same, whatever its size) and only where words and not the boundary take the time.

use super::Point;

/// A point tells something about g if it takes this many times as long as an empty step.
const FACTOR: f64 = 4.0;
/// If fewer points than this are that long, the longest ones do.
const POINTS_MIN: usize = 3;

/// The g that fits best: the one that minimises the sum of (ln(g h) - ln(T - l))².
pub(super) fn slope(points: &[Point], l: f64) -> f64 {
    let long = points.iter().filter(|point| point.seconds > FACTOR * l).count();
    let used = &points[points.len() - long.clamp(POINTS_MIN.min(points.len()), points.len())..];
    let per_word = used.iter().map(|point| (point.seconds - l) / point.h as f64);
    let logs: Vec<f64> = per_word.filter(|&seconds| seconds > 0.0).map(f64::ln).collect();
    if logs.is_empty() { 0.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_found() {
        let points: Vec<Point> =
            (0..20).map(|k| 1 << k).map(|h| Point { h, seconds: 2e-9 * h as f64 + 3e-7 }).collect();
        assert!((slope(&points, 3e-7) - 2e-9).abs() < 1e-15);
    }

    #[test]
    fn where_the_boundary_takes_all_the_time_the_longest_points_decide() {
        let points: Vec<Point> = (0..8).map(|k| 1 << k).map(|h| Point { h, seconds: 2e-9 * h as f64 + 1e-3 }).collect();
        assert!((slope(&points, 1e-3) - 2e-9).abs() < 1e-14);
    }
}
