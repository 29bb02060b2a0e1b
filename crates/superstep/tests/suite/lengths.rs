//! Lengths that 32 bits cannot say.

use crate::on_sizes;
use superstep::Any;

/// R4: what is combined may be of any length.
#[test]
#[ignore = "needs 24 GiB of memory; the campaign runs it"]
fn a_reduction_of_more_than_4_gib_comes_back_whole() {
    const LONG: usize = (4 << 30) + 5;
    on_sizes(&[1], |g| {
        let mut long = vec![0u8; LONG];
        long[LONG - 1] = 7;
        let back = g.step(|s| s.reduce(long, Any));
        assert_eq!((back.len(), back[LONG - 1]), (LONG, 7));
        let back = g.step(|s| s.prefix_inclusive(back, Any));
        assert_eq!((back.len(), back[LONG - 1]), (LONG, 7));
    });
}
