//! From times to g.
//!
//! T(h) = g h + l over six decades of h: in a plain least-squares fit the longest times would decide everything, and l
//! would come out as noise. So l is not fitted but measured, as the time of an empty step, and g alone is fitted, to
//! the logarithms (each point weighs the same, whatever its size) and only to large h: a step with few words costs more
//! than an empty one whatever their number, and would be taken for a large g.

use super::parameters::Point;

/// A relation counts as large from this part of the largest on.
const PART: usize = 64;

/// The g that fits best: the one that minimises the sum of (ln(g h) - ln(T - l))².
pub(super) fn slope(points: &[Point], l: f64) -> f64 {
    let largest = points.iter().map(|point| point.h).max().unwrap_or(0);
    let used = points.iter().filter(|point| point.h >= largest / PART);
    let per_word = used.map(|point| (point.seconds - l) / point.h as f64);
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
    fn a_slope_is_found_where_the_boundary_takes_nearly_all_the_time() {
        let points: Vec<Point> = (0..8).map(|k| 1 << k).map(|h| Point { h, seconds: 2e-9 * h as f64 + 1e-3 }).collect();
        assert!((slope(&points, 1e-3) - 2e-9).abs() < 1e-14);
    }

    #[test]
    fn what_few_words_cost_at_least_does_not_count_as_slope() {
        let time = |h: usize| if h < 1000 { 2e-5 } else { 2e-9 * h as f64 + 3e-7 };
        let points: Vec<Point> = (0..=20).map(|k| 1 << k).map(|h| Point { h, seconds: time(h) }).collect();
        assert!((slope(&points, 3e-7) - 2e-9).abs() < 1e-15);
    }
}
