//! Numbers that look drawn and are the same on every processor.

/// A number for a number. No two have the same, because every step of it can be undone.
#[inline]
pub(super) const fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The number that [`mixed`] makes this of.
#[inline]
pub(super) const fn unmixed(mut x: u64) -> u64 {
    x ^= x >> 31 ^ x >> 62;
    x = x.wrapping_mul(0x3196_42b2_d24d_8ec3);
    x ^= x >> 27 ^ x >> 54;
    x = x.wrapping_mul(0x96de_1b17_3f11_9089);
    x ^= x >> 30 ^ x >> 60;
    x.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mixed_can_be_undone() {
        for number in (0..1000).flat_map(|at| [at, u64::MAX - at, at << 40]) {
            assert_eq!(unmixed(mixed(number)), number);
        }
    }
}
