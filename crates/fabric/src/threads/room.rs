//! How many threads the system has room for, as far as it tells.
//!
//! Threads beyond a limit of the system fail to start one by one, after all those before them have, and that can take
//! minutes. So a run that is to start many looks at the limits first.

use std::{fs, io};

/// Fewer threads than this are started without a look.
const MANY: usize = 512;
/// What each two processors of a run know of each other, in bytes.
const BYTES_PER_PAIR: usize = 64;
/// How many mappings a thread has: its stack and the guard below it.
const MAPPINGS: usize = 2;

/// A limit of the system: what it is, and how many more threads it lets start.
struct Limit {
    what: String,
    room: usize,
}

/// Refuses to start `missing` more threads for a run of so many processors where a limit says that it would fail.
pub(super) fn check(processors: usize, missing: usize) -> io::Result<()> {
    if missing < MANY {
        return Ok(());
    }
    let tightest = limits(processors, missing).into_iter().min_by_key(|limit| limit.room);
    match tightest.filter(|limit| limit.room < missing) {
        None => Ok(()),
        Some(Limit { what, room }) => {
            let why = format!("{what} leaves room for {room} more threads, and not for {missing}");
            Err(io::Error::new(io::ErrorKind::QuotaExceeded, why))
        }
    }
}

fn limits(processors: usize, missing: usize) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut add = |what: &str, most: Option<usize>, used: usize| {
        limits.extend(most.map(|most| Limit { what: what.to_owned(), room: most.saturating_sub(used) }));
    };
    // As in "0.20 0.18 0.12 1/80 11206": of 80 threads in all, one runs.
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = load.split_whitespace().nth(3).and_then(|all| all.split_once('/')?.1.parse().ok()).unwrap_or(0);
    add("/proc/sys/kernel/threads-max", number("/proc/sys/kernel/threads-max"), running);
    add("/proc/sys/kernel/pid_max", number("/proc/sys/kernel/pid_max"), running);
    let mappings = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count());
    let most_mappings = number("/proc/sys/vm/max_map_count").map(|most| most.saturating_sub(mappings) / MAPPINGS);
    add("/proc/sys/vm/max_map_count", most_mappings, 0);
    if !crate::system::is_root() {
        add("the limit of processes (ulimit -u)", field("/proc/self/limits", "Max processes"), 0);
    }
    for folder in cgroups(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default()) {
        let used = number(&format!("{folder}/pids.current")).unwrap_or(0);
        add(&format!("{folder}/pids.max"), number(&format!("{folder}/pids.max")), used);
    }
    // The memory has to hold what all pairs of processors know.
    let available = field("/proc/meminfo", "MemAvailable:").map(|kibibytes| kibibytes.saturating_mul(1024));
    let most = available.map(|bytes| (bytes / BYTES_PER_PAIR).isqrt());
    add("the memory of this machine", most, processors - missing);
    limits
}

/// The number that a file holds; nothing where it is another word, such as `max`.
fn number(file: &str) -> Option<usize> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The first number behind a heading in a file.
fn field(file: &str, heading: &str) -> Option<usize> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(heading))?.split_whitespace().next()?.parse().ok()
}

/// The folders of the cgroups that count threads: this process's and those around it.
fn cgroups(listed: &str) -> Vec<String> {
    let mut folders = Vec::new();
    for line in listed.lines() {
        let mut words = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let root = match controllers {
            "" if number == "0" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|controller| controller == "pids") => "/sys/fs/cgroup/pids",
            _ => continue,
        };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        folders.extend((0..=parts.len()).map(|depth| [&[root], &parts[..depth]].concat().join("/")));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn more_threads_than_any_system_has_are_refused_by_the_limit_that_they_meet() {
        let error = check(1 << 40, 1 << 40).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        assert!(error.to_string().contains("leaves room for"), "{error}");
        check(100, 100).unwrap();
        // Limits are looked at from so many on.
        assert!(check(1 << 40, MANY).is_err());
        check(1 << 40, MANY - 1).unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn every_limit_that_the_system_has_is_looked_at() {
        let limits = limits(1000, 900);
        for what in ["threads-max", "pid_max", "max_map_count", "the memory of this machine"] {
            let found = limits.iter().find(|limit| limit.what.contains(what));
            let room = found.unwrap_or_else(|| panic!("{what} is missing")).room;
            assert!(room > 0 && room < 1 << 40, "{what} leaves room for {room}");
        }
        assert_eq!(limits.iter().any(|limit| limit.what.contains("ulimit -u")), !crate::system::is_root());
        // A stack and its guard are two mappings; what there is already counts as well.
        let mappings = number("/proc/sys/vm/max_map_count").expect("Linux has it");
        let room = limits.iter().find(|limit| limit.what.contains("max_map_count")).map(|limit| limit.room);
        assert!(room.is_some_and(|room| room < mappings / 2 && room > mappings / 4), "{room:?} of {mappings}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn memory_has_room_for_the_pairs_of_those_that_are_there_and_come() {
        let room = |processors, missing| {
            let limits = limits(processors, missing);
            limits.into_iter().find(|limit| limit.what == "the memory of this machine").expect("Linux tells").room
        };
        let total = field("/proc/meminfo", "MemTotal:").expect("Linux has it") * 1024;
        let most = room(1 << 40, 1 << 40);
        assert!(most > 0 && most * most * BYTES_PER_PAIR <= total, "{most} of {total} bytes");
        assert_eq!(room(1 << 40, 1 << 39), 0, "so many are there");
    }

    #[test]
    fn cgroups_of_both_versions_are_found_with_those_around_them() {
        assert_eq!(cgroups("0::/a/b\n"), ["/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b"]);
        assert_eq!(cgroups("4:memory:/x\n8:pids:/y\n"), ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/pids/y"]);
        assert!(cgroups("nonsense").is_empty() && cgroups("1::/x\n").is_empty());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn a_field_is_the_first_number_behind_its_heading() {
        assert!(field("/proc/meminfo", "MemTotal:").is_some_and(|kibibytes| kibibytes > 0));
        assert_eq!(field("/proc/meminfo", "NoSuchThing:"), None);
        assert_eq!(number("/proc/self/limits"), None);
    }
}
