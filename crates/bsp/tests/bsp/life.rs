//! How processes begin and end.

use crate::workshop::{C, Start, here, nobody_is_left, run, running, scratch};
use std::{fs, path::PathBuf, process::Stdio, thread, time::Duration};

/// Builds a program from its text.
pub(crate) fn program(name: &str, text: &str) -> PathBuf {
    let source = scratch().join(format!("{name}.c"));
    let head =
        "#define _DEFAULT_SOURCE\n#include <bsp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
    fs::write(&source, format!("{head}{text}")).expect("there is room for a file");
    C.build(name, &[source], false)
}

#[test]
fn the_exit_code_is_that_of_process_0() {
    let text = "int main(void) { int p; bsp_begin(3); p = bsp_pid(); bsp_end(); return p == 0 ? 42 : 13; }";
    let program = program("exit-code", text);
    let outcome = run(&mut Start::Forked.command(&program, 3), "");
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(42), ""));
    let outcome = run(&mut Start::Mpich.command(&program, 3), "");
    assert_eq!(outcome.code, Some(42), "{outcome:#?}");
}

#[test]
fn process_0_goes_on_alone_with_what_it_had() {
    let text = "static int before = 1;\nint main(void) { before = 7; bsp_begin(3); bsp_sync(); bsp_end();\n\
                printf(\"after %d\\n\", before); return 0; }";
    let program = program("goes-on", text);
    for start in Start::ALL {
        let outcome = run(&mut start.command(&program, 3), "").good("it ends");
        assert_eq!(outcome.out, "after 7\n", "{start:?}");
    }
}

#[test]
fn the_number_and_the_time_can_be_asked_for_after_the_end() {
    let text = "int main(void) { double t; bsp_begin(3); t = bsp_time(); bsp_sync(); bsp_end();\n\
                printf(\"%d processes, %d\\n\", bsp_nprocs(), bsp_time() >= t); return 0; }";
    let program = program("asks-after", text);
    for start in Start::ALL {
        let outcome = run(&mut start.command(&program, 4), "").good("it ends");
        assert_eq!(outcome.out, "3 processes, 1\n", "{start:?}");
    }
}

#[test]
fn output_from_before_the_beginning_comes_once() {
    let text = "int main(void) { printf(\"first \"); bsp_begin(4); bsp_end(); printf(\"last\\n\"); return 0; }";
    let outcome = run(&mut Start::Forked.command(&program("once", text), 4), "").good("it ends");
    assert_eq!(outcome.out, "first last\n");
}

#[test]
fn a_program_may_read_first_how_many_it_wants() {
    let program = C.build("hello-init", &[here().join("programs/hello_init.c")], false);
    for start in Start::ALL {
        let outcome = run(&mut start.command(&program, 4), "3\n").good("it ends");
        assert_eq!(outcome.out.matches("of 3").count(), 3, "{start:?}: {outcome:#?}");
    }
}

#[test]
fn input_is_for_process_0() {
    let text = "int main(void) { int c; bsp_begin(3); if (bsp_pid() > 0 && getchar() != EOF) bsp_abort(\"not mine\");\n\
                bsp_sync(); c = bsp_pid() == 0 ? getchar() : 0; if (bsp_pid() == 0) printf(\"%c\\n\", c);\n\
                bsp_end(); return 0; }";
    let outcome = run(&mut Start::Forked.command(&program("input", text), 3), "x").good("it ends");
    assert_eq!(outcome.out, "x\n");
}

#[test]
fn fewer_start_where_fewer_are_allowed() {
    let text = "int main(void) { int n = bsp_nprocs(); bsp_begin(5); if (bsp_pid() == 0)\n\
                printf(\"%d %d\\n\", n, bsp_nprocs()); bsp_end(); return 0; }";
    let program = program("fewer", text);
    let outcome = run(Start::Forked.command(&program, 5).env("BSP_PROCS", "2"), "").good("it ends");
    assert_eq!(outcome.out, "2 2\n");
    let outcome = run(&mut Start::OpenMpi.command(&program, 3), "").good("it ends");
    assert_eq!(outcome.out, "3 3\n");
    let outcome = run(&mut Start::OpenMpi.command(&program, 7), "").good("it ends");
    assert_eq!(outcome.out, "7 5\n");
}

#[test]
fn nobody_outlives_process_0() {
    let text = "int main(void) { bsp_begin(3); printf(\"here\\n\"); fflush(stdout);\n\
                if (bsp_pid() > 0) for (;;) pause(); bsp_sync(); return 0; }";
    let program = program("outlives", text);
    let mut child = Start::Forked.command(&program, 3).stdout(Stdio::null()).spawn().expect("it starts");
    while running(&program) < 3 {
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
    nobody_is_left(&program);
}

#[test]
fn a_program_may_fork_for_itself() {
    let text = "#include <sys/wait.h>\nint main(void) { int i; bsp_begin(3); bsp_sync();\n\
                for (i = 0; i < 2; i++) { pid_t k = fork(); if (k == 0) exit(0); waitpid(k, NULL, 0); bsp_sync(); }\n\
                if (system(\"true\") != 0) bsp_abort(\"no shell\"); bsp_sync(); bsp_end();\n\
                printf(\"after\\n\"); return 0; }";
    let program = program("forks", text);
    let outcome = run(&mut Start::Forked.command(&program, 3), "").good("it ends");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("after\n", ""));
    nobody_is_left(&program);
}

/// What a process says that the program has forked, and that calls a function.
fn refusal(function: &str) -> String {
    format!("{function}: called by a process that the program has forked; only those of bsp_begin may call the library")
}

#[test]
fn a_process_that_the_program_forks_is_refused_and_nobody_else_is() {
    let source = here().join("tests/c/strangers.c");
    let program = C.build("strangers", std::slice::from_ref(&source), false);
    let with_static = C.build("strangers-static", &[source], true);
    let starts = Start::ALL.map(|start| (start, &program));
    for (start, program) in starts.into_iter().chain([(Start::Forked, &with_static)]) {
        let outcome = run(&mut start.command(program, 2), "").good("the program itself goes on");
        let count = |text: &str, part: &str| text.matches(part).count();
        // What a parent has printed comes once.
        assert_eq!((count(&outcome.out, "here"), count(&outcome.out, "after")), (2, 1), "{start:?}: {outcome:#?}");
        for function in ["sync", "end", "put", "get", "send", "pid", "time", "begin", "init", "fold", "alloc"] {
            let line = refusal(&format!("bsp_{function}"));
            assert_eq!(count(&outcome.err, &line), 2, "{function}, {start:?}: {outcome:#?}");
        }
        assert_eq!(count(&outcome.err, &refusal("bsp_nprocs")), 3, "{start:?}: {outcome:#?}");
        assert_eq!(count(&outcome.err, "gave up at 7 (bsp_abort by a process that"), 2, "{start:?}: {outcome:#?}");
        assert!(start == Start::Mpich || outcome.err.lines().count() == 2 * 18 + 1, "{start:?}: {outcome:#?}");
    }
    nobody_is_left(&program);
}

#[test]
fn under_a_launcher_a_fork_from_before_the_beginning_is_refused_too() {
    let text = "#include <sys/wait.h>\nint main(void) { int s; pid_t k = fork(); if (k == 0) { bsp_begin(2);\n\
                bsp_end(); _exit(0); } waitpid(k, &s, 0); if (WEXITSTATUS(s) != 1) return 3; bsp_begin(2);\n\
                if (bsp_pid() == 0) printf(\"%d\\n\", bsp_nprocs()); bsp_end(); return 0; }";
    let program = program("forked-first", text);
    for start in [Start::OpenMpi, Start::Mpich] {
        let outcome = run(&mut start.command(&program, 2), "").good("the program itself goes on");
        assert_eq!(outcome.out, "2\n", "{start:?}: {outcome:#?}");
        assert_eq!(outcome.err.matches(&refusal("bsp_begin")).count(), 2, "{start:?}: {outcome:#?}");
    }
}

#[test]
fn without_a_launcher_a_fork_from_before_the_beginning_begins_on_its_own() {
    let text = "#include <sys/wait.h>\nint main(void) { int s = 0; pid_t k = fork(); bsp_begin(k == 0 ? 3 : 2);\n\
                bsp_sync(); s = bsp_nprocs(); bsp_end(); if (k == 0) { printf(\"%d\\n\", s); return 0; }\n\
                waitpid(k, NULL, 0); printf(\"%d\\n\", s); return 0; }";
    let outcome = run(&mut Start::Forked.command(&program("two-runs", text), 2), "").good("both end");
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("3\n2\n", ""));
}

#[test]
fn a_long_message_comes_whole() {
    let text = "#include <string.h>\nint main(void) { static char t[100001]; memset(t, 'x', 100000); bsp_begin(2);\n\
                if (bsp_pid() == 1) bsp_abort(\"%d %s %d\", 1, t, 2); for (;;) pause(); }";
    let program = program("long-message", text);
    let whole = format!("1 {} 2\n", "x".repeat(100_000));
    let outcome = run(&mut Start::Forked.command(&program, 2), "");
    assert!(outcome.code == Some(1) && outcome.err == whole, "{} bytes came", outcome.err.len());
    let outcome = run(&mut Start::OpenMpi.command(&program, 2), "");
    assert!(outcome.code != Some(0) && outcome.err.contains(&whole), "{} bytes came", outcome.err.len());
}

#[test]
fn a_message_is_printed_byte_for_byte() {
    // Latin 1, which is no UTF-8.
    let text = "int main(void) { bsp_begin(2); if (bsp_pid() == 1) bsp_abort(\"Gr\\366\\337e %d\\n\", 2);\n\
                for (;;) pause(); }";
    let program = program("latin-1", text);
    let outcome = run(std::process::Command::new("sh").args(["-c", "\"$0\" 2>&1 | od -An -c"]).arg(&program), "");
    let bytes: String = outcome.out.split_whitespace().collect();
    assert_eq!(bytes, "Gr366337e2\\n", "{outcome:#?}");
}

#[test]
fn a_message_is_formatted_where_no_process_can_be_made_for_it() {
    let text = "#include <sys/resource.h>\nint main(void) { struct rlimit r = { 3, 3 }; bsp_begin(2);\n\
                setrlimit(RLIMIT_NOFILE, &r); bsp_sync(); if (bsp_pid() == 1) bsp_abort(\"gave up at %d\", 7);\n\
                for (;;) pause(); }";
    let outcome = run(&mut Start::Forked.command(&program("no-files", text), 2), "");
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), "gave up at 7\n"));
}

#[test]
fn a_message_whose_arguments_crash_is_not_handled_by_the_program() {
    // A handler of such signals that aborts itself would do so in the process that formats.
    let text = "#include <signal.h>\nstatic void crash(int s) { bsp_abort(\"handled %d\", s); }\n\
                int main(void) { const char *volatile f = \"text %s\"; signal(SIGSEGV, crash); bsp_begin(2);\n\
                if (bsp_pid() == 0) bsp_abort(f, (char *)8); for (;;) pause(); }";
    let outcome = run(&mut Start::Forked.command(&program("crashing-format", text), 2), "");
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), "text %s\n"));
}

#[test]
fn process_0_reads_on_where_it_was_in_its_files() {
    let text = "int main(int argc, char **argv) { FILE *f; int n, last = -1; (void)argc; f = fopen(argv[1], \"r\");\n\
                if (fscanf(f, \"%d\", &last) != 1) return 4; bsp_begin(3); bsp_sync(); bsp_end();\n\
                while (fscanf(f, \"%d\", &n) == 1) { if (n != last + 1) return 3; last = n; }\n\
                printf(\"%d\\n\", last); return 0; }";
    let (program, numbers) = (program("reads-on", text), scratch().join("numbers.txt"));
    let lines: Vec<String> = (0..50_000).map(|number: i32| number.to_string()).collect();
    fs::write(&numbers, lines.join("\n")).expect("there is room for a file");
    let outcome = run(Start::Forked.command(&program, 3).arg(&numbers), "").good("it reads everything once");
    assert_eq!(outcome.out, "49999\n");
}

#[test]
fn signals_are_for_the_threads_of_the_program() {
    let text = "#include <signal.h>\nint main(void) { sigset_t s; int got = 0; bsp_begin(2); sigemptyset(&s);\n\
                sigaddset(&s, SIGUSR1); sigprocmask(SIG_BLOCK, &s, NULL); bsp_sync();\n\
                kill(getpid(), SIGUSR1); if (sigwait(&s, &got) != 0 || got != SIGUSR1) bsp_abort(\"not mine\");\n\
                bsp_sync(); bsp_end(); return 0; }";
    let program = program("signals", text);
    run(&mut Start::Forked.command(&program, 2), "").good("everybody waits for its own signal");
}

#[test]
fn what_was_printed_comes_out_when_another_process_aborts() {
    let text = "int main(void) { bsp_begin(2); if (bsp_pid() == 0) printf(\"here\\n\"); bsp_sync();\n\
                if (bsp_pid() == 1) bsp_abort(\"enough\"); for (;;) pause(); }";
    let outcome = run(&mut Start::Forked.command(&program("printed", text), 2), "");
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (Some(1), "here\n", "enough\n"));
}

#[test]
fn a_program_may_ignore_its_children() {
    let text = "#include <signal.h>\nint main(void) { signal(SIGCHLD, SIG_IGN); bsp_begin(3); bsp_sync(); bsp_end();\n\
                printf(\"after\\n\"); return 5; }";
    let program = program("ignores", text);
    let outcome = run(&mut Start::Forked.command(&program, 3), "");
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (Some(5), "after\n", ""));
    nobody_is_left(&program);
}

#[test]
fn more_processes_than_cores_work() {
    let text = "int main(void) { int i, sum = 0, one = 1, got[40]; bsp_begin(24);\n\
                for (i = 0; i < 50; i++) bsp_sync(); bsp_exchange(got, got, 0); bsp_gather(0, &one, got, sizeof one);\n\
                if (bsp_pid() == 0) { for (i = 0; i < 24; i++) sum += got[i]; printf(\"%d\\n\", sum); }\n\
                bsp_end(); return 0; }";
    let outcome = run(&mut Start::Forked.command(&program("crowd", text), 24), "").good("it ends");
    assert_eq!(outcome.out, "24\n");
}

#[test]
fn both_kinds_of_size_link_together() {
    let main = "int main(void) { bsp_begin(2); other(); bsp_end(); return 0; }";
    let other = "void other(void) { size_t a = 1, b = bsp_pid(); bsp_push_reg(&a, sizeof a); bsp_sync();\n\
                 bsp_put(1 - bsp_pid(), &b, &a, 0, sizeof a); bsp_sync();\n\
                 if (a != 1 - bsp_pid()) bsp_abort(\"wrong\"); bsp_pop_reg(&a); }";
    let program = both_kinds("both-kinds", main, other);
    run(&mut Start::Forked.command(&program, 2), "").good("they work together");
}

/// A program of two files, of which `other`, with sizes of type `size_t`, is called from the one with `int`.
fn both_kinds(name: &str, main: &str, other: &str) -> PathBuf {
    let (int, size) = (scratch().join(format!("{name}-int.c")), scratch().join(format!("{name}-size.c")));
    let declared = "#include <bsp.h>\n#include <stdlib.h>\nextern void other(void);\n";
    fs::write(&int, format!("{declared}{main}\n")).expect("there is room for a file");
    fs::write(&size, format!("#define BSP_SIZE_T\n{declared}{other}\n")).expect("there is room for a file");
    C.build(name, &[int, size], false)
}

#[test]
fn a_number_that_an_int_has_no_room_for_is_not_cut() {
    let main = "int main(void) { int size = 0; bsp_begin(2); other(); bsp_set_tagsize(&size); bsp_end(); return 0; }";
    let other = "void other(void) { size_t size = (size_t)5000000000; bsp_set_tagsize(&size); }";
    let program = both_kinds("large-tag", main, other);
    for start in [Start::Forked, Start::OpenMpi] {
        let outcome = run(&mut start.command(&program, 2), "");
        assert!(outcome.code != Some(0), "{outcome:#?}");
        let line =
            "bsp_set_tagsize: the tag size before is 5000000000, which an int has no room for; define BSP_SIZE_T";
        assert!(outcome.err.contains(line), "{outcome:#?}");
    }
}

/// A queue of more bytes than an int can count.
#[test]
#[ignore = "needs 5 GiB of memory; `campaign.sh` runs it"]
fn a_queue_that_an_int_has_no_room_for_is_not_cut() {
    let main = "int main(void) { int i, n, bytes; char *text = malloc(1 << 28); bsp_begin(1);\n\
                for (i = 0; i < 8; i++) bsp_send(0, NULL, text, 1 << 28); bsp_sync(); bsp_qsize(&n, NULL);\n\
                if (n != 8) bsp_abort(\"wrong\"); other(); bsp_qsize(&n, &bytes); bsp_end(); return 0; }";
    let other = "void other(void) { size_t n, bytes; bsp_qsize(&n, &bytes); if (bytes != (size_t)1 << 31)\n\
                 bsp_abort(\"wrong\"); }";
    let outcome = run(&mut Start::Forked.command(&both_kinds("large-queue", main, other), 1), "");
    let line = "bsp_qsize: the number of bytes is 2147483648, which an int has no room for; define BSP_SIZE_T";
    assert!(outcome.code == Some(1) && outcome.err.starts_with(line), "{outcome:#?}");
}

/// A transfer that does not fit into 32 bits of length, where the two processes have the memory for it.
#[test]
#[ignore = "needs 20 GiB of memory; `campaign.sh` runs it"]
fn more_than_4_gib_go_in_one_transfer() {
    let text = "int main(void) { size_t n = ((size_t)1 << 32) + 9; char *a, b = 1; bsp_begin(2); a = malloc(n);\n\
                if (a == NULL) bsp_abort(\"no memory\"); a[0] = a[n - 1] = (char)(5 + bsp_pid()); bsp_push_reg(a, n);\n\
                bsp_sync(); if (bsp_pid() == 0) bsp_put(1, a, a, 0, n); bsp_sync();\n\
                if (a[0] != 5 || a[n - 1] != 5) bsp_abort(\"wrong\"); a[n - 1] = (char)(7 + bsp_pid());\n\
                if (bsp_pid() == 0) bsp_get(1, a, n - 1, &b, 1); bsp_sync(); if (bsp_pid() == 0 && b != 8)\n\
                bsp_abort(\"wrong\"); bsp_pop_reg(a); bsp_end(); return 0; }";
    let source = scratch().join("long.c");
    let head = "#define BSP_SIZE_T\n#include <bsp.h>\n#include <stdlib.h>\n";
    fs::write(&source, format!("{head}{text}")).expect("there is room for a file");
    let program = C.build("long", &[source], false);
    run(&mut Start::Forked.command(&program, 2), "").good("it arrives");
}
