//! Whether a process that was forked can start threads.
//!
//! A thread that begins takes locks of the standard library. Another thread of the program may have held one when the
//! process was copied from it, and nobody would ever release the copy. So each process starts a thread and sees that it
//! begins. One in which it does not ends with a code of its own, and process 0 forks it again.

use super::{
    board::Board,
    child::{Child, End, NO_THREADS},
};
use crate::system::{exit_now, without_signals};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

/// So often a process is forked for one seat.
const TIMES: u32 = 6;
/// So often a process looks whether its first thread has begun, when it is forked for the first time; then twice as
/// often each time. Looks are counted, and not time: on a slow machine, or one that stands still, neither may go on.
const LOOKS: u32 = 50;
const NAP: Duration = Duration::from_millis(5);

/// Sees, in a process that was forked for this time, whether threads can be started, and says so; if not, it ends the
/// process.
pub(super) fn see_to_threads(says: &AtomicU32, time: u32) {
    let begun = Arc::new(AtomicBool::new(false));
    let (theirs, this) = (Arc::clone(&begun), std::thread::current());
    let begin = move || {
        // The environment has a lock too.
        let _ = std::env::var_os("PATH");
        theirs.store(true, Ordering::Release);
        this.unpark();
    };
    // If there is no room for a thread, whoever needs one hears of it.
    if let Ok(thread) = without_signals(|| std::thread::Builder::new().stack_size(64 << 10).spawn(begin)) {
        let mut looks = 0;
        while !begun.load(Ordering::Acquire) {
            if looks == LOOKS << time {
                exit_now(NO_THREADS);
            }
            looks += 1;
            std::thread::park_timeout(NAP);
        }
        let _ = thread.join();
    }
    says.store(1, Ordering::Release);
}

/// Waits until the processes that have begun can start threads; gives the seat and the next time of one that is to be
/// forked again. Nobody waits here for one that has ended otherwise, or stands still: the watch names it.
pub(super) fn await_threads(
    board: &Board,
    children: &[Child],
    begun: &mut VecDeque<(usize, u32)>,
) -> Option<(usize, u32)> {
    while let Some((rank, time)) = begun.pop_front() {
        let (says, child) = (&board.seats[rank].starts_threads, &children[rank - 1]);
        // It nearly always can at once.
        let naps = (0..).map(|look| if look < 100 { NAP / 100 } else { NAP });
        for nap in naps.take(100 + 4 * (LOOKS << time) as usize) {
            match (says.load(Ordering::Acquire), child.ended()) {
                (0, None) => std::thread::sleep(nap),
                (0, Some(End::Code(NO_THREADS))) if time + 1 < TIMES => return Some((rank, time + 1)),
                _ => break,
            }
        }
    }
    None
}
