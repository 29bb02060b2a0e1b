//! Loading a library while the program runs.

use std::ffi::{CStr, CString, c_void};

/// A library that stays loaded until the process ends.
#[derive(Debug)]
pub(super) struct Library {
    /// What it was asked for by.
    pub(super) name: String,
    handle: *mut c_void,
}

// SAFETY: the handle is only given to `dlsym`, which any thread may call.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads it, with its names visible to what it loads itself, as MPI's plug-ins need; or says why not.
    pub(super) fn load(name: &str) -> Result<Self, String> {
        let text = CString::new(name).map_err(|_| "its name has a zero in it".to_owned())?;
        // SAFETY: the name ends with a zero. What the library does when it is loaded is what the user has installed.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            // SAFETY: `dlerror` gives a text that ends with a zero, or nothing.
            let why = unsafe { libc::dlerror() };
            if why.is_null() {
                return Err("it cannot be loaded".to_owned());
            }
            // SAFETY: it is one, and stays until the next call on this thread.
            return Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
        }
        Ok(Self { name: name.to_owned(), handle })
    }

    /// Where one of its symbols lies.
    pub(super) fn address(&self, symbol: &str) -> Option<usize> {
        let text = CString::new(symbol).ok()?;
        // SAFETY: the handle is that of a loaded library, and the name ends with a zero.
        let found = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        (!found.is_null()).then(|| found.expose_provenance())
    }
}
