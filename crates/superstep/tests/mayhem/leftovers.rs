//! What a run may have left: processes, memory in common, files.

use crate::launched::is_alive;
use std::{collections::BTreeSet, env, fs, path::PathBuf};

/// The variable by whose value all processes of a run are known, whoever started them.
pub(crate) const TOKEN: &str = "SUPERSTEP_TEST_TOKEN";

/// The living processes of a run, in order.
pub(crate) fn processes(token: &str) -> Vec<u32> {
    let wanted = format!("{TOKEN}={token}");
    let has_it = |pid: u32| {
        let known = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        known.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    let all = fs::read_dir("/proc").expect("the system says which processes there are").flatten();
    let mut found: Vec<u32> = all.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect();
    found.retain(|&pid| has_it(pid) && is_alive(pid));
    found.sort_unstable();
    found
}

/// Those of them that run this executable: processors, and not what launches them.
pub(crate) fn processors(token: &str) -> Vec<u32> {
    let this = env::current_exe().expect("a test has an executable");
    let mut found = processes(token);
    found.retain(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == this));
    found
}

/// The files of memory in common that the processes of a run have mapped.
pub(crate) fn shared_memory(pids: &[u32]) -> BTreeSet<PathBuf> {
    let maps = pids.iter().map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default());
    let paths = maps.flat_map(|text| {
        let at = text.lines().filter_map(|line| line.find("/dev/shm/").map(|at| line[at..].to_owned()));
        at.collect::<Vec<_>>()
    });
    paths.filter(|path| !path.ends_with("(deleted)")).map(PathBuf::from).collect()
}
