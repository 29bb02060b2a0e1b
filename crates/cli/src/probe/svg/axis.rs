//! Logarithmic axes: where a value lies, where ticks are and what they are called.

/// One axis, from a power of ten to another.
pub(super) struct Axis {
    low_decade: i32,
    high_decade: i32,
    start: f64,
    end: f64,
}

impl Axis {
    /// The axis from `start` to `end` in the picture that all `values` fit on.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        if low > high {
            return Self { low_decade: 0, high_decade: 1, start, end };
        }
        let low_decade = low.log10().floor() as i32;
        // A value just beyond a decade needs no whole new one; it may stand out a little.
        let high_decade = ((high.log10() - 0.03).ceil() as i32).max(low_decade + 1);
        Self { low_decade, high_decade, start, end }
    }

    /// Where `value` lies in the picture.
    pub(super) fn place(&self, value: f64) -> f64 {
        let decades = f64::from(self.high_decade - self.low_decade);
        self.start + (self.end - self.start) * (value.log10() - f64::from(self.low_decade)) / decades
    }

    /// Every tick, and whether it is a power of ten.
    pub(super) fn ticks(&self) -> Vec<(f64, bool)> {
        let mut ticks = Vec::new();
        for decade in self.low_decade..self.high_decade {
            let power = 10.0_f64.powi(decade);
            ticks.extend((1..10).map(|digit| (f64::from(digit) * power, digit == 1)));
        }
        ticks.push((10.0_f64.powi(self.high_decade), true));
        // Strong lines last, so that they lie on top of faint ones of the same picture.
        ticks.sort_by_key(|&(_, is_decade)| is_decade);
        ticks
    }
}

/// A number as people say it: 10, 1k, 100k, 1M.
pub(super) fn count(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0}M", value / 1e6),
        value if value >= 1e3 => format!("{:.0}k", value / 1e3),
        value => format!("{value:.0}"),
    }
}

/// Seconds as people say them: 200 ns, 1.5 µs, 10 ms.
pub(super) fn duration(seconds: f64) -> String {
    let units = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
    let (unit, size) = units.into_iter().find(|&(_, size)| seconds >= 0.9999 * size).unwrap_or(("ns", 1e-9));
    let value = seconds / size;
    let decimals = if value >= 99.95 { 0 } else { 2 - usize::from(value >= 9.995) };
    let digits = format!("{value:.decimals$}");
    let short = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    format!("{short} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_as_long_as_any_other() {
        let axis = Axis::around([2.0, 900.0].into_iter(), 0.0, 300.0);
        for (value, place) in [(1.0, 0.0), (10.0, 100.0), (1000.0, 300.0)] {
            assert!((axis.place(value) - place).abs() < 1e-9);
        }
        assert_eq!(axis.ticks().iter().filter(|tick| tick.1).count(), 4);
    }

    #[test]
    fn nothing_to_show_makes_no_axis_without_length() {
        let axis = Axis::around(std::iter::empty(), 0.0, 300.0);
        assert!(axis.place(1.0).is_finite());
    }

    #[test]
    fn durations_read_as_people_say_them() {
        let said = [1e-9, 1.5e-6, 1e-7, 0.01, 2.0, 1e-5, 3.4e-10].map(duration);
        assert_eq!(said, ["1 ns", "1.5 µs", "100 ns", "10 ms", "2 s", "10 µs", "0.34 ns"]);
    }
}
