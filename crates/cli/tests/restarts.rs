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
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
    mem,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

/// The ways to run whose processes can be killed one by one.
const WAYS: [&[&str]; 3] =
    [&["--fabric", "procs"], &["--launcher", "mpirun.openmpi"], &["--launcher", "mpiexec.mpich"]];

/// How many processors there are at first.
const PROCS: usize = 4;

/// How many kills there are, unless `SUPERSTEP_KILLS` says otherwise.
const KILLS: u64 = 12;

/// Nothing that these tests start is silent for longer, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(300);

/// How often it is looked whether something was said.
const GLANCE: Duration = Duration::from_millis(2);

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

    /// Where the program writes its lines.
    fn lines(&self) -> PathBuf {
        self.0.join("lines")
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
    command.env("SUPERSTEP_TEST_PROGRAM", program).env("SUPERSTEP_TEST_FOLDER", folder.0.join("saved"));
    command.env("SUPERSTEP_TEST_LINES", folder.lines());
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// What the program computes on so many processors if nobody disturbs it.
fn undisturbed(procs: usize) -> String {
    let folder = Folder::new(&format!("undisturbed-{procs}"));
    let output = command("relax", procs, &["--fabric", "threads"], &folder).output().expect("the command starts");
    let lines = fs::read_to_string(folder.lines()).unwrap_or_default();
    let digest = lines.lines().find(|line| line.starts_with("digest"));
    digest.unwrap_or_else(|| panic!("no digest: {lines} {output:?}")).to_owned()
}

/// A command that is under way, what its program has said so far, and what it says about itself. It ends with the test.
///
/// The program writes its lines to a file. A launcher hands output on in pieces, and what several processes print
/// may be cut within a line.
struct Running {
    child: Child,
    lines: File,
    /// The beginning of a line.
    begun: String,
    all: Vec<String>,
    said: Receiver<String>,
}

impl Running {
    fn start(command: &mut Command, folder: &Folder) -> Self {
        let lines = File::create(folder.lines()).and_then(|_| File::open(folder.lines())).expect("files can be made");
        let mut child = command.spawn().expect("the command starts");
        let stderr = child.stderr.take().expect("piped");
        let (sender, said) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines, begun: String::new(), all: Vec::new(), said }
    }

    /// The next line; nothing when there will be none.
    fn next(&mut self) -> Option<&str> {
        let since = Instant::now();
        while !self.begun.contains('\n') {
            let has_ended = self.child.try_wait().expect("a child can be waited for").is_some();
            let read = self.lines.read_to_string(&mut self.begun).expect("text can be read");
            if read == 0 && has_ended {
                return None;
            }
            assert!(since.elapsed() < LONGEST, "nothing comes any more: {:?} {:?}", self.all, self.said());
            if read == 0 {
                thread::sleep(GLANCE);
            }
        }
        let behind = self.begun.split_off(self.begun.find('\n').expect("it is there") + 1);
        let line = mem::replace(&mut self.begun, behind);
        self.all.push(line.trim_end().to_owned());
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

    /// Waits until the command says this about itself.
    fn await_said(&self, words: &str) {
        loop {
            match self.said.recv_timeout(LONGEST) {
                Ok(line) if line.contains(words) => return,
                Ok(_) => (),
                Err(why) => panic!("{words:?} is not said: {why}, after {:?}", self.all),
            }
        }
    }

    /// What it has said about itself and nobody has waited for.
    fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Waits for its end.
    fn end(&mut self) -> (ExitStatus, Vec<String>) {
        while self.next().is_some() {}
        (self.child.wait().expect("it ends"), self.said.iter().collect())
    }

    /// The processes that have named themselves and are still there.
    fn alive(&self) -> Vec<u32> {
        let this = env::current_exe().expect("a test has one");
        let named = self.all.iter().filter_map(|line| line.strip_prefix("process ")?.parse().ok());
        // Its number alone could be another one's by now, and a process that has ended has no executable.
        named.filter(|pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == this)).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal; whether there was somebody to get it.
fn is_sent(signal: &str, pid: u32) -> bool {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    sent.expect("there is a kill").success()
}

/// Runs the program, kills up to `most` of its processes one after the other, and returns how often it was started
/// again.
fn disturb(way: &[&str], is_shrunk: bool, most: u64, random: &mut Random, expected: &[String]) -> u64 {
    let folder = Folder::new("disturbed");
    let mut options = [way, &["--restart", "9"]].concat();
    if is_shrunk {
        options.push("--shrink");
    }
    let mut running = Running::start(&mut command("relax", PROCS, &options, &folder), &folder);
    let (mut hits, mut context) = (0, format!("{options:?}:"));
    while hits < most && running.await_lines("turn", random.below(TURNS as u64 - 2)) {
        let alive = running.alive();
        if alive.is_empty() {
            // It is starting, or at its end.
            if running.next().is_none() {
                break;
            }
            continue;
        }
        let victim = alive[random.below(alive.len() as u64) as usize];
        hits += u64::from(is_sent("-KILL", victim));
        let _ = write!(context, " {victim} after {} lines", running.all.len());
    }
    let (status, said) = running.end();
    assert!(status.success(), "{context}: {status}\n{:#?}\n{said:#?}", running.all);
    let digest = running.all.iter().rfind(|line| line.starts_with("digest")).expect("it has come to its end");
    let again = said.iter().filter(|line| line.contains("again, on")).count();
    let procs = if is_shrunk { PROCS - again } else { PROCS };
    assert_eq!(digest, &expected[procs - 1], "{context}\n{:#?}\n{said:#?}", running.all);
    again as u64
}

/// Until so many starts have come to nothing.
fn disturb_all(is_shrunk: bool) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let expected: Vec<String> = (1..=PROCS).map(undisturbed).collect();
    let mut random = Random(number("SUPERSTEP_RANDOM_SEED", 1) + u64::from(is_shrunk));
    let kills = number("SUPERSTEP_KILLS", KILLS);
    for way in WAYS {
        let mut left = kills.div_ceil(2 * WAYS.len() as u64);
        while left > 0 {
            // Each takes a processor away, and one at least is to stay. Whoever was at its end is not missed.
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
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let threads: &[&str] = &["--fabric", "threads"];
    for way in [threads].into_iter().chain(WAYS) {
        let folder = Folder::new("asked");
        let mut running = Running::start(&mut command("waiting", 2, way, &folder), &folder);
        assert!(running.await_lines("pid", 1), "{way:?}: {:?} {:?}", running.all, running.said());
        let mut target = running.child.id();
        if way == WAYS[2] {
            assert!(is_sent("-USR1", target));
            running.await_said("keeps SIGUSR1 to itself");
            let named = running.all.iter().find_map(|line| line.strip_prefix("pid ")?.parse().ok());
            target = named.expect("a process has named itself");
        }
        for _ in 0..2 {
            assert!(is_sent("-USR1", target));
            assert!(running.await_lines("saved", 1), "{way:?}: {:?} {:?}", running.all, running.said());
        }
        assert!(is_sent("-TERM", running.child.id()));
        let (status, said) = running.end();
        assert!(!status.success(), "{way:?}: {:?} {said:?}", running.all);
        let mut running = Running::start(&mut command("waiting", 2, way, &folder), &folder);
        let (_, said) = running.end();
        assert!(running.all.iter().any(|line| line == "restored true true"), "{way:?}: {:?} {said:?}", running.all);
    }
}
