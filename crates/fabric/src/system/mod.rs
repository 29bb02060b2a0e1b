//! What differs between systems, and nothing else: one file for each system, and every one offers the same.
//!
//! # Contract
//!
//! 1. `list_images` lists what is loaded into this process, the executable first, or nothing if that is unchanged.
//! 2. `map` gives zeros on a border that is asked for, and `unmap` takes them back. `advise_huge` asks for huge pages;
//!    where there are none to ask for, it does nothing.
//! 3. `offers_fence` says whether `fence_all` runs a fence on every core that runs a thread of this process. Where it
//!    does not, both sides of a pair need a full fence.
//! 4. `bind` binds a thread to a core, and `step_aside` moves it to another one. Where the system lets nobody choose,
//!    both do nothing.
//!    `give_way` lets other threads go before the calling one, where that can be said of one thread.
//! 5. `own_task` is the system's number of the calling thread, and not 0.
//! 6. `without_signals` does something while no signal reaches the calling thread.
//! 7. `at_exit` lets a function be called when the process ends, the last one first, with the code if the system tells
//!    it. Under Windows and in Miri nobody is called.
//! 8. `exit_now` ends the process, and runs nothing more of the program. `flush_streams` writes what C has buffered.
//! 9. `is_root` says whether the process has the rights of root.
//! 10. `read_at` and `write_at` do so at an offset, which nobody else's calls move. `sync_names` waits until the disk
//!     has the names in a folder.
//! 11. `catch` has a function called when a signal asks for a save, and another when one asks the process to end, but
//!     for a signal of which the program makes something else; a function of its own for saves is called as well.
//!     `release` puts back what was. Under Windows and in Miri no signal comes.
//!
//! Linux and macOS also tell the name of the host, a text for the machine and its start, and whether another process
//! lives, and take signals one by one.
//! Linux shares memory between processes that it forks. Miri is a system of its own here: it interprets a program, and
//! has no cores, signals or images.

#[cfg(all(target_os = "linux", not(miri)))]
mod elf;
#[cfg(any(windows, miri))]
mod heap;
mod image;
#[cfg(all(target_os = "linux", not(miri)))]
mod linux;
#[cfg(any(all(target_os = "macos", not(miri)), test))]
mod macho;
#[cfg(all(target_os = "macos", not(miri)))]
mod macos;
#[cfg(miri)]
mod miri;
mod offsets;
#[cfg(any(all(windows, not(miri)), test))]
mod pe;
#[cfg(all(unix, not(miri)))]
mod unix;
#[cfg(all(windows, not(miri)))]
mod windows;
#[cfg(any(target_os = "macos", windows, miri))]
mod without;

pub(crate) use image::{Image, Stamp};
pub use offsets::{read_at, sync_names, write_at};

#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use unix::hold_exits;
#[cfg(all(unix, not(miri)))]
pub(crate) use unix::{
    Caught, at_exit, catch, exit_now, flush_streams, host_name, map, release, unmap, without_signals,
};

#[cfg(all(target_os = "linux", not(miri)))]
pub use linux::give_way;
#[cfg(miri)]
pub use miri::is_root;
#[cfg(all(unix, not(miri)))]
pub use unix::is_root;
#[cfg(all(windows, not(miri)))]
pub use windows::is_root;
#[cfg(any(target_os = "macos", windows, miri))]
pub use without::give_way;

#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) use {
    elf::list_images,
    linux::{
        advise_huge, allowed, bind, die_with_parent, fence_all, is_alive, machine, map_shared, offers_fence, own_task,
        step_aside, unmap_shared, wait_signal,
    },
};

#[cfg(all(target_os = "macos", not(miri)))]
pub(crate) use macos::{die_with_parent, is_alive, list_images, machine, own_task, wait_signal};

#[cfg(any(target_os = "macos", windows, miri))]
pub(crate) use without::{advise_huge, bind, fence_all, offers_fence, step_aside};

#[cfg(all(windows, not(miri)))]
pub(crate) use {
    heap::{map, unmap},
    windows::{Caught, at_exit, catch, exit_now, flush_streams, list_images, own_task, release, without_signals},
};

#[cfg(miri)]
pub(crate) use {
    heap::{map, unmap},
    miri::{
        Caught, allowed, at_exit, catch, exit_now, flush_streams, hold_exits, host_name, is_alive, list_images,
        machine, map_shared, own_task, release, unmap_shared, without_signals,
    },
};

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("superstep runs on Linux, macOS and Windows");
