//! C, with sizes, offsets and counts of type `size_t` and unsigned numbers of processes; `bsp.h` gives these functions
//! the standard's names where a program defines `BSP_SIZE_T`.

use super::calls;
use crate::{
    collectives::Call,
    ending::Collective,
    failing::{Fault, fail},
    life,
};
use libc::{c_uint, c_void, size_t};

/// What stands for no message.
const NONE: size_t = size_t::MAX;

/// A size, unless no memory is that large.
#[inline]
fn wide(name: &'static str, what: &'static str, size: size_t) -> i64 {
    i64::try_from(size).unwrap_or_else(|_| {
        // Who may not call at all hears that instead.
        life::machine(name);
        fail(name, Fault::HugeSize { what, value: size as u64 })
    })
}

/// Where a transfer begins, and how long it is; without bytes it begins nowhere.
#[inline]
fn stretch(name: &'static str, offset: size_t, nbytes: size_t) -> (i64, i64) {
    if nbytes == 0 {
        return (0, 0);
    }
    (wide(name, "the offset", offset), wide(name, BYTES, nbytes))
}

/// What the number of bytes of a transfer is called.
const BYTES: &str = "the number of bytes";

#[unsafe(no_mangle)]
extern "C" fn bspz_begin(maxprocs: c_uint) {
    life::begin(maxprocs.into());
}

#[unsafe(no_mangle)]
extern "C" fn bspz_nprocs() -> c_uint {
    life::nprocs("bsp_nprocs") as c_uint
}

#[unsafe(no_mangle)]
extern "C" fn bspz_pid() -> c_uint {
    life::machine("bsp_pid").rank as c_uint
}

#[unsafe(no_mangle)]
extern "C" fn bspz_push_reg(ident: *const c_void, size: size_t) {
    calls::push_reg("bsp_push_reg", ident.expose_provenance(), wide("bsp_push_reg", "the size", size));
}

#[unsafe(no_mangle)]
extern "C" fn bspz_put(pid: c_uint, src: *const c_void, dst: *mut c_void, offset: size_t, nbytes: size_t) {
    let at = stretch("bsp_put", offset, nbytes);
    calls::put("bsp_put", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_hpput(pid: c_uint, src: *const c_void, dst: *mut c_void, offset: size_t, nbytes: size_t) {
    let at = stretch("bsp_hpput", offset, nbytes);
    calls::hp_put("bsp_hpput", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_get(pid: c_uint, src: *const c_void, offset: size_t, dst: *mut c_void, nbytes: size_t) {
    let at = stretch("bsp_get", offset, nbytes);
    calls::get("bsp_get", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_hpget(pid: c_uint, src: *const c_void, offset: size_t, dst: *mut c_void, nbytes: size_t) {
    let at = stretch("bsp_hpget", offset, nbytes);
    calls::hp_get("bsp_hpget", pid.into(), src.expose_provenance(), dst.expose_provenance(), at);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_set_tagsize(tag_nbytes: *mut size_t) {
    const NAME: &str = "bsp_set_tagsize";
    life::machine(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(size) = (unsafe { tag_nbytes.as_mut() }) else { fail(NAME, Fault::NullPointer("the tag size")) };
    *size = calls::set_tag_size(NAME, wide(NAME, "the tag size", *size));
}

#[unsafe(no_mangle)]
extern "C" fn bspz_send(pid: c_uint, tag: *const c_void, payload: *const c_void, payload_nbytes: size_t) {
    let (tag, payload) = (tag.expose_provenance(), payload.expose_provenance());
    calls::send("bsp_send", pid.into(), tag, payload, wide("bsp_send", "the payload's size", payload_nbytes));
}

#[unsafe(no_mangle)]
extern "C" fn bspz_qsize(nmessages: *mut size_t, accum_nbytes: *mut size_t) {
    const NAME: &str = "bsp_qsize";
    let [count, bytes] = calls::queue_size(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(nmessages) = (unsafe { nmessages.as_mut() }) else { fail(NAME, Fault::NullPointer("nmessages")) };
    *nmessages = count as size_t;
    // SAFETY: as above; who does not want to know the bytes may say so.
    if let Some(accum_nbytes) = unsafe { accum_nbytes.as_mut() } {
        *accum_nbytes = bytes as size_t;
    }
}

#[unsafe(no_mangle)]
extern "C" fn bspz_get_tag(status: *mut size_t, tag: *mut c_void) {
    const NAME: &str = "bsp_get_tag";
    life::machine(NAME);
    // SAFETY: the program hands over the address of a number, or null.
    let Some(status) = (unsafe { status.as_mut() }) else { fail(NAME, Fault::NullPointer("the status")) };
    *status = calls::get_tag(NAME, tag.expose_provenance()).unwrap_or(NONE);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_move(payload: *mut c_void, reception_nbytes: size_t) {
    const NAME: &str = "bsp_move";
    let room = wide(NAME, "the room for the payload", reception_nbytes);
    calls::move_first(NAME, payload.expose_provenance(), room);
}

/// Hands out where the first message lies, and returns the length of its payload, if there is one.
///
/// # Safety
///
/// Both are addresses of pointers that may be written to, or null.
pub(super) unsafe fn hp_move(
    name: &'static str,
    tag_ptr: *mut *mut c_void,
    payload_ptr: *mut *mut c_void,
) -> Option<usize> {
    life::machine(name);
    // SAFETY: the caller's promise.
    let Some(tag) = (unsafe { tag_ptr.as_mut() }) else { fail(name, Fault::NullPointer("tag_ptr")) };
    // SAFETY: the caller's promise.
    let Some(payload) = (unsafe { payload_ptr.as_mut() }) else { fail(name, Fault::NullPointer("payload_ptr")) };
    let (tag_at, payload_at, len) = calls::hp_move(name)?;
    *tag = std::ptr::with_exposed_provenance_mut(tag_at);
    *payload = std::ptr::with_exposed_provenance_mut(payload_at);
    Some(len)
}

#[unsafe(no_mangle)]
extern "C" fn bspz_hpmove(tag_ptr: *mut *mut c_void, payload_ptr: *mut *mut c_void) -> size_t {
    // SAFETY: the program hands over addresses of pointers, or null.
    unsafe { hp_move("bsp_hpmove", tag_ptr, payload_ptr) }.unwrap_or(NONE)
}

#[unsafe(no_mangle)]
extern "C" fn bsp_alloc(nbytes: size_t) -> *mut c_void {
    calls::alloc("bsp_alloc", nbytes)
}

#[unsafe(no_mangle)]
extern "C" fn bsp_free(start: *mut c_void) {
    calls::free("bsp_free", start);
}

/// A function of the program that combines two values.
type Operator = extern "C" fn(*mut c_void, *const c_void, *const c_void, size_t);

/// A collective of so many bytes for each process.
fn call(which: Collective, root: c_uint, src: *const c_void, dst: *mut c_void, len: size_t) -> Call {
    let (source, target) = (src.expose_provenance(), dst.expose_provenance());
    Call { which, root: root.into(), source, target, len: wide(which.name(), BYTES, len) }
}

fn combine(which: Collective, operator: Option<Operator>, src: *const c_void, dst: *mut c_void, len: size_t) {
    let Some(operator) = operator else { fail(which.name(), Fault::NullPointer("the function")) };
    call(which, 0, src, dst, len).run(Some(&|result, left, right| {
        operator(result.as_mut_ptr().cast(), left.as_ptr().cast(), right.as_ptr().cast(), result.len());
    }));
}

#[unsafe(no_mangle)]
extern "C" fn bspz_bcast(root: c_uint, data: *mut c_void, nbytes: size_t) {
    call(Collective::Broadcast, root, data, data, nbytes).run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_fold(op: Option<Operator>, src: *const c_void, dst: *mut c_void, nbytes: size_t) {
    combine(Collective::Fold, op, src, dst, nbytes);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_scan(op: Option<Operator>, src: *const c_void, dst: *mut c_void, nbytes: size_t) {
    combine(Collective::Scan, op, src, dst, nbytes);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_gather(root: c_uint, src: *const c_void, dst: *mut c_void, nbytes: size_t) {
    call(Collective::Gather, root, src, dst, nbytes).run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_scatter(root: c_uint, src: *const c_void, dst: *mut c_void, nbytes: size_t) {
    call(Collective::Scatter, root, src, dst, nbytes).run(None);
}

#[unsafe(no_mangle)]
extern "C" fn bspz_exchange(src: *const c_void, dst: *mut c_void, nbytes: size_t) {
    call(Collective::Exchange, 0, src, dst, nbytes).run(None);
}
