//! Processors as processes that an MPI launcher has started, each with one thread or several.
//!
//! MPI is found and loaded while the program runs, so nothing of it is needed to build one. Only two-sided messages are
//! used, and groups are not communicators: everything goes through the endpoint in `MPI_COMM_WORLD`, and the
//! circle of messages does the rest.

mod abi;
mod calls;
mod carry;
mod dynamic;
mod endpoint;
mod header;
mod launcher;
mod link;
mod pulse;
mod session;
mod slots;
mod unable;
mod world;

#[cfg(fuzzing)]
pub(crate) use {header::fuzz, launcher::fuzz as fuzz_launcher, pulse::fuzz as fuzz_pulse};

pub use session::{Session, abort};
pub use unable::Unable;
pub use world::is_launched;

use crate::{
    alarm::{Alarm, or_raise},
    circle::Circle,
    failure::Failure,
    lock::lock,
    messages::MessageCircle,
    nest::Name,
    sight::{Limits, monitor},
    threads::{self, Options},
};
use link::MpiLink;
use std::{ffi::c_int, sync::Arc, time::Duration};
use world::{same, world};

/// The number of this process and how many there are.
pub fn place() -> Result<(usize, usize), Unable> {
    world().map(|world| (world.endpoint.me, world.endpoint.processes))
}

/// Which MPI was loaded, in its own words.
pub fn version() -> Result<&'static str, Unable> {
    world().map(|world| world.endpoint.mpi.version.as_str())
}

/// Adds up a number of each process by MPI itself: what a meeting is held against. Every process must call it, outside
/// of any run.
pub fn allreduce(mine: u64) -> Result<u64, Unable> {
    world().map(|world| world.endpoint.mpi.sum(mine))
}

/// Sends bytes to another process and receives as many of it, by MPI itself: what a coherence call is held against.
/// Both processes must call it, outside of any run.
pub fn swap(with: usize, out: &[u8], into: &mut [u8]) -> Result<(), Unable> {
    world().map(|world| world.endpoint.mpi.swap(with, out, into))
}

/// The tag of what bounces.
const TO_BOUNCE: c_int = 0x58;

/// Sends three words from the first process to the second and back by MPI itself, and says what they are then: the
/// second adds one to the first of them. This is what a question and its answer are held against. Every process must
/// call it, outside of any run; all but the two return at once.
pub fn bounce(ball: [u64; 3]) -> Result<[u64; 3], Unable> {
    let mpi = &world()?.endpoint.mpi;
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
pub fn start_up() -> Result<(Duration, Duration), Unable> {
    world().map(|world| world.start_up)
}

/// How many messages this process has sent so far.
pub fn sent() -> Result<u64, Unable> {
    world().map(|world| lock(&world.endpoint.state).sent)
}

/// Runs `body` on `per_process` threads of every process, each with its end of the circle of all, and returns what each
/// of this process returned, with the failure that has ended the run, if one has, in whichever process. Processors are
/// numbered process by process. `words` says what a failure comes to, for a process that has to be ended.
///
/// # Errors
///
/// If no run can begin, or if one is under way in this process.
pub fn run<R: Send>(
    per_process: usize,
    options: Options,
    words: fn(&Failure) -> String,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> Result<(Vec<R>, Option<Failure>), Unable> {
    let world = world()?;
    let _turn = world.take_turn()?;
    let endpoint = &world.endpoint;
    world.pulse.prepare();
    same(endpoint, per_process as u64, "numbers of threads")?;
    let local_alarm = Arc::new(threads::ThreadAlarm::new(per_process, endpoint.me * per_process));
    let alarm = world.begin(&local_alarm, words, options.limits);
    // Where there is no heartbeat, what can be seen in this process is all that is known.
    let limits = if endpoint.me == 0 && !world.pulse.beats() { options.limits } else { NEVER };
    let _watch = monitor::watch(&local_alarm.sightings, limits, Arc::clone(&alarm) as Arc<dyn Alarm>);
    let options = Options { first: endpoint.me * per_process, ..options };
    let results = threads::run_with(per_process, options, &local_alarm, |local| {
        let number = endpoint.me * per_process + local.rank();
        let link = MpiLink::new(endpoint, number, Arc::clone(&alarm) as Arc<dyn Alarm>, local.pen());
        let circle = MessageCircle::mixed(link, local, [endpoint.processes, endpoint.me], alarm.run, world.secret);
        let all: Vec<usize> = (0..circle.size()).collect();
        let mut end = circle.join(Name::END, &all, circle.rank());
        let result = or_raise(&*alarm, number, || body(Box::new(circle)));
        // Nobody's run has ended well before everybody's has. If one fails, the alarm says so.
        let _ = end.wait();
        result
    });
    let results = results.unwrap_or_else(|why| {
        // The others have begun, and must not wait for this process.
        let stack = options.stack_bytes;
        let how = format!(
            "cannot start {per_process} threads with {stack} bytes of stack each ({why}); ask for fewer, or less stack"
        );
        alarm.raise(Failure::Died { process: endpoint.me, how });
        Vec::new()
    });
    world.see_off(&alarm);
    Ok((results, world.end(&alarm)))
}

/// Nobody is watched.
const NEVER: Limits = Limits { notice: Duration::ZERO, most: Duration::ZERO };
