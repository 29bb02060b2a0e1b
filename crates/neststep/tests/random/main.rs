//! Random programs in NestStep, written as text and compiled in one go, against an interpreter of the papers' rules.
//!
//! `SUPERSTEP_NESTSTEP_PROGRAMS` says how many, and `SUPERSTEP_NESTSTEP_SEED` from which seed on.

#![forbid(unsafe_code)]
#![allow(
    clippy::format_push_string,
    clippy::unnecessary_debug_formatting,
    reason = "it writes a program, with paths in quotes"
)]

mod model;
mod program;
mod text;

use std::{env, fs, path::Path, process::Command};

/// The groups in which each program runs.
const SIZES: [usize; 4] = [1, 2, 3, 5];

/// What programs make of a section.
fn total(part: &[i64]) -> i64 {
    part.iter().fold(0, |sum, value| (sum * 2 + value) % 997)
}

/// The program that runs all of them, on threads and on both simulated fabrics.
fn source(seeds: &[u64]) -> String {
    let mut out = String::from(
        "#![allow(unused, clippy::all)]\nuse neststep::neststep;\nuse superstep::{Config, Fabric, Group};\n\
         use std::cmp::max;\n\
         fn total(part: &[i64]) -> i64 { part.iter().fold(0, |sum, value| (sum * 2 + value) % 997) }\n",
    );
    for (number, &seed) in seeds.iter().enumerate() {
        out.push_str(&text::function(&program::draw(seed), number));
    }
    let all: Vec<String> = (0..seeds.len()).map(|number| format!("p{number}::program")).collect();
    out.push_str(&format!("const ALL: [fn(&mut Group) -> Vec<i64>; {}] = [{}];\n", all.len(), all.join(", ")));
    out.push_str(&format!(
        "fn main() {{
            for (number, program) in ALL.iter().enumerate() {{
                for size in {SIZES:?} {{
                    let sim = |shares_memory| Fabric::Sim {{ seed: number as u64, shares_memory }};
                    for fabric in [Fabric::Threads, sim(false), sim(true)] {{
                        let config = Config::new().procs(size).fabric(fabric);
                        match config.run_all(|g| program(g)) {{
                            Ok(all) => println!(\"{{number}} {{size}} {{all:?}}\"),
                            Err(error) => println!(\"{{number}} {{size}} {{error}}\"),
                        }}
                    }}
                }}
            }}
        }}\n"
    ));
    out
}

/// Builds and runs a package of its own, beside this one.
fn run(source: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random");
    fs::create_dir_all(package.join("src")).expect("a folder can be made");
    let manifest = format!(
        "[package]\nname = \"random\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         neststep = {{ path = {:?} }}\nsuperstep = {{ path = {:?} }}\n[profile.dev]\ndebug = false\n",
        here,
        here.join("../superstep")
    );
    fs::write(package.join("Cargo.toml"), manifest).expect("a file can be written");
    fs::copy(here.join("../../Cargo.lock"), package.join("Cargo.lock")).expect("a file can be copied");
    fs::write(package.join("src/main.rs"), source).expect("a file can be written");
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--offline"]).current_dir(&package).env("CARGO_TARGET_DIR", package.join("target"));
    let output = command.output().expect("cargo can be started");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{}", output.status, &err[..err.len().min(4000)]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn random_programs_mean_what_the_papers_say() {
    let (first, count) = (number("SUPERSTEP_NESTSTEP_SEED", 0), number("SUPERSTEP_NESTSTEP_PROGRAMS", 300));
    let seeds: Vec<u64> = (first..first + count).collect();
    let found = run(&source(&seeds));
    let mut lines = found.lines();
    for (number, &seed) in seeds.iter().enumerate() {
        let program = program::draw(seed);
        for size in SIZES {
            let expected = format!("{number} {size} {:?}", model::run(&program, size));
            for fabric in ["threads", "sim", "sim-shared"] {
                let line = lines.next().expect("every run has a line");
                let text = || text::function(&program, number);
                assert_eq!(line, expected, "seed {seed} on {fabric}:\n{}", text());
            }
        }
    }
    assert_eq!(lines.next(), None);
    println!("{count} programs from seed {first} on, each on three fabrics and {} sizes", SIZES.len());
}
