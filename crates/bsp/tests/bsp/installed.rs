//! The install script, and the wrappers that it installs.

use crate::workshop::{C, here, libraries, run, scratch};
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

/// A wrapper of the installation, which alone is in the path before the system's programs.
fn wrapper(name: &str) -> Command {
    let mut command = Command::new(prefix().join("bin").join(name));
    let system = std::env::var("PATH").expect("there is a path");
    command.env("PATH", format!("{}:{system}", prefix().join("bin").display()));
    command.env_remove("CC").env_remove("FC").env_remove("BSP_WRAPPED");
    command
}

/// A folder of its own with a script.
fn script(folder: &str, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = scratch().join(folder).join(name);
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("there is room for a folder");
    fs::write(&path, text).expect("there is room for a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

#[test]
fn a_wrapper_that_is_named_as_the_compiler_finds_another_one() {
    let (c, fortran) = (here().join("programs/reverse.c"), here().join("programs/reverse.f90"));
    let modules = format!("-J{}", scratch().display());
    let by_script = script("leads-back", "compile", "#!/bin/sh\nexec bspcc \"$@\"\n");
    let by_script = by_script.to_str().expect("it is text");
    for (name, variable, compiler, source) in [
        ("bspcc", "CC", "bspcc", &c),
        ("bspcc", "CC", "bspcc -std=c99", &c),
        ("bspcc", "CC", "env bspcc", &c),
        ("bspcc", "CC", by_script, &c),
        ("bspf90", "FC", "bspf90", &fortran),
        ("bspf90", "FC", "bspf90 -O1", &fortran),
        ("bspf90", "FC", "env bspf90", &fortran),
    ] {
        let program = scratch().join("led-back");
        let mut compile = wrapper(name);
        compile.env(variable, compiler).arg("-o").arg(&program).arg(source);
        if name == "bspf90" {
            compile.arg(&modules);
        }
        run(&mut compile, "").good(&format!("{name} with {variable}={compiler} compiles"));
        let outcome = run(wrapper("bsprun").arg("-n2").arg(&program), "").good("it runs");
        assert!(outcome.out.contains("reverse: ok"), "{outcome:#?}");
    }
    let shown = run(wrapper("bspcc").env("CC", "bspcc -std=c99").args(["--show", "x.c"]), "").good("it shows");
    assert!(shown.out.starts_with("cc -std=c99 x.c "), "{shown:#?}");
}

#[test]
fn compilers_that_all_lead_back_are_named() {
    let bin = prefix().join("bin");
    for (name, variable, compilers) in [("bspcc", "CC", ["cc", "gcc"]), ("bspf90", "FC", ["gfortran", "flang"])] {
        let folder = format!("all-lead-back-{name}");
        for compiler in compilers {
            script(&folder, compiler, &format!("#!/bin/sh\nexec {name} \"$@\"\n"));
        }
        let mut compile = wrapper(name);
        let path = std::env::var("PATH").expect("there is a path");
        compile.env("PATH", format!("{}:{}:{path}", scratch().join(folder).display(), bin.display()));
        let outcome = run(compile.env(variable, compilers[0]).arg("x.c"), "");
        let line = format!("{name}: {variable} is {}, and leads back to {name}; set it to a compiler\n", compilers[0]);
        assert_eq!((outcome.code, outcome.err), (Some(2), line));
    }
}

#[test]
fn what_is_missing_is_named() {
    let nowhere = scratch().join("nowhere");
    let bin = prefix().join("bin");
    let asked: [(&str, &[&str], i32, &str); 6] = [
        ("bspcc", &["x.c"], 127, "bspcc: there is no compiler cc; install one, or name another in CC\n"),
        ("bspf90", &["x.f90"], 127, "bspf90: there is no compiler gfortran; install one, or name another in FC\n"),
        ("bsprun", &["./nothing"], 127, "bsprun: there is no program ./nothing\n"),
        ("bsprun", &["nothing"], 127, "bsprun: there is no program nothing\n"),
        ("bsprun", &["--mpi", "./nothing"], 127, "bsprun: there is no program ./nothing\n"),
        (
            "bsprun",
            &["--mpi", "-n", "2", "/bin/true"],
            2,
            "bsprun: there is no mpirun or mpiexec; install Open MPI or MPICH, or leave out --mpi\n",
        ),
    ];
    for (name, words, code, line) in asked {
        let mut command = Command::new("/bin/sh");
        command.arg(bin.join(name)).args(words).env("PATH", &nowhere).env_remove("CC").env_remove("FC");
        let outcome = run(command.env_remove("BSP_WRAPPED").env_remove("BSP_MPIRUN"), "");
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(code), line), "{name} {words:?}");
    }
    let outcome = run(wrapper("bspcc").env("CC", "no-such-compiler -O2").arg("x.c"), "");
    let line = "bspcc: there is no compiler no-such-compiler; install one, or name another in CC\n";
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(127), line));
    let outcome = run(wrapper("bsprun").arg(here().join("Cargo.toml")), "");
    assert!(outcome.code == Some(126) && outcome.err.ends_with("Cargo.toml is not a program that can be run\n"));
}

#[test]
fn bsprun_takes_numbers_as_other_launchers_do() {
    let program = script("counted", "test", "#!/bin/sh\necho \"$BSP_PROCS\"\n");
    for words in [&["-n", "3"][..], &["-n3"], &["-np", "3"], &["-np3"], &["-npes", "3"], &["-npes3"], &["-n=3"]] {
        let outcome = run(wrapper("bsprun").args(words).arg(&program), "").good("it runs");
        assert_eq!(outcome.out, "3\n", "{words:?}");
    }
    for (words, line) in [
        (&["-n0"][..], "-n wants a number of at least 1, not 0"),
        (&["-np", "two"], "-np wants a number of at least 1, not two"),
        (&["-nx"], "there is no option -nx; see bsprun --help"),
        (&["-n="], "-n wants a number of at least 1, not nothing"),
        (&["-n"], "-n wants a value; see bsprun --help"),
        (&["-n99999999999"], "-n 99999999999 are more processes than there can be"),
        (&["--mpi", "-n99999999999"], "-n 99999999999 are more processes than there can be"),
    ] {
        let mut command = wrapper("bsprun");
        command.args(words);
        if words != ["-n"] {
            command.arg(&program);
        }
        let outcome = run(&mut command, "");
        assert_eq!((outcome.code, outcome.err), (Some(2), format!("bsprun: {line}\n")), "{words:?}");
    }
    let outcome = run(wrapper("bsprun").arg("--mpi").arg(&program).env("BSP_PROCS", "two"), "");
    assert_eq!(outcome.err, "bsprun: BSP_PROCS wants a number of at least 1, not two\n");
    // A word that the shell knows is a program of this folder all the same, unless the system has one.
    let program = script("counted", "export", "#!/bin/sh\necho mine\n");
    let folder = program.parent().expect("it lies in a folder");
    let outcome = run(wrapper("bsprun").arg("export").current_dir(folder), "").good("it runs");
    assert_eq!(outcome.out, "mine\n");
    let outcome = run(wrapper("bsprun").arg("--version"), "").good("it says so");
    assert_eq!(outcome.out, concat!("bsprun of superstep ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bsprun_and_the_library_agree_on_how_many_there_can_be() {
    let source = scratch().join("few.c");
    let text =
        "#include <bsp.h>\nint main(void) { int n = bsp_nprocs(); bsp_begin(2); bsp_end(); return n != 1024; }\n";
    fs::write(&source, text).expect("there is room for a file");
    let program = C.build("few", &[source], false);
    run(wrapper("bsprun").arg("-n1024").arg(&program), "").good("so many there may be");
    let outcome = run(wrapper("bsprun").arg("-n1025").arg(&program), "");
    let line = "bsprun: -n 1025 are more processes than there can be on one machine, 1024; use --mpi for more\n";
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(2), line));
    let outcome = run(Command::new(&program).env("BSP_PROCS", "1025"), "");
    let line = "bsp_nprocs: BSP_PROCS is 1025; it must be a number of processes from 1 to 1024\n";
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), line));
}

#[test]
fn options_of_the_oxford_toolset_are_accepted_or_named() {
    let (source, program) = (here().join("programs/reverse.c"), scratch().join("oxford"));
    let mut compile = wrapper("bspcc");
    compile.args(["-O3", "-flibrary-level", "2", "-bspfifo", "10000", "-fcombine-puts"]);
    compile
        .args(["-fcombine-puts-buffer", "256K,128M,4K", "-fcontention-resolve", "1", "-o"])
        .arg(&program)
        .arg(source);
    run(&mut compile, "").good("it compiles");
    run(wrapper("bsprun").args(["-noload", "-npes", "2"]).arg(&program), "").good("it runs");
    for (words, line) in [
        (&["-prof", "x.c"][..], "there is no profile of supersteps, so -prof is refused; use -pg or perf"),
        (&["-cgprof", "x.c"], "there is no profile of supersteps, so -cgprof is refused; use -pg or perf"),
        (&["-cflags", "-O2", "x.c"], "-cflags is refused; write the compiler's options as they are"),
        (&["x.c", "-flibrary-level"], "-flibrary-level wants a value; see bspcc --help"),
    ] {
        let outcome = run(wrapper("bspcc").args(words), "");
        assert_eq!((outcome.code, outcome.err), (Some(2), format!("bspcc: {line}\n")), "{words:?}");
    }
}

#[test]
fn a_wrapper_links_only_what_there_is_to_link() {
    // Scripts that configure programs ask for this.
    run(wrapper("bspcc").arg("-v"), "").good("the compiler says what it is");
    run(wrapper("bspcc").arg("--version"), "").good("the compiler says what it is");
    let source = fs::read_to_string(here().join("programs/reverse.c")).expect("it is there");
    let mut compile = wrapper("bspcc");
    compile.arg(format!("-I{}", here().join("programs").display())).args(["-static-bsp", "-x", "c", "-", "-o"]);
    run(compile.arg(scratch().join("from-input")), &source).good("the library is not taken for C");
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
