//! Which programs are tried on which fabric, and what is said of one that fails.

use crate::{live::live, slips};
use std::{
    env,
    sync::{Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};
use superstep::{Check, Config, Error, Fabric};
use superstep_model::{Choices, Program, Slip, Told, difference, generate, generate_on, mutate, shrink, watched};

/// What carries programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// With memory in common and without, by turns.
    Sim,
    Threads,
    Procs,
    /// Whatever launched these processes, which have so many processors together.
    Launched {
        procs: usize,
    },
}

/// A program that is to be run.
struct Case {
    program: Program,
    told: Vec<Vec<Told>>,
    slip: Option<Slip>,
}

/// A wait of so long is taken for a hang.
const LONG: Duration = Duration::from_secs(120);

/// How many candidates are tried for a shorter program.
const TRIES: usize = 10_000;

fn number(name: &str, usual: u64) -> u64 {
    env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// A run's turn; it ends when this is dropped.
#[expect(dead_code, reason = "they are held and never looked at")]
enum Turn {
    Alone(RwLockWriteGuard<'static, ()>),
    Beside(RwLockReadGuard<'static, ()>),
}

impl Ground {
    /// Whether a program could not be shortened, because other processes have to run the same.
    fn is_launched(self) -> bool {
        matches!(self, Self::Launched { .. })
    }

    fn config(self, seed: u64) -> Config {
        let config = Config::new().wait_limit(LONG);
        match self {
            Self::Sim => config.fabric(Fabric::Sim { seed, shares_memory: seed.is_multiple_of(2) }),
            Self::Threads => config.fabric(Fabric::Threads),
            Self::Procs => config.fabric(Fabric::Procs),
            Self::Launched { .. } => config,
        }
    }

    /// Makes the case that choices come to.
    fn case(self, choices: &mut Choices, slips: bool) -> Case {
        let (program, told) = match self {
            Self::Launched { procs } => generate_on(choices, procs),
            Self::Procs => generate(choices, 9),
            _ => generate(choices, 17),
        };
        let slip = if slips { mutate(choices, &program) } else { None };
        Case { program, told, slip }
    }

    /// Waits for its turn: a process is forked while no other test runs anything. A lock that another thread holds at
    /// that moment would stay locked there for good.
    fn turn(self) -> Turn {
        static RUNS: RwLock<()> = RwLock::new(());
        if matches!(self, Self::Procs) {
            Turn::Alone(RUNS.write().unwrap_or_else(PoisonError::into_inner))
        } else {
            Turn::Beside(RUNS.read().unwrap_or_else(PoisonError::into_inner))
        }
    }

    /// Runs a program that looks for conflicts, and goes on where it finds one; returns what is wrong.
    fn run_checked(self, program: &Program, told: &[Vec<Told>], seed: u64) -> Option<String> {
        let _turn = self.turn();
        let config = self.config(seed).procs(program.procs).first_step(program.first_step).check(Check::Conflicts);
        let outcome = config.run(|g| -> Result<(), String> {
            let me = g.rank();
            let found = live(g, program, None, true)?;
            difference(&told[me], &found).map_or(Ok(()), Err)
        });
        outcome.err().map(|error| error.to_string())
    }

    /// Runs a case, and returns what is wrong, in words.
    fn run(self, case: &Case, seed: u64) -> Option<String> {
        let Case { program, told, slip } = case;
        let _turn = self.turn();
        let config = self.config(seed).procs(program.procs).first_step(program.first_step);
        let outcome = config.run(|g| -> Result<(), String> {
            let me = g.rank();
            let found = live(g, program, slip.as_ref(), false)?;
            if slip.is_some() { Ok(()) } else { difference(&told[me], &found).map_or(Ok(()), Err) }
        });
        match (outcome, slip) {
            (Ok(()), None) => None,
            (Err(error), None) => Some(error.to_string()),
            (Ok(()), Some(slip)) => Some(format!("nobody noticed {slip:?}")),
            (Err(error), Some(slip)) => wrong(&error, slip),
        }
    }

    /// The name of the test that replays a seed here.
    fn test(self, slips: bool) -> &'static str {
        match self {
            _ if slips => "a_mistake_ends",
            Self::Sim => "simulated_processors",
            Self::Threads => "threads_are",
            Self::Procs => "processes_are",
            Self::Launched { .. } => "launched",
        }
    }
}

/// What is wrong with the error of a run in which somebody made a mistake.
fn wrong(error: &Error, slip: &Slip) -> Option<String> {
    let text = error.to_string();
    if format!("{:?}", error.kind()) != slip.kind {
        return Some(format!("{:?} for {slip:?}: {text}", error.kind()));
    }
    let missing = slip.says.iter().find(|words| !text.contains(*words));
    if let Some(words) = missing {
        return Some(format!("`{text}` does not say `{words}` of {slip:?}"));
    }
    if error.is_misuse() && !slips::names_its_line(&text) {
        return Some(format!("`{text}` names no line of {slip:?}"));
    }
    None
}

/// Keeps the panics that programs are made to have from being printed.
fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
            if text != Some(slips::SLIP) {
                before(info);
            }
        }));
    });
}

/// Tries so many programs, unless the environment says otherwise, and returns how many there were.
pub(crate) fn programs(ground: Ground, usual: u64) -> u64 {
    campaign(ground, usual, false)
}

/// The same, with a mistake in each.
pub(crate) fn mutants(ground: Ground, usual: u64) -> u64 {
    campaign(ground, usual, true)
}

/// Tries programs that look for conflicts, and returns how many of them the model finds free of any.
pub(crate) fn checked(ground: Ground, usual: u64) -> [u64; 2] {
    be_quiet();
    let (first, cases) = (number("SUPERSTEP_RANDOM_SEED", 1), number("SUPERSTEP_RANDOM_CASES", usual));
    let mut counts = [0; 2];
    for seed in first..first + cases {
        let Case { program, .. } = ground.case(&mut Choices::of_seed(seed), false);
        let (told, has_conflict) = watched(&program);
        if let Some(why) = ground.run_checked(&program, &told, seed) {
            panic!("{ground:?}, seed {seed}: {why}\n{program}");
        }
        counts[usize::from(!has_conflict)] += 1;
    }
    println!("{ground:?}: {} programs with a conflict, {} without", counts[0], counts[1]);
    counts
}

fn campaign(ground: Ground, usual: u64, slips: bool) -> u64 {
    be_quiet();
    let (first, cases) = (number("SUPERSTEP_RANDOM_SEED", 1), number("SUPERSTEP_RANDOM_CASES", usual));
    let (began, mut count) = (Instant::now(), 0);
    for seed in first..first + cases {
        let mut choices = Choices::of_seed(seed);
        let case = ground.case(&mut choices, slips);
        if slips && case.slip.is_none() {
            continue;
        }
        count += 1;
        if let Some(why) = ground.run(&case, seed) {
            report(ground, seed, slips, choices.made().to_vec(), &why);
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let what = if slips { "mutants" } else { "programs" };
    println!("{ground:?}: {count} {what} of seeds {first} on, {:.0} a second", count as f64 / seconds);
    count
}

/// Says which program failed, as short as it gets, and how to replay it.
fn report(ground: Ground, seed: u64, slips: bool, made: Vec<u32>, why: &str) -> ! {
    let fails = |list: &[u32]| {
        let case = ground.case(&mut Choices::given(list.to_vec()), slips);
        (!slips || case.slip.is_some()) && ground.run(&case, seed).is_some()
    };
    // Others run the same program at the same time: nobody can try another one alone.
    let least = if ground.is_launched() { made } else { shrink(made, TRIES, fails) };
    let case = ground.case(&mut Choices::given(least), slips);
    let again = if ground.is_launched() { None } else { ground.run(&case, seed) };
    let (slip, program) = (&case.slip, &case.program);
    let mistake = slip.as_ref().map_or(String::new(), |slip| format!("with the mistake {slip:?}\n"));
    panic!(
        "{ground:?}, seed {seed}: {why}\n\nat its shortest: {}\n{program}{mistake}\nreplay: \
         SUPERSTEP_RANDOM_SEED={seed} SUPERSTEP_RANDOM_CASES=1 cargo test -p superstep --test random {}\n",
        again.unwrap_or_else(|| "the same".to_owned()),
        ground.test(slips),
    );
}
