//! Files beside what the system's own tools and plain loops reach: arrays against `dd`, lines against a scan by hand.
//!
//! `cargo run --release -p superstep-bench --example files [folder] [MiB] [arrays|lines|background]...`

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};
use superstep::{Array, Block, Config, Cyclic, Group, Max, Sum};

/// How often each contender runs; the best time counts.
const ROUNDS: usize = 5;
/// What is read or written by one call of the contenders.
const PIECE: usize = 8 << 20;

/// The time of a collective call, by the slowest processor.
fn timed(g: &mut Group, run: impl FnOnce(&mut Group) -> superstep::Result) -> superstep::Result<f64> {
    g.step(|_| ());
    let start = Instant::now();
    run(g)?;
    let taken = start.elapsed().as_secs_f64();
    Ok(g.step(|s| s.reduce(taken, Max)))
}

fn dd(arguments: &[String]) -> f64 {
    let start = Instant::now();
    let status = Command::new("dd").args(arguments).arg("status=none").status().expect("dd is there");
    assert!(status.success(), "dd fails");
    start.elapsed().as_secs_f64()
}

/// What is done with a line: enough to look at each.
fn square(line: usize) -> usize {
    line * line
}

/// The scan by hand on mapped memory, which is in C as safe Rust maps no files: made from its source beside this one.
struct Scan(PathBuf);

impl Scan {
    fn new(folder: &Path) -> Self {
        let (program, source) =
            (folder.join("superstep-scan"), concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scan.c"));
        let made = Command::new("cc").args(["-O3", "-pthread", "-o"]).arg(&program).arg(source).status();
        assert!(made.expect("a C compiler is there").success(), "scan.c cannot be made");
        Self(program)
    }

    /// Adds up the squares of the lengths of a file's lines. How long that took by itself, without its start.
    fn run(&self, path: &Path, threads: usize) -> (f64, usize) {
        let output = Command::new(&self.0).arg(path).arg(threads.to_string()).output().expect("it has been made");
        let text = String::from_utf8_lossy(&output.stdout);
        let (seconds, sum) = text.trim().split_once(' ').expect("it says two numbers");
        (seconds.parse().expect("it is a number"), sum.parse().expect("it is a number"))
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn report(what: &str, bytes: usize, by: &str, limit: f64, ours: f64) {
    let speed = |seconds: f64| bytes as f64 / seconds / 1e9;
    println!(
        "{what:<24} {by} {:6.2} GB/s   superstep {:6.2} GB/s   {:5.2} of it",
        speed(limit),
        speed(ours),
        limit / ours
    );
}

/// Does something with each contender by turns, and returns the best time of each.
fn turns<const N: usize>(mut run: impl FnMut(usize) -> superstep::Result<f64>) -> superstep::Result<[f64; N]> {
    let mut best = [f64::INFINITY; N];
    // Nobody always comes behind the same one, which may have left the disk something to do.
    for round in 0..ROUNDS {
        for number in (0..N).map(|place| (place + round) % N) {
            best[number] = best[number].min(run(number)?);
        }
    }
    Ok(best)
}

fn arrays(folder: &Path, mib: usize) -> superstep::Result {
    let (len, path) = ((mib << 20) / 8, folder.join("superstep-files"));
    let (other, name) = (folder.join("superstep-dd"), path.display().to_string());
    Config::new().run(|g| {
        let (a, dealt) = (g.array::<u64, Block>(len), g.array::<u64, Cyclic>(len));
        a.forall_mut(|i, x| *x = i as u64);
        dealt.forall_mut(|i, x| *x = i as u64);
        let by_dd = |g: &mut Group, arguments: &[String]| {
            let taken = if g.is_leader() { dd(arguments) } else { 0.0 };
            g.step(|s| s.reduce(taken, Max))
        };
        let count = format!("count={}", (mib << 20) / PIECE);
        let write = [
            "if=/dev/zero".into(),
            format!("of={}", other.display()),
            format!("bs={PIECE}"),
            count,
            "conv=fsync".into(),
        ];
        let read = [format!("if={name}"), "of=/dev/null".into(), format!("bs={PIECE}")];
        let [by, raw, npy, fine] = turns(|contender| match contender {
            0 => Ok(by_dd(g, &write)),
            1 => timed(g, |g| g.write_raw(&path, &a)),
            2 => timed(g, |g| g.write_npy(&path, &a)),
            _ => timed(g, |g| g.write_raw(&path, &dealt)),
        })?;
        if g.is_leader() {
            report("write, raw", mib << 20, "dd", by, raw);
            report("write, npy", mib << 20, "dd", by, npy);
            report("write, raw, dealt", mib << 20, "dd", by, fine);
        }
        let [by, raw, fine] = turns(|contender| match contender {
            0 => Ok(by_dd(g, &read)),
            1 => timed(g, |g| g.load_raw(&path, &a)),
            _ => timed(g, |g| g.load_raw(&path, &dealt)),
        })?;
        g.write_npy(&path, &a)?;
        let [npy] = turns(|_| timed(g, |g| g.load_npy(&path, &a)))?;
        let mut is_right = true;
        a.forall(|i, x| is_right &= x == i as u64);
        dealt.forall(|i, x| is_right &= x == i as u64);
        assert!(is_right, "what was read is not what was written");
        if g.is_leader() {
            report("read, raw", mib << 20, "dd", by, raw);
            report("read, npy", mib << 20, "dd", by, npy);
            report("read, raw, dealt", mib << 20, "dd", by, fine);
            let _ = (fs::remove_file(&path), fs::remove_file(&other));
        }
        Ok::<_, superstep::Error>(())
    })
}

fn lines(folder: &Path, mib: usize) -> superstep::Result {
    let path = folder.join("superstep-lines");
    let some: Vec<String> = (0..4096).map(|i| format!("{:w$}\n", i, w = 20 + i % 90)).collect();
    let text = some.concat();
    let text = text.repeat((mib << 20) / text.len());
    fs::write(&path, &text).expect("there is room for a file");
    let (cores, scan) = (superstep::cores(), Scan::new(folder));
    let found = Config::new().run(|g| {
        let mut counts = [0; 3];
        let best: [f64; 3] = turns(|contender| {
            let (mut count, mut by_itself) = (0, 0.0);
            let taken = timed(g, |g| {
                match contender {
                    0 if g.is_leader() => (by_itself, count) = scan.run(&path, cores),
                    0 => {}
                    1 => {
                        g.each_line(&path, |line| {
                            count += square(line.len());
                            Ok::<_, String>(())
                        })?;
                    }
                    _ => count = g.read_lines(&path)?.iter().map(|line| square(line.len())).sum(),
                }
                Ok(())
            })?;
            let taken = if contender == 0 { g.step(|s| s.reduce(by_itself, Max)) } else { taken };
            counts[contender] = g.step(|s| s.reduce(count, Sum));
            Ok(taken)
        })?;
        Ok::<_, superstep::Error>((best, counts))
    });
    let _ = fs::remove_file(&path);
    let ([by, each, read], counts) = found?;
    assert!(counts[0] == counts[1] && counts[1] == counts[2], "lines are lost: {counts:?}");
    report("each_line", text.len(), "scan", by, each);
    report("read_lines and iter", text.len(), "scan", by, read);
    Ok(())
}

/// A Jacobi loop alone, and while a checkpoint of it is written.
fn background(folder: &Path, mib: usize) -> superstep::Result {
    let (len, folder) = ((mib << 20) / 8, folder.join("superstep-checkpoint"));
    let found = Config::new().run(|g| {
        let (u, v) = (g.array::<f64, Block>(len), g.array::<f64, Block>(len));
        u.forall_mut(|i, x| *x = (i % 1000) as f64);
        let mut saved = g.checkpoint(&folder)?;
        saved.add("u", &u);
        let turn = |g: &mut Group| sweep(g, &u, &v).and_then(|()| sweep(g, &v, &u));
        let (mut best, mut copy) = ([f64::INFINITY; 4], Vec::new());
        for _ in 0..ROUNDS {
            let alone = timed(g, |g| (0..20).try_for_each(|_| turn(g)))? / 20.0;
            let copied = timed(g, |_| {
                copy = u.local().to_vec();
                Ok(())
            })?;
            copy = Vec::new();
            let start = timed(g, |g| saved.start(g))?;
            let (before, mut turns) = (saved.generation(), 0.0);
            let beside = timed(g, |g| {
                while saved.generation() == before {
                    turn(g)?;
                    saved.turn(g)?;
                    turns += 1.0;
                }
                Ok(())
            })?;
            for (best, taken) in best.iter_mut().zip([alone, copied, start, beside / turns]) {
                *best = best.min(taken);
            }
        }
        Ok::<_, superstep::Error>((best, copy.len()))
    });
    let _ = fs::remove_dir_all(&folder);
    let ([alone, copy, start, beside], _) = found?;
    let ratio = |what: &str, limit: f64, by: &str, ours: f64| {
        println!("{what} {:.2} ms, {by} {:.2} ms: {:.3} of it", ours * 1e3, limit * 1e3, ours / limit);
    };
    ratio(&format!("a turn of Jacobi while {mib} MiB are saved"), alone, "alone", beside);
    ratio("the start of a save", copy, "a copy into new memory", start);
    Ok(())
}

/// A sweep: each element becomes the mean of its neighbours.
fn sweep(g: &mut Group, from: &Array<f64, Block>, to: &Array<f64, Block>) -> superstep::Result {
    let ends = {
        let from = from.local();
        [from.first(), from.last()].map(|end| end.copied().unwrap_or_default())
    };
    let (rank, all) = (g.rank(), g.try_step(|s| s.collect(ends))?);
    let (from, mut to) = (from.local(), to.local_mut());
    let before = if rank > 0 { all[rank - 1][1] } else { ends[0] };
    let behind = all.get(rank + 1).map_or(ends[1], |ends| ends[0]);
    for (at, x) in to.iter_mut().enumerate() {
        let left = if at > 0 { from[at - 1] } else { before };
        *x = 0.5 * (left + from.get(at + 1).copied().unwrap_or(behind));
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let folder = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let mib = arguments.next().map_or(Ok(1024), |mib| mib.to_string_lossy().parse());
    let Ok(mib) = mib else {
        eprintln!("usage: files [folder] [MiB] [arrays|lines|background]...");
        return ExitCode::from(2);
    };
    let parts: Vec<String> = arguments.map(|part| part.to_string_lossy().into_owned()).collect();
    let run = |name: &str, part: fn(&Path, usize) -> superstep::Result, mib: usize| {
        if parts.is_empty() || parts.iter().any(|part| part == name) { part(&folder, mib) } else { Ok(()) }
    };
    let outcome = run("arrays", arrays, mib)
        .and_then(|()| run("lines", lines, mib))
        .and_then(|()| run("background", background, mib / 4));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("files: {error}");
            ExitCode::FAILURE
        }
    }
}
