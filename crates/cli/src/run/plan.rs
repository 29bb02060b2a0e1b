//! Whether a program is one process or several, and how many.

use crate::failure::Failure;
use clap::ValueEnum;
use std::ffi::OsString;

/// What `SUPERSTEP_FABRIC` says for threads, and for processes that the program forks itself.
pub(super) const THREADS: &str = "threads";
const PROCS: &str = "procs";

/// What carries the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Carrier {
    /// Threads of one process.
    Threads,
    /// Processes that the program forks.
    Procs,
    /// Processes that an MPI launcher starts.
    Mpi,
}

/// What the command line and the environment ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) procs: usize,
    pub(super) threads: Option<usize>,
    pub(super) fabric: Option<Carrier>,
    pub(super) has_hosts: bool,
    pub(super) has_launcher: bool,
    /// `SUPERSTEP_FABRIC`, and the other one's namesake.
    pub(super) fabric_variable: Option<OsString>,
    pub(super) threads_variable: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// The program is started itself. Its fabric is the one named here, or else stays what the environment says.
    Alone { fabric: Option<&'static str> },
    /// A launcher starts so many processes; if there is none, the program may be started alone instead.
    Launched { processes: usize, threads: usize, or_alone: bool },
}

pub(super) fn decide(asked: &Asked) -> Result<Plan, Failure> {
    let variable = asked.fabric_variable.as_ref().filter(|_| asked.fabric.is_none());
    // `mpi:2` is MPI with two threads in each process.
    let mixed =
        variable.and_then(|value| value.to_str()?.strip_prefix("mpi:")?.parse().ok()).filter(|&count| count > 0);
    // What the variable says but this command does not know, such as `sim`, is the program's own affair.
    let (is_alone, name, fabric) = match (asked.fabric, variable) {
        (Some(Carrier::Threads), _) => (true, "--fabric threads".to_owned(), Some(THREADS)),
        (Some(Carrier::Procs), _) => (true, "--fabric procs".to_owned(), Some(PROCS)),
        (None, Some(value)) if value != "mpi" && mixed.is_none() => {
            (true, format!("SUPERSTEP_FABRIC={}", value.display()), None)
        }
        _ => (false, String::new(), Some(THREADS)),
    };
    if is_alone {
        return alone(asked, &name).map(|()| Plan::Alone { fabric });
    }
    if let (Some(threads), Some(mixed)) = (asked.threads, mixed)
        && threads != mixed
    {
        let what = format!("--threads {threads} differs from SUPERSTEP_FABRIC=mpi:{mixed}; leave one of the two out");
        return Err(Failure::Usage(what));
    }
    let threads = threads(asked.threads.or(mixed), asked.threads_variable.as_ref())?;
    if !asked.procs.is_multiple_of(threads) {
        return Err(indivisible(asked.procs, threads));
    }
    let is_mpi_asked = asked.fabric.is_some() || variable.is_some() || asked.has_hosts || asked.has_launcher;
    let processes = asked.procs / threads;
    // Several processes that share out the threads are nothing that threads alone could stand for.
    let is_mixed = asked.threads.is_some() && processes > 1;
    Ok(Plan::Launched { processes, threads, or_alone: !is_mpi_asked && !is_mixed })
}

/// Refuses what makes no sense for a program that is started once.
fn alone(asked: &Asked, because: &str) -> Result<(), Failure> {
    let what = match asked.threads {
        Some(threads) if asked.fabric == Some(Carrier::Procs) => format!("--threads {threads} is for threads and MPI"),
        Some(threads) if threads != asked.procs => format!("--threads {threads} differs from -n {}", asked.procs),
        _ if asked.has_hosts => "--hosts names several".to_owned(),
        _ if asked.has_launcher => "--launcher starts several".to_owned(),
        _ => return Ok(()),
    };
    Err(Failure::Usage(format!("{because} means one process, but {what}; leave one of the two out")))
}

/// How many threads each process has: as asked for, or as `SUPERSTEP_THREADS` says.
pub(super) fn threads(asked: Option<usize>, variable: Option<&OsString>) -> Result<usize, Failure> {
    match (asked, variable) {
        (Some(threads), _) => Ok(threads),
        (None, None) => Ok(1),
        (None, Some(value)) => {
            value.to_str().and_then(|text| text.parse().ok()).filter(|&threads| threads > 0).ok_or_else(|| {
                let value = value.display();
                Failure::Usage(format!("SUPERSTEP_THREADS is `{value}`; it must be a number of threads, at least 1"))
            })
        }
    }
}

fn indivisible(procs: usize, threads: usize) -> Failure {
    let (below, above) = (procs / threads * threads, procs.div_ceil(threads).saturating_mul(threads));
    let try_below = if below > 0 { format!("-n {below} or ") } else { String::new() };
    Failure::Usage(format!(
        "-n {procs} cannot be shared out to processes of {threads} threads; try {try_below}-n {above}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(procs: usize) -> Asked {
        Asked { procs, ..Asked::default() }
    }

    fn refusal(asked: &Asked) -> String {
        match decide(asked) {
            Err(Failure::Usage(message)) => message,
            other => panic!("{asked:?} is refused, not {other:?}"),
        }
    }

    #[test]
    fn mpi_is_tried_unless_threads_are_named_and_must_be_there_if_it_is_meant() {
        let launched = |processes, threads, or_alone| Plan::Launched { processes, threads, or_alone };
        let plans = [
            (asked(3), launched(3, 1, true)),
            (Asked { fabric: Some(Carrier::Mpi), ..asked(3) }, launched(3, 1, false)),
            (Asked { fabric_variable: Some("mpi".into()), ..asked(3) }, launched(3, 1, false)),
            (Asked { fabric_variable: Some("mpi:3".into()), ..asked(6) }, launched(2, 3, false)),
            (Asked { has_hosts: true, ..asked(3) }, launched(3, 1, false)),
            (Asked { has_launcher: true, ..asked(3) }, launched(3, 1, false)),
            (Asked { threads: Some(2), ..asked(6) }, launched(3, 2, false)),
            (Asked { threads: Some(6), ..asked(6) }, launched(1, 6, true)),
            (Asked { threads_variable: Some("2".into()), ..asked(6) }, launched(3, 2, true)),
            (Asked { fabric: Some(Carrier::Threads), ..asked(3) }, Plan::Alone { fabric: Some("threads") }),
            (Asked { fabric: Some(Carrier::Procs), ..asked(3) }, Plan::Alone { fabric: Some("procs") }),
            (Asked { fabric_variable: Some("threads".into()), ..asked(3) }, Plan::Alone { fabric: None }),
            (Asked { fabric_variable: Some("sim".into()), ..asked(3) }, Plan::Alone { fabric: None }),
        ];
        for (asked, plan) in plans {
            assert_eq!(decide(&asked).expect("it makes sense"), plan, "{asked:?}");
        }
        let option_wins = Asked { fabric: Some(Carrier::Mpi), fabric_variable: Some("sim".into()), ..asked(2) };
        assert_eq!(decide(&option_wins).expect("it makes sense"), launched(2, 1, false));
    }

    #[test]
    fn what_cannot_be_shared_out_is_refused_with_what_can() {
        assert_eq!(
            refusal(&Asked { threads: Some(2), ..asked(5) }),
            "-n 5 cannot be shared out to processes of 2 threads; try -n 4 or -n 6"
        );
        assert!(refusal(&Asked { threads: Some(4), ..asked(3) }).ends_with("; try -n 4"));
        assert!(refusal(&Asked { threads_variable: Some("few".into()), ..asked(3) }).contains("`few`"));
        let otherwise = Asked { fabric_variable: Some("mpi:3".into()), threads: Some(2), ..asked(6) };
        assert!(refusal(&otherwise).contains("--threads 2 differs from SUPERSTEP_FABRIC=mpi:3"));
    }

    #[test]
    fn one_process_has_no_hosts_no_launcher_and_just_its_threads() {
        let one = Asked { fabric: Some(Carrier::Threads), ..asked(4) };
        assert!(refusal(&Asked { has_hosts: true, ..one.clone() }).contains("--hosts"));
        assert!(refusal(&Asked { has_launcher: true, ..one.clone() }).contains("--launcher"));
        assert!(refusal(&Asked { threads: Some(2), ..one.clone() }).contains("--threads 2"));
        assert!(decide(&Asked { threads: Some(4), ..one }).is_ok());
        let forked = Asked { fabric: Some(Carrier::Procs), ..asked(4) };
        assert!(refusal(&Asked { threads: Some(4), ..forked.clone() }).contains("--threads 4"));
        assert!(refusal(&Asked { has_hosts: true, ..forked }).contains("--hosts"));
    }
}
