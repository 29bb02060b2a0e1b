//! Copying from and to the memory of another process of one's own.

/// Writes bytes there; false if the system does not let us, or there is no such memory.
pub(super) fn write(pid: i32, address: usize, bytes: &[u8]) -> bool {
    all(bytes.len(), |done| {
        let here = libc::iovec { iov_base: bytes[done..].as_ptr().cast_mut().cast(), iov_len: bytes.len() - done };
        let there =
            libc::iovec { iov_base: std::ptr::without_provenance_mut(address + done), iov_len: bytes.len() - done };
        // SAFETY: the kernel reads the bytes, which are borrowed, and checks the other process's addresses itself.
        unsafe { libc::process_vm_writev(pid, &raw const here, 1, &raw const there, 1, 0) }
    })
}

/// Fills bytes from there; false if the system does not let us, or there is no such memory.
pub(super) fn read(pid: i32, address: usize, into: &mut [u8]) -> bool {
    all(into.len(), |done| {
        let len = into.len() - done;
        let here = libc::iovec { iov_base: into[done..].as_mut_ptr().cast(), iov_len: len };
        let there = libc::iovec { iov_base: std::ptr::without_provenance_mut(address + done), iov_len: len };
        // SAFETY: the kernel writes to the bytes, which are borrowed, and checks the other process's addresses itself.
        unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0) }
    })
}

/// Whether the system lets this process read the memory of one that was forked from the same.
pub(super) fn is_allowed(pid: i32) -> bool {
    static SOMETHING: u8 = 1;
    let mut found = [0];
    // Both have it at the same address.
    read(pid, (&raw const SOMETHING).expose_provenance(), &mut found) && found == [SOMETHING]
}

/// Goes on until everything is copied: the kernel may stop half way.
fn all(len: usize, mut copy: impl FnMut(usize) -> isize) -> bool {
    let mut done = 0;
    while done < len {
        match copy(done) {
            count if count > 0 => done += count.cast_unsigned(),
            _ => return false,
        }
    }
    true
}
