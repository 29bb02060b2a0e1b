//! C, with the standard's signatures.

use super::calls;
use crate::{
    collectives::Call,
    ending::{Collective, Ending},
    failing::{Fault, fail},
    life,
};
use libc::{c_char, c_int, c_void};

/// A number as C's `int`. Fails if it has no room there, because C would take a wrong one for the truth.
#[inline]
pub(super) fn fitting(name: &'static str, what: &'static str, value: u64) -> c_int {
    c_int::try_from(value).unwrap_or_else(|_| fail(name, Fault::NoRoom { what, value }))
}

#[unsafe(no_mangle)]
extern "C" fn bsp_begin(maxprocs: c_int) {
    life::begin(maxprocs.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_end() {
    life::end();
}

#[unsafe(no_mangle)]
extern "C" fn bsp_init(spmd: Option<extern "C" fn()>, _argc: c_int, _argv: *mut *mut c_char) {
    life::init(spmd);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_nprocs() -> c_int {
    life::nprocs("bsp_nprocs") as c_int
}

#[unsafe(no_mangle)]
extern "C" fn bsp_pid() -> c_int {
    life::machine("bsp_pid").rank as c_int
}

#[unsafe(no_mangle)]
extern "C" fn bsp_time() -> f64 {
    life::seconds("bsp_time")
}

#[unsafe(no_mangle)]
extern "C" fn bsp_sync() {
    life::machine("bsp_sync").boundary(Ending::Sync, 0);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_push_reg(ident: *const c_void, size: c_int) {
    calls::push_reg("bsp_push_reg", ident.expose_provenance(), size.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_pop_reg(ident: *const c_void) {
    calls::pop_reg("bsp_pop_reg", ident.expose_provenance());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_put(pid: c_int, src: *const c_void, dst: *mut c_void, offset: c_int, nbytes: c_int) {
    let at = (offset.into(), nbytes.into());
    calls::put("bsp_put", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_hpput(pid: c_int, src: *const c_void, dst: *mut c_void, offset: c_int, nbytes: c_int) {
    let at = (offset.into(), nbytes.into());
    calls::hp_put("bsp_hpput", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_get(pid: c_int, src: *const c_void, offset: c_int, dst: *mut c_void, nbytes: c_int) {
    let at = (offset.into(), nbytes.into());
    calls::get("bsp_get", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_hpget(pid: c_int, src: *const c_void, offset: c_int, dst: *mut c_void, nbytes: c_int) {
    let at = (offset.into(), nbytes.into());
    calls::hp_get("bsp_hpget", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_set_tagsize(tag_nbytes: *mut c_int) {
    const NAME: &str = "bsp_set_tagsize";
    life::machine(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(size) = (unsafe { tag_nbytes.as_mut() }) else { fail(NAME, Fault::NullPointer("the tag size")) };
    *size = fitting(NAME, "the tag size before", calls::set_tag_size(NAME, i64::from(*size)) as u64);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_send(pid: c_int, tag: *const c_void, payload: *const c_void, payload_nbytes: c_int) {
    let (tag, payload) = (tag.expose_provenance(), payload.expose_provenance());
    calls::send("bsp_send", pid.into(), tag, payload, payload_nbytes.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_qsize(nmessages: *mut c_int, accum_nbytes: *mut c_int) {
    const NAME: &str = "bsp_qsize";
    let [count, bytes] = calls::queue_size(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(nmessages) = (unsafe { nmessages.as_mut() }) else { fail(NAME, Fault::NullPointer("nmessages")) };
    *nmessages = fitting(NAME, "the number of messages", count);
    // SAFETY: as above; who does not want to know the bytes may say so.
    if let Some(accum_nbytes) = unsafe { accum_nbytes.as_mut() } {
        *accum_nbytes = fitting(NAME, "the number of bytes", bytes);
    }
}

#[unsafe(no_mangle)]
extern "C" fn bsp_get_tag(status: *mut c_int, tag: *mut c_void) {
    const NAME: &str = "bsp_get_tag";
    life::machine(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(status) = (unsafe { status.as_mut() }) else { fail(NAME, Fault::NullPointer("the status")) };
    let len = calls::get_tag(NAME, tag.expose_provenance());
    *status = len.map_or(-1, |len| fitting(NAME, "the payload's size", len as u64));
}

#[unsafe(no_mangle)]
extern "C" fn bsp_move(payload: *mut c_void, reception_nbytes: c_int) {
    calls::move_first("bsp_move", payload.expose_provenance(), reception_nbytes.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_hpmove(tag_ptr: *mut *mut c_void, payload_ptr: *mut *mut c_void) -> c_int {
    const NAME: &str = "bsp_hpmove";
    // SAFETY: the program hands over addresses of pointers, or null.
    let len = unsafe { super::size::hp_move(NAME, tag_ptr, payload_ptr) };
    len.map_or(-1, |len| fitting(NAME, "the payload's size", len as u64))
}

/// A function of the program that combines two values.
type Operator = extern "C" fn(*mut c_void, *const c_void, *const c_void, c_int);

/// Runs a collective of `bytes` bytes that uses a function of the program.
fn combine(which: Collective, operator: Option<Operator>, src: *const c_void, dst: *mut c_void, bytes: i64) {
    let Some(operator) = operator else { fail(which.name(), Fault::NullPointer("the function")) };
    let call = Call { which, root: 0, source: src.expose_provenance(), target: dst.expose_provenance(), len: bytes };
    call.run(Some(&|result, left, right| {
        let len = result.len() as c_int;
        operator(result.as_mut_ptr().cast(), left.as_ptr().cast(), right.as_ptr().cast(), len);
    }));
}

#[unsafe(no_mangle)]
extern "C" fn bsp_bcast(root: c_int, data: *mut c_void, nbytes: c_int) {
    let data = data.expose_provenance();
    let call = Call { which: Collective::Broadcast, root: root.into(), source: data, target: data, len: nbytes.into() };
    call.run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_fold(op: Option<Operator>, src: *const c_void, dst: *mut c_void, nbytes: c_int) {
    combine(Collective::Fold, op, src, dst, nbytes.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_scan(op: Option<Operator>, src: *const c_void, dst: *mut c_void, nbytes: c_int) {
    combine(Collective::Scan, op, src, dst, nbytes.into());
}

#[unsafe(no_mangle)]
extern "C" fn bsp_gather(root: c_int, src: *const c_void, dst: *mut c_void, nbytes: c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Gather, root: root.into(), source, target, len: nbytes.into() }.run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_scatter(root: c_int, src: *const c_void, dst: *mut c_void, nbytes: c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Scatter, root: root.into(), source, target, len: nbytes.into() }.run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bsp_exchange(src: *const c_void, dst: *mut c_void, nbytes: c_int) {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which: Collective::Exchange, root: 0, source, target, len: nbytes.into() }.run(None);
}
