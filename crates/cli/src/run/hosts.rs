//! The file of hosts: one `HOST slots=N` per line.
//!
//! This is Open MPI's own format, without its further settings, so Open MPI is handed the file as it is. For the others
//! it is written anew.

use crate::failure::Failure;
use std::{fs, path::Path};

/// A host, and how many processes it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: String,
    slots: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hosts(Vec<Host>);

impl Hosts {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::Failed(format!("{} could not be read: {error}", path.display())))?;
        Self::parse(&text).map_err(|(line, why)| {
            let place = if line == 0 { String::new() } else { format!(":{line}") };
            Failure::Failed(format!("{}{place}: {why}", path.display()))
        })
    }

    /// Reads the lines; or says which one is bad and why, 0 being none in particular.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut hosts: Vec<Host> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let host = parse_line(line).map_err(|why| (number, why))?;
            if hosts.iter().any(|other| other.name == host.name) {
                return Err((number, format!("{} is named a second time; add its slots up in one line", host.name)));
            }
            hosts.push(host);
        }
        if hosts.is_empty() { Err((0, "it names no host".to_owned())) } else { Ok(Self(hosts)) }
    }

    /// How many processes fit on all of them.
    pub(super) fn slots(&self) -> usize {
        self.0.iter().map(|host| host.slots).fold(0, usize::saturating_add)
    }

    /// As MPICH has them: `a:2,b:4`.
    pub(super) fn with_slots(&self) -> String {
        let hosts: Vec<String> = self.0.iter().map(|host| format!("{}:{}", host.name, host.slots)).collect();
        hosts.join(",")
    }

    /// As Slurm has them: the host of each process, `a,a,b`. If there are more processes than slots, they go round
    /// again.
    pub(super) fn of_each(&self, processes: usize) -> String {
        let slots = self.0.iter().flat_map(|host| std::iter::repeat_n(host.name.as_str(), host.slots));
        slots.cycle().take(processes).collect::<Vec<_>>().join(",")
    }
}

fn parse_line(line: &str) -> Result<Host, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    if !name.chars().all(is_name) || name.starts_with('-') {
        return Err(format!("`{name}` is no name of a host; write HOST slots=N"));
    }
    let setting =
        words.next().ok_or_else(|| format!("{name} has no slots; write {name} slots=4 for four processes"))?;
    let slots = setting.strip_prefix("slots=").and_then(|number| number.parse().ok()).filter(|&slots| slots > 0);
    match (slots, words.next()) {
        (None, _) => Err(format!("`{setting}` is not slots=N with a number N of at least 1")),
        (_, Some(more)) => Err(format!("`{more}` comes after the slots; nothing may")),
        (Some(slots), None) => Ok(Host { name: name.to_owned(), slots }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_written_as_each_launcher_has_them() {
        let hosts =
            Hosts::parse("# ours\n\nnode-1.lab slots=2\n  10.0.0.2\tslots=1 # the slow one\n").expect("all good");
        assert_eq!(hosts.slots(), 3);
        assert_eq!(hosts.with_slots(), "node-1.lab:2,10.0.0.2:1");
        assert_eq!(hosts.of_each(3), "node-1.lab,node-1.lab,10.0.0.2");
        assert_eq!(hosts.of_each(5), "node-1.lab,node-1.lab,10.0.0.2,node-1.lab,node-1.lab");
        assert_eq!(hosts.of_each(1), "node-1.lab");
    }

    #[test]
    fn a_bad_line_is_named_with_what_is_wrong_with_it() {
        let cases = [
            ("a slots=1\nb\n", 2, "b has no slots"),
            ("a slots=0", 1, "`slots=0`"),
            ("\na slots=two", 2, "`slots=two`"),
            ("a slots=", 1, "`slots=`"),
            ("a 4", 1, "`4`"),
            ("a slots=2 max_slots=4", 1, "`max_slots=4`"),
            ("a slots=1\n\na slots=2", 3, "a second time"),
            ("a,b slots=2", 1, "`a,b`"),
            ("-oProxyCommand=x slots=2", 1, "is no name"),
            ("# nobody\n", 0, "no host"),
        ];
        for (text, line, why) in cases {
            let (at, said) = Hosts::parse(text).expect_err(text);
            assert!(at == line && said.contains(why), "{text:?}: line {at}: {said}");
        }
    }
}
