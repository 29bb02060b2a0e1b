//! Watching over what was started until it ends.
//!
//! 1. A signal to end is passed on, and what was started decides what comes of it; this command waits.
//!    SIGUSR1, by which a program is asked for a checkpoint, is passed on as well.
//! 2. If this command is killed outright, what was started gets SIGTERM.
//! 3. Where there is no terminal, what was started leads a process group of its own, and signals go to all of it. At a
//!    terminal it stays in this command's, so that Ctrl-C, Ctrl-Z, `fg` and questions for passwords work as for any
//!    program. Ctrl-C has reached all of them already; other signals go to what was started alone.
//! 4. The exit code is that of what was started, or 128 and the signal that killed it, as shells have it. Launchers
//!    that were told to end exit with whatever comes first, even 0, so the code is 128 and that signal then.

use super::{labels::Labels, launcher::Kind, line::Line, restart::Ended};
use crate::failure::Failure;
use fabric::processes::{self, Caught, Signal, Signals};
use std::{
    fs::File,
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// How long output may still come after the end; only a process that was left behind can keep it open for longer.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// The same signal is passed on once in this time. `timeout` sends each twice, and `mpirun` takes the third for the
/// wish to leave everything as it is.
const ONCE_IN: Duration = Duration::from_secs(1);

/// Starts it, and says how it has ended.
pub(super) fn watch(line: &Line, labels: Option<Labels>, launcher: Option<Kind>) -> Result<Ended, Failure> {
    let lost = |error: io::Error| Failure::Failed(format!("{} was lost: {error}", line.starts().display()));
    let signals = Signals::hold().map_err(lost)?;
    let has_own_group = File::open("/dev/tty").is_err();
    let mut command = line.command();
    processes::die_with_parent(&mut command);
    signals.release_in(&mut command);
    if has_own_group {
        command.process_group(0);
    }
    if labels.is_some() {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().map_err(|error| {
        let why = if error.kind() == io::ErrorKind::NotFound { "there is no such program" } else { &error.to_string() };
        Failure::Failed(format!("{} could not be started: {why}", line.starts().display()))
    })?;
    let all_is_said = labels.map(|labels| relay(&mut child, labels));
    let (status, told) = wait(&mut child, &signals, has_own_group, launcher).map_err(lost)?;
    if let Some(all_is_said) = all_is_said {
        // It ends when both copies have; nothing is ever sent.
        if all_is_said.recv_timeout(LAST_WORDS) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!(
                "superstep: a process that was left behind still has the program's output after {} s; what it prints \
                 is not shown",
                LAST_WORDS.as_secs()
            );
        }
    }
    let code = code(status, told.filter(|_| line.is_launcher));
    Ok(Ended { code, is_told: told.is_some() })
}

/// Copies both outputs with their labels put anew. What is returned is closed when both have ended.
fn relay(child: &mut Child, labels: Labels) -> mpsc::Receiver<()> {
    let (open, all_is_said) = mpsc::channel::<()>();
    if let Some(output) = child.stdout.take() {
        let open = open.clone();
        thread::spawn(move || {
            // If nobody reads any more, the launcher finds its output closed.
            let _ = labels.copy(output, io::stdout());
            drop(open);
        });
    }
    if let Some(output) = child.stderr.take() {
        thread::spawn(move || {
            let _ = labels.copy(output, io::stderr());
            drop(open);
        });
    }
    all_is_said
}

/// Waits for its end, and tells which signal it was last told to end by.
fn wait(
    child: &mut Child,
    signals: &Signals,
    has_own_group: bool,
    launcher: Option<Kind>,
) -> io::Result<(ExitStatus, Option<Signal>)> {
    let mut last: Option<(Signal, Instant)> = None;
    loop {
        // Its end is held back until it is waited for, so none is missed.
        if let Some(status) = child.try_wait()? {
            return Ok((status, last.map(|(signal, _)| signal)));
        }
        let (signal, is_from_kernel) = match signals.wait()? {
            Caught::Ending { signal, is_from_kernel } => (signal, is_from_kernel),
            Caught::Save if launcher == Some(Kind::Mpich) => {
                eprintln!("superstep: mpiexec of MPICH keeps SIGUSR1 to itself; send it to a process of the program");
                continue;
            }
            Caught::Save => {
                // Other launchers hand it on to every process by themselves.
                let _ = processes::send(child, Signal::Save, false);
                continue;
            }
            Caught::Child => continue,
        };
        // Ctrl-C reaches a whole job, but when a terminal is closed only the leader of its session hears of it.
        let is_there_already = signal == Signal::Interrupt && is_from_kernel && !has_own_group;
        let is_again = last.is_some_and(|(other, at)| other == signal && at.elapsed() < ONCE_IN);
        if is_again {
            continue;
        }
        last = Some((signal, Instant::now()));
        if !is_there_already {
            // It fails only if it has ended already.
            let _ = processes::send(child, signal, has_own_group);
        }
    }
}

fn code(status: ExitStatus, told: Option<Signal>) -> u8 {
    let killed_by = told.map(Signal::number).or(status.signal());
    let code = killed_by.map_or_else(|| status.code(), |signal| Some(128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
