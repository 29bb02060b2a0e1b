//! The programs that the tests start.

use std::{
    env,
    fs::OpenOptions,
    io::{Write, stdout},
    process::exit,
};
use superstep::{
    Block, Cyclic, Group, Result, Sum,
    files::{Fault, One, plan_fault},
};

/// How many turns the loop has.
pub(crate) const TURNS: usize = 12;

/// Runs the program that the environment names, and ends the process as a program of its own would.
#[test]
#[ignore = "a program that the other tests start"]
fn program() {
    let name = env::var("SUPERSTEP_TEST_PROGRAM").expect("a test has started this");
    let outcome = match name.as_str() {
        "relax" => superstep::run(|g| relax(g, Saves::AtEachTurn)),
        "turns" => superstep::run(|g| relax(g, Saves::WhenItIsTime)),
        "beside" => superstep::run(|g| relax(g, Saves::Beside)),
        "waiting" => superstep::run(waiting),
        "memory" => superstep::run(memory),
        other => panic!("there is no program {other}"),
    };
    if let Err(error) = outcome {
        eprintln!("{error}");
        exit(1);
    }
}

/// When a loop is saved.
#[derive(Clone, Copy)]
enum Saves {
    AtEachTurn,
    WhenItIsTime,
    /// At every second turn, and written while the next ones are computed.
    Beside,
}

fn folder() -> String {
    env::var("SUPERSTEP_TEST_FOLDER").expect("a test has made one")
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect("it is a number"))
}

/// A loop whose result depends on every turn, and on their number.
fn relax(g: &mut Group, saves: Saves) -> Result {
    // Whoever kills a process has to find it.
    print_line(&format!("process {}", std::process::id()));
    let (u, done) = (g.array::<f64, Block>(200), One::new(0));
    u.forall_mut(|i, x| *x = i as f64);
    let mut saved = g.checkpoint(folder())?;
    saved.add("u", &u);
    saved.add("done", &done);
    let is_there = saved.restore(g)?;
    say(g, &format!("began {is_there} at {}", done.get()));
    if number("SUPERSTEP_TEST_VICTIM") == Some(g.rank() as u64) {
        plan_fault(number("SUPERSTEP_TEST_CALL").map(|call| (call, Fault::Killed)));
    }
    while done.get() < TURNS {
        let edges = g.step(|s| s.mirror(&u, ..));
        u.forall_mut(|i, x| *x = (edges[(i + 199) % 200] + edges[i] * 1.5 + edges[(i + 1) % 200]) / 3.25);
        done.set(done.get() + 1);
        let has_saved = match saves {
            Saves::AtEachTurn => saved.save(g).map(|()| true)?,
            Saves::WhenItIsTime => saved.turn(g)?,
            Saves::Beside => {
                saved.turn(g)?;
                let is_begun = done.get().is_multiple_of(2);
                if is_begun {
                    saved.start(g)?;
                }
                is_begun
            }
        };
        say(g, &format!("turn {} {has_saved}", done.get()));
    }
    saved.finish(g)?;
    plan_fault(None);
    let mine = u.local().iter().fold(0u64, |digest, x| digest.rotate_left(5) ^ x.to_bits());
    let digest = g.step(|s| s.reduce(mine, |all: &mut u64, one: &u64| *all = all.rotate_left(7) ^ one));
    say(g, &format!("digest {digest:016x} of {}", g.size()));
    Ok(())
}

/// Says how many kilobytes a save takes for a moment, and how many this processor has of what is saved.
fn memory(g: &mut Group) -> Result {
    const LEN: usize = 1 << 23;
    let named = env::var("SUPERSTEP_TEST_KIND").expect("a test has named one");
    let of = |kind: &str, len: usize| if named == kind { len } else { 0 };
    let (u, dealt) = (g.array::<u64, Block>(of("block", LEN)), g.array::<u64, Cyclic>(of("cyclic", LEN)));
    let rows = g.paged::<u64, 2>([of("paged", LEN >> 11), 1 << 11], [100, 300]);
    u.local_mut().fill(1);
    dealt.local_mut().fill(1);
    rows.owned().for_each(|block| {
        let values = vec![1; block.iter().map(ExactSizeIterator::len).product()];
        rows.write_section(block, &values);
    });
    let mut saved = g.checkpoint(folder())?;
    saved.add("u", &u);
    saved.add("dealt", &dealt);
    saved.add("rows", &rows);
    g.step(|_| ());
    let before = kilobytes("VmRSS:");
    saved.save(g)?;
    let (most, data) = (kilobytes("VmHWM:"), (LEN * size_of::<u64>() / g.size()) >> 10);
    g.step(|_| print_line(&format!("memory {} {data}", most.saturating_sub(before))));
    Ok(())
}

/// What the system says about the memory of this process.
fn kilobytes(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux has it");
    line.split_whitespace().next().and_then(|count| count.parse().ok()).expect("it is a number")
}

/// Turns until a signal ends it.
fn waiting(g: &mut Group) -> Result {
    let (u, turns) = (g.array::<u64, Block>(50), One::new(0u64));
    let mut saved = g.checkpoint(folder())?;
    saved.add("u", &u);
    saved.add("turns", &turns);
    if saved.restore(g)? {
        let sum = u.local().iter().sum::<u64>();
        let sum = g.step(|s| s.reduce(sum, Sum));
        say(g, &format!("restored {} {}", sum == 50 * turns.get(), turns.get() > 0));
        return Ok(());
    }
    // Signals count from the first turn on.
    saved.turn(g)?;
    say(g, &format!("pid {}", std::process::id()));
    let mut generation = None;
    loop {
        u.forall_mut(|_, x| *x += 1);
        turns.set(turns.get() + 1);
        saved.turn(g)?;
        if saved.generation() != generation {
            generation = saved.generation();
            say(g, &format!("saved {}", generation.unwrap_or_default()));
        }
    }
}

fn say(g: &Group, words: &str) {
    g.leader(|| print_line(words));
}

/// Says a line, in one call: to the file that the test names, or on standard output. There it begins a line, since the
/// test runner leaves the beginnings of lines.
fn print_line(words: &str) {
    let said = match env::var_os("SUPERSTEP_TEST_LINES") {
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.and_then(|mut file| file.write_all(format!("{words}\n").as_bytes()))
        }
        None => stdout().write_all(format!("\n{words}\n").as_bytes()),
    };
    said.expect("it can be said");
}
