//! Fourier transforms of rows of complex numbers, for lengths that are powers of two.

/// A complex number: its real and its imaginary part.
pub(super) type Complex = [f64; 2];

#[inline]
pub(super) fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The transforms of one length in one direction.
pub(super) struct Fourier {
    len: usize,
    /// The powers of the root of one.
    roots: Vec<Complex>,
    other: Vec<Complex>,
}

impl Fourier {
    /// Transforms of so many numbers; `sign` is 1.0 for one direction and -1.0 for the other.
    pub(super) fn new(len: usize, sign: f64) -> Self {
        let angle = |i: usize| 2.0 * std::f64::consts::PI * i as f64 / len as f64;
        let roots = (0..len).map(|i| [angle(i).cos(), sign * angle(i).sin()]).collect();
        Self { len, roots, other: Vec::new() }
    }

    /// Transforms `width` columns at once: element i of column j is `values[i * width + j]`.
    ///
    /// Stockham's way: every stage goes from one list to the other, and no elements have to change places before.
    pub(super) fn transform(&mut self, values: &mut [Complex], width: usize) {
        let Self { len, roots, other } = self;
        other.resize(values.len(), [0.0; 2]);
        let (mut from, mut to) = (values, &mut other[..]);
        let (mut half, mut stride, mut stages) = (*len / 2, 1, 0);
        while half > 0 {
            for group in 0..half {
                let root = roots[group * stride];
                let (low, high) = (group * stride * width, (group + half) * stride * width);
                let out = 2 * group * stride * width;
                let count = stride * width;
                let (low, high) = (&from[low..low + count], &from[high..high + count]);
                let (sums, differences) = to[out..out + 2 * count].split_at_mut(count);
                for (((&a, &b), sum), difference) in low.iter().zip(high).zip(sums).zip(differences) {
                    *sum = [a[0] + b[0], a[1] + b[1]];
                    *difference = times(root, [a[0] - b[0], a[1] - b[1]]);
                }
            }
            std::mem::swap(&mut from, &mut to);
            half /= 2;
            stride *= 2;
            stages += 1;
        }
        if stages % 2 == 1 {
            // What was computed last lies in the other list.
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for (len, width) in [(1, 1), (2, 1), (8, 3), (16, 2)] {
            let value = |i: usize| [(i * i % 7) as f64, (i % 5) as f64 - 2.0];
            let before: Vec<Complex> = (0..len * width).map(value).collect();
            let mut found = before.clone();
            Fourier::new(len, -1.0).transform(&mut found, width);
            for (at, found) in found.iter().enumerate() {
                let (k, column) = (at / width, at % width);
                let mut sum = [0.0; 2];
                for i in 0..len {
                    let angle = -2.0 * std::f64::consts::PI * (i * k % len) as f64 / len as f64;
                    let term = times(before[i * width + column], [angle.cos(), angle.sin()]);
                    sum = [sum[0] + term[0], sum[1] + term[1]];
                }
                assert!((sum[0] - found[0]).abs() < 1e-9 && (sum[1] - found[1]).abs() < 1e-9);
            }
        }
    }
}
