//! The install script, and the wrappers that it installs.

use crate::workshop::{here, libraries, run, scratch};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Installs into a folder of its own, once.
fn prefix() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let prefix = scratch().join("installed");
        let mut install = Command::new(here().join("../../install.sh"));
        install.arg("--prefix").arg(&prefix);
        // The target folder of this run: it has most of what is needed.
        install.env("CARGO_TARGET_DIR", libraries().parent().expect("a profile has a folder of its own"));
        run(&mut install, "").good("it installs");
        prefix
    })
}

#[test]
fn everything_is_installed_and_taken_away_again() {
    let prefix = prefix();
    for file in [
        "lib/libbsp.so",
        "lib/libbsp.a",
        "include/bsp.h",
        "include/bspf.h",
        "include/bsp.mod",
        "bin/bspcc",
        "bin/bspf90",
        "bin/bsprun",
        "lib/pkgconfig/bsp.pc",
        "share/man/man1/bspcc.1",
        "share/man/man3/bsp_put.3",
    ] {
        assert!(prefix.join(file).exists(), "{file} is missing");
    }
    let other = scratch().join("away");
    let script = here().join("../../install.sh");
    let target = libraries().parent().expect("a profile has a folder of its own");
    for option in [&[][..], &["--uninstall"]] {
        let mut install = Command::new(&script);
        install.arg("--prefix").arg(&other).args(option).env("CARGO_TARGET_DIR", target);
        run(&mut install, "").good("it installs and uninstalls");
    }
    assert!(!other.join("lib/libbsp.so").exists() && !other.join("bin/bspcc").exists());
}

#[test]
fn wrappers_compile_and_run() {
    let prefix = prefix();
    let (source, program) = (here().join("programs/reverse.c"), scratch().join("wrapped"));
    for options in [&[][..], &["-static-bsp"]] {
        let mut compile = Command::new(prefix.join("bin/bspcc"));
        compile.args(options).args(["-O2", "-o"]).arg(&program).arg(&source);
        run(&mut compile, "").good("bspcc compiles");
        for mpi in [&[][..], &["--mpi"]] {
            let mut start = Command::new(prefix.join("bin/bsprun"));
            start.args(["-n", "3"]).args(mpi).arg(&program);
            let outcome = run(&mut start, "").good("bsprun runs");
            assert!(outcome.out.contains("reverse: ok"), "{mpi:?}: {outcome:#?}");
        }
    }
    let program = scratch().join("wrapped-fortran");
    let mut compile = Command::new(prefix.join("bin/bspf90"));
    compile.arg("-o").arg(&program).arg(here().join("programs/reverse.f90"));
    compile.arg(format!("-J{}", scratch().display()));
    run(&mut compile, "").good("bspf90 compiles");
    let outcome = run(Command::new(prefix.join("bin/bsprun")).args(["-n", "2"]).arg(&program), "").good("it runs");
    assert!(outcome.out.contains("reverse: ok"), "{outcome:#?}");
}

#[test]
fn wrappers_say_how_they_are_used() {
    for name in ["bspcc", "bspf90", "bsprun"] {
        let outcome = run(Command::new(prefix().join("bin").join(name)).arg("--help"), "").good("it helps");
        assert!(outcome.out.contains(name), "{outcome:#?}");
    }
}

#[test]
fn pkg_config_knows_it() {
    let folder = prefix().join("lib/pkgconfig");
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "bsp"]).env("PKG_CONFIG_PATH", folder);
    let outcome = run(&mut ask, "").good("pkg-config finds it");
    let include = format!("-I{}", prefix().join("include").display());
    assert!(outcome.out.contains(&include) && outcome.out.contains("-lbsp"), "{outcome:#?}");
}

#[test]
fn every_function_of_the_header_has_a_manual_page() {
    let header = fs::read_to_string(here().join("include/bsp.h")).expect("there is a header");
    let pages: String = fs::read_dir(here().join("man"))
        .expect("there are pages")
        .filter_map(|page| fs::read_to_string(page.ok()?.path()).ok())
        .collect();
    let declared = header.lines().filter(|line| line.contains('(') && !line.starts_with('#'));
    let names = declared.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("bsp_"))
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() >= 28, "only {names:?}");
    for name in names {
        assert!(pages.contains(name), "no manual page has {name}");
    }
}
