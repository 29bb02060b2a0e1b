//! Tells the program which compiler made it.

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").expect("cargo names the compiler");
    let output = Command::new(rustc).arg("--version").output().expect("the compiler can be asked");
    let version = String::from_utf8_lossy(&output.stdout);
    println!("cargo::rustc-env=PEERS_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
