//! What the environment asks of the simulator.

use std::{env, process::Command};

/// A program that the tests below start again, in an environment of theirs.
#[test]
#[ignore = "started by other tests"]
fn program() {
    let size = superstep::Config::new().procs(2).run(|g| {
        for _ in 0..3 {
            g.step(|_| ());
        }
        g.size()
    });
    match size {
        Ok(size) => println!("\nwell {size}"),
        Err(error) => println!("\nerror {:?} {error}", error.kind()),
    }
}

/// What the program prints, and what it says on standard error.
fn run_with(variables: &[(&str, &str)]) -> [String; 2] {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", "settings::program"]);
    command.env("SUPERSTEP_FABRIC", "sim").envs(variables.iter().copied());
    let output = command.output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn the_environment_asks_for_faults_a_cost_and_a_trace() {
    assert!(run_with(&[("SUPERSTEP_SIM_FAULTS", "delay,stall"), ("SUPERSTEP_SEED", "2")])[0].contains("\nwell 2\n"));
    let crashed = (0..50).any(|seed: u64| {
        let [out, _] = run_with(&[("SUPERSTEP_SIM_FAULTS", "crash"), ("SUPERSTEP_SEED", &seed.to_string())]);
        let says = |rank: usize| format!("\nerror PeerLost process {rank} crashed, as seed {seed} has it\n");
        out.contains(&says(0)) || out.contains(&says(1))
    });
    assert!(crashed, "no seed crashed");
    let [_, traced] = run_with(&[("SUPERSTEP_SIM_TRACE", "1"), ("SUPERSTEP_SIM_COST", "1,1,7.5")]);
    assert!(traced.contains("7.500 us  2 processors have met in step 0 of group 0"), "{traced}");
    assert!(!run_with(&[("SUPERSTEP_SIM_TRACE", "0")])[1].contains("processor"));
}

#[test]
fn a_value_that_makes_no_sense_is_refused() {
    for (name, value, wanted) in [
        ("SUPERSTEP_SIM_FAULTS", "hail", "a list of delay, stall, "),
        ("SUPERSTEP_SIM_FAULTS", "delay,", "a list of delay, stall, "),
        ("SUPERSTEP_SIM_COST", "1,2", "r,g,l: "),
        ("SUPERSTEP_SIM_COST", "0,2,3", "r,g,l: "),
        ("SUPERSTEP_SIM_TRACE", "yes", "0 or 1"),
    ] {
        let [out, _] = run_with(&[(name, value)]);
        assert!(out.contains(&format!("error BadConfig {name} is \"{value}\"; it must be {wanted}")), "{out}");
    }
}
