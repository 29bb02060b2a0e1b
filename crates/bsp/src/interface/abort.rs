//! `bsp_abort`, which takes a format and any number of arguments.

use crate::{failing::say, life};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;

unsafe extern "C" {
    /// Prints into a buffer what a format and a list of arguments say.
    fn vsnprintf(into: *mut c_char, size: usize, format: *const c_char, arguments: *mut c_void) -> c_int;
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
        end("bsp_abort: the format is NULL");
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(format) };
    // One that asks to write to an argument is not used as a format.
    let is_plain = arguments.is_null() || has_store(text.to_bytes());
    let mut line = vec![0_u8; 4096];
    if is_plain || !formatted(&mut line, format, arguments) {
        end(&text.to_string_lossy());
    }
    let len = line.iter().position(|&byte| byte == 0).unwrap_or(line.len());
    end(&String::from_utf8_lossy(&line[..len]))
}

/// Formats in a child, which may die of a format that does not fit its arguments; the text comes back by a pipe.
fn formatted(line: &mut [u8], format: *const c_char, arguments: *mut c_void) -> bool {
    let mut pipe: [c_int; 2] = [0; 2];
    // SAFETY: there is room for two numbers.
    if unsafe { libc::pipe(pipe.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the child calls nothing but functions of C that take no lock, writes, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the format and its arguments are the program's; if they do not fit, this process dies of it alone.
        unsafe { vsnprintf(line.as_mut_ptr().cast(), line.len(), format, arguments) };
        // SAFETY: the bytes are there, and the file is open.
        unsafe { libc::write(pipe[1], line.as_ptr().cast(), line.len()) };
        // SAFETY: it ends the child.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: the file is open.
    unsafe { libc::close(pipe[1]) };
    let mut come = 0;
    while come < line.len() {
        let rest = &mut line[come..];
        // SAFETY: there is as much room, and the file is open.
        let count = unsafe { libc::read(pipe[0], rest.as_mut_ptr().cast(), rest.len()) };
        if count <= 0 {
            break;
        }
        come += count.cast_unsigned();
    }
    let mut status = 0;
    // SAFETY: the child is ours, and the status lives here.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    come == line.len()
}

/// Whether a format has a directive that writes to an argument.
fn has_store(format: &[u8]) -> bool {
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            continue;
        }
        let kind = bytes.find(|byte| !b"0123456789.*$+-# 'hlqjztLI".contains(byte));
        if kind == Some(b'n') {
            return true;
        }
    }
    false
}

/// Ends the job with this message.
pub(super) fn end(message: &str) -> ! {
    say(if message.is_empty() { "bsp_abort" } else { message });
    life::stop()
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
