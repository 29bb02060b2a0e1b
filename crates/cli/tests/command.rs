//! The command as its users meet it. Nothing here looks at a time.

use serde_json::Value;
use std::{
    fs,
    process::{Command, Output},
};

fn superstep(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_superstep")).args(args).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the messages are UTF-8")
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("every line is an object")).collect()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("every line is an object").keys().map(String::as_str).collect()
}

#[test]
fn bench_prints_an_object_per_line_with_just_these_keys() {
    let output = superstep(&["bench", "step", "--json", "--rounds", "1", "--round-ms", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    let (ratios, measures): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.get("ratio").is_some());
    for measure in &measures {
        assert_eq!(keys(measure), ["fabric", "kernel", "procs", "unit", "value", "variant", "verified"]);
        assert_eq!(measure["verified"], true, "{measure}");
        assert!(measure["value"].as_f64().is_some_and(|value| value > 0.0), "{measure}");
    }
    for ratio in &ratios {
        assert_eq!(keys(ratio), ["fabric", "kernel", "procs", "ratio", "value", "variant"]);
        assert_eq!(ratio["ratio"], "superstep/limit");
    }
    let variants: Vec<_> = ratios.iter().filter_map(|ratio| ratio["variant"].as_str()).collect();
    for variant in ["empty", "empty-loaded", "reduce+prefix", "put8", "run"] {
        assert!(variants.contains(&variant), "{variant} is not among {variants:?}");
    }
    assert!(measures.iter().any(|measure| measure["variant"] == "empty/raw-epoch-flags" && measure["fabric"] == "raw"));
}

#[test]
fn bench_runs_on_the_simulated_fabric_and_with_another_number_of_processors() {
    let output = superstep(&[
        "bench",
        "exchange",
        "--json",
        "--rounds",
        "1",
        "--round-ms",
        "2",
        "--fabric",
        "sim",
        "--procs",
        "3",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    assert!(lines.iter().all(|line| line["procs"] == 3));
    assert!(
        lines.iter().any(|line| line["variant"] == "hp_put" && line["fabric"] == "sim" && line["verified"] == true)
    );
}

#[test]
fn bench_and_probe_run_on_processes_that_are_forked() {
    let quick = ["--json", "--rounds", "1", "--round-ms", "2", "--shrink", "1000", "--fabric", "procs", "-n", "3"];
    let output = superstep(&[&["bench", "step", "exchange", "histogram"][..], &quick].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    let found: Vec<_> = lines.iter().filter(|line| line["fabric"] == "procs" && line.get("ratio").is_none()).collect();
    assert!(found.iter().all(|line| line["verified"] == true), "{found:?}");
    for variant in ["empty", "hp_put"] {
        assert!(found.iter().any(|line| line["variant"] == variant), "{variant} is not among {found:?}");
    }
    let output = superstep(&["probe", "--procs", "2", "--rounds", "1", "--json", "--fabric", "procs"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    assert!(lines.len() == 1 && lines[0]["fabric"] == "procs" && lines[0]["verified"] == true, "{lines:?}");
}

#[test]
fn bench_shows_a_table_and_says_that_every_answer_is_right() {
    let output = superstep(&["bench", "exchange", "--rounds", "1", "--round-ms", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(table.contains("every answer is right") && table.contains("hp_put-given"), "{table}");
    assert_eq!(stderr(&output), "", "there is no bar where there is no terminal");
}

/// The kernels on arrays.
const ON_ARRAYS: [&str; 9] =
    ["histogram", "gather", "mirror", "update", "permute", "prefix", "quicksort", "transpose", "spmv"];

/// As few and small rounds as there can be.
const QUICK: [&str; 7] = ["--json", "--rounds", "1", "--round-ms", "1", "--shrink", "10000"];

#[test]
fn bench_runs_every_kernel_on_arrays_and_holds_it_against_its_limit() {
    let output = superstep(&[&["bench"][..], &ON_ARRAYS, &QUICK].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    for kernel in ON_ARRAYS {
        let of_kernel: Vec<_> = lines.iter().filter(|line| line["kernel"] == kernel).collect();
        assert!(of_kernel.iter().any(|line| line["ratio"] == "superstep/limit"), "{kernel}");
        let mut measures = of_kernel.iter().filter(|line| line.get("ratio").is_none());
        assert!(measures.all(|measure| measure["verified"] == true), "{kernel}");
        assert!(of_kernel.iter().any(|line| line["fabric"] == "raw"), "{kernel}");
    }
}

#[test]
fn kernels_on_arrays_are_right_where_no_memory_is_shared_and_with_another_number_of_processors() {
    let output = superstep(&[&["bench"][..], &ON_ARRAYS, &QUICK, &["--fabric", "sim", "--procs", "3"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    let measures: Vec<_> = lines.iter().filter(|line| line.get("ratio").is_none()).collect();
    for kernel in ON_ARRAYS {
        assert!(measures.iter().any(|line| line["kernel"] == kernel && line["fabric"] == "sim"), "{kernel}");
    }
    assert!(measures.iter().all(|measure| measure["verified"] == true), "{measures:?}");
}

/// The kernels on remote methods: those that are held against a limit, and those that are held against one thread.
const ON_EPOCHS: [&str; 8] = ["ping", "stream", "fence", "samplesort", "histogram-async", "scc", "kmer", "bfs"];
const WITH_LIMIT: usize = 5;

#[test]
fn bench_runs_every_kernel_on_epochs_and_holds_it_against_a_limit_or_one_thread() {
    let output = superstep(&[&["bench"][..], &ON_EPOCHS, &QUICK].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    for (at, kernel) in ON_EPOCHS.into_iter().enumerate() {
        let of_kernel: Vec<_> = lines.iter().filter(|line| line["kernel"] == kernel).collect();
        let ratio = if at < WITH_LIMIT { "superstep/limit" } else { "one-thread/all" };
        assert!(of_kernel.iter().any(|line| line["ratio"] == ratio), "{kernel}");
        let mut measures = of_kernel.iter().filter(|line| line.get("ratio").is_none());
        assert!(measures.all(|measure| measure["verified"] == true), "{kernel}");
    }
}

#[test]
fn kernels_on_epochs_are_right_simulated_and_on_processes_and_with_another_number_of_processors() {
    for fabric in ["sim", "procs"] {
        let output = superstep(&[&["bench"][..], &ON_EPOCHS, &QUICK, &["--fabric", fabric, "--procs", "3"]].concat());
        assert!(output.status.success(), "{fabric}: {}", stderr(&output));
        let measures: Vec<_> =
            objects(&stdout(&output)).into_iter().filter(|line| line.get("ratio").is_none()).collect();
        for kernel in ON_EPOCHS {
            let ours = |line: &&Value| line["kernel"] == kernel && line["fabric"] == fabric;
            assert!(measures.iter().any(|line| ours(&line)), "{kernel} on {fabric}");
        }
        assert!(measures.iter().all(|measure| measure["verified"] == true), "{fabric}");
    }
}

/// The kernels on paged arrays.
const ON_PAGES: [&str; 4] = ["cohere", "jacobi", "lu", "matmul"];

#[test]
fn kernels_on_paged_arrays_are_right_on_every_fabric_and_held_against_a_limit() {
    for (fabric, procs) in [("threads", "2"), ("sim", "3"), ("procs", "3")] {
        let on = ["--fabric", fabric, "--procs", procs];
        let output = superstep(&[&["bench"][..], &ON_PAGES, &QUICK, &on].concat());
        assert!(output.status.success(), "{fabric}: {}", stderr(&output));
        let lines = objects(&stdout(&output));
        for kernel in ON_PAGES {
            let ours: Vec<_> =
                lines.iter().filter(|line| line["kernel"] == kernel && line["fabric"] == fabric).collect();
            assert!(ours.iter().any(|line| line["ratio"] == "superstep/limit"), "{kernel} on {fabric}");
            let mut measures = ours.iter().filter(|line| line.get("ratio").is_none());
            assert!(measures.all(|measure| measure["verified"] == true), "{kernel} on {fabric}");
        }
    }
}

#[test]
fn what_the_paper_reports_stands_beside_the_speedup_here() {
    let quick = ["--rounds", "1", "--round-ms", "1"];
    let json = superstep(&[&["bench", "prefix", "--json", "--shrink", "50"][..], &quick].concat());
    let lines = objects(&stdout(&json));
    let speedup = |variant: &str, fabric: &str| {
        let of =
            |line: &&Value| line["variant"] == variant && line["fabric"] == fabric && line["ratio"] == "one-thread/all";
        lines.iter().find(of).and_then(|line| line["value"].as_f64())
    };
    // A fiftieth of the largest size is the smallest one.
    assert!(speedup("1M/figure-2", "threads").is_some_and(|value| value > 0.0));
    assert!(speedup("1M/figure-2", "paper").is_some_and(|value| (value - 0.790 / 0.397).abs() < 1e-9));
    assert_eq!(speedup("20k/figure-2", "paper"), None);
    let table = stdout(&superstep(&[&["bench", "prefix", "--shrink", "50"][..], &quick].concat()));
    assert!(table.contains("speed-up over one thread") && table.contains("0.790 s"), "{table}");
}

#[test]
fn bench_lists_its_kernels() {
    let output = superstep(&["bench", "--list"]);
    assert!(output.status.success());
    let list = stdout(&output);
    let names: Vec<_> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, [&["step", "exchange"][..], &ON_ARRAYS, &ON_EPOCHS, &ON_PAGES].concat());
}

#[test]
fn an_unknown_kernel_is_refused_in_one_line_that_names_the_known_ones() {
    let output = superstep(&["bench", "sleep"]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("sleep") && message.contains("step, exchange, histogram"), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn bad_usage_is_refused_in_one_line_with_exit_code_2() {
    for args in [
        &["bench", "--procs", "0"][..],
        &["bench", "--fabric", "pigeons"],
        &["bench", "exchange", "--procs", "1"],
        &["probe", "--rounds", "few"],
        &["fly"],
        &["bench", "--faster"],
    ] {
        let output = superstep(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn probe_prints_parameters_for_each_number_of_processors() {
    let output = superstep(&["probe", "--procs", "1", "2", "--rounds", "1", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = objects(&stdout(&output));
    assert_eq!(lines.iter().map(|line| line["procs"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    for line in &lines {
        assert_eq!(line["verified"], true);
        for key in ["r_mflops", "g_ns", "g_flops", "l_us", "l_flops"] {
            assert!(line[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {line}");
        }
        assert!(line["points"].as_array().is_some_and(|points| points.len() > 10));
    }
}

#[test]
fn probe_writes_files_and_prints_its_table_all_the_same() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (json, svg) = (format!("{folder}/probe.json"), format!("{folder}/probe.svg"));
    let output = superstep(&["probe", "--procs", "2", "--rounds", "1", "--json", &json, "--svg", &svg]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("BSP parameters"));
    assert_eq!(objects(&fs::read_to_string(json).expect("the file was written")).len(), 1);
    let plot = fs::read_to_string(svg).expect("the plot was written");
    assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>"));
}

#[test]
fn a_file_that_cannot_be_written_is_told_in_one_line_with_exit_code_1() {
    let output = superstep(&["probe", "--procs", "1", "--rounds", "1", "--svg", "/nowhere/plot.svg"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/nowhere/plot.svg"), "{}", stderr(&output));
}

#[test]
fn help_and_version_are_to_be_had() {
    for args in [&["--help"][..], &["bench", "--help"], &["probe", "--help"], &["--version"]] {
        let output = superstep(args);
        assert!(output.status.success() && !stdout(&output).is_empty(), "{args:?}");
    }
    assert!(!stdout(&superstep(&["--help"])).contains("spin"));
}

#[test]
fn soak_says_what_it_ran_and_what_the_process_has() {
    for fabric in ["threads", "procs", "sim"] {
        let output = superstep(&["soak", "--minutes", "0", "--json", "--fabric", fabric, "-n", "2"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let found = &objects(&stdout(&output))[0];
        assert!(found["supersteps"].as_u64().is_some_and(|steps| steps > 40_000), "{found}");
        assert_eq!(found["runs"], 16, "every program twice: {found}");
        assert_eq!(found["descriptors_start"], found["descriptors_end"], "{found}");
    }
    let output = superstep(&["soak", "--minutes", "soon"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
}
