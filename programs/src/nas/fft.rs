//! Fourier transforms of many rows or columns at once, for lengths that are powers of two.
//!
//! A few of them are taken out of the matrix, real and imaginary parts apart, so that one instruction works on several
//! and all of it stays in the nearest cache. There a stage makes four parts out of each part; the numbers end up in
//! another order, and find their places on their way back.

/// A complex number: its real and its imaginary part.
pub type Complex = [f64; 2];

/// So many transforms are done side by side.
const SIDE: usize = 4;
/// The same part of a number in each of them.
type Side = [f64; SIDE];

/// The product of two complex numbers.
///
/// ```
/// assert_eq!(superstep_programs::nas::fft::times([0.0, 1.0], [2.0, 3.0]), [-3.0, 2.0]);
/// ```
#[inline]
pub fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The transforms of one length in one direction.
///
/// ```
/// use superstep_programs::nas::fft::Fourier;
///
/// // Two columns of four numbers each: one of ones, and one of which the first alone is not zero.
/// let mut matrix = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0; 2], [1.0, 0.0], [0.0; 2], [1.0, 0.0], [0.0; 2]];
/// Fourier::new(4, -1.0).columns(&mut matrix, 2);
/// assert_eq!(matrix.map(|value| value[0]), [4.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
/// ```
#[derive(Debug)]
pub struct Fourier {
    sign: f64,
    /// The powers of the root of one.
    roots: Vec<Complex>,
    /// Which number of the result each place has in the end.
    order: Vec<usize>,
    real: Vec<Side>,
    imaginary: Vec<Side>,
}

impl Fourier {
    /// Transforms of so many numbers; `sign` is that of the exponent, 1.0 or -1.0.
    ///
    /// ```
    /// use superstep_programs::nas::fft::Fourier;
    ///
    /// let mut numbers = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
    /// Fourier::new(4, 1.0).rows(&mut numbers);
    /// assert!((numbers[1][1] - 1.0).abs() < 1e-15);
    /// ```
    ///
    /// # Panics
    ///
    /// If that is no power of two.
    pub fn new(len: usize, sign: f64) -> Self {
        assert!(len.is_power_of_two(), "{len} numbers to transform, which is no power of two");
        let angle = |i: usize| 2.0 * std::f64::consts::PI * i as f64 / len as f64;
        let roots = (0..len).map(|i| [angle(i).cos(), sign * angle(i).sin()]).collect();
        let room = vec![[0.0; SIDE]; len];
        Self { sign, roots, order: order(len), real: room.clone(), imaginary: room }
    }

    /// Transforms each column of a matrix of `width` columns.
    ///
    /// ```
    /// use superstep_programs::nas::fft::Fourier;
    ///
    /// let mut matrix = [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0]];
    /// Fourier::new(2, 1.0).columns(&mut matrix, 2);
    /// assert_eq!(matrix, [[2.0, 4.0], [6.0, 8.0], [0.0, 0.0], [0.0, 0.0]]);
    /// ```
    pub fn columns(&mut self, matrix: &mut [Complex], width: usize) {
        for first in (0..width).step_by(SIDE) {
            let some = first..width.min(first + SIDE);
            for ((row, real), imaginary) in matrix.chunks_exact(width).zip(&mut self.real).zip(&mut self.imaginary) {
                for ((value, real), imaginary) in row[some.clone()].iter().zip(real).zip(imaginary) {
                    [*real, *imaginary] = *value;
                }
            }
            self.stages();
            for ((&row, real), imaginary) in self.order.iter().zip(&self.real).zip(&self.imaginary) {
                let row = &mut matrix[row * width..(row + 1) * width][some.clone()];
                for ((value, real), imaginary) in row.iter_mut().zip(real).zip(imaginary) {
                    *value = [*real, *imaginary];
                }
            }
        }
    }

    /// Transforms each row of a matrix.
    ///
    /// ```
    /// use superstep_programs::nas::fft::Fourier;
    ///
    /// let mut matrix = [[1.0, 2.0], [3.0, 4.0]];
    /// Fourier::new(2, 1.0).rows(&mut matrix);
    /// assert_eq!(matrix, [[4.0, 6.0], [-2.0, -2.0]]);
    /// ```
    pub fn rows(&mut self, matrix: &mut [Complex]) {
        let len = self.roots.len();
        for some in matrix.chunks_mut(SIDE * len) {
            for (at, row) in some.chunks_exact(len).enumerate() {
                for ((value, real), imaginary) in row.iter().zip(&mut self.real).zip(&mut self.imaginary) {
                    [real[at], imaginary[at]] = *value;
                }
            }
            self.stages();
            for (at, row) in some.chunks_exact_mut(len).enumerate() {
                for ((&place, real), imaginary) in self.order.iter().zip(&self.real).zip(&self.imaginary) {
                    row[place] = [real[at], imaginary[at]];
                }
            }
        }
    }

    /// Transforms what lies in the rooms.
    fn stages(&mut self) {
        let mut part = self.roots.len();
        while part >= 4 {
            let step = self.roots.len() / part;
            for (real, imaginary) in self.real.chunks_exact_mut(part).zip(self.imaginary.chunks_exact_mut(part)) {
                quarter(real, imaginary, |i| self.roots[i * step], self.sign);
            }
            part /= 4;
        }
        if part == 2 {
            for rooms in [&mut self.real, &mut self.imaginary] {
                for pair in rooms.as_chunks_mut::<2>().0 {
                    let [a, b] = *pair;
                    *pair = [each(|i| a[i] + b[i]), each(|i| a[i] - b[i])];
                }
            }
        }
    }
}

/// Which number of the result is where: each stage puts those together that have the same rest.
fn order(len: usize) -> Vec<usize> {
    let parts = len.min(if len == 2 { 2 } else { 4 });
    if parts <= 1 {
        return vec![0];
    }
    let inner = order(len / parts);
    (0..parts).flat_map(|rest| inner.iter().map(move |number| rest + parts * number)).collect()
}

#[inline]
fn each(of: impl Fn(usize) -> f64) -> Side {
    std::array::from_fn(of)
}

/// One stage for one part: four numbers, a quarter apart, become those of four parts.
#[inline]
fn quarter(real: &mut [Side], imaginary: &mut [Side], root: impl Fn(usize) -> Complex, sign: f64) {
    let count = real.len() / 4;
    let [ar, br, cr, dr] = quarters(real);
    let [ai, bi, ci, di] = quarters(imaginary);
    for k in 0..count {
        let (a, b, c, d) = ([ar[k], ai[k]], [br[k], bi[k]], [cr[k], ci[k]], [dr[k], di[k]]);
        let [even, odd] = [plus(a, c), minus(a, c)];
        let across = minus(b, d);
        let turned = [each(|i| -sign * across[1][i]), each(|i| sign * across[0][i])];
        let beside = plus(b, d);
        let [w, x, y] = [plus(odd, turned), minus(even, beside), minus(odd, turned)];
        let [w, x, y] = if k == 0 { [w, x, y] } else { [by(w, root(k)), by(x, root(2 * k)), by(y, root(3 * k))] };
        [ar[k], ai[k]] = plus(even, beside);
        [br[k], bi[k]] = w;
        [cr[k], ci[k]] = x;
        [dr[k], di[k]] = y;
    }
}

/// Four equal parts.
#[inline]
fn quarters(all: &mut [Side]) -> [&mut [Side]; 4] {
    let count = all.len() / 4;
    let (front, back) = all.split_at_mut(2 * count);
    let ((a, b), (c, d)) = (front.split_at_mut(count), back.split_at_mut(count));
    [a, b, &mut c[..count], &mut d[..count]]
}

#[inline]
fn plus(a: [Side; 2], b: [Side; 2]) -> [Side; 2] {
    [each(|i| a[0][i] + b[0][i]), each(|i| a[1][i] + b[1][i])]
}

#[inline]
fn minus(a: [Side; 2], b: [Side; 2]) -> [Side; 2] {
    [each(|i| a[0][i] - b[0][i]), each(|i| a[1][i] - b[1][i])]
}

#[inline]
fn by(a: [Side; 2], root: Complex) -> [Side; 2] {
    [each(|i| a[0][i] * root[0] - a[1][i] * root[1]), each(|i| a[0][i] * root[1] + a[1][i] * root[0])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transformed(numbers: &[Complex], sign: f64) -> Vec<Complex> {
        let root = |i: usize, k: usize| {
            let angle = sign * 2.0 * std::f64::consts::PI * (i * k % numbers.len()) as f64 / numbers.len() as f64;
            [angle.cos(), angle.sin()]
        };
        let sum = |k: usize| {
            let terms = numbers.iter().enumerate().map(|(i, &number)| times(number, root(i, k)));
            terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
        };
        (0..numbers.len()).map(sum).collect()
    }

    #[test]
    fn rows_and_columns_become_the_sums_that_define_it() {
        for (len, count) in [(1, 1), (2, 1), (4, 2), (8, 3), (16, 4), (32, 5), (64, 9)] {
            let value = |i: usize| [(i * i % 7) as f64, (i % 5) as f64 - 2.0];
            let rows: Vec<Complex> = (0..len * count).map(value).collect();
            let columns: Vec<Complex> = (0..len * count).map(|at| rows[at % count * len + at / count]).collect();
            for sign in [1.0, -1.0] {
                let (mut by_rows, mut by_columns) = (rows.clone(), columns.clone());
                Fourier::new(len, sign).rows(&mut by_rows);
                Fourier::new(len, sign).columns(&mut by_columns, count);
                let expected: Vec<Complex> = rows.chunks(len).flat_map(|row| transformed(row, sign)).collect();
                for (at, expected) in expected.into_iter().enumerate() {
                    for found in [by_rows[at], by_columns[at % len * count + at / len]] {
                        let error = (expected[0] - found[0]).abs() + (expected[1] - found[1]).abs();
                        assert!(error < 1e-10, "{len} numbers, {at}: {found:?} for {expected:?}");
                    }
                }
            }
        }
    }
}
