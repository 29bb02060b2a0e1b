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
    let (int, size) = (scratch().join("int-part.c"), scratch().join("size-part.c"));
    let main = "#include <bsp.h>\nextern void other(void);\n\
                int main(void) { bsp_begin(2); other(); bsp_end(); return 0; }\n";
    let other = "#define BSP_SIZE_T\n#include <bsp.h>\nextern void other(void);\n\
                 void other(void) { size_t a = 1, b = bsp_pid(); bsp_push_reg(&a, sizeof a); bsp_sync();\n\
                 bsp_put(1 - bsp_pid(), &b, &a, 0, sizeof a); bsp_sync();\n\
                 if (a != 1 - bsp_pid()) bsp_abort(\"wrong\"); bsp_pop_reg(&a); }\n";
    fs::write(&int, main).expect("there is room for a file");
    fs::write(&size, other).expect("there is room for a file");
    let program = C.build("both-kinds", &[int, size], false);
    run(&mut Start::Forked.command(&program, 2), "").good("they work together");
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
