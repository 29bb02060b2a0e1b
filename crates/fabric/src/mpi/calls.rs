//! The few functions of MPI that are used, found in a library that was loaded.
//!
//! MPI's handles, `int` counts and statuses end here. Above are processes by number, and bytes.
//!
//! # Invariants
//!
//! - **P1** The addresses are those of the functions they are named after, whose types MPI's standard fixes; a handle
//!   is a word, which an MPI that has `int`s finds in the lower half of a register.
//! - **P2** Calls are made by one thread at a time, whoever holds the [`Endpoint`](super::endpoint)'s lock.
//! - **P3** The memory of a request that is under way is neither moved nor freed: each owns a boxed or vector's buffer
//!   that stays with it until it is done.

use super::{
    abi::{Abi, Status},
    dynamic::Library,
};
use std::{
    ffi::{c_char, c_int, c_void},
    time::Duration,
};

/// Bytes are sent in pieces of at most so many, because a count is an `int`.
pub(super) const PIECE: usize = 1 << 30;

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($type:ty),*);)*) => {
        #[derive(Clone, Copy)]
        struct Functions {
            $($field: unsafe extern "C" fn($($type),*) -> c_int,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Self, String> {
                Ok(Self { $($field: {
                    let address = library.address($symbol).ok_or_else(|| format!("it has no {}", $symbol))?;
                    let pointer = std::ptr::with_exposed_provenance::<c_void>(address);
                    // SAFETY: P1.
                    unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn($($type),*) -> c_int>(pointer) }
                },)* })
            }
        }
    };
}

functions! {
    version = "MPI_Get_library_version": fn(*mut c_char, *mut c_int);
    initialized = "MPI_Initialized": fn(*mut c_int);
    init = "MPI_Init_thread": fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = "MPI_Finalize": fn();
    abort = "MPI_Abort": fn(usize, c_int);
    set_errors = "MPI_Comm_set_errhandler": fn(usize, usize);
    rank = "MPI_Comm_rank": fn(usize, *mut c_int);
    size = "MPI_Comm_size": fn(usize, *mut c_int);
    send = "MPI_Send": fn(*const c_void, c_int, usize, c_int, c_int, usize);
    receive = "MPI_Recv": fn(*mut c_void, c_int, usize, c_int, c_int, usize, *mut Status);
    isend = "MPI_Isend": fn(*const c_void, c_int, usize, c_int, c_int, usize, *mut u64);
    irecv = "MPI_Irecv": fn(*mut c_void, c_int, usize, c_int, c_int, usize, *mut u64);
    test = "MPI_Test": fn(*mut u64, *mut c_int, *mut Status);
    wait = "MPI_Wait": fn(*mut u64, *mut Status);
    cancel = "MPI_Cancel": fn(*mut u64);
    probe = "MPI_Iprobe": fn(c_int, c_int, usize, *mut c_int, *mut Status);
    count = "MPI_Get_count": fn(*const Status, usize, *mut c_int);
    allgather = "MPI_Allgather": fn(*const c_void, c_int, usize, *mut c_void, c_int, usize, usize);
    allreduce = "MPI_Allreduce": fn(*const c_void, *mut c_void, c_int, usize, usize, usize);
}

/// An MPI that has been loaded.
pub(super) struct Mpi {
    pub(super) abi: Abi,
    /// What it says of itself.
    pub(super) version: String,
    functions: Functions,
    give_up: GiveUp,
}

/// Ends the process, with a line that says why.
pub(super) type GiveUp = fn(&str) -> !;

/// How long a process waits after a call of MPI has failed, for whoever knows better why.
const STRANDED: Duration = Duration::from_secs(5);

/// The tag of what two processes swap outside of any run.
const SWAP: c_int = 77;

/// A transfer under way.
pub(super) struct Request(u64);

/// A transfer that has arrived.
pub(super) struct Arrived {
    pub(super) from: usize,
    pub(super) len: usize,
}

impl Mpi {
    /// Loads a library, and finds out what it is. If a call of it fails, the process ends by `give_up`.
    pub(super) fn load(name: &str, give_up: GiveUp) -> Result<Self, String> {
        let library = Library::load(name)?;
        let functions = Functions::find(&library)?;
        let mut text = vec![0u8; 16 << 10];
        let mut len = 0;
        // SAFETY: P1; the buffer is longer than the longest text that any MPI gives.
        unsafe { (functions.version)(text.as_mut_ptr().cast(), &raw mut len) };
        text.truncate(usize::try_from(len).unwrap_or(0));
        let version = String::from_utf8_lossy(&text).trim_end_matches(['\0', '\n']).to_owned();
        let abi = Abi::of(&library, &version)
            .ok_or_else(|| format!("it is an MPI with an unknown ABI: {}", version.lines().next().unwrap_or("")))?;
        Ok(Self { abi, version, functions, give_up })
    }

    /// Starts MPI, unless the program has; says whether it was started here.
    pub(super) fn init(&self) -> Result<bool, String> {
        let (mut done, mut provided) = (0, 0);
        // SAFETY: P1.
        unsafe { (self.functions.initialized)(&raw mut done) };
        if done != 0 {
            return Ok(false);
        }
        let (none, wanted) = (std::ptr::null_mut(), self.abi.serialized);
        // SAFETY: P1; MPI takes no arguments where there are none.
        let code = unsafe { (self.functions.init)(none, std::ptr::null_mut(), wanted, &raw mut provided) };
        if code != 0 {
            return Err(format!("MPI_Init_thread failed with code {code}"));
        }
        if provided < wanted {
            return Err("this MPI cannot be called from a thread other than the first".to_owned());
        }
        // MPI would end this process with a page of its own words; a program that has started it has chosen for itself.
        // SAFETY: P1.
        unsafe { (self.functions.set_errors)(self.abi.world, self.abi.errors_return) };
        Ok(true)
    }

    /// Makes sure that a call has not failed.
    #[inline]
    fn check(&self, code: c_int, name: &str) {
        if code != 0 {
            self.strand(code, name);
        }
    }

    /// Ends the process, because a call of MPI has failed. Mostly another process has died: then the heartbeat or the
    /// launcher knows who, and ends this one first.
    #[cold]
    fn strand(&self, code: c_int, name: &str) -> ! {
        std::thread::sleep(STRANDED);
        (self.give_up)(&format!("{name} failed with code {code}"))
    }

    pub(super) fn rank(&self) -> usize {
        let mut rank = 0;
        // SAFETY: P1.
        unsafe { (self.functions.rank)(self.abi.world, &raw mut rank) };
        usize::try_from(rank).unwrap_or(0)
    }

    pub(super) fn size(&self) -> usize {
        let mut size = 0;
        // SAFETY: P1.
        unsafe { (self.functions.size)(self.abi.world, &raw mut size) };
        usize::try_from(size).unwrap_or(1)
    }

    /// Ends MPI. Every process must come here.
    pub(super) fn finalize(&self) {
        // SAFETY: P1.
        unsafe { (self.functions.finalize)() };
    }

    pub(super) fn abort(&self, code: i32) {
        // SAFETY: P1.
        unsafe { (self.functions.abort)(self.abi.world, code) };
    }

    /// Tells everybody `mine`; `all` has room for that of each. Every process must come here.
    pub(super) fn allgather(&self, mine: &[u8], all: &mut [u8]) {
        assert_eq!(all.len(), mine.len() * self.size(), "room for what each says");
        let (byte, world) = (self.abi.byte, self.abi.world);
        let count = c_int::try_from(mine.len()).expect("only short messages are gathered");
        // SAFETY: P1; both buffers are as long as the counts say.
        let code = unsafe {
            (self.functions.allgather)(mine.as_ptr().cast(), count, byte, all.as_mut_ptr().cast(), count, byte, world)
        };
        self.check(code, "MPI_Allgather");
    }

    /// Adds up a number of each process. Every process must come here.
    pub(super) fn sum(&self, mine: u64) -> u64 {
        let mut total = 0u64;
        let (word, sum, world) = (self.abi.word, self.abi.sum, self.abi.world);
        // SAFETY: P1; both buffers are one word.
        let code = unsafe {
            (self.functions.allreduce)((&raw const mine).cast(), (&raw mut total).cast(), 1, word, sum, world)
        };
        self.check(code, "MPI_Allreduce");
        total
    }

    /// Sends a few bytes. Every MPI buffers so few, and the other side always has a receive posted.
    #[inline]
    pub(super) fn send_now(&self, bytes: &[u8], to: usize, tag: c_int) {
        let (count, to) = (bytes.len() as c_int, to as c_int);
        // SAFETY: P1; the bytes are read before the call returns.
        let code =
            unsafe { (self.functions.send)(bytes.as_ptr().cast(), count, self.abi.byte, to, tag, self.abi.world) };
        self.check(code, "MPI_Send");
    }

    /// Waits for just so many bytes.
    pub(super) fn receive_now(&self, bytes: &mut [u8], from: usize, tag: c_int) {
        let (count, from, mut status): (_, _, Status) = (bytes.len() as c_int, from as c_int, [0; 16]);
        let (byte, world) = (self.abi.byte, self.abi.world);
        // SAFETY: P1; the buffer is as long as the count says, and MPI is done with it when the call returns.
        let code = unsafe {
            (self.functions.receive)(bytes.as_mut_ptr().cast(), count, byte, from, tag, world, &raw mut status)
        };
        self.check(code, "MPI_Recv");
    }

    /// Begins to send `bytes`, at most [`PIECE`] of them.
    ///
    /// # Safety
    ///
    /// The bytes must stay where they are and as they are until the request is done (P3).
    pub(super) unsafe fn send(&self, bytes: &[u8], to: usize, tag: c_int) -> Request {
        let mut request = 0;
        let (count, to) = (c_int::try_from(bytes.len()), c_int::try_from(to));
        let (count, to) = (count.expect("cut into pieces"), to.expect("MPI counts processes in an int"));
        let (byte, world) = (self.abi.byte, self.abi.world);
        // SAFETY: P1, and P3 is the caller's promise.
        let code =
            unsafe { (self.functions.isend)(bytes.as_ptr().cast(), count, byte, to, tag, world, &raw mut request) };
        self.check(code, "MPI_Isend");
        Request(request)
    }

    /// Begins to receive into `bytes`, at most [`PIECE`] of them, from a process or from any.
    ///
    /// # Safety
    ///
    /// The bytes must stay where they are, and nobody may look at them, until the request is done (P3).
    pub(super) unsafe fn receive(&self, bytes: &mut [u8], from: Option<usize>, tag: c_int) -> Request {
        let mut request = 0;
        let count = c_int::try_from(bytes.len()).expect("cut into pieces");
        let from = from.map_or(self.abi.any_source, |from| c_int::try_from(from).expect("MPI counts in an int"));
        let (byte, world) = (self.abi.byte, self.abi.world);
        // SAFETY: P1, and P3 is the caller's promise.
        let code = unsafe {
            (self.functions.irecv)(bytes.as_mut_ptr().cast(), count, byte, from, tag, world, &raw mut request)
        };
        self.check(code, "MPI_Irecv");
        Request(request)
    }

    /// Whether a request is done; if so, it is used up.
    #[inline]
    pub(super) fn is_done(&self, request: &mut Request) -> Option<Arrived> {
        let (mut done, mut status): (c_int, Status) = (0, [0; 16]);
        // SAFETY: P1; the request is one that was begun, or has been used up, of which MPI says that it is done.
        let code = unsafe { (self.functions.test)(&raw mut request.0, &raw mut done, &raw mut status) };
        self.check(code, "MPI_Test");
        (done != 0).then(|| self.arrived(&status))
    }

    fn arrived(&self, status: &Status) -> Arrived {
        let mut len = 0;
        // SAFETY: P1; the status was filled in by MPI.
        unsafe { (self.functions.count)(status, self.abi.byte, &raw mut len) };
        let source = usize::try_from(status[self.abi.source]).unwrap_or(usize::MAX);
        Arrived { from: source, len: usize::try_from(len).unwrap_or(0) }
    }

    /// What has come with this tag, and nobody has asked for yet.
    pub(super) fn probe(&self, tag: c_int) -> Option<Arrived> {
        let (mut found, mut status): (c_int, Status) = (0, [0; 16]);
        let (any, world) = (self.abi.any_source, self.abi.world);
        // SAFETY: P1.
        let code = unsafe { (self.functions.probe)(any, tag, world, &raw mut found, &raw mut status) };
        self.check(code, "MPI_Iprobe");
        (found != 0).then(|| self.arrived(&status))
    }

    /// Sends bytes to another process and receives as many of it; waits for both.
    pub(super) fn swap(&self, with: usize, out: &[u8], into: &mut [u8]) {
        // SAFETY: P3: it stays borrowed until the request is done, at the end of this function.
        let received = unsafe { self.receive(into, Some(with), SWAP) };
        // SAFETY: P3, as above.
        let sent = unsafe { self.send(out, with, SWAP) };
        for mut request in [received, sent] {
            let mut status: Status = [0; 16];
            // SAFETY: P1; the request is under way.
            let code = unsafe { (self.functions.wait)(&raw mut request.0, &raw mut status) };
            self.check(code, "MPI_Wait");
        }
    }

    /// Gives up on bytes that were to be received: the request is done soon, with them if they are on their way.
    pub(super) fn begin_to_cancel(&self, request: &mut Request) {
        // SAFETY: P1; the request is under way.
        unsafe { (self.functions.cancel)(&raw mut request.0) };
    }

    /// Gives up on bytes that were to be received, and waits until MPI has.
    pub(super) fn cancel(&self, mut request: Request) {
        self.begin_to_cancel(&mut request);
        let mut status: Status = [0; 16];
        // SAFETY: P1.
        unsafe { (self.functions.wait)(&raw mut request.0, &raw mut status) };
    }
}
