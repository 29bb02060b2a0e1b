//! Fortran, as gfortran calls it: names in small letters with an underscore behind them, everything by address, and the
//! length of a text last.

use super::{abort, calls, int::fitting};
use crate::{
    collectives::Call,
    ending::{Collective, Ending},
    failing::{Fault, fail},
    life,
};
use libc::{c_char, c_int, c_void, size_t};

/// A common block of two numbers, which Fortran puts on a multiple of 16.
#[repr(C, align(16))]
struct Common([c_int; 2]);

/// The common block `bspunreg`: what a program registers where C has NULL.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "this is what Fortran calls it")]
static mut bspunreg_: Common = Common([0; 2]);

/// An address of the program's, or 0 if it is that of the common block.
fn address(of: *const c_void) -> usize {
    if std::ptr::eq(of, (&raw const bspunreg_).cast()) { 0 } else { of.expose_provenance() }
}

/// A number behind an address, which Fortran never leaves out.
fn number(at: *const c_int) -> i64 {
    // SAFETY: Fortran hands over the address of a number.
    i64::from(unsafe { *at })
}

fn store(at: *mut c_int, value: c_int) {
    // SAFETY: Fortran hands over the address of a number that may be written to.
    unsafe { *at = value };
}

#[unsafe(no_mangle)]
extern "C" fn bspbegin_(maxprocs: *const c_int) {
    life::begin(number(maxprocs));
}

#[unsafe(no_mangle)]
extern "C" fn bspend_() {
    life::end();
}

#[unsafe(no_mangle)]
extern "C" fn bspinit_(spmd: Option<extern "C" fn()>) {
    life::init(spmd);
}

#[unsafe(no_mangle)]
extern "C" fn bspabort_(text: *const c_char, len: size_t) {
    // SAFETY: Fortran hands over a text and its length.
    let bytes = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) } };
    abort::end(bytes.trim_ascii_end());
}

#[unsafe(no_mangle)]
extern "C" fn bspnprocs_() -> c_int {
    life::nprocs("bspnprocs") as c_int
}

#[unsafe(no_mangle)]
extern "C" fn bsppid_() -> c_int {
    life::machine("bsppid").rank as c_int
}

#[unsafe(no_mangle)]
extern "C" fn bsptime_() -> f64 {
    life::seconds("bsptime")
}

#[unsafe(no_mangle)]
extern "C" fn bspsync_() {
    life::machine("bspsync").boundary(Ending::Sync, 0);
}

#[unsafe(no_mangle)]
extern "C" fn bsppushreg_(ident: *const c_void, size: *const c_int) {
    let address = address(ident);
    calls::push_reg("bsppushreg", address, if address == 0 { 0 } else { number(size) });
}

#[unsafe(no_mangle)]
extern "C" fn bsppopreg_(ident: *const c_void) {
    calls::pop_reg("bsppopreg", address(ident));
}

#[unsafe(no_mangle)]
extern "C" fn bspput_(pid: *const c_int, src: *const c_void, dst: *mut c_void, offset: *const c_int, n: *const c_int) {
    let at = (number(offset), number(n));
    calls::put("bspput", number(pid), src.expose_provenance(), address(dst), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsphpput_(
    pid: *const c_int,
    src: *const c_void,
    dst: *mut c_void,
    offset: *const c_int,
    n: *const c_int,
) {
    let at = (number(offset), number(n));
    calls::hp_put("bsphpput", number(pid), src.expose_provenance(), address(dst), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspget_(pid: *const c_int, src: *const c_void, offset: *const c_int, dst: *mut c_void, n: *const c_int) {
    let at = (number(offset), number(n));
    calls::get("bspget", number(pid), address(src), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsphpget_(
    pid: *const c_int,
    src: *const c_void,
    offset: *const c_int,
    dst: *mut c_void,
    n: *const c_int,
) {
    let at = (number(offset), number(n));
    calls::hp_get("bsphpget", number(pid), address(src), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspsettagsize_(tag_nbytes: *mut c_int) {
    const NAME: &str = "bspsettagsize";
    let before = calls::set_tag_size(NAME, number(tag_nbytes));
    store(tag_nbytes, fitting(NAME, "the tag size before", before as u64));
}

#[unsafe(no_mangle)]
extern "C" fn bspsend_(pid: *const c_int, tag: *const c_void, payload: *const c_void, n: *const c_int) {
    calls::send("bspsend", number(pid), tag.expose_provenance(), payload.expose_provenance(), number(n));
}

#[unsafe(no_mangle)]
extern "C" fn bspqsize_(nmessages: *mut c_int, accum_nbytes: *mut c_int) {
    const NAME: &str = "bspqsize";
    let [count, bytes] = calls::queue_size(NAME);
    store(nmessages, fitting(NAME, "the number of messages", count));
    store(accum_nbytes, fitting(NAME, "the number of bytes", bytes));
}

#[unsafe(no_mangle)]
extern "C" fn bspgettag_(status: *mut c_int, tag: *mut c_void) {
    const NAME: &str = "bspgettag";
    let len = calls::get_tag(NAME, tag.expose_provenance());
    store(status, len.map_or(-1, |len| fitting(NAME, "the payload's size", len as u64)));
}

#[unsafe(no_mangle)]
extern "C" fn bspmove_(payload: *mut c_void, reception_nbytes: *const c_int) {
    calls::move_first("bspmove", payload.expose_provenance(), number(reception_nbytes));
}

#[unsafe(no_mangle)]
extern "C" fn bspbcast_(root: *const c_int, data: *mut c_void, n: *const c_int) {
    let data = data.expose_provenance();
    Call { which: Collective::Broadcast, root: number(root), source: data, target: data, len: number(n) }.run(None);
}

/// A subroutine of the program that combines two values, with the number of bytes by address.
type Operator = extern "C" fn(*mut c_void, *const c_void, *const c_void, *const c_int);

fn combine(which: Collective, operator: Option<Operator>, src: *const c_void, dst: *mut c_void, n: *const c_int) {
    let Some(operator) = operator else { fail(which.name(), Fault::NullPointer("the function")) };
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which, root: 0, source, target, len: number(n) }.run(Some(&|result, left, right| {
        let len = result.len() as c_int;
        operator(result.as_mut_ptr().cast(), left.as_ptr().cast(), right.as_ptr().cast(), &raw const len);
    }));
}

#[unsafe(no_mangle)]
extern "C" fn bspfold_(op: Option<Operator>, src: *const c_void, dst: *mut c_void, n: *const c_int) {
    combine(Collective::Fold, op, src, dst, n);
}

#[unsafe(no_mangle)]
extern "C" fn bspscan_(op: Option<Operator>, src: *const c_void, dst: *mut c_void, n: *const c_int) {
    combine(Collective::Scan, op, src, dst, n);
}

#[unsafe(no_mangle)]
extern "C" fn bspgather_(root: *const c_int, src: *const c_void, dst: *mut c_void, n: *const c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Gather, root: number(root), source, target, len: number(n) }.run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bspscatter_(root: *const c_int, src: *const c_void, dst: *mut c_void, n: *const c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Scatter, root: number(root), source, target, len: number(n) }.run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bspexchange_(src: *const c_void, dst: *mut c_void, n: *const c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Exchange, root: 0, source, target, len: number(n) }.run(None);
}
