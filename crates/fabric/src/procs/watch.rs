//! The thread of process 0 that watches the others.
//!
//! When one ends before it has said that it is done, a failure is written on the board, which every wait of every
//! process looks at. Those who do not look are ended.

use super::{
    board::{Board, RAISED, raised, write},
    child::{Child, End},
};
use crate::{
    failure::Failure,
    mapping::Mapping,
    sight::{Limits, Lookout, Stint, UNWINDING, Verdict},
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// What happens when a team fails.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How much time to itself one who computes has until it is ended: that in which it runs, or sleeps because it
    /// wants to. One who has heard of the failure, and is on its way out, has twenty times as much.
    pub grace: Duration,
    /// How long a process may wait.
    pub limits: Limits,
    /// What process 0 prints for a failure that has ended it; nothing if that is empty, or if somebody has said why.
    pub last_words: fn(&Failure) -> String,
}

/// Who of a team is left after it has failed, and how much time each has had since.
struct Stints {
    terms: Terms,
    /// For each process, once it is looked at.
    had: Vec<Option<Stint>>,
}

impl Stints {
    fn new(size: usize, terms: Terms) -> Self {
        Self { terms, had: (0..size).map(|_| None).collect() }
    }

    /// Whether a process has had all its time. It is looked at about every `period`.
    fn is_over(&mut self, board: &Board, rank: usize, period: Duration) -> bool {
        let (sighting, pid) = (&board.sightings[rank], board.seats[rank].pid.load(Ordering::Relaxed));
        let task = Some(sighting.task()).filter(|&task| task != 0).unwrap_or(pid);
        let had = self.had[rank].get_or_insert_with(|| Stint::of(pid, task)).had(period);
        had >= self.terms.grace * if sighting.has_heard() { UNWINDING } else { 1 }
    }
}

/// Waits for the ends of the children of process 0, and sees to it that all end if one does before its time. They are
/// not forgotten: others may be about to use their numbers.
pub(super) fn watch(shared: &Mapping, children: &[Child], is_home: &AtomicBool, terms: Terms) {
    let board: &Board = shared.get(0);
    let mut files: Vec<libc::pollfd> = children.iter().map(Child::watched).collect();
    let mut has_files = files.iter().all(|file| file.fd >= 0);
    let mut left: Vec<usize> = (0..children.len()).collect();
    let mut stints: Option<Stints> = None;
    let mut ended = Vec::new();
    let mut lookout = Lookout::new(children.len() + 1, terms.limits);
    let looks_every = terms.limits.period().unwrap_or(Duration::MAX);
    while !left.is_empty() {
        // A failure that is raised elsewhere is seen at the next look; without such files, an end is as well.
        let nap = if has_files && stints.is_none() { 100 } else { 5 + left.len() / 8 };
        let nap = Duration::from_millis(nap as u64).min(looks_every);
        // SAFETY: the list lives in this function, and its length is right.
        unsafe { libc::poll(files.as_mut_ptr(), files.len() as libc::nfds_t, nap.as_millis() as libc::c_int) };
        // One that the program has closed would end every nap at once.
        for file in files.iter_mut().filter(|file| file.revents & libc::POLLNVAL != 0) {
            (file.fd, has_files) = (-1, false);
        }
        left.retain(|&at| {
            let Some(end) = children[at].ended() else { return true };
            files[at].fd = -1;
            let has_said = board.seats[at + 1].is_done.load(Ordering::Acquire) == 1;
            let is_done = has_said && matches!(end, End::Code(0) | End::Unknown);
            if !is_done {
                let died = Failure::Died { process: at + 1, how: end.to_string() };
                write(board, 0, 0, &died);
                // It may have died while it was writing down another one.
                write(board, 2 + at as u32, 0, &died);
            }
            false
        });
        if board.raised.load(Ordering::Acquire) != RAISED {
            look_around(board, &mut lookout, children.len() + 1);
            continue;
        }
        let stints = stints.get_or_insert_with(|| Stints::new(children.len() + 1, terms));
        left.retain(|&at| {
            let is_over = stints.is_over(board, at + 1, nap);
            if is_over {
                children[at].end();
                ended.push(at + 1);
            }
            !is_over
        });
    }
    if !ended.is_empty() && !terms.grace.is_zero() {
        let names: Vec<String> = ended.iter().map(ToString::to_string).collect();
        eprintln!("superstep: processes that went on after the run had failed were ended: {}", names.join(", "));
    }
    // Process 0 itself may compute, and never hear of it.
    let Some(mut stints) = stints else { return };
    let nap = Duration::from_millis(5);
    while !is_home.load(Ordering::Acquire) {
        if !stints.is_over(board, 0, nap) {
            std::thread::sleep(nap);
            continue;
        }
        let words = raised(board).map_or_else(String::new, |failure| (terms.last_words)(&failure));
        if !words.is_empty() && board.spoken.swap(1, Ordering::AcqRel) == 0 {
            eprintln!("{words}");
        }
        // SAFETY: it ends the process.
        unsafe { libc::_exit(1) };
    }
}

/// Looks whether a process has waited long.
fn look_around(board: &Board, lookout: &mut Lookout, size: usize) {
    let now = Instant::now();
    for (rank, sighting) in board.sightings[..size].iter().enumerate() {
        lookout.look(rank, sighting.progress(), now);
    }
    match lookout.judge(now, None, |rank| board.sightings[rank].place()) {
        None => {}
        Some(Verdict::Notice(line)) => eprintln!("superstep: {line}"),
        Some(Verdict::Stalled(words) | Verdict::Over(words)) => write(board, 0, 0, &Failure::Stalled { words }),
    }
}
