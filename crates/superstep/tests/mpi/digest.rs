//! A program that says what many verbs come to.

use superstep::{Array, Block, Cyclic, Group, Sum, Tiles};

/// Mixes the results of many verbs into one number, floats with every bit. The arrays are a table of so many times nine
/// rows, and a list of `len` elements that each processor updates so many times.
pub(crate) fn digest(g: &mut Group, scale: usize, len: usize, updates: usize) {
    let mut hash = 0u64;
    let mut mix = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    let x = 0.1 + g.rank() as f64 * 0.37;
    for round in 0..20 {
        let scaled = x * f64::from(round);
        let (sum, before, all) = g.step(|s| (s.reduce(scaled, Sum), s.prefix(scaled, Sum), s.collect(scaled.sin())));
        let before = g.step(|s| s.collect(before));
        mix(sum.to_bits());
        before.iter().chain(&all).for_each(|x| mix(x.to_bits()));
    }
    let sums = g.array::<f64, Cyclic>(len);
    let table: Array<f64, Tiles<2>, 2> = g.array_with([9 * scale, 7 * scale], Tiles([2, 3]));
    let places: Vec<usize> = (0..updates).map(|i| (i * i + 7 * g.rank()) % len).collect();
    let values: Vec<f64> = places.iter().map(|&i| (i as f64).sqrt() + x).collect();
    let gathered = g.step(|s| {
        s.scatter(&sums, &places, &values, Sum);
        s.scatter(&sums, &places[..50], &values[..50], |a: &mut f64, b: &f64| *a = *a * 0.5 + b);
        s.update_with(&table, (2..8 * scale, ..), &vec![x; (8 * scale - 2) * 7 * scale], Sum);
        s.gather(&sums, &[100, 3, 57, 3])
    });
    for x in &gathered {
        mix(x.to_bits());
    }
    let (whole, tiles) = g.step(|s| (s.mirror(&sums, ..), s.mirror(&table, (.., ..))));
    whole.iter().chain(&tiles).for_each(|x| mix(x.to_bits()));
    let blocks = g.array::<f64, Block>(len);
    g.step(|s| s.assign(&blocks, &sums));
    let inner = g.split(2, |sub| sub.step(|s| s.reduce(x, Sum))).unwrap_or(0.0);
    let (inner, blocks) = g.step(|s| (s.collect(inner), s.mirror(&blocks, ..)));
    inner.iter().chain(&blocks).for_each(|x| mix(x.to_bits()));
    if g.is_leader() {
        println!("digest {hash:016x}");
    }
}
