//! Function pointers of a program, and their raw form.

/// What functions of a program look like: the types of their arguments and of their result.
pub trait Shape: 'static {
    /// The first argument.
    type On<'a>;
    /// The second argument.
    type With<'a>;
    /// The third argument, if there is one.
    type Args;
    /// The result.
    type Answer;
}

/// A function pointer.
///
/// # Safety
///
/// A value is a function pointer, or nothing at all. `of` turns what `raw` has returned into the same value, in this
/// process or in another one that has the function elsewhere.
pub unsafe trait Pointer: Copy + Send + Sync + 'static {
    /// The pointer without its type.
    fn raw(self) -> fn();

    /// The pointer again.
    ///
    /// # Safety
    ///
    /// `raw` comes from a value of this type, in some process of the run.
    unsafe fn of(raw: fn()) -> Self;
}

/// A function of two arguments.
pub struct Two<S: Shape>(pub for<'a, 'b> fn(S::On<'a>, S::With<'b>) -> S::Answer);
/// A function of three arguments.
pub struct Three<S: Shape>(pub for<'a, 'b> fn(S::On<'a>, S::With<'b>, S::Args) -> S::Answer);

macro_rules! pointers {
    ($($name:ident)*) => { $(
        impl<S: Shape> Clone for $name<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S: Shape> Copy for $name<S> {}
        impl<S: Shape> std::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0 as usize)
            }
        }
        // SAFETY: it holds a function pointer, which keeps its bits on the way.
        unsafe impl<S: Shape> Pointer for $name<S> {
            #[inline]
            fn raw(self) -> fn() {
                // SAFETY: function pointers of all types have the same form; this one is called in its own type only.
                unsafe { std::mem::transmute_copy(&self.0) }
            }

            #[inline]
            unsafe fn of(raw: fn()) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { std::mem::transmute_copy(&raw) })
            }
        }
    )* };
}

pointers!(Two Three);

// SAFETY: it is nothing at all.
unsafe impl Pointer for () {
    fn raw(self) -> fn() {
        nothing
    }

    unsafe fn of(_: fn()) -> Self {}
}

/// Stands where an entry has no function of a program.
fn nothing() {}
