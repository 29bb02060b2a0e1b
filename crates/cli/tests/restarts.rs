//! Issue 20: `superstep run --restart` with a program that keeps checkpoints and whose processes are killed at random
//! times: on forked processes, under Open MPI and under MPICH, which must both be there.
//!
//! `SUPERSTEP_KILLS` says how many kills there are, in all; `SUPERSTEP_RANDOM_SEED` decides who is hit, and when.

#![forbid(unsafe_code)]

#[path = "../../superstep/tests/restarts/programs.rs"]
mod programs;
#[path = "../../superstep/tests/restarts/random.rs"]
mod random;

use programs::TURNS;
use random::Random;
use std::{
    env,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// The ways to run whose processes can be killed one by one.
const WAYS: [&[&str]; 3] =
    [&["--fabric", "procs"], &["--launcher", "mpirun.openmpi"], &["--launcher", "mpiexec.mpich"]];

/// How many processors there are at first.
const PROCS: usize = 4;

/// How many kills there are, unless `SUPERSTEP_KILLS` says otherwise.
const KILLS: u64 = 12;

/// Nothing that these tests start is silent for longer, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(900);

/// One at a time: each test keeps the cores busy, and who is hit should be under way.
static TURN: Mutex<()> = Mutex::new(());

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A folder for one run, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("restarts-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("folders can be made there");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command that runs one of the programs, with these options, and keeps its checkpoints in this folder.
fn command(program: &str, procs: usize, options: &[&str], folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_superstep"));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SUPERSTEP_")) {
        command.env_remove(name);
    }
    command.args(["run", "-n", &procs.to_string()]).args(options).arg(env::current_exe().expect("a test has one"));
    command.args(["programs::program", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("SUPERSTEP_TEST_PROGRAM", program).env("SUPERSTEP_TEST_FOLDER", &folder.0);
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

/// What the program computes on so many processors if nobody disturbs it.
fn undisturbed(procs: usize) -> String {
    let folder = Folder::new(&format!("undisturbed-{procs}"));
    let output = command("relax", procs, &["--fabric", "threads"], &folder).output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let at = text.find("digest").unwrap_or_else(|| panic!("no digest: {output:?}"));
    text[at..].lines().next().expect("it is there").to_owned()
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// A command that is under way, and ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a command: what it prints, and what it says about itself, line by line.
fn start(command: &mut Command) -> (Running, Heard, Receiver<String>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let [out, said] = [lines(child.stdout.take().expect("piped")), lines(child.stderr.take().expect("piped"))];
    (Running(child), Heard { lines: out, all: Vec::new() }, said)
}

/// What a run has said so far.
struct Heard {
    lines: Receiver<String>,
    all: Vec<String>,
}

impl Heard {
    /// The next line; nothing when there will be none.
    fn next(&mut self) -> Option<&str> {
        let line = match self.lines.recv_timeout(LONGEST) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes any more: {:?}", self.all),
        };
        self.all.push(line);
        self.all.last().map(String::as_str)
    }

    /// Waits for so many lines that begin with a word; whether they came.
    fn await_lines(&mut self, word: &str, count: u64) -> bool {
        let mut left = count;
        while left > 0 {
            match self.next() {
                Some(line) if line.starts_with(word) => left -= 1,
                Some(_) => (),
                None => return false,
            }
        }
        true
    }

    /// The processes that have named themselves and are still there.
    fn alive(&self) -> Vec<u32> {
        let named = self.all.iter().filter_map(|line| line.strip_prefix("process ")?.parse().ok());
        named.filter(|pid: &u32| Path::new(&format!("/proc/{pid}")).exists()).collect()
    }
}

/// Sends a signal; whether there was somebody to get it.
fn is_sent(signal: &str, pid: u32) -> bool {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    sent.expect("there is a kill").success()
}

/// Runs the program, kills up to `most` of its processes one after the other, and returns how many were hit.
fn disturb(way: &[&str], is_shrunk: bool, most: u64, random: &mut Random, expected: &[String]) -> u64 {
    let folder = Folder::new("disturbed");
    let mut options = [way, &["--restart", "9"]].concat();
    if is_shrunk {
        options.push("--shrink");
    }
    let mut command = command("relax", PROCS, &options, &folder);
    let (mut child, mut heard, said) = start(&mut command);
    let (mut hits, mut context) = (0, format!("{options:?}:"));
    while hits < most && heard.await_lines("turn", random.below(TURNS as u64 - 2)) {
        let alive = heard.alive();
        if alive.is_empty() {
            // It is starting, or at its end.
            if heard.next().is_none() {
                break;
            }
            continue;
        }
        let victim = alive[random.below(alive.len() as u64) as usize];
        hits += u64::from(is_sent("-KILL", victim));
        let _ = write!(context, " {victim} after {} lines", heard.all.len());
    }
    while heard.next().is_some() {}
    let status = child.0.wait().expect("it ends");
    let said: Vec<String> = said.iter().collect();
    assert!(status.success(), "{context}: {status}\n{:#?}\n{said:#?}", heard.all);
    let digest = heard.all.iter().rfind(|line| line.starts_with("digest")).expect("it has come to its end");
    let again = said.iter().filter(|line| line.contains("again, on")).count();
    let procs = if is_shrunk { PROCS - again } else { PROCS };
    assert_eq!(digest, &expected[procs - 1], "{context}\n{:#?}\n{said:#?}", heard.all);
    assert!(hits == 0 || again > 0, "{context}\n{:#?}\n{said:#?}", heard.all);
    hits
}

/// Until so many have been hit.
fn disturb_all(is_shrunk: bool) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let expected: Vec<String> = (1..=PROCS).map(undisturbed).collect();
    let mut random = Random(number("SUPERSTEP_RANDOM_SEED", 1) + u64::from(is_shrunk));
    let kills = number("SUPERSTEP_KILLS", KILLS);
    for way in WAYS {
        let mut left = kills.div_ceil(2 * WAYS.len() as u64);
        while left > 0 {
            // Each takes a processor away, and one at least is to stay.
            let most = left.min(1 + random.below(PROCS as u64 - 1));
            left -= disturb(way, is_shrunk, most, &mut random, &expected);
        }
    }
    println!("{kills} faults");
}

#[test]
fn a_program_whose_processes_are_killed_goes_on_and_computes_the_same_bits() {
    disturb_all(false);
}

#[test]
fn with_a_process_less_each_time_it_computes_what_so_many_do() {
    disturb_all(true);
}

/// SIGUSR1 to the command is SIGUSR1 to the program, and what it has saved is there after any end.
#[test]
fn a_signal_for_a_save_reaches_the_program() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let threads: &[&str] = &["--fabric", "threads"];
    for way in [threads].into_iter().chain(WAYS) {
        let folder = Folder::new("asked");
        let mut command = command("waiting", 2, way, &folder);
        let (mut child, mut heard, said) = start(&mut command);
        assert!(heard.await_lines("pid", 1), "{way:?}: {:?}", heard.all);
        let mut target = child.0.id();
        if way == WAYS[2] {
            assert!(is_sent("-USR1", target));
            let line = said.recv_timeout(LONGEST).unwrap_or_default();
            assert!(line.contains("keeps SIGUSR1 to itself"), "{way:?}: {line}");
            let named = heard.all.iter().find_map(|line| line.strip_prefix("pid ")?.parse().ok());
            target = named.expect("a process has named itself");
        }
        for _ in 0..2 {
            assert!(is_sent("-USR1", target));
            assert!(heard.await_lines("saved", 1), "{way:?}: {:?}", heard.all);
        }
        assert!(is_sent("-TERM", child.0.id()));
        assert!(!child.0.wait().expect("it ends").success());
        let output = self::command("waiting", 2, way, &folder).output().expect("the command starts");
        assert!(String::from_utf8_lossy(&output.stdout).contains("restored true true"), "{way:?}: {output:?}");
    }
}
