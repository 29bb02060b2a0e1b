//! Columns of text that stand below each other, and numbers in them.

/// The columns of a table: what stands above each, and whether it holds numbers, which stand to the right.
pub(super) struct Columns<const N: usize> {
    heads: [(&'static str, bool); N],
    widths: [usize; N],
}

impl<const N: usize> Columns<N> {
    /// Columns as wide as the widest of these rows.
    pub(super) fn new<'a>(heads: [(&'static str, bool); N], rows: impl IntoIterator<Item = &'a [String; N]>) -> Self {
        let mut widths = heads.map(|(head, _)| head.chars().count());
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        Self { heads, widths }
    }

    /// The line above the rows.
    pub(super) fn head(&self) -> String {
        self.line(&self.heads.map(|(head, _)| head.to_owned()))
    }

    /// A row as a line.
    pub(super) fn line(&self, cells: &[String; N]) -> String {
        let cells = cells.iter().zip(self.heads).zip(self.widths).map(|((cell, (_, is_number)), width)| {
            if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ")
    }
}

/// Three digits that count, whatever the size.
pub(super) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_that_count() {
        let shown = [0.1464, 1.149, 24.61, 148.2].map(number);
        assert_eq!(shown, ["0.146", "1.15", "24.6", "148"]);
    }

    #[test]
    fn texts_stand_to_the_left_and_numbers_to_the_right() {
        let rows = [["a", "10"], ["long", "9"]].map(|row| row.map(str::to_owned));
        let columns = Columns::new([("name", false), ("n", true)], &rows);
        assert_eq!(columns.head(), "name   n");
        assert_eq!([columns.line(&rows[0]), columns.line(&rows[1])], ["a     10", "long   9"]);
    }
}
