//! `superstep run` as its users meet it: real runs on threads, on processes, under Open MPI and under MPICH, which must
//! both be there.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

const SUPERSTEP: &str = env!("CARGO_BIN_EXE_superstep");
const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpiexec.mpich"];

/// The options that choose each of the four ways to run.
const WAYS: [&[&str]; 4] = [
    &["--fabric", "threads"],
    &["--fabric", "procs"],
    &["--launcher", "mpirun.openmpi"],
    &["--launcher", "mpiexec.mpich"],
];

fn command(args: &[&str]) -> Command {
    let mut command = program(SUPERSTEP);
    command.arg("run").args(args).stdin(Stdio::null());
    command
}

/// A program with nothing set for superstep in its environment.
fn program(name: &str) -> Command {
    let mut command = Command::new("/usr/bin/env");
    // Whoever started the tests may ignore signals, and what ignores them hands that on.
    command.args(["--default-signal=INT,TERM,HUP,QUIT", name]);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("SUPERSTEP_") || *name == "SLURM_JOB_ID") {
        command.env_remove(name);
    }
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the messages are UTF-8")
}

/// Who said hello: ranks in order, the sizes they saw, and how many processes they were in.
fn greetings(text: &str) -> (Vec<usize>, BTreeSet<usize>, usize) {
    let (mut ranks, mut sizes, mut processes) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| line.starts_with("hello")) {
        let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        ranks.push(numbers[0]);
        sizes.insert(numbers[1]);
        processes.insert(numbers[2]);
    }
    ranks.sort_unstable();
    (ranks, sizes, processes.len())
}

#[track_caller]
fn greeted(output: &Output, procs: usize, processes: usize) {
    assert!(output.status.success(), "{:?}: {}", output.status, stderr(output));
    let text = stdout(output);
    assert_eq!(greetings(&text), ((0..procs).collect(), BTreeSet::from([procs]), processes), "{text}");
}

/// One line on standard error, exit code `code`, and these words in it.
#[track_caller]
fn refused(output: &Output, code: i32, words: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "{word} in {message}");
    }
}

/// A file in a folder that only this test uses.
fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).expect("folders can be made there");
    let path = folder.join(name);
    fs::write(&path, text).expect("files can be written there");
    path
}

/// A program of a few lines for the shell.
fn script(test: &str, name: &str, text: &str) -> PathBuf {
    let path = file(test, name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("these paths are texts")
}

#[test]
fn the_program_has_as_many_processors_as_asked_for() {
    greeted(&run(&["-n", "3", "--fabric", "threads", SUPERSTEP, "hello"]), 3, 1);
    greeted(&run(&["-n", "3", "--fabric", "procs", SUPERSTEP, "hello"]), 3, 3);
    for launcher in LAUNCHERS {
        for procs in [1, 3] {
            let output = run(&["-n", &procs.to_string(), "--launcher", launcher, SUPERSTEP, "hello"]);
            greeted(&output, procs, procs);
        }
    }
}

#[test]
fn a_process_may_have_several_processors() {
    for launcher in LAUNCHERS {
        greeted(&run(&["-n", "4", "--threads", "2", "--launcher", launcher, SUPERSTEP, "hello"]), 4, 2);
    }
}

#[test]
fn a_launcher_is_found_where_none_is_named() {
    let output = run(&["-n", "2", "-v", SUPERSTEP, "hello"]);
    greeted(&output, 2, 2);
    assert!(stderr(&output).contains("/mpirun.openmpi "), "{}", stderr(&output));
}

#[test]
fn settings_in_the_environment_stand_for_options_and_never_contradict_them() {
    let with = |args: &[&str], variables: &[(&str, &str)]| {
        let program = [args, &[SUPERSTEP, "hello"]].concat();
        command(&program).envs(variables.iter().copied()).output().expect("the command starts")
    };
    greeted(&with(&["-n", "2"], &[("SUPERSTEP_LAUNCHER", "mpiexec.mpich"), ("SUPERSTEP_PROCS", "7")]), 2, 2);
    greeted(&with(&["-n", "4"], &[("SUPERSTEP_THREADS", "2")]), 4, 2);
    greeted(&with(&["-n", "3"], &[("SUPERSTEP_FABRIC", "sim")]), 3, 1);
    greeted(&with(&["-n", "3", "--fabric", "threads"], &[("SUPERSTEP_FABRIC", "mpi")]), 3, 1);
}

#[test]
fn the_exit_code_is_the_programs() {
    for way in WAYS {
        let output = run(&[&["-n", "2"], way, &[SUPERSTEP, "hello", "--exit", "7"]].concat());
        assert_eq!(output.status.code(), Some(7), "{way:?}: {}", stderr(&output));
    }
}

#[test]
fn a_program_that_fails_fails_the_command_and_says_why() {
    for way in WAYS {
        let output = run(&[&["-n", "2"], way, &[SUPERSTEP, "hello", "--panic", "1"]].concat());
        assert_eq!(output.status.code(), Some(1), "{way:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("rank 1 panics as it was told to"), "{way:?}: {}", stderr(&output));
    }
}

#[test]
fn a_program_that_a_signal_killed_gives_128_and_the_signal() {
    let output = run(&["-n", "2", "--fabric", "threads", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(128 + 9));
}

/// The last of the processes kills itself, twice; then all are well.
const TWICE_LOST: &str = "
    rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-$SUPERSTEP_PROCS}}
    if [ $SUPERSTEP_RESTARTS -lt 2 ]; then
        if [ $rank = $((size - 1)) ] || [ -n \"$SUPERSTEP_PROCS\" ]; then kill -9 $$; fi
        exec sleep 20
    fi
    echo \"rank $rank of $size\"";

#[test]
fn a_program_that_has_lost_a_process_is_started_again() {
    for way in WAYS {
        let line = |options: &[&str]| run(&[&["-n", "4"], way, options, &["sh", "-c", TWICE_LOST]].concat());
        let output = line(&["--restart", "3"]);
        assert!(output.status.success(), "{way:?}: {output:?}");
        assert!(stdout(&output).contains("of 4"), "{way:?}: {output:?}");
        assert!(stderr(&output).contains("start 2 of 3 again, on 4"), "{way:?}: {output:?}");
        let output = line(&["--restart", "2", "--shrink"]);
        assert!(output.status.success() && stdout(&output).contains("of 2"), "{way:?}: {output:?}");
        let output = line(&["--restart", "1"]);
        assert!(!output.status.success() && !stdout(&output).contains("rank"), "{way:?}: {output:?}");
        assert!(stderr(&output).contains("start 1 of 1 again"), "{way:?}: {output:?}");
    }
}

#[test]
fn a_program_that_fails_by_itself_is_not_started_again() {
    for way in WAYS {
        let output = run(&[&["-n", "2"], way, &["--restart", "3", "sh", "-c", "exit 7"]].concat());
        assert_eq!(output.status.code(), Some(7), "{way:?}: {output:?}");
        assert!(!stderr(&output).contains("again"), "{way:?}: {output:?}");
    }
}

#[test]
fn arguments_reach_the_program_as_they_are() {
    for way in WAYS {
        let output = run(&[&["-n", "1"], way, &[SUPERSTEP, "hello", "--", "-v", "it's $HOME", ""]].concat());
        assert!(stdout(&output).contains(" [-v] [it's $HOME] []"), "{way:?}: {}", stdout(&output));
    }
}

#[test]
fn the_command_line_that_is_shown_does_the_same_in_a_shell() {
    for way in WAYS {
        let shown = run(&[&["-n", "2", "-v"], way, &[SUPERSTEP, "hello", "two words"]].concat());
        let processes = if way == WAYS[0] { 1 } else { 2 };
        greeted(&shown, 2, processes);
        let line = stderr(&shown);
        assert_eq!(line.lines().count(), 1, "{line}");
        let pasted = program("sh").args(["-c", &line]).stdin(Stdio::null()).output().expect("there is a shell");
        greeted(&pasted, 2, processes);
        assert!(stdout(&pasted).contains("[two words]"), "{way:?}: {}", stdout(&pasted));
    }
}

#[test]
fn lines_may_tell_who_wrote_them() {
    for launcher in LAUNCHERS {
        let output = run(&["-n", "2", "--prefix", "--launcher", launcher, SUPERSTEP, "hello"]);
        let mut lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        assert_eq!(lines.len(), 2, "{lines:?}");
        for (rank, line) in lines.iter().enumerate() {
            assert!(line.starts_with(&format!("[{rank}] hello from {rank} of 2")), "{line}");
        }
        let output = run(&["-n", "2", "--prefix", "--launcher", launcher, SUPERSTEP, "hello", "--panic", "1"]);
        assert!(stderr(&output).lines().any(|line| line.starts_with("[1] ")), "{}", stderr(&output));
    }
}

#[test]
fn processes_start_on_the_hosts_of_a_file() {
    let hosts = file("hosts", "good", "# this one\nlocalhost slots=2\n");
    for launcher in LAUNCHERS {
        for procs in [2, 3] {
            let procs_text = procs.to_string();
            let args = ["--procs", &procs_text, "--hosts", text(&hosts), "--launcher", launcher, SUPERSTEP, "hello"];
            greeted(&run(&args), procs, procs);
        }
    }
}

#[test]
fn a_bad_file_of_hosts_is_refused_with_the_place() {
    for (name, lines, words) in [
        ("no-slots", "localhost slots=2\nother\n", ":2: other has no slots"),
        ("no-number", "localhost slots=all\n", ":1: `slots=all`"),
        ("empty", "# nobody\n", "names no host"),
    ] {
        let hosts = file("bad-hosts", name, lines);
        refused(&run(&["-n", "2", "--hosts", text(&hosts), SUPERSTEP, "hello"]), 1, &[text(&hosts), words]);
    }
    refused(&run(&["-n", "2", "--hosts", "/nowhere/hosts", SUPERSTEP, "hello"]), 1, &["/nowhere/hosts"]);
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let cases: [(&[&str], &[&str]); 6] = [
        (&["-n", "5", "--threads", "2"], &["-n 5", "2 threads", "-n 4 or -n 6"]),
        (&["-n", "4", "--threads", "2", "--fabric", "threads"], &["--threads 2", "one process"]),
        (&["-n", "4", "--launcher", "mpirun.openmpi", "--fabric", "threads"], &["--launcher"]),
        (&["-n", "0"], &["at least 1"]),
        (&["-n", "2", "--fabric", "pigeons"], &["pigeons"]),
        (&["--threads", "2"], &["--procs"]),
    ];
    for (args, words) in cases {
        refused(&run(&[args, &[SUPERSTEP, "hello"]].concat()), 2, words);
    }
    refused(&run(&["-n", "2"]), 2, &["PROGRAM"]);
    refused(&run(&["-n", "1", "--launcher", "mpiexec.mpich", SUPERSTEP, "hello", ":"]), 2, &["`:`"]);
}

#[test]
fn a_program_that_is_not_there_is_told_in_one_line() {
    for way in WAYS {
        refused(&run(&[&["-n", "2"], way, &["/nowhere/sort"]].concat()), 1, &["/nowhere/sort", "no such program"]);
    }
}

#[test]
fn without_a_launcher_there_are_threads_unless_mpi_was_asked_for() {
    let folder = file("no-launcher", "empty", "");
    let folder = folder.parent().expect("it is in a folder");
    let here = |args: &[&str]| command(args).env("PATH", folder).output().expect("the command starts");
    greeted(&here(&["-n", "3", SUPERSTEP, "hello"]), 3, 1);
    let names = ["srun", "mpirun.openmpi", "mpirun", "mpiexec", "mpiexec.mpich", "mpiexec.hydra", "--fabric threads"];
    refused(&here(&["-n", "3", "--fabric", "mpi", SUPERSTEP, "hello"]), 1, &names);
    refused(&here(&["-n", "4", "--threads", "2", SUPERSTEP, "hello"]), 1, &names);
}

#[test]
fn a_launcher_of_no_known_kind_is_refused_with_what_it_says() {
    let teapot = script("teapot", "mpirun", "echo teapot 1.0");
    let output = run(&["-n", "2", "--launcher", text(&teapot), SUPERSTEP, "hello"]);
    refused(&output, 1, &[text(&teapot), "`teapot 1.0`"]);
    refused(&run(&["-n", "2", "--launcher", "mpirun.nobody", SUPERSTEP, "hello"]), 1, &["mpirun.nobody is not there"]);
}

/// There is no Slurm to try, so one that shows what it was told stands for it.
#[test]
fn in_a_job_of_slurm_srun_comes_first_and_labels_are_as_elsewhere() {
    let says = "if [ \"$1\" = --version ]; then echo slurm 23.02.7; else echo \"0: $SUPERSTEP_THREADS $*\"; fi";
    let srun = script("slurm", "srun", says);
    let folder = srun.parent().expect("it is in a folder");
    let hosts = file("slurm", "hosts", "a slots=1\nb slots=2\n");
    let path = std::env::join_paths(
        [folder.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = command(&["-n", "6", "--threads", "2", "--prefix", "--hosts", text(&hosts), "./sort", "x"])
        .env("PATH", path.expect("folders make a path"))
        .env("SLURM_JOB_ID", "1")
        .output()
        .expect("the command starts");
    assert_eq!(
        stdout(&output).trim_end(),
        "[0] 2 --export=ALL --kill-on-bad-exit=1 --quit-on-interrupt --ntasks=3 --cpus-per-task=2 \
         --distribution=arbitrary --nodelist=a,b,b --label ./sort x",
        "{}",
        stderr(&output)
    );
}

#[test]
fn help_has_examples_and_the_program_for_trying_launchers_is_not_in_it() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("Examples:") && stdout(&output).contains("threads of one process have no"));
    let all = Command::new(SUPERSTEP).arg("--help").output().expect("the command starts");
    assert!(stdout(&all).contains("run") && !stdout(&all).contains("hello"), "{}", stdout(&all));
}

/// Two processors of a program that waits, all of whose processes have a variable that nobody else has.
struct Waiting {
    superstep: Child,
    /// Not to be closed before the end.
    output: BufReader<ChildStdout>,
    mark: String,
}

impl Waiting {
    fn start(way: &[&str], mark: &str) -> Self {
        Self::until_up(command(&[&["-n", "2"], way, &[SUPERSTEP, "hello", "--wait"]].concat()), mark)
    }

    fn until_up(mut command: Command, mark: &str) -> Self {
        let mark = format!("SUPERSTEP_MARK={mark}-{}", std::process::id());
        let (name, value) = mark.split_once('=').expect("it was made so");
        let mut superstep =
            command.env(name, value).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the command starts");
        let output = BufReader::new(superstep.stdout.take().expect("it is a pipe"));
        let mut waiting = Self { superstep, output, mark };
        let mut lines = waiting.output.by_ref().lines().map_while(Result::ok);
        assert!(lines.any(|line| line.trim_end() == "waiting"), "{command:?}: all come up");
        waiting
    }

    /// The processes of this run that are left, `superstep run` and launchers among them.
    fn left(&self) -> Vec<String> {
        let is_ours = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == self.mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").expect("there is a /proc").filter_map(|entry| Some(entry.ok()?.path()));
        let names = processes.filter(|process| is_ours(process)).map(|process| process.display().to_string());
        names.collect()
    }

    fn kill(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.superstep.id().to_string()]).status();
        assert!(status.expect("there is a kill").success());
    }

    /// Waits until none is left. The time is only there so that a failure ends.
    fn nothing_is_left(&self, what: &str) {
        let end = Instant::now() + Duration::from_secs(1800);
        while !self.left().is_empty() {
            assert!(Instant::now() < end, "{what}: {:?} are left", self.left());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind either.
        for process in self.left() {
            let _ = Command::new("kill").args(["-KILL", process.trim_start_matches("/proc/")]).status();
        }
        let _ = self.superstep.wait();
    }
}

#[test]
fn a_signal_to_end_ends_every_process() {
    for (number, way) in WAYS.into_iter().enumerate() {
        for (signal, code) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
            let mut waiting = Waiting::start(way, &format!("end{number}{code}"));
            let processes = [2, 3, 4, 4][number];
            assert!(waiting.left().len() >= processes, "{way:?}: {:?}", waiting.left());
            waiting.kill(signal);
            let status = waiting.superstep.wait().expect("it ends");
            assert_eq!(status.code(), Some(128 + code), "{way:?} {signal}");
            waiting.nothing_is_left(&format!("{way:?} {signal}"));
        }
    }
}

/// `script` gives it a terminal, and what is written to that is typed there.
#[test]
fn control_c_at_a_terminal_ends_every_process() {
    for (number, way) in WAYS.into_iter().enumerate() {
        let line = [&[SUPERSTEP, "run", "-n", "2"], way, &[SUPERSTEP, "hello", "--wait"]].concat().join(" ");
        let mut terminal = program("script");
        terminal.args(["-qefc", &line, "/dev/null"]).stdin(Stdio::piped());
        let mut waiting = Waiting::until_up(terminal, &format!("type{number}"));
        let keys = waiting.superstep.stdin.as_mut().expect("it is a pipe");
        keys.write_all(b"\x03").expect("the terminal is there");
        assert_eq!(waiting.superstep.wait().expect("it ends").code(), Some(128 + 2), "{way:?}");
        waiting.nothing_is_left(&format!("{way:?}"));
    }
}

#[test]
fn nothing_outlives_a_command_that_was_killed_outright() {
    for (number, way) in WAYS.into_iter().enumerate() {
        let mut waiting = Waiting::start(way, &format!("kill{number}"));
        waiting.kill("-KILL");
        assert_eq!(waiting.superstep.wait().expect("it ends").signal(), Some(9));
        waiting.nothing_is_left(&format!("{way:?}"));
    }
}

#[test]
fn a_signal_that_was_to_be_ignored_is_not_passed_on() {
    let hello = format!("trap '' HUP; exec {SUPERSTEP} run -n 1 --fabric threads sh -c 'kill -HUP $PPID; echo on'");
    let output = program("sh").args(["-c", &hello]).output().expect("there is a shell");
    assert_eq!((stdout(&output).trim_end(), output.status.code()), ("on", Some(0)));
}
