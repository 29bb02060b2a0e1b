//! `bsp_abort`, which takes a format and any number of arguments.

use crate::{
    failing::{say, stop},
    parting, phase,
};
use libc::{c_char, c_int, c_void};
use std::{
    ffi::CStr,
    fs::File,
    io::{Read, Write},
    os::fd::FromRawFd,
};

unsafe extern "C" {
    /// Prints into memory of its own what a format and a list of arguments say, and returns its length.
    fn vasprintf(into: *mut *mut c_char, format: *const c_char, arguments: *mut c_void) -> c_int;
}

/// Prints a message and ends the whole job.
///
/// Rust has no functions with any number of arguments, so this one lays out the list that C's own functions take: the
/// registers in which arguments may have come, how many of them the format has used, and where the rest lies.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn bsp_abort(format: *const c_char) {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        // 176 bytes for the registers, 24 for the list, and 8 to keep the stack on a multiple of 16.
        "sub rsp, 208",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "test al, al",
        "je 2f",
        "movaps [rsp + 48], xmm0",
        "movaps [rsp + 64], xmm1",
        "movaps [rsp + 80], xmm2",
        "movaps [rsp + 96], xmm3",
        "movaps [rsp + 112], xmm4",
        "movaps [rsp + 128], xmm5",
        "movaps [rsp + 144], xmm6",
        "movaps [rsp + 160], xmm7",
        "2:",
        "mov dword ptr [rsp + 176], 8",
        "mov dword ptr [rsp + 180], 48",
        "lea rax, [rbp + 16]",
        "mov [rsp + 184], rax",
        "mov [rsp + 192], rsp",
        "lea rsi, [rsp + 176]",
        "call {abort}",
        "ud2",
        abort = sym abort,
    )
}

/// Prints the format as it is: how arguments come is not known here.
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
extern "C" fn bsp_abort(format: *const c_char) {
    // SAFETY: without a list, no argument is looked at.
    unsafe { abort(format, std::ptr::null_mut()) }
}

/// Ends the job with what a format and a list of arguments say.
///
/// # Safety
///
/// The format is a text that ends with a zero, or null; the list is one of C's for the arguments behind it, or null.
unsafe extern "C" fn abort(format: *const c_char, arguments: *mut c_void) -> ! {
    if format.is_null() {
        end(b"bsp_abort: the format is NULL");
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(format) };
    // A format that would write to an argument is printed as it is.
    let is_plain = arguments.is_null() || has_store(text.to_bytes());
    let line = if is_plain { None } else { formatted(format, arguments) };
    end(line.as_deref().unwrap_or(text.to_bytes()))
}

/// Formats in a child, which may die of a format that does not fit its arguments. The text comes back by a pipe, with
/// its length before it; if not all of it comes, there is none. Where there can be no child, it is done here.
fn formatted(format: *const c_char, arguments: *mut c_void) -> Option<Vec<u8>> {
    let mut pipe: [c_int; 2] = [0; 2];
    // SAFETY: there is room for two numbers.
    if unsafe { libc::pipe(pipe.as_mut_ptr()) } != 0 {
        return print(format, arguments).map(<[u8]>::to_vec);
    }
    // SAFETY: the child calls nothing but functions of C, writes, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        write_formatted(pipe[1], format, arguments);
    }
    // SAFETY: the file is open.
    unsafe { libc::close(pipe[1]) };
    if child < 0 {
        return print(format, arguments).map(<[u8]>::to_vec);
    }
    // SAFETY: the file is open, and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(pipe[0]) };
    let mut len = [0; 8];
    let mut line = Vec::new();
    let has_come = file.read_exact(&mut len).and_then(|()| file.read_to_end(&mut line)).is_ok();
    let mut status = 0;
    // SAFETY: the child is ours, and the status lives here.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    (has_come && line.len() as u64 == u64::from_ne_bytes(len)).then_some(line)
}

/// What the child does.
fn write_formatted(file: c_int, format: *const c_char, arguments: *mut c_void) -> ! {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // The program's handlers are meant for the parent.
        // SAFETY: it takes numbers.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    if let Some(text) = print(format, arguments) {
        // SAFETY: the file is open, and nobody else has it here.
        let mut file = unsafe { File::from_raw_fd(file) };
        let _ = file.write_all(&(text.len() as u64).to_ne_bytes()).and_then(|()| file.write_all(text));
    }
    // SAFETY: it ends the child.
    unsafe { libc::_exit(0) }
}

/// Formats, if it can be done. The text is never given back: the process ends.
fn print(format: *const c_char, arguments: *mut c_void) -> Option<&'static [u8]> {
    let mut line: *mut c_char = std::ptr::null_mut();
    // SAFETY: the format and its arguments are the program's; if they do not fit, the process dies of it.
    let len = unsafe { vasprintf(&raw mut line, format, arguments) };
    // SAFETY: the function has made as many bytes.
    usize::try_from(len).ok().map(|len| unsafe { std::slice::from_raw_parts(line.cast::<u8>(), len) })
}

/// Whether a format has a directive that writes to an argument.
fn has_store(format: &[u8]) -> bool {
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            continue;
        }
        let directive = bytes.find(|byte| !b"0123456789.*$+-# 'hlqjztLI".contains(byte));
        if directive == Some(b'n') {
            return true;
        }
    }
    false
}

/// Ends the job with this message, whatever its bytes mean where it was written.
pub(super) fn end(message: &[u8]) -> ! {
    let message = if message.is_empty() { b"bsp_abort" } else { message };
    if phase::is_stranger() {
        let message = message.strip_suffix(b"\n").unwrap_or(message);
        parting::leave(
            &[message, b" (bsp_abort by a process that the program has forked; only that one ends)"].concat(),
        );
    }
    say(message);
    stop()
}

#[cfg(test)]
mod tests {
    use super::has_store;

    #[test]
    fn a_directive_that_writes_is_found_and_nothing_else_is() {
        for format in ["%n", "a %d %hhn", "%5$n", "%-3.2ln"] {
            assert!(has_store(format.as_bytes()), "{format}");
        }
        for format in ["", "%%n", "%d n", "100 %", "%5d%%", "n"] {
            assert!(!has_store(format.as_bytes()), "{format}");
        }
    }
}
