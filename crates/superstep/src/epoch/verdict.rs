//! What the counts of letters say: the rule by which an epoch ends. `README.md` beside this file has the proof.

use fabric::Counts;

/// Where a count has letters sent, taken in, series held, and who waits or has failed. At 4: series begun, and
/// series worked off.
pub(super) const SENT: usize = 0;
pub(super) const CAME: usize = 1;
pub(super) const HELD: usize = 2;
pub(super) const STATE: usize = 3;
/// Added to `HELD` by each member whose requests wait because too much is under way to somebody.
pub(super) const CROWDED: u64 = 1 << 40;
/// Added to `STATE` by each member that waits for an answer.
pub(super) const WAITS: u64 = 1;
/// Added to `STATE` by each member that was told something in a collective which it did not come to.
pub(super) const LEFT: u64 = 1 << 20;
/// Added to `STATE` by each member whose epoch has failed.
pub(super) const FAILED: u64 = 1 << 40;

/// What two sums say, of which the second was begun when everybody had seen the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something may be under way.
    Open,
    /// Nothing is, and everybody has ended.
    Quiet,
    /// Nothing is, and requests wait for somebody to catch up who cannot: more has to be allowed.
    Crowded,
    /// Nothing is, and somebody waits: it will wait for good.
    Stuck,
}

/// The rule of two equal waves.
pub(super) fn verdict(last: Option<Counts>, now: Counts) -> Verdict {
    // Where nobody has sent anything, nobody can be woken: one wave says it all.
    let is_settled = now[SENT] == now[CAME] && (last == Some(now) || now[SENT] == 0);
    match now {
        _ if !is_settled => Verdict::Open,
        [_, _, 0, state, _] if state % LEFT == 0 => Verdict::Quiet,
        _ if now[HELD] >= CROWDED => Verdict::Crowded,
        _ => Verdict::Stuck,
    }
}

/// Where the counting of letters is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counting {
    /// Whether this processor has entered a count whose sum it has not seen.
    pub(super) is_entered: bool,
    pub(super) last: Option<Counts>,
    /// How many letters had come when it was entered.
    pub(super) came: u64,
    /// The last sum at which a request was allowed to run out of order.
    pub(super) loosened_at: Option<Counts>,
}
