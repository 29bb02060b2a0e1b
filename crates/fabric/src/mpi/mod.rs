//! Processors as processes that an MPI launcher has started, each with one thread or several.
//!
//! MPI is found and loaded while the program runs, so nothing of it is needed to build one. Only two-sided messages are
//! used, and groups are not communicators: everything goes through the office in `MPI_COMM_WORLD`, and the
//! circle of messages does the rest.

mod abi;
mod calls;
mod dynamic;
mod launcher;
mod office;
mod pulse;
mod session;

use crate::{
    circle::{Alarm, Circle, or_raise},
    code,
    failure::Failure,
    messages::{MessageCircle, Secret},
    nest::Name,
    sight::{Limits, monitor},
    threads::{self, Options},
};
use launcher::Launcher;
use office::{MpiLink, Office};
use pulse::Pulse;
pub use session::{Session, abort};
use std::{
    ffi::{c_int, c_void},
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Why a run under MPI cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unable {
    /// No launcher has started this process.
    NotLaunched,
    /// No MPI could be loaded or started.
    NoMpi(String),
    /// The launcher is one of another MPI than the library that was loaded.
    WrongLauncher(String),
    /// The processes differ in what must be the same.
    Differs(String),
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLaunched => {
                write!(f, "the MPI fabric was asked for, but no MPI launcher has started this program; use mpirun")
            }
            Self::NoMpi(why) | Self::WrongLauncher(why) | Self::Differs(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unable {}

/// This process among those that were launched together.
struct World {
    /// The system's number of this process.
    process: u32,
    office: Office,
    pulse: Arc<Pulse>,
    runs: AtomicU64,
    /// Tells circles apart; see [`Secret`].
    secret: Secret,
    /// Whether a run is under way.
    is_running: AtomicBool,
    /// Whether it is one that the library above ends itself.
    is_session: AtomicBool,
    /// Whether the last run has failed.
    has_failed: AtomicBool,
    /// Whether MPI was started here, and so is to be ended here.
    is_ours: bool,
    /// How long `MPI_Init` took, and everything else.
    start_up: (Duration, Duration),
}

static WORLD: OnceLock<Result<World, Unable>> = OnceLock::new();

/// Whether an MPI launcher has started this process.
pub fn is_launched() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| Launcher::find().is_some())
}

fn world() -> Result<&'static World, Unable> {
    WORLD.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<World, Unable> {
    let start = Instant::now();
    let launcher = Launcher::find().ok_or(Unable::NotLaunched)?;
    let mpi = launcher.load().map_err(Unable::NoMpi)?;
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
    let office = Office::new(mpi);
    same(&office, code::program(), "builds of the program; start the same executable everywhere")?;
    share_secret(&office);
    let secret = agreed_secret(&office);
    let pulse = Pulse::start(&office.mpi, office.me, office.processes).map_err(Unable::NoMpi)?;
    // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
    unsafe { on_exit(finish, std::ptr::null_mut()) };
    Ok(World {
        process: std::process::id(),
        office,
        pulse,
        runs: AtomicU64::new(0),
        secret,
        is_running: AtomicBool::new(false),
        is_session: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        is_ours,
        start_up: (init, start.elapsed().saturating_sub(init)),
    })
}

/// Checks that a number is the same in all processes; `what` are they, in the plural.
fn same(office: &Office, mine: u64, what: &str) -> Result<(), Unable> {
    let mut all = vec![0; 8 * office.processes];
    office.mpi.allgather(&mine.to_le_bytes(), &mut all);
    let numbers = all.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
    let numbers: Vec<u64> = numbers.collect();
    match numbers.iter().position(|&number| number != numbers[0]) {
        None => Ok(()),
        Some(other) => Err(Unable::Differs(format!("processes 0 and {other} have different {what}"))),
    }
}

/// What process 0 has drawn.
fn agreed_secret(office: &Office) -> Secret {
    let mut all = vec![0; 16 * office.processes];
    office.mpi.allgather(&Secret::draw().to_bytes(), &mut all);
    Secret::from_bytes(all.first_chunk().copied().unwrap_or_default())
}

/// Makes all processes name functions with the secret of process 0. Who has loaded which libraries is seen when a
/// function of theirs is named.
fn share_secret(office: &Office) {
    let mut all = vec![0; 16 * office.processes];
    office.mpi.allgather(bytemuck::bytes_of(&code::secret()), &mut all);
    code::adopt(bytemuck::pod_read_unaligned(&all[..16]));
}

/// Ends MPI with the process, which ends with this code.
extern "C" fn finish(code: c_int, _: *mut c_void) {
    let Some(Ok(world)) = WORLD.get() else { return };
    if std::process::id() != world.process {
        // A process that the program has forked for itself: MPI is none of its business.
        return;
    }
    let me = world.office.me;
    if world.is_running.load(Ordering::Acquire) {
        // The program has ended itself in the middle of a run: the others would wait for it. A session's own library
        // says so, and ends all.
        if !world.is_session.load(Ordering::Acquire) {
            eprintln!("superstep: process {me} has ended itself with code {code} in the middle of a run");
            // That has to come through the launcher before it hears that all is over.
            std::thread::sleep(LAST_WORDS);
            world.office.mpi.abort(if code == 0 { 1 } else { code });
        }
        return;
    }
    if !world.is_ours {
        return;
    }
    if world.has_failed.load(Ordering::Acquire) {
        // Those who have heard of the failure deal with it in their own time, and end then. Who is no more is not
        // waited for. Then MPI ends all at once, which launchers take better than processes that vanish one by one.
        if let Err(who) = world.pulse.await_goodbyes() {
            eprintln!("superstep: {who} before it has ended MPI; process {me} ends without");
            world.office.mpi.abort(if code == 0 { 1 } else { code });
            return;
        }
        // Those that vanish only now would be waited for without end.
        let limit = world.pulse.timeout();
        let ends = std::thread::Builder::new().name("superstep end".to_owned());
        let _ = ends.spawn(move || {
            std::thread::sleep(limit);
            eprintln!("superstep: MPI has not ended within {} s; process {me} ends without", limit.as_secs());
            // SAFETY: the process is ending already, and ends with the program's own code.
            unsafe { libc::_exit(code) };
        });
    } else {
        world.office.drain();
        world.pulse.goodbye();
    }
    world.office.close();
    world.office.mpi.finalize();
}

unsafe extern "C" {
    /// Lets a function be called with the code when the process ends.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
}

/// The number of this process and how many there are.
///
/// # Errors
///
/// As [`run`].
pub fn place() -> Result<(usize, usize), Unable> {
    world().map(|world| (world.office.me, world.office.processes))
}

/// Which MPI was loaded, in its own words.
///
/// # Errors
///
/// As [`run`].
pub fn version() -> Result<&'static str, Unable> {
    world().map(|world| world.office.mpi.version.as_str())
}

/// Adds up a number of each process by MPI itself: what a meeting is held against. Every process must call it, outside
/// of any run.
///
/// # Errors
///
/// As [`run`].
pub fn allreduce(mine: u64) -> Result<u64, Unable> {
    world().map(|world| world.office.mpi.sum(mine))
}

/// Sends bytes to another process and receives as many of it, by MPI itself: what a coherence call is held against.
/// Both processes must call it, outside of any run.
///
/// # Errors
///
/// As [`run`].
pub fn swap(with: usize, out: &[u8], into: &mut [u8]) -> Result<(), Unable> {
    world().map(|world| world.office.mpi.swap(with, out, into))
}

/// The tag of what bounces.
const TO_BOUNCE: c_int = 0x58;

/// Sends three words from the first process to the second and back by MPI itself, and says what they are then: the
/// second adds one to the first of them. This is what a question and its answer are held against. Every process must
/// call it, outside of any run; all but the two return at once.
///
/// # Errors
///
/// As [`run`].
pub fn bounce(ball: [u64; 3]) -> Result<[u64; 3], Unable> {
    let mpi = &world()?.office.mpi;
    let mut bytes: [u8; 24] = bytemuck::cast(ball);
    match mpi.rank() {
        0 => {
            mpi.send_now(&bytes, 1, TO_BOUNCE);
            mpi.receive_now(&mut bytes, 1, TO_BOUNCE);
        }
        1 => {
            mpi.receive_now(&mut bytes, 0, TO_BOUNCE);
            let [first, second, third]: [u64; 3] = bytemuck::cast(bytes);
            bytes = bytemuck::cast([first.wrapping_add(1), second, third]);
            mpi.send_now(&bytes, 0, TO_BOUNCE);
        }
        _ => bytes = bytemuck::cast([ball[0].wrapping_add(1), ball[1], ball[2]]),
    }
    Ok(bytemuck::cast(bytes))
}

/// How long it took to start: `MPI_Init`, and everything else that had to be done.
///
/// # Errors
///
/// As [`run`].
pub fn start_up() -> Result<(Duration, Duration), Unable> {
    world().map(|world| world.start_up)
}

/// How many messages this process has sent so far.
///
/// # Errors
///
/// As [`run`].
pub fn sent() -> Result<u64, Unable> {
    world().map(|world| world.office.sent())
}

/// Stops a run: the threads of this process, and every other process.
struct Bell {
    run: u64,
    cord: Arc<dyn Alarm>,
    world: &'static World,
}

impl Alarm for Bell {
    fn raise(&self, failure: Failure) {
        let is_first = self.cord.raised().is_none();
        self.cord.raise(failure.clone());
        if is_first {
            self.world.pulse.spread(self.run, &failure);
            self.world.office.spread(&failure);
        }
    }

    fn raised(&self) -> Option<Failure> {
        self.cord.raised()
    }
}

/// Runs `body` on `per_process` threads of every process, each with its end of the circle of all, and returns what each
/// of this process returned, with the failure that has ended the run, if one has, in whichever process. Processors are
/// numbered process by process. `words` says what a failure comes to, for a process that has to be ended.
///
/// # Errors
///
/// If no run can begin.
///
/// # Panics
///
/// As [`threads::run`].
pub fn run<R: Send>(
    per_process: usize,
    options: Options,
    words: fn(&Failure) -> String,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> Result<(Vec<R>, Option<Failure>), Unable> {
    let world = world()?;
    let office = &world.office;
    world.pulse.prepare();
    same(office, per_process as u64, "numbers of threads")?;
    let run = world.runs.fetch_add(1, Ordering::Relaxed) + 1;
    let is_crowded = launcher::neighbours().unwrap_or(1) * per_process > threads::cores();
    let patience = if is_crowded { 0 } else { office::POLLS };
    let cord = Arc::new(threads::Cord::new(per_process, office.me * per_process));
    let board = Arc::clone(cord.board());
    let alarm = Arc::clone(&cord) as Arc<dyn Alarm>;
    office.begin(run, per_process, Arc::clone(&alarm));
    let bell = Arc::new(Bell { run, cord: Arc::clone(&alarm), world });
    // Where there is no heartbeat, what can be seen in this process is all that is known.
    let limits = if office.me == 0 && !world.pulse.beats() { options.limits } else { NEVER };
    let _watch = monitor::watch(&board, limits, Arc::clone(&bell) as Arc<dyn Alarm>);
    world.pulse.begin(run, alarm, Arc::clone(&bell) as Arc<dyn Alarm>, words, board, options.limits);
    world.is_running.store(true, Ordering::Release);
    let options = Options { first: office.me * per_process, ..options };
    let results = threads::run_with(per_process, options, &cord, |local| {
        let number = office.me * per_process + local.rank();
        let link = MpiLink::new(office, number, Arc::clone(&bell) as Arc<dyn Alarm>, patience, local.pen());
        let circle = MessageCircle::mixed(link, local, [office.processes, office.me], run, world.secret);
        let all: Vec<usize> = (0..circle.size()).collect();
        let mut end = circle.join(Name::END, &all, circle.rank());
        let result = or_raise(&*bell, number, || body(Box::new(circle)));
        // Nobody's run has ended well before everybody's has. If one fails, the bell says so.
        let _ = end.wait();
        result
    });
    let results = results.unwrap_or_else(|why| {
        // The others have begun, and must not wait for this process.
        let how = format!("cannot start {per_process} threads ({why}); ask for fewer");
        bell.raise(Failure::Died { process: office.me, how });
        Vec::new()
    });
    world.pulse.end();
    office.end();
    world.is_running.store(false, Ordering::Release);
    let failure = bell.raised();
    world.has_failed.store(failure.is_some(), Ordering::Release);
    Ok((results, failure))
}

/// How long launchers have to pass on what was printed before all is ended: some drop what comes later.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Nobody is looked after.
const NEVER: Limits = Limits { notice: Duration::ZERO, most: Duration::ZERO };
