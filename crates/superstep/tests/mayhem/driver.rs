//! Runs a case: starts the program, hits it, waits for its end, and looks for what is left.

use crate::{
    case::{Case, Fault, Ground, PHASES, Phase},
    launched::{Job, Outcome, Running, is_alive},
    leftovers::{self, TOKEN},
};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// Who has not ended after so long hangs, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(240);

/// How long a peer may be silent whose sockets are closed.
const PEER_TIMEOUT: &str = "4";

/// A folder of a run, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(token: &str) -> Self {
        let folder = env::temp_dir().join(format!("superstep-mayhem-{token}"));
        fs::create_dir_all(folder.join("tmp")).expect("a folder can be made");
        Self(folder)
    }

    fn go(&self) -> PathBuf {
        self.0.join("go")
    }

    fn tmp(&self) -> PathBuf {
        self.0.join("tmp")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program of a case, ready to be started.
fn job(case: &Case, token: &str, folder: &Folder) -> Job {
    let job = match case.ground {
        Ground::Forked => Job::alone("phases", case.size).env("SUPERSTEP_FABRIC", "procs"),
        Ground::Under(launcher) => Job::new(launcher, "phases", case.size),
    };
    let victims: Vec<String> = case.victims.iter().map(ToString::to_string).collect();
    let phase = PHASES.iter().position(|&phase| phase == case.phase).expect("it is one of them");
    let job = job
        .env(TOKEN, token)
        .env("TMPDIR", &folder.tmp().to_string_lossy())
        .env("SUPERSTEP_TEST_PHASE", &phase.to_string())
        .env("SUPERSTEP_TEST_FAULT", &format!("{:?}", case.fault))
        .env("SUPERSTEP_TEST_VICTIMS", &victims.join(","))
        .env("SUPERSTEP_TEST_ROUND", &case.round.to_string())
        .env("SUPERSTEP_TEST_GO", &folder.go().to_string_lossy());
    if case.fault == Fault::Close { job.env("SUPERSTEP_PEER_TIMEOUT", PEER_TIMEOUT) } else { job }
}

fn let_go(folder: &Folder) {
    fs::write(folder.go(), "").expect("a file can be made");
}

/// What came of a case.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// Whether the process that was started was hit itself.
    pub(crate) is_first_hit: bool,
    /// How long it took from the fault to the end of everybody.
    pub(crate) took: Duration,
    /// What was left: nothing, if all is well.
    pub(crate) left: Vec<String>,
}

/// Runs a case to its end; says why if it has none.
pub(crate) fn run(case: &Case, token: &str) -> Result<Ended, String> {
    let folder = Folder::new(token);
    if case.fault.is_own() {
        let_go(&folder);
    }
    let mut running = job(case, token, &folder).start();
    let first = running.launcher();
    let (hit, shared) = if case.fault.is_own() {
        (Vec::new(), watch_memory(&mut running, token, case.size))
    } else {
        let ready = await_phase(case, &mut running, token)?;
        let shared = leftovers::shared_memory(&leftovers::processors(token));
        (strike(case, &running, &ready, token, &folder), shared)
    };
    let since = Instant::now();
    let outcome = running.finish_within(LONGEST);
    while !leftovers::processes(token).is_empty() && since.elapsed() < LONGEST {
        thread::sleep(Duration::from_millis(2));
    }
    let took = since.elapsed();
    let left = what_is_left(token, &shared, &folder);
    let outcome = outcome.map_err(|so_far| format!("it does not end: {so_far:?}\nleft: {left:?}"))?;
    Ok(Ended { outcome, is_first_hit: hit.contains(&first), took, left })
}

/// The memory in common of a program that is about to do something to itself: as much of it as is seen in time.
fn watch_memory(running: &mut Running, token: &str, size: usize) -> BTreeSet<PathBuf> {
    let mut seen = BTreeSet::new();
    while !running.has_ended() && running.lines("at").len() < size && seen.len() < size {
        seen.extend(leftovers::shared_memory(&leftovers::processors(token)));
        thread::sleep(Duration::from_millis(5));
    }
    seen
}

/// Waits until a program is where it is to be hit, and returns its processors' numbers, by rank if that is known.
fn await_phase(case: &Case, running: &mut Running, token: &str) -> Result<Vec<u32>, String> {
    let since = Instant::now();
    let late = |lines: &[String]| format!("it never came to {:?}: {lines:?}", case.phase);
    loop {
        let lines = running.lines("at");
        if running.has_ended() || since.elapsed() > LONGEST {
            return Err(late(&lines));
        }
        let pids = if case.phase == Phase::Start {
            // Whoever is hit there need not have begun.
            leftovers::processors(token)
        } else if lines.len() == case.size {
            by_rank(&lines)
        } else {
            Vec::new()
        };
        if !pids.is_empty() {
            thread::sleep(Duration::from_micros(case.delay));
            let pids = if case.phase == Phase::Start { leftovers::processors(token) } else { pids };
            // The system may show none of them for a moment.
            if !pids.is_empty() {
                return Ok(pids);
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The processes of a program that has said who is who.
fn by_rank(lines: &[String]) -> Vec<u32> {
    let numbers = |line: &String| -> Option<(u32, u32)> {
        let mut words = line.split_whitespace().skip(1);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let mut found: Vec<(u32, u32)> = lines.iter().map(|line| numbers(line).expect("a rank and a number")).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, pid)| pid).collect()
}

/// Sends a signal to those of these processes that are still there.
fn signal(name: &str, pids: &[u32]) {
    for pid in pids {
        let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).output().expect("kill is there");
        assert!(sent.status.success() || !is_alive(*pid), "{name} to {pid}");
    }
}

/// Does it from outside, and returns the numbers of those who were hit.
fn strike(case: &Case, running: &Running, pids: &[u32], token: &str, folder: &Folder) -> Vec<u32> {
    let hit: Vec<u32> = case.victims.iter().map(|&victim| pids[victim % pids.len()]).collect();
    let lasts = Duration::from_millis(case.lasts);
    match case.fault {
        Fault::Kill => signal("KILL", &hit),
        Fault::Terminate => signal("TERM", &[running.launcher()]),
        Fault::Interrupt => signal("INT", &[running.launcher()]),
        Fault::KillLauncher => signal("KILL", &[running.launcher()]),
        Fault::Stop => {
            signal("STOP", &hit);
            thread::sleep(lasts);
            signal("CONT", &hit);
        }
        Fault::Crowd => crowd(&leftovers::processes(token), lasts),
        other => panic!("{other:?} does not come from outside"),
    }
    if case.fault.is_harmless() {
        let_go(folder);
    }
    hit
}

/// Leaves processes one core for a while, which somebody else uses as well.
fn crowd(pids: &[u32], lasts: Duration) {
    let bind = |cores: &str| {
        for pid in pids {
            // One that has ended meanwhile needs none.
            let _ = Command::new("taskset").args(["-apc", cores, &pid.to_string()]).output();
        }
    };
    let all = thread::available_parallelism().map_or(1, usize::from);
    let mut busy = Command::new("taskset").args(["-c", "0", "sh", "-c", "while :; do :; done"]).spawn();
    bind("0");
    thread::sleep(lasts);
    bind(&format!("0-{}", all - 1));
    if let Ok(busy) = &mut busy {
        busy.kill().expect("it was started here");
        busy.wait().expect("it was started here");
    }
}

/// What is there of a run that has ended. What can be removed is.
fn what_is_left(token: &str, shared: &BTreeSet<PathBuf>, folder: &Folder) -> Vec<String> {
    let mut left = Vec::new();
    for pid in leftovers::processes(token) {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        left.push(format!("process {pid} {}", name.trim()));
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
    for path in shared.iter().filter(|path| path.exists()) {
        left.push(path.display().to_string());
        let _ = fs::remove_file(path);
    }
    left.extend(files(&folder.tmp()).iter().map(|path| path.display().to_string()));
    left
}

/// The files in a folder, however deep.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        }
    }
    found
}

/// What the program says on so many threads, if nothing happens to it.
pub(crate) fn undisturbed(size: usize, token: &str) -> String {
    let folder = Folder::new(token);
    let_go(&folder);
    let case = Case { size, victims: vec![size], ..Case::new(Ground::Forked, 1, Fault::Panic, None) };
    let outcome = job(&case, token, &folder).env("SUPERSTEP_FABRIC", "threads").run();
    assert!(outcome.is_well(), "{outcome:?}");
    outcome.line("result")
}
