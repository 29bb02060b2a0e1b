//! Starting this executable again, alone or under a launcher, and looking at what it did.

use std::{
    env,
    io::Read,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Nothing that these tests start takes longer, on however slow a machine; what does is left waiting.
const LONGEST: Duration = Duration::from_secs(1800);

/// How long the output of a program is waited for that has ended.
const LEFT_BEHIND: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launcher {
    OpenMpi,
    Mpich,
}

impl Launcher {
    fn command(self) -> Command {
        match self {
            Self::OpenMpi => {
                let mut command = Command::new("mpirun.openmpi");
                command.args(["--allow-run-as-root", "--oversubscribe"]);
                command
            }
            Self::Mpich => Command::new("mpiexec.mpich"),
        }
    }
}

/// A program to be started.
pub(crate) struct Job {
    command: Command,
    program: &'static str,
}

impl Job {
    /// Under a launcher, on so many processes.
    pub(crate) fn new(launcher: Launcher, program: &'static str, processes: usize) -> Self {
        let mut command = launcher.command();
        command.args(["-n", &processes.to_string()]);
        Self { command: Self::append(command, &this()), program }
    }

    /// Without a launcher, on so many threads.
    pub(crate) fn alone(program: &'static str, procs: usize) -> Self {
        let mut env = Command::new("env");
        // A shell that runs the tests in the background has them ignore it, and they ask programs to end by it.
        env.arg("--default-signal=INT");
        let mut command = Self::append(env, &this());
        command.env("SUPERSTEP_PROCS", procs.to_string());
        Self { command, program }
    }

    /// The same, in a process whose children the system forgets as soon as they end.
    pub(crate) fn childless(program: &'static str, procs: usize) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' CHLD; exec \"$0\" \"$@\""]);
        let mut command = Self::append(shell, &this());
        command.env("SUPERSTEP_PROCS", procs.to_string());
        Self { command, program }
    }

    /// Under a launcher, one process of each of these executables.
    pub(crate) fn of(launcher: Launcher, program: &'static str, executables: &[&str]) -> Self {
        let mut command = launcher.command();
        for (number, executable) in executables.iter().enumerate() {
            if number > 0 {
                command.arg(":");
            }
            command.args(["-n", "1"]);
            command = Self::append(command, executable);
        }
        Self { command, program }
    }

    fn append(mut command: Command, executable: &str) -> Command {
        if !executable.is_empty() {
            command.arg(executable);
        }
        command.args(["programs::program", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command
    }

    pub(crate) fn threads(self, threads: usize) -> Self {
        self.env("SUPERSTEP_THREADS", &threads.to_string())
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        // Tests may themselves run under a launcher.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy().into_owned();
            if ["OMPI_", "PMI", "PMIX_", "HYDI_", "MPI_"].iter().any(|prefix| text.starts_with(prefix)) {
                self.command.env_remove(name);
            }
        }
        self.command.env("SUPERSTEP_TEST_PROGRAM", self.program).env("RUST_BACKTRACE", "0");
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|why| panic!("{:?}: {why}", self.command));
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().expect("piped")), Box::new(child.stderr.take().expect("piped"))];
        let mut readers = Vec::new();
        let texts = streams.map(|mut stream| {
            let shared = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
            let filled = std::sync::Arc::clone(&shared);
            readers.push(thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    filled.lock().expect("nobody panics here").push_str(&String::from_utf8_lossy(&bytes[..count]));
                }
            }));
            shared
        });
        Running { child, texts, readers }
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Outcome {
        self.start().finish()
    }
}

fn this() -> String {
    env::current_exe().expect("a test has an executable").to_string_lossy().into_owned()
}

/// A program that is under way.
pub(crate) struct Running {
    child: Child,
    texts: [std::sync::Arc<std::sync::Mutex<String>>; 2],
    readers: Vec<thread::JoinHandle<()>>,
}

impl Running {
    /// Its output so far, from this word on, line by line.
    #[allow(dead_code, reason = "for programs that are hit when they have said something")]
    pub(crate) fn lines(&self, word: &str) -> Vec<String> {
        pick(&self.texts[0].lock().expect("nobody panics here"), word)
    }

    /// Whether it has ended.
    #[allow(dead_code, reason = "for programs that may end at any time")]
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_some()
    }

    /// The launcher's process.
    pub(crate) fn launcher(&self) -> u32 {
        self.child.id()
    }

    /// Waits until so many lines that begin with `word` have come, and returns them.
    pub(crate) fn await_lines(&self, word: &str, count: usize) -> Vec<String> {
        let since = Instant::now();
        loop {
            let lines = pick(&self.texts[0].lock().expect("nobody panics here"), word);
            if lines.len() >= count {
                return lines;
            }
            assert!(since.elapsed() < LONGEST, "{count} lines of {word:?} did not come: {lines:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it has said a line on standard error in which all of these words are.
    #[allow(dead_code, reason = "for programs that say who waits")]
    #[track_caller]
    pub(crate) fn await_said(&self, words: &[&str]) {
        let since = Instant::now();
        loop {
            let text = self.texts[1].lock().expect("nobody panics here").clone();
            if text.lines().any(|line| words.iter().all(|words| line.contains(words))) {
                return;
            }
            assert!(since.elapsed() < LONGEST, "{words:?} was not said: {:?}", self.texts);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Outcome {
        self.finish_within(LONGEST).unwrap_or_else(|so_far| panic!("it does not end: {so_far:?}"))
    }

    /// The same; what it has said so far, if that takes longer. Then the launcher has been killed.
    pub(crate) fn finish_within(mut self, longest: Duration) -> Result<Outcome, Outcome> {
        let since = Instant::now();
        let (has_ended, code) = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break (true, status.code());
            }
            if since.elapsed() > longest {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break (false, None);
            }
            thread::sleep(Duration::from_millis(5));
        };
        // What was written last may still be on its way. A process that is left behind would keep the readers waiting.
        let since = Instant::now();
        while self.readers.iter().any(|reader| !reader.is_finished()) && since.elapsed() < LEFT_BEHIND {
            thread::sleep(Duration::from_millis(1));
        }
        let [out, err] = self.texts.map(|text| text.lock().expect("nobody panics here").clone());
        let outcome = Outcome { code, out, err };
        if has_ended { Ok(outcome) } else { Err(outcome) }
    }
}

fn pick(text: &str, word: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.find(&format!("{word} ")).map(|at| line[at..].trim_end().to_owned())).collect()
}

/// What a program has left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    pub(crate) fn is_well(&self) -> bool {
        self.code == Some(0)
    }

    /// The lines of its output from this word on.
    pub(crate) fn lines(&self, word: &str) -> Vec<String> {
        pick(&self.out, word)
    }

    /// The only such line.
    #[track_caller]
    pub(crate) fn line(&self, word: &str) -> String {
        let lines = self.lines(word);
        assert_eq!(lines.len(), 1, "{self:?}");
        lines[0].clone()
    }

    /// Whether either of its streams says this.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.out.contains(words) || self.err.contains(words)
    }
}

/// The processes of a program that announces them, by rank.
pub(crate) fn pids(lines: &[String]) -> Vec<u32> {
    let mut found: Vec<(usize, u32)> = lines
        .iter()
        .map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let mut next = || words.next().expect("a rank and a pid").parse::<usize>().expect("numbers");
            (next(), next() as u32)
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, pid)| pid).collect()
}

/// Whether a process is there, and not only waiting to be forgotten.
pub(crate) fn is_alive(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    state.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')))
}

/// Sends a signal by its name.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.expect("kill is there").success(), "{name} to {pid}");
}

/// Waits until none of these processes is there any more.
#[track_caller]
pub(crate) fn await_end(pids: &[u32]) {
    let since = Instant::now();
    while pids.iter().any(|&pid| is_alive(pid)) {
        assert!(since.elapsed() < LONGEST, "some of {pids:?} are left behind");
        thread::sleep(Duration::from_millis(10));
    }
}
