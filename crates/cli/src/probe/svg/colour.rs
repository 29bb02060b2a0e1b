//! Colours that go from dark to bright with p, and that people tell apart however they see colour.

/// Violet, blue, green, orange: even steps in brightness.
const STOPS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 190.0, 90.0], [240.0, 150.0, 30.0]];

/// The colour of number `at` of `count`.
pub(super) fn pick(at: usize, count: usize) -> String {
    let along = at as f64 / count.saturating_sub(1).max(1) as f64 * (STOPS.len() - 1) as f64;
    let stop = (along as usize).min(STOPS.len() - 2);
    let part = along - stop as f64;
    let [red, green, blue] = [0, 1, 2].map(|c| (STOPS[stop][c] * (1.0 - part) + STOPS[stop + 1][c] * part) as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_have_the_colours_of_the_ends() {
        assert_eq!(pick(0, 7), "#440154");
        assert_eq!(pick(6, 7), "#f0961e");
        assert_eq!(pick(0, 1), "#440154");
    }
}
