//! Building programs against the library, and running them.

use std::{
    env, fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// Nothing that these tests start takes longer, on however slow a machine; one that does is left waiting.
const LONGEST: Duration = Duration::from_secs(1800);

/// The folder of this crate.
pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of this run's own.
pub(crate) fn scratch() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bsp-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("there is room for a folder");
        folder
    })
}

/// The folder with the libraries, which are built if need be.
pub(crate) fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // This executable lies in `deps` of a profile. What is tested is what users link against.
        let this = env::current_exe().expect("this executable has a path");
        let target = this.ancestors().nth(3).expect("it lies three folders down");
        let folder = target.join("release");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--release", "--package", "superstep-bsp", "--target-dir"]).arg(target);
        assert!(build.status().expect("cargo starts").success(), "the library is built");
        assert!(folder.join("libbsp.so").exists() && folder.join("libbsp.a").exists(), "both kinds are there");
        folder
    })
}

/// How a program is compiled: the compiler and its options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiler {
    pub(crate) name: &'static str,
    pub(crate) options: &'static [&'static str],
}

/// Programs of a few lines are written without line breaks here.
const STRICT: [&str; 5] = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-misleading-indentation"];

pub(crate) const C89: Compiler = Compiler { name: "gcc", options: &["-std=c89", "-pedantic"] };
pub(crate) const C: Compiler = Compiler { name: "gcc", options: &[] };
pub(crate) const C_SIZE_T: Compiler = Compiler { name: "gcc", options: &["-DBSP_SIZE_T"] };
pub(crate) const CPP: Compiler = Compiler { name: "g++", options: &["-x", "c++"] };
pub(crate) const CLANG: Compiler = Compiler { name: "clang", options: &[] };

impl Compiler {
    /// Compiles sources into a program with this name.
    pub(crate) fn build(self, name: &str, sources: &[PathBuf], is_static: bool) -> PathBuf {
        let (folder, program) = (libraries(), scratch().join(name));
        let mut command = Command::new(self.name);
        command.args(STRICT).args(self.options).arg("-I").arg(here().join("include")).arg("-o").arg(&program);
        command.args(sources).args(["-x", "none"]);
        if is_static {
            command.arg(folder.join("libbsp.a")).args(["-lpthread", "-ldl"]);
        } else {
            command.arg("-L").arg(folder).arg(format!("-Wl,-rpath,{}", folder.display())).arg("-lbsp");
        }
        command.args(["-lm", "-lpthread"]);
        run(&mut command, "").good(&format!("{self:?} builds {name}"));
        program
    }
}

/// Compiles a Fortran program of this name with the module of the library.
pub(crate) fn build_fortran(name: &str, source: &Path) -> PathBuf {
    let (folder, program) = (libraries(), scratch().join(name));
    let modules = scratch().join(format!("{name}.modules"));
    fs::create_dir_all(&modules).expect("there is room for a folder");
    let mut module = Command::new("gfortran");
    module.args(["-Wall", "-Werror", "-fsyntax-only", "-J"]).arg(&modules).arg(here().join("include/bsp.f90"));
    run(&mut module, "").good("gfortran makes the module");
    let mut command = Command::new("gfortran");
    command.args(["-O1", "-Wall", "-Werror", "-J"]).arg(&modules).arg("-I").arg(here().join("include"));
    command.arg("-o").arg(&program).arg(source).arg("-L").arg(folder);
    command.arg(format!("-Wl,-rpath,{}", folder.display())).arg("-lbsp");
    run(&mut command, "").good(&format!("gfortran builds {name}"));
    program
}

/// What makes a program several processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// It forks itself.
    Forked,
    OpenMpi,
    Mpich,
}

impl Start {
    pub(crate) const ALL: [Self; 3] = [Self::Forked, Self::OpenMpi, Self::Mpich];

    /// A command that starts a program on so many processes.
    pub(crate) fn command(self, program: &Path, processes: usize) -> Command {
        let mut command = match self {
            Self::Forked => return Command::new(program),
            Self::OpenMpi => {
                let mut command = Command::new("mpirun.openmpi");
                command.args(["--allow-run-as-root", "--oversubscribe"]);
                command
            }
            Self::Mpich => Command::new("mpiexec.mpich"),
        };
        command.args(["-n", &processes.to_string()]).arg(program);
        command
    }
}

/// What a command has done.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn good(self, what: &str) -> Self {
        assert!(self.code == Some(0), "{what}: {self:#?}");
        self
    }
}

/// Runs a command to its end, with this input.
#[track_caller]
pub(crate) fn run(command: &mut Command, input: &str) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Cargo's own would lead programs to another build of the library.
    command.env_remove("LD_LIBRARY_PATH");
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let mut stdin = child.stdin.take().expect("it has input");
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let reader = |mut file: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = file.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(Box::new(child.stdout.take().expect("its output is piped")));
    let err = reader(Box::new(child.stderr.take().expect("its output is piped")));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        if start.elapsed() > LONGEST {
            let _ = child.kill();
            panic!("{command:?} has not ended after {LONGEST:?}");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text = |reader: thread::JoinHandle<String>| reader.join().expect("reading does not panic");
    Outcome { code: status.code(), out: text(out), err: text(err) }
}

/// How many processes run a program now.
pub(crate) fn running(program: &Path) -> usize {
    let is_it = |entry: &fs::DirEntry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program);
    let all = fs::read_dir("/proc").expect("there is a list of processes");
    all.filter_map(Result::ok).filter(is_it).count()
}

/// Waits until no process runs a program, which takes no time if none is left behind.
#[track_caller]
pub(crate) fn nobody_is_left(program: &Path) {
    let start = Instant::now();
    while running(program) > 0 {
        assert!(start.elapsed() < LONGEST, "{} processes are left", running(program));
        thread::sleep(Duration::from_millis(5));
    }
}
