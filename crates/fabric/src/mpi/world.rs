//! This process among those that were launched together: how MPI is started, and how it is ended with the process.

use super::{
    endpoint::Endpoint,
    launcher::Launcher,
    pulse::{self, LONGEST, Pulse},
    unable::Unable,
};
use crate::{
    alarm::Alarm,
    code,
    failure::Failure,
    secret::Secret,
    sight::Limits,
    system,
    threads::ThreadAlarm,
    wire::{Reader, Writer as _},
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// This process among those that were launched together.
pub(super) struct World {
    /// The system's number of this process.
    process: u32,
    pub(super) endpoint: Endpoint,
    pub(super) pulse: Arc<Pulse>,
    runs: AtomicU64,
    /// Tells circles apart; see [`Secret`].
    pub(super) secret: Secret,
    /// Whether a run has been started and is not over.
    is_taken: AtomicBool,
    /// Whether a run is under way.
    is_running: AtomicBool,
    /// Whether it is one that the library above ends itself.
    pub(super) is_session: AtomicBool,
    /// Whether the last run has failed.
    has_failed: AtomicBool,
    /// Whether MPI was started here, and so is to be ended here.
    is_ours: bool,
    /// How long `MPI_Init` took, and everything else.
    pub(super) start_up: (Duration, Duration),
}

pub(super) static WORLD: OnceLock<Result<World, Unable>> = OnceLock::new();

/// Whether an MPI launcher has started this process.
pub fn is_launched() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| Launcher::find().is_some())
}

pub(super) fn world() -> Result<&'static World, Unable> {
    WORLD.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<World, Unable> {
    let start = Instant::now();
    let launcher = Launcher::find().ok_or(Unable::NotLaunched)?;
    let mpi = launcher.load(pulse::give_up).map_err(Unable::NoMpi)?;
    let before = Instant::now();
    let is_ours = mpi.init().map_err(Unable::NoMpi)?;
    let init = before.elapsed();
    if mpi.size() != launcher.size {
        let version = mpi.version.lines().next().unwrap_or_default();
        return Err(Unable::WrongLauncher(format!(
            "{} has started {} processes, but the {} library that was loaded sees {} ({version}); use the launcher \
             that belongs to the library, or set SUPERSTEP_MPI_LIB to the launcher's own",
            launcher.name,
            launcher.size,
            mpi.abi.name,
            mpi.size()
        )));
    }
    let endpoint = Endpoint::new(mpi);
    same(&endpoint, code::program(), "builds of the program; start the same executable everywhere")?;
    // Who has loaded which libraries is seen when a function of theirs is named.
    code::adopt(agreed(&endpoint, code::secret()));
    let secret = agreed(&endpoint, Secret::draw());
    let pulse = pulse::start(&endpoint.mpi, endpoint.me, endpoint.processes).map_err(Unable::NoMpi)?;
    system::at_exit(finish);
    Ok(World {
        process: std::process::id(),
        endpoint,
        pulse,
        runs: AtomicU64::new(0),
        secret,
        is_taken: AtomicBool::new(false),
        is_running: AtomicBool::new(false),
        is_session: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        is_ours,
        start_up: (init, start.elapsed().saturating_sub(init)),
    })
}

/// Some numbers of each process. Every process must call it.
pub(super) fn numbers<const N: usize>(endpoint: &Endpoint, mine: [u64; N]) -> Vec<[u64; N]> {
    let (mut bytes, mut all) = (Vec::new(), vec![0; size_of_val(&mine) * endpoint.processes]);
    bytes.put(mine);
    endpoint.mpi.allgather(&bytes, &mut all);
    let mut reader = Reader::new(&all);
    (0..endpoint.processes).map(|_| reader.get().expect("each process has told as many")).collect()
}

/// Checks that a number is the same in all processes; `what` names these numbers, in the plural.
pub(super) fn same(endpoint: &Endpoint, mine: u64, what: &str) -> Result<(), Unable> {
    let numbers = numbers(endpoint, [mine]);
    match numbers.iter().position(|&number| number != numbers[0]) {
        None => Ok(()),
        Some(other) => Err(Unable::Differs(format!("processes 0 and {other} have different {what}"))),
    }
}

/// The secret of process 0. Every process must call it.
fn agreed(endpoint: &Endpoint, mine: Secret) -> Secret {
    Secret(numbers(endpoint, mine.0)[0])
}

/// Ends MPI with the process, which ends with this code, if it is known.
fn finish(code: Option<i32>) {
    let Some(Ok(world)) = WORLD.get() else { return };
    if std::process::id() != world.process {
        // A process that the program has forked for itself must not touch MPI.
        return;
    }
    let me = world.endpoint.me;
    let failing = code.filter(|&code| code != 0).unwrap_or(1);
    if world.is_running.load(Ordering::Acquire) {
        // The program has ended itself in the middle of a run: the others would wait for it. A session's own library
        // says so, and ends all.
        if !world.is_session.load(Ordering::Acquire) {
            let how = code.map_or_else(String::new, |code| format!(" with code {code}"));
            eprintln!("superstep: process {me} has ended itself{how} in the middle of a run");
            // That has to come through the launcher before it hears that all is over.
            std::thread::sleep(LAST_WORDS);
            world.endpoint.mpi.abort(failing);
        }
        return;
    }
    if !world.is_ours {
        return;
    }
    world.pulse.give_up_if_deaf();
    if world.has_failed.load(Ordering::Acquire) {
        // Those who have heard of the failure deal with it in their own time, and end then. Who is no more is not
        // waited for. Then MPI ends all at once, which launchers take better than processes that vanish one by one.
        if let Err(who) = world.pulse.await_goodbyes() {
            eprintln!("superstep: {who} before it has ended MPI; process {me} ends without");
            world.endpoint.mpi.abort(failing);
            return;
        }
        // Those that vanish only now would be waited for without end.
        let limit = world.pulse.timeout;
        let ends = std::thread::Builder::new().name("superstep end".to_owned());
        let _ = ends.spawn(move || {
            std::thread::sleep(limit);
            eprintln!("superstep: MPI has not ended within {} s; process {me} ends without", limit.as_secs());
            // The process is ending already, and ends with the program's own code.
            system::exit_now(code.unwrap_or(1));
        });
    } else {
        world.endpoint.drain();
        world.pulse.goodbye();
    }
    world.endpoint.close();
    world.endpoint.mpi.finalize();
}

/// How long launchers have to pass on what was printed before all is ended: some drop what comes later.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// The right to be the run of this process, until it is dropped: there is one run at a time.
pub(super) struct Turn(&'static World);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
    }
}

impl World {
    /// Takes the turn, unless a run has it: all processes begin their runs in the same order, and this one would be
    /// waited for by nobody.
    pub(super) fn take_turn(&'static self) -> Result<Turn, Unable> {
        if self.is_taken.swap(true, Ordering::AcqRel) { Err(Unable::Underway) } else { Ok(Turn(self)) }
    }

    /// Begins a run of the threads that `local_alarm` is for, and gives what stops it everywhere.
    pub(super) fn begin(
        &'static self,
        local_alarm: &Arc<ThreadAlarm>,
        words: fn(&Failure) -> String,
        limits: Limits,
    ) -> Arc<RunAlarm> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let (sightings, here) = (Arc::clone(&local_alarm.sightings), Arc::clone(local_alarm) as Arc<dyn Alarm>);
        self.endpoint.begin(run, sightings.len(), Arc::clone(&here));
        let alarm = Arc::new(RunAlarm { run, local_alarm: Arc::clone(&here), world: self });
        self.pulse.begin(run, here, Arc::clone(&alarm) as Arc<dyn Alarm>, words, sightings, limits);
        self.is_running.store(true, Ordering::Release);
        alarm
    }

    /// After a failure, stays until the others have dealt with it. Who is no more is not waited for.
    pub(super) fn see_off(&self, alarm: &RunAlarm) {
        match alarm.raised() {
            None | Some(Failure::Lost { .. } | Failure::Died { .. }) => {}
            Some(_) => self.endpoint.see_off(),
        }
    }

    /// Ends it, and says what has stopped it, if anything has.
    pub(super) fn end(&self, alarm: &RunAlarm) -> Option<Failure> {
        self.pulse.end();
        self.endpoint.end();
        self.is_running.store(false, Ordering::Release);
        let failure = alarm.raised().map(|mine| self.pulse.agree(alarm.run, mine));
        self.has_failed.store(failure.is_some(), Ordering::Release);
        failure
    }
}

/// Stops a run: the threads of this process, and every other process.
pub(super) struct RunAlarm {
    pub(super) run: u64,
    local_alarm: Arc<dyn Alarm>,
    world: &'static World,
}

impl Alarm for RunAlarm {
    fn raise(&self, failure: Failure) {
        // Everybody is to have the same text, also who hears of it by a datagram.
        let failure = failure.within(LONGEST);
        let is_first = self.local_alarm.raised().is_none();
        self.local_alarm.raise(failure.clone());
        if is_first {
            self.world.pulse.spread(self.run, &failure);
            self.world.endpoint.spread(&failure);
        }
    }

    fn raised(&self) -> Option<Failure> {
        self.local_alarm.raised()
    }
}
