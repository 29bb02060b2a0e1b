//! Files of hosts, as the command reads them.

#[path = "../../crates/cli/src/run/hosts.rs"]
mod reader;

use reader::Hosts;
use std::{fs, path::PathBuf, sync::LazyLock};

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| PathBuf::from(format!("/dev/shm/superstep-fuzz-hosts-{}", std::process::id())));

/// Reads these bytes as a file of hosts.
pub fn hosts(bytes: &[u8]) {
    fs::write(&*FILE, bytes).expect("there is room for a file");
    let hosts = Hosts::read(&FILE);
    fs::remove_file(&*FILE).expect("it is there");
    match hosts {
        Ok(hosts) => {
            assert!(hosts.slots() > 0);
            assert_eq!(hosts.of_each(5).split(',').count(), 5);
            assert!(hosts.with_slots().contains(':'));
        }
        Err(crate::failure::Failure::Failed(why)) => assert!(why.contains("superstep-fuzz-hosts")),
    }
}
