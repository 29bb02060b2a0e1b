//! The command line that is started, for each kind of launcher.

use super::{
    hosts::Hosts,
    launcher::{Kind, Launcher},
    quote::quoted,
};
use crate::failure::Failure;
use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Command,
};

/// What a launcher is to start.
#[derive(Clone, Debug)]
pub(super) struct Job<'a> {
    pub(super) processes: usize,
    /// Of each process.
    pub(super) threads: usize,
    pub(super) hosts: Option<&'a Hosts>,
    pub(super) hosts_file: Option<&'a Path>,
    /// How many processes there is room for: on the hosts, or on this machine.
    pub(super) slots: usize,
    /// Whether each line of output is to tell who wrote it.
    pub(super) is_labelled: bool,
    pub(super) is_root: bool,
    /// The variables that must reach every process.
    pub(super) passed: Vec<String>,
    /// Whether the environment says a number of processors, which a launcher would contradict.
    pub(super) has_procs: bool,
    pub(super) program: &'a [OsString],
}

/// A command line, and how its environment differs from that of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    set: Vec<(&'static str, String)>,
    unset: Vec<&'static str>,
    words: Vec<OsString>,
    /// Whether it starts a launcher, and not the program itself.
    pub(super) is_launcher: bool,
}

impl Line {
    /// Sets a variable of its environment.
    pub(super) fn set(&mut self, name: &'static str, value: String) {
        self.set.push((name, value));
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.set.iter().map(|(name, value)| (name, value)));
        for name in &self.unset {
            command.env_remove(name);
        }
        command
    }

    /// What is started.
    pub(super) fn starts(&self) -> &OsStr {
        &self.words[0]
    }

    /// As one would type it into a shell.
    pub(super) fn quoted(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        if !self.unset.is_empty() {
            words.push("env".to_owned());
            words.extend(self.unset.iter().map(|name| format!("-u {name}")));
        }
        words.extend(self.set.iter().map(|(name, value)| format!("{name}={}", quoted(OsStr::new(value)))));
        words.extend(self.words.iter().map(|word| quoted(word)));
        words.join(" ")
    }
}

/// The program itself, with threads; its fabric is what the environment says unless one is named.
pub(super) fn alone(procs: usize, fabric: Option<&'static str>, program: &[OsString]) -> Line {
    let mut set = vec![("SUPERSTEP_PROCS", procs.to_string())];
    set.extend(fabric.map(|fabric| ("SUPERSTEP_FABRIC", fabric.to_owned())));
    Line { set, unset: Vec::new(), words: program.to_vec(), is_launcher: false }
}

/// The program as a launcher starts it.
pub(super) fn launched(launcher: &Launcher, job: &Job<'_>) -> Result<Line, Failure> {
    let options = match launcher.kind {
        Kind::Slurm => slurm(job),
        Kind::OpenMpi { major } => open_mpi(job, major),
        Kind::Mpich => mpich(job),
    };
    if !launcher.kind.is_slurm() && job.program.iter().any(|word| word == ":") {
        let message = "an argument is `:`, which MPI launchers take for the end of a program's arguments";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut words = vec![launcher.path.clone().into_os_string()];
    words.extend(options);
    words.extend_from_slice(job.program);
    let set = vec![("SUPERSTEP_FABRIC", "mpi".to_owned()), ("SUPERSTEP_THREADS", job.threads.to_string())];
    let unset = if job.has_procs { vec!["SUPERSTEP_PROCS"] } else { Vec::new() };
    Ok(Line { set, unset, words, is_launcher: true })
}

fn open_mpi(job: &Job<'_>, major: u32) -> Vec<OsString> {
    let is_new = major >= 5;
    let mut options = words(&["-n", &job.processes.to_string()]);
    if job.is_root {
        options.extend(words(&["--allow-run-as-root"]));
    }
    if let Some(file) = job.hosts_file {
        options.extend([OsString::from("--hostfile"), file.into()]);
    }
    if job.processes > job.slots {
        options.extend(words(if is_new { &["--map-by", ":OVERSUBSCRIBE"] } else { &["--oversubscribe"] }));
    }
    if job.threads > 1 {
        // It would bind a process to one core, and all its threads with it.
        options.extend(words(&["--bind-to", "none"]));
    }
    if job.is_labelled {
        options.extend(words(if is_new { &["--output", "tag"] } else { &["--tag-output"] }));
    }
    for name in &job.passed {
        options.extend(words(&["-x", name]));
    }
    options
}

fn mpich(job: &Job<'_>) -> Vec<OsString> {
    let mut options = words(&["-genvlist", &job.passed.join(",")]);
    if let Some(hosts) = job.hosts {
        options.extend(words(&["-hosts", &hosts.with_slots()]));
    }
    if job.is_labelled {
        options.extend(words(&["-prepend-rank"]));
    }
    options.extend(words(&["-n", &job.processes.to_string()]));
    options
}

fn slurm(job: &Job<'_>) -> Vec<OsString> {
    // One process that fails ends all, and one Ctrl-C is enough, as with the others.
    let mut options = words(&["--export=ALL", "--kill-on-bad-exit=1", "--quit-on-interrupt"]);
    options.push(format!("--ntasks={}", job.processes).into());
    if job.threads > 1 {
        options.push(format!("--cpus-per-task={}", job.threads).into());
    }
    if let Some(hosts) = job.hosts {
        options.push("--distribution=arbitrary".into());
        options.push(format!("--nodelist={}", hosts.of_each(job.processes)).into());
        if job.processes > job.slots {
            options.push("--overcommit".into());
        }
    }
    if job.is_labelled {
        options.push("--label".into());
    }
    options
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(program: &[OsString]) -> Job<'_> {
        Job {
            processes: 2,
            threads: 1,
            hosts: None,
            hosts_file: None,
            slots: 2,
            is_labelled: false,
            is_root: false,
            passed: vec!["SUPERSTEP_FABRIC".to_owned(), "SUPERSTEP_THREADS".to_owned()],
            has_procs: false,
            program,
        }
    }

    /// The line for a launcher called `go`.
    fn line(kind: Kind, job: &Job<'_>) -> String {
        launched(&Launcher { path: "go".into(), kind }, job).expect("it can be started").quoted()
    }

    const OPEN_MPI: Kind = Kind::OpenMpi { major: 4 };

    #[test]
    fn the_plain_lines_have_the_number_and_the_variables() {
        let program = words(&["./sort", "two words"]);
        let job = job(&program);
        let variables = "SUPERSTEP_FABRIC=mpi SUPERSTEP_THREADS=1";
        assert_eq!(
            line(OPEN_MPI, &job),
            format!("{variables} go -n 2 -x SUPERSTEP_FABRIC -x SUPERSTEP_THREADS ./sort 'two words'")
        );
        assert_eq!(
            line(Kind::Mpich, &job),
            format!("{variables} go -genvlist SUPERSTEP_FABRIC,SUPERSTEP_THREADS -n 2 ./sort 'two words'")
        );
        let usual = "--export=ALL --kill-on-bad-exit=1 --quit-on-interrupt";
        assert_eq!(line(Kind::Slurm, &job), format!("{variables} go {usual} --ntasks=2 ./sort 'two words'"));
    }

    #[test]
    fn each_launcher_is_told_about_root_threads_labels_and_room_in_its_own_words() {
        let program = words(&["./sort"]);
        let job = Job { processes: 3, threads: 4, is_labelled: true, is_root: true, ..job(&program) };
        let has = |kind, options: &str| {
            let line = line(kind, &job);
            assert!(line.contains(options) && line.contains("SUPERSTEP_THREADS=4 "), "{options} in {line}");
        };
        has(OPEN_MPI, " -n 3 --allow-run-as-root --oversubscribe --bind-to none --tag-output -x");
        let fifth = " -n 3 --allow-run-as-root --map-by :OVERSUBSCRIBE --bind-to none --output tag -x";
        has(Kind::OpenMpi { major: 5 }, fifth);
        has(Kind::Mpich, " -prepend-rank -n 3 ./sort");
        has(Kind::Slurm, " --ntasks=3 --cpus-per-task=4 --label ./sort");
    }

    #[test]
    fn hosts_go_to_each_launcher_in_its_own_form() {
        let file = std::env::temp_dir().join(format!("superstep-hosts-{}", std::process::id()));
        std::fs::write(&file, "a slots=1\nb slots=2\n").expect("a temporary file can be written");
        let hosts = Hosts::read(&file).expect("the hosts are well-formed");
        std::fs::remove_file(&file).expect("it was there");
        let program = words(&["./sort"]);
        let hosts_file = Some(Path::new("my hosts"));
        let fits = Job { processes: 3, slots: hosts.slots(), hosts: Some(&hosts), hosts_file, ..job(&program) };
        let line_of = |kind| line(kind, &fits);
        assert!(line_of(OPEN_MPI).contains(" --hostfile 'my hosts' -x"), "{}", line_of(OPEN_MPI));
        assert!(line_of(Kind::Mpich).contains(" -hosts a:1,b:2 -n 3 "), "{}", line_of(Kind::Mpich));
        let slurm = line_of(Kind::Slurm);
        assert!(slurm.contains(" --distribution=arbitrary --nodelist=a,b,b ./sort"), "{slurm}");
        let more = Job { processes: 4, ..fits };
        assert!(line(OPEN_MPI, &more).contains(" --oversubscribe "));
        assert!(line(Kind::Slurm, &more).contains(" --nodelist=a,b,b,a --overcommit "));
    }

    #[test]
    fn a_number_of_processors_in_the_environment_does_not_contradict_the_launcher() {
        let program = words(&["./sort"]);
        let line = line(Kind::Mpich, &Job { has_procs: true, ..job(&program) });
        assert!(line.starts_with("env -u SUPERSTEP_PROCS SUPERSTEP_FABRIC=mpi "), "{line}");
    }

    #[test]
    fn what_a_launcher_would_take_for_a_second_program_is_refused() {
        let program = words(&["./sort", ":", "x"]);
        for (kind, is_refused) in [(OPEN_MPI, true), (Kind::Mpich, true), (Kind::Slurm, false)] {
            let launcher = Launcher { path: "go".into(), kind };
            assert_eq!(launched(&launcher, &job(&program)).is_err(), is_refused, "{kind:?}");
        }
    }

    #[test]
    fn alone_a_program_is_told_its_processors_and_keeps_its_fabric_unless_one_is_named() {
        let program = words(&["./sort"]);
        assert_eq!(alone(3, Some("threads"), &program).quoted(), "SUPERSTEP_PROCS=3 SUPERSTEP_FABRIC=threads ./sort");
        assert_eq!(alone(3, None, &program).quoted(), "SUPERSTEP_PROCS=3 ./sort");
    }
}
