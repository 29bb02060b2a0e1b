//! How a run must have ended.

use crate::{
    case::{Case, Fault, Ground, Phase},
    driver::Ended,
    harm::CODE,
    launched::{Launcher, Outcome},
};

/// What is wrong with the end of a run, in words.
pub(crate) fn wrong(case: &Case, ended: &Ended, expected: &str) -> Option<String> {
    let outcome = &ended.outcome;
    let left: Vec<&String> = ended.left.iter().filter(|path| !is_of_mpi(case, path)).collect();
    if !left.is_empty() {
        return Some(format!("this is left: {left:?}, after {outcome:?}"));
    }
    if let Some(error) = outcome.lines("error").iter().find(|error| !is_right(case, error)) {
        return Some(format!("this is not the right error: {error:?}, in {outcome:?}"));
    }
    let is_well = outcome.is_well() && outcome.lines("result") == [expected] && outcome.lines("error").is_empty();
    let as_it_should = match case.ground {
        _ if case.fault.is_harmless() => is_well,
        // Most of what carries a run needs no files.
        _ if case.fault == Fault::Close && is_well => true,
        Ground::Forked => forked(case, ended),
        Ground::Under(launcher) => launched(case, launcher, outcome),
    };
    (!as_it_should).then(|| format!("{outcome:?}"))
}

/// Whether what is left belongs to MPI, and nobody else can know of it: what a launcher had that was killed, and what
/// processes had for a moment that were hit while MPI began.
fn is_of_mpi(case: &Case, path: &str) -> bool {
    let is_open_mpis = path.starts_with("/dev/shm/vader_segment.") || path.contains("/tmp/ompi.");
    match case.ground {
        Ground::Forked => false,
        Ground::Under(Launcher::OpenMpi) => case.fault == Fault::KillLauncher && is_open_mpis,
        Ground::Under(Launcher::Mpich) => case.phase == Phase::Start && path.starts_with("/dev/shm/mpich_shar_tmp"),
    }
}

/// The processors that an error may name: whoever is hit while the run begins has no number yet.
fn named(case: &Case) -> Vec<usize> {
    if case.phase == Phase::Start && !case.fault.is_own() { (0..case.size).collect() } else { case.victims.clone() }
}

/// What an error must say that is the fault of a processor.
fn words(case: &Case, victim: usize) -> String {
    let is_forked = case.ground == Ground::Forked;
    match case.fault {
        Fault::Panic if case.phase == Phase::Boundary => "a combine function panicked: boom".to_owned(),
        Fault::Panic => format!("processor {victim} panicked: boom"),
        Fault::Kill if is_forked => format!("process {victim} was killed by signal 9"),
        Fault::Abort | Fault::Starve if is_forked => format!("process {victim} was killed by signal 6"),
        Fault::Exit | Fault::Replace if is_forked => {
            format!("process {victim} has ended with code {CODE} in the middle of the run")
        }
        Fault::Exit => format!("process {victim} has ended itself with code {CODE} in the middle of a run"),
        Fault::Close => format!("process {victim} is lost: the program has closed its sockets"),
        _ => format!("process {victim} on "),
    }
}

/// Whether an error that a process returned is the right one: its kind, and whom it names.
fn is_right(case: &Case, error: &str) -> bool {
    let kind = if case.fault == Fault::Panic { "error Panicked " } else { "error PeerLost process " };
    let names = |victim: usize| match case.fault {
        Fault::Panic => error.contains(&words(case, victim)),
        _ => error.contains(&format!("process {victim} ")),
    };
    error.starts_with(kind) && named(case).into_iter().any(names)
}

/// Forked processes: the first one is the program that was started, and the others are named by it.
fn forked(case: &Case, ended: &Ended) -> bool {
    let outcome = &ended.outcome;
    let is_signalled = outcome.code.is_none();
    let first = || match case.fault {
        Fault::Kill => is_signalled && ended.is_first_hit,
        Fault::Abort | Fault::Starve => is_signalled,
        Fault::Exit => outcome.code == Some(CODE) && outcome.says("has ended the program with code 7 in the middle of"),
        Fault::Replace => outcome.code == Some(CODE),
        // Its run went well, and then Rust's own check of files that are closed twice has ended it.
        Fault::Close => is_signalled && outcome.err.contains("IO Safety violation") && !outcome.out.contains("error "),
        _ => false,
    };
    let is_named = |victim: usize| outcome.code == Some(1) && outcome.says(&words(case, victim));
    let is_one = |victim: usize| (victim == 0 && first()) || is_named(victim);
    match case.fault {
        Fault::Terminate | Fault::Interrupt | Fault::KillLauncher => is_signalled,
        _ => named(case).into_iter().any(is_one),
    }
}

/// Under a launcher, which notices ends as well, and may end all others before these can say anything.
fn launched(case: &Case, launcher: Launcher, outcome: &Outcome) -> bool {
    let says = |victim: usize| outcome.says(&words(case, victim));
    let by_launcher = |victim: usize| match launcher {
        Launcher::OpenMpi => {
            outcome.says(&format!("process rank {victim} ")) || outcome.err.contains(&format!(",1],{victim}]\n"))
        }
        // It names nobody, and ends with the code of a process that has ended with one. MPICH itself ends a process
        // that sends to one whose memory is gone, before anybody can say who that was.
        Launcher::Mpich => {
            let is_mpichs = outcome.says("BAD TERMINATION OF ONE OF YOUR") || outcome.err.contains("Fatal error in ");
            is_mpichs || outcome.code == Some(CODE)
        }
    };
    match case.fault {
        // What MPICH's launcher ends with when it is asked to end is its own affair.
        Fault::Terminate | Fault::Interrupt if launcher == Launcher::Mpich => true,
        Fault::Terminate | Fault::Interrupt | Fault::KillLauncher => !outcome.is_well(),
        Fault::Panic | Fault::Exit => !outcome.is_well() && named(case).into_iter().any(says),
        _ => !outcome.is_well() && named(case).into_iter().any(|victim| says(victim) || by_launcher(victim)),
    }
}
