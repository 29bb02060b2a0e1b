//! X8: who waits long says so, and it is an error only where that is asked for.

use crate::{
    life::program,
    workshop::{Start, nobody_is_left, run},
};

#[test]
fn a_long_wait_is_spoken_of_and_ends_if_asked_for() {
    let text = "int main(void) { bsp_begin(3); bsp_sync(); if (bsp_pid() == 1) for (;;) pause(); bsp_sync();\n\
                bsp_end(); return 0; }";
    let program = program("waits", text);
    for start in Start::ALL {
        let mut command = start.command(&program, 3);
        command.env("SUPERSTEP_WAIT_NOTICE", "0.1").env("SUPERSTEP_WAIT_LIMIT", "1");
        let outcome = run(&mut command, "");
        assert_ne!(outcome.code, Some(0), "{outcome:#?}");
        let says = |words: &str| assert!(outcome.err.contains(words), "no `{words}` in {outcome:#?}");
        says("superstep: processor ");
        says(" in step 1 (bsp_sync) for processor ");
        says(" for processor 1, last seen ");
        says(" ago after step 0 (bsp_sync)");
        says("longer than a wait may take");
        nobody_is_left(&program);
    }
}

#[test]
fn a_limit_that_is_no_number_is_refused() {
    let program = program("limits", "int main(void) { bsp_begin(2); bsp_end(); return 0; }");
    for start in Start::ALL {
        let outcome = run(start.command(&program, 2).env("SUPERSTEP_WAIT_LIMIT", "soon"), "");
        assert_ne!(outcome.code, Some(0), "{outcome:#?}");
        let says = "SUPERSTEP_WAIT_LIMIT is soon; it must be a number of seconds, and 0 is off";
        assert!(outcome.err.contains(says), "{outcome:#?}");
    }
}
