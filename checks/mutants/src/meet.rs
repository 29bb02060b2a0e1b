//! Lets mutants meet the tests that come where they are, the likeliest first, until one notices.

use crate::compile::Program;
use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Read,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// How many run at a time.
const WORKERS: usize = 2;
/// What is not caught by the quickest tests that take so long is not caught.
const MOST: Duration = Duration::from_secs(60);
/// A test that takes longer alone, while it notes what it meets, is left out.
const LONGEST: Duration = Duration::from_secs(120);
/// Tests of other parts of the system, which take long.
const SKIPPED: [&str; 2] = ["elsewhere", "processes_are"];
/// A mutant that asks for ever more memory is refused it; in thousands of bytes.
const MEMORY: &str = "ulimit -v 16000000; exec \"$0\" \"$@\"";

/// A test, how long it takes, and the mutants that it comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Test {
    pub(crate) program: usize,
    pub(crate) name: String,
    pub(crate) takes: Duration,
    pub(crate) meets: HashSet<u32>,
}

/// How a run of tests ended.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    Passed,
    /// One of them failed, by name if it said so.
    Failed(Option<String>),
    /// It took too long.
    Late(Option<String>),
}

/// What the tests made of a mutant.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Caught,
    Late,
    Missed,
    /// No test comes to it.
    Unmet,
}

/// The text of a program that runs, as far as it came.
type Text = Arc<Mutex<String>>;

fn read(child: &mut Child) -> Text {
    let text = Text::default();
    let (mut from, to) = (child.stdout.take().expect("it is piped"), text.clone());
    thread::spawn(move || {
        let mut some = [0; 4096];
        while let Ok(read) = from.read(&mut some)
            && read > 0
        {
            to.lock().expect("nobody panics here").push_str(&String::from_utf8_lossy(&some[..read]));
        }
    });
    text
}

/// The last test that has begun, if what it says of itself ends with this.
fn last(text: &str, end: &str) -> Option<String> {
    let line = text.lines().rfind(|line| line.starts_with("test ") && line.ends_with(end))?;
    Some(line.strip_prefix("test ")?.split(" ...").next()?.split(" - ").next()?.to_owned())
}

/// Runs some tests of a program, one after the other, until one fails or the time is over.
fn run(program: &Program, tests: &[&str], variable: (&str, &str), limit: Duration) -> End {
    let mut child = Command::new("sh");
    child.args(["-c", MEMORY]).arg(&program.path).args(["--exact", "--test-threads=1"]).args(tests);
    child.env(variable.0, variable.1).env("CARGO_MANIFEST_DIR", &program.folder).current_dir(&program.folder);
    child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = child.spawn().expect("the tests can be started");
    let (text, mut last_look, mut passed) = (read(&mut child), Instant::now(), Duration::ZERO);
    let end = loop {
        // While all of this is stopped, no time passes.
        passed += last_look.elapsed().min(Duration::from_millis(100));
        last_look = Instant::now();
        let ended = child.try_wait().expect("a child can be asked");
        let text = text.lock().expect("nobody panics here").clone();
        if text.contains(" ... FAILED") {
            break End::Failed(last(&text, " ... FAILED"));
        }
        match ended {
            Some(status) if status.success() => break End::Passed,
            Some(_) => break End::Failed(last(&text, " ... ")),
            None if passed > limit => break End::Late(last(&text, " ... ")),
            None => thread::sleep(Duration::from_millis(if passed.as_millis() < 100 { 2 } else { 20 })),
        }
    };
    if end != End::Passed {
        // Its threads and the processes it has forked go with it.
        let group = format!("-{}", child.id());
        let killed = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        drop(killed);
        drop(child.wait());
    }
    end
}

/// Does something with each number below `all`, several at a time.
fn share(all: usize, each: impl Fn(usize) -> bool + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let one = next.fetch_add(1, Relaxed);
                    if one >= all || !each(one) {
                        break;
                    }
                }
            });
        }
    });
}

/// Runs each test alone, with no mutant on, and notes which mutants it comes to, `most` at most. With those that pass
/// come the names of those that do not.
pub(crate) fn learn(programs: &[Program], most: u32, notes: &Path) -> Result<(Vec<Test>, Vec<String>), String> {
    let mut names = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let mut list = Command::new(&program.path);
        let list = list.args(["--list", "--format", "terse"]).current_dir(&program.folder).output();
        let list = String::from_utf8_lossy(&list.map_err(|e| e.to_string())?.stdout).into_owned();
        let of = list.lines().filter_map(|line| line.strip_suffix(": test"));
        names.extend(of.filter(|name| !SKIPPED.iter().any(|s| name.contains(s))).map(|name| (number, name.to_owned())));
    }
    let (tests, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    share(names.len(), |one| {
        let (program, name) = &names[one];
        let file = notes.join(one.to_string());
        fs::write(&file, vec![0; most as usize + 1]).expect("notes can be written");
        let start = Instant::now();
        let noting = ("MUTANTS_NOTES", file.to_str().expect("the folder has a plain name"));
        let once = || run(&programs[*program], &[name], noting, LONGEST);
        // Whoever shares the machine can be to blame once.
        let end = match once() {
            End::Failed(_) => once(),
            end => end,
        };
        if let End::Late(_) = end {
            println!("== {name} takes too long, and is left out");
        } else if end == End::Passed {
            let notes = fs::read(&file).expect("notes can be read");
            let meets = (0..).zip(notes).filter(|&(_, note)| note != 0).map(|(number, _)| number).collect();
            let test = Test { program: *program, name: name.clone(), takes: start.elapsed(), meets };
            tests.lock().expect("nobody panics here").push(test);
        } else {
            failed.lock().expect("nobody panics here").push(name.clone());
        }
        drop(fs::remove_file(&file));
        true
    });
    let failed = failed.into_inner().expect("nobody panics here");
    let mut tests = tests.into_inner().expect("nobody panics here");
    tests.sort_by_key(|test: &Test| test.takes);
    Ok((tests, failed))
}

/// The tests, and which of them have caught something where.
pub(crate) struct Tests<'a> {
    pub(crate) programs: &'a [Program],
    pub(crate) tests: &'a [Test],
    pub(crate) catches: Mutex<HashMap<(String, usize), usize>>,
}

impl Tests<'_> {
    /// The tests that come to a mutant, in parts that run together: first who has caught others nearby, then by time.
    fn parts(&self, number: u32, function: &str) -> Vec<Vec<usize>> {
        let catches = self.catches.lock().expect("nobody panics here");
        let caught = |test: usize| catches.get(&(function.to_owned(), test)).copied().unwrap_or(0);
        let meet = |&test: &usize| self.tests[test].meets.contains(&number);
        let mut reaching: Vec<usize> = (0..self.tests.len()).filter(meet).collect();
        reaching.sort_by_key(|&test| (std::cmp::Reverse(caught(test)), self.tests[test].takes));
        let (mut parts, mut all, mut of_part) = (Vec::<Vec<usize>>::new(), Duration::ZERO, Duration::ZERO);
        for test in reaching {
            let takes = self.tests[test].takes;
            all += takes;
            if all > MOST && !parts.is_empty() {
                break;
            }
            let together = parts.last().is_some_and(|part| {
                let catcher = |test| caught(test) > 0;
                self.tests[part[0]].program == self.tests[test].program
                    && catcher(part[0]) == catcher(test)
                    && of_part + takes < Duration::from_secs(3)
            });
            if together {
                parts.last_mut().expect("there is one").push(test);
                of_part += takes;
            } else {
                parts.push(vec![test]);
                of_part = takes;
            }
        }
        parts
    }

    /// Lets a mutant meet the tests.
    fn meet(&self, number: u32, function: &str) -> Verdict {
        let parts = self.parts(number, function);
        if parts.is_empty() {
            return Verdict::Unmet;
        }
        for part in parts {
            let names: Vec<&str> = part.iter().map(|&test| &*self.tests[test].name).collect();
            let takes: Duration = part.iter().map(|&test| self.tests[test].takes).sum();
            let program = self.tests[part[0]].program;
            let on = number.to_string();
            let end = run(&self.programs[program], &names, ("MUTANT", &on), Duration::from_secs(20) + takes * 8);
            let (name, verdict) = match end {
                End::Passed => continue,
                End::Failed(name) => (name, Verdict::Caught),
                End::Late(name) => (name, Verdict::Late),
            };
            let catcher = name.and_then(|name| part.iter().find(|&&test| self.tests[test].name == name));
            if let Some(&test) = catcher {
                let mut catches = self.catches.lock().expect("nobody panics here");
                *catches.entry((function.to_owned(), test)).or_default() += 1;
            }
            return verdict;
        }
        Verdict::Missed
    }

    /// Lets mutants, by number and function, meet the tests until the time is over, and tells what became of each.
    pub(crate) fn meet_all(&self, mutants: &[(u32, &str)], end: Instant, tell: impl Fn(u32, Verdict) + Sync) {
        share(mutants.len(), |one| {
            if Instant::now() > end {
                return false;
            }
            let (number, function) = mutants[one];
            tell(number, self.meet(number, function));
            true
        });
    }
}
