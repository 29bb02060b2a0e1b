//! Finding a launcher, and asking it what it is.
//!
//! A name says little: `mpirun` and `mpiexec` are Open MPI's here and MPICH's there. So whatever bears one of the usual
//! names is asked for its version, and only if it gives the answer of the kind that is looked for it is taken.

use super::launcher::{Kind, Launcher};
use crate::failure::Failure;
use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Slurm's launcher; it is of use only in a job of Slurm's.
const SLURM: &str = "srun";
/// Those that may be Open MPI's.
const OPEN_MPI: [&str; 3] = ["mpirun.openmpi", "mpirun", "mpiexec"];
/// Those that may be MPICH's.
const MPICH: [&str; 4] = ["mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"];

/// What became of asking for one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    NotThere,
    /// It did not start.
    Silent(String),
    Said {
        path: PathBuf,
        text: String,
    },
}

impl Answer {
    fn launcher(&self) -> Option<Launcher> {
        match self {
            Self::Said { path, text } => Kind::of(text).map(|kind| Launcher { path: path.clone(), kind }),
            _ => None,
        }
    }

    /// It, in words, after its name.
    fn told(&self) -> String {
        match self {
            Self::NotThere => "is not there".to_owned(),
            Self::Silent(why) => format!("cannot be asked for its version ({why})"),
            Self::Said { text, .. } => {
                let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
                format!("says `{}`", first.chars().take(60).collect::<String>())
            }
        }
    }
}

/// The launcher that was named, or the first of the usual ones that is there.
pub(super) fn find(named: Option<&OsStr>) -> Result<Launcher, Failure> {
    if let Some(name) = named {
        let answer = ask(name);
        return answer.launcher().ok_or_else(|| {
            let (name, told) = (name.display(), answer.told());
            Failure::Failed(format!("the launcher {name} {told}; it must be Slurm's, Open MPI's or MPICH's"))
        });
    }
    let is_in_slurm = env::var_os("SLURM_JOB_ID").is_some();
    search(is_in_slurm, |name| ask(OsStr::new(name))).map_err(|tried| {
        Failure::Failed(format!(
            "no MPI launcher was found: {tried}; install one, name it by --launcher or SUPERSTEP_LAUNCHER, or use \
             --fabric threads"
        ))
    })
}

/// Asks one after the other, each once; or tells what all of them said.
fn search(is_in_slurm: bool, mut ask: impl FnMut(&'static str) -> Answer) -> Result<Launcher, String> {
    let mut tried: Vec<(&'static str, Answer)> = Vec::new();
    let slurm = is_in_slurm.then_some((SLURM, Kind::is_slurm as fn(Kind) -> bool));
    let open_mpi = OPEN_MPI.map(|name| (name, (|kind| matches!(kind, Kind::OpenMpi { .. })) as fn(Kind) -> bool));
    let mpich = MPICH.map(|name| (name, (|kind| kind == Kind::Mpich) as fn(Kind) -> bool));
    for (name, is_wanted) in slurm.into_iter().chain(open_mpi).chain(mpich) {
        let known = tried.iter().find(|(other, _)| *other == name).map(|(_, answer)| answer.clone());
        let answer = known.unwrap_or_else(|| {
            let answer = ask(name);
            tried.push((name, answer.clone()));
            answer
        });
        if let Some(launcher) = answer.launcher().filter(|launcher| is_wanted(launcher.kind)) {
            return Ok(launcher);
        }
    }
    let mut told: Vec<String> = tried.iter().map(|(name, answer)| format!("{name} {}", answer.told())).collect();
    if !is_in_slurm {
        told.insert(0, format!("{SLURM} was not tried (SLURM_JOB_ID is not set)"));
    }
    Err(told.join(", "))
}

fn ask(name: &OsStr) -> Answer {
    let Some(path) = on_path(name) else { return Answer::NotThere };
    match Command::new(&path).arg("--version").stdin(Stdio::null()).output() {
        Err(error) => Answer::Silent(error.to_string()),
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            Answer::Said { path, text: String::from_utf8_lossy(&text).into_owned() }
        }
    }
}

/// Where a program is that a shell would start by this name.
pub(super) fn on_path(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Nothing is started there.
#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where these are, each with what it says.
    fn search_among(is_in_slurm: bool, there: &[(&str, &str)]) -> Result<String, String> {
        let mut asked = Vec::new();
        let found = search(is_in_slurm, |name| {
            assert!(!asked.contains(&name), "{name} is asked once");
            asked.push(name);
            match there.iter().find(|(other, _)| *other == name) {
                Some((_, text)) => Answer::Said { path: PathBuf::from(name), text: (*text).to_owned() },
                None => Answer::NotThere,
            }
        });
        found.map(|launcher| launcher.path.display().to_string())
    }

    const OPEN: &str = "mpirun (Open MPI) 4.1.4";
    const HYDRA: &str = "HYDRA build details:";

    #[test]
    fn slurm_comes_before_open_mpi_and_that_before_mpich_whatever_their_names() {
        let found = |is_in_slurm, there: &[(&str, &str)]| search_among(is_in_slurm, there).expect("there is one");
        let all = [("srun", "slurm 23.02.7"), ("mpiexec", OPEN), ("mpirun", HYDRA), ("mpiexec.hydra", HYDRA)];
        assert_eq!(found(true, &all), "srun");
        assert_eq!(found(false, &all), "mpiexec");
        assert_eq!(found(false, &[("mpirun", HYDRA), ("mpiexec.hydra", HYDRA)]), "mpiexec.hydra");
        assert_eq!(found(true, &[("mpirun", HYDRA), ("mpiexec", HYDRA)]), "mpiexec");
        assert_eq!(found(true, &[("mpirun.openmpi", "x (OpenRTE) 4.1.4"), ("mpirun", OPEN)]), "mpirun.openmpi");
    }

    #[test]
    fn if_there_is_none_every_name_is_listed_with_what_it_said() {
        let tried = search_among(false, &[("mpirun", "\nteapot 1.0\nshort and stout")]).expect_err("no launcher");
        for part in [
            "srun was not tried",
            "mpirun.openmpi is not there",
            "mpirun says `teapot 1.0`",
            "mpiexec is not there",
            "mpiexec.mpich is not there",
            "mpiexec.hydra is not there",
        ] {
            assert_eq!(tried.matches(part).count(), 1, "{part} in {tried}");
        }
        assert!(search_among(true, &[]).expect_err("no launcher").contains("srun is not there"));
    }
}
