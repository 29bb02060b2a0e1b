//! Reductions of vectors so long that each member combines a piece of them (R4, S3).

use crate::{SEVERAL, SIZES, check, everywhere, leaving::inside, on_sizes};
use superstep::{Each, ErrorKind, Max, Product, Sum, Xor};

/// So many numbers of eight bytes are combined in pieces, and no piece is as long as another.
const LONG: usize = 10_007;

/// So many travel with the boundary.
const SHORT: usize = 101;

/// A member's vector, whose sums depend on how they are bracketed.
fn floats(rank: usize) -> Vec<f64> {
    (0..LONG)
        .map(|at| 1.0 / (1.0 + (at * 31 + rank * 1009) as f64) * f64::from(10).powi((at % 13) as i32 - 6))
        .collect()
}

/// S3: a long vector has the bits of the short ones that it consists of.
#[test]
fn a_long_vector_is_combined_with_the_bits_of_short_ones() {
    on_sizes(&SIZES, |g| {
        let mine = floats(g.rank());
        let (sum, product) = g.step(|s| (s.reduce(mine.clone(), Each(Sum)), s.reduce(mine.clone(), Each(Product))));
        for (chunk, at) in mine.chunks(SHORT).zip((0..).step_by(SHORT)).step_by(9) {
            let short = g.step(|s| (s.reduce(chunk.to_vec(), Each(Sum)), s.reduce(chunk.to_vec(), Each(Product))));
            let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&short.0), bits(&sum[at..at + chunk.len()]));
            assert_eq!(bits(&short.1), bits(&product[at..at + chunk.len()]));
        }
    });
}

/// R5: with others of every kind in the step, and for one member alone.
#[test]
fn long_reductions_go_with_all_that_a_step_may_hold() {
    on_sizes(&SEVERAL[..5], |g| {
        let (me, p) = (g.rank(), g.size());
        let all: u64 = (0..p as u64).fold(0, |all, rank| all ^ (rank * 77));
        let root = p - 1;
        let (xor, at_root, count, word, small) = g.step(|s| {
            let xor = s.reduce(vec![me as u64 * 77; LONG], Each(Xor));
            let at_root = s.reduce_to(root, vec![me as u32; 3 * LONG], Each(Max));
            let word = s.broadcast(0, Some("long".repeat(5000)));
            (xor, at_root, s.prefix(1, Sum), word, s.reduce(vec![me; 3], Each(Sum)))
        });
        assert!(xor == vec![all; LONG]);
        assert_eq!(at_root.is_some(), me == root);
        assert!(at_root.is_none_or(|max| max == vec![root as u32; 3 * LONG]));
        assert_eq!((count, word.len(), small), (me, 20_000, vec![p * (p - 1) / 2; 3]));
    });
}

/// The list of misuse: lengths that differ are everybody's error, and the group goes on.
#[test]
fn long_vectors_of_different_lengths_are_refused_on_all() {
    on_sizes(&SEVERAL[..4], |g| {
        let last = g.size() - 1;
        for (short, says) in [(3, "and of 3 elements"), (LONG - 1, "and of 10006 elements")] {
            let len = if g.rank() == last { short } else { LONG };
            let error = g.try_step(|s| s.reduce(vec![1u64; len], Each(Sum))).unwrap_err();
            check(&error, ErrorKind::CombineMismatch, &["vectors of 10007", says, "cannot be combined"]);
            let sum = g.step(|s| s.reduce(vec![1u64; LONG], Each(Sum)));
            assert!(sum == vec![last as u64 + 1; LONG]);
        }
    });
}

/// G6: whoever leaves at that boundary had a piece to combine, and the others do it.
#[test]
fn a_member_may_leave_at_the_boundary_of_a_long_reduction() {
    on_sizes(&SEVERAL[..5], |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in 0..p {
            inside(g, |sub| {
                if me == leaver {
                    return;
                }
                let root = (leaver + 1) % p;
                let (sum, at_root) = sub.step(|s| {
                    let mine = vec![1 << me; LONG];
                    (s.reduce(mine.clone(), Each(Sum)), s.reduce_to(root, mine, Each(Sum)))
                });
                let expected = vec![(1u64 << p) - 1 - (1 << leaver); LONG];
                assert!(sum == expected);
                assert!(at_root == (me == root).then_some(expected));
            });
        }
    });
}

/// X6: a step that does not close leaves nothing behind.
#[test]
fn a_long_reduction_may_be_begun_again() {
    everywhere(|g| {
        let p = g.size() as u64;
        for round in 1..3 {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                g.step(|s| {
                    let _lost = s.reduce(vec![9u64; LONG], Each(Sum));
                    std::panic::resume_unwind(Box::new("on purpose"));
                });
            }));
            assert!(caught.is_err());
            assert!(g.step(|s| s.reduce(vec![round; LONG], Each(Sum))) == vec![p * round; LONG]);
        }
    });
}
