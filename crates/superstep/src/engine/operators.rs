//! How contributions combine.
//!
//! Operands keep rank order, and how they are grouped depends on the size of the group and on nothing else. So an
//! operator must be associative but need not commute, and a sum of floats is the same, bit for bit, on every fabric.

use super::fingerprint::mix;
use crate::error::{Error, ErrorKind};

/// How two contributions become one.
///
/// Any function `fn(&mut T, &T)`, and any closure of that shape that is `Copy`, is an operator; write its argument
/// types out, `|sum: &mut u64, x: &u64| *sum += x`. It must be associative and must depend on its arguments alone.
///
/// ```
/// let joined = superstep::Config::new().procs(3).run(|g| {
///     let word = ["a", "bb", "ccc"][g.rank()].to_owned();
///     g.step(|s| s.reduce(word, |all: &mut String, word: &String| all.push_str(word)))
/// });
/// assert_eq!(joined.unwrap(), "abbccc");
/// ```
///
/// What it captures must be `Copy`, so that it can touch nothing that is shared:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     let list = std::rc::Rc::new(std::cell::Cell::new(0));
///     g.step(|s| s.reduce(1, move |sum: &mut u64, x: &u64| list.set(*sum + x)));
/// });
/// ```
///
/// And it may not borrow:
///
/// ```compile_fail,E0597
/// superstep::run(|g| {
///     let factor = 2;
///     let factor = &factor;
///     g.step(|s| s.reduce(1, move |sum: &mut u64, x: &u64| *sum += factor * x));
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine values of type `{T}`",
    label = "no operator for `{T}`",
    note = "`Sum`, `Min` and the like combine numbers, and `Each(Sum)` whole vectors, element by element",
    note = "a function `|all: &mut T, next: &T| ..` that captures nothing but `Copy` values combines anything"
)]
pub trait Combine<T>: Copy + Send + Sync + 'static {
    /// Combines `with`, from higher ranks, into `acc`, from lower ones.
    ///
    /// ```
    /// use superstep::{Combine, Sum};
    ///
    /// let mut sum = 1;
    /// Sum.combine(&mut sum, &2);
    /// assert_eq!(sum, 3);
    /// ```
    fn combine(&self, acc: &mut T, with: &T);

    /// The value that changes nothing, where there is one: what rank 0 gets from an exclusive prefix.
    ///
    /// ```
    /// use superstep::{Any, Combine, Product};
    ///
    /// assert_eq!(Combine::<u8>::identity(&Product), Some(1));
    /// assert_eq!(Combine::<u8>::identity(&Any), None);
    /// ```
    fn identity(&self) -> Option<T> {
        None
    }

    /// Which copies take part.
    #[doc(hidden)]
    fn rule(&self) -> Rule {
        Rule::Fold
    }

    /// Whether it may panic or refuse. Where it cannot, nobody has to ask the others whether it did.
    #[doc(hidden)]
    fn may_fail(&self) -> bool {
        true
    }

    /// Whether it makes the same bits of the same values however they are grouped.
    #[doc(hidden)]
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether operands may change places. Where they may, elements need not be brought in order first.
    #[doc(hidden)]
    fn commutes(&self) -> bool {
        false
    }

    /// Whether it combines vectors element by element and cannot refuse any element, so that pieces can be combined for
    /// themselves.
    #[doc(hidden)]
    fn is_by_element(&self) -> bool {
        false
    }

    /// What tells it from another one of the same type, the same in every process.
    #[doc(hidden)]
    fn mark(&self) -> u64 {
        0
    }

    /// How a processor in another process gets it.
    #[doc(hidden)]
    const WAY: Way<Self, T> = Way::Handed;
}

/// How a processor in another process gets an operator.
#[doc(hidden)]
#[derive(Debug)]
pub enum Way<C, T> {
    /// It has to be handed its own.
    Handed,
    /// It makes this one.
    Made(C),
    /// This function of it travels.
    Function(fn(C) -> fn(&mut T, &T)),
}

/// Which copies of a value take part in a combine.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All that were written, folded.
    Fold,
    /// The lowest rank's of those that were written.
    Any,
    /// Rank 0's alone.
    Leader,
    /// All that were written, and they must agree.
    Same,
}

#[diagnostic::do_not_recommend]
impl<T, F: Fn(&mut T, &T) + Copy + Send + Sync + 'static> Combine<T> for F {
    fn combine(&self, acc: &mut T, with: &T) {
        self(acc, with);
    }
}

/// Takes the copy of the lowest rank that wrote.
///
/// ```
/// use superstep::{Any, Config};
///
/// let found = Config::new().procs(3).run(|g| {
///     let found = g.shared(None, Any);
///     g.step(|s| if s.rank() > 0 { found.set(Some(s.rank())) });
///     found.get()
/// });
/// assert_eq!(found.unwrap(), Some(1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// Takes rank 0's copy, if it wrote; what others wrote is dropped.
///
/// ```
/// use superstep::{Config, Leader};
///
/// let values = Config::new().procs(3).run_all(|g| {
///     let x = g.shared(0, Leader);
///     g.step(|s| x.set(s.rank() + 7));
///     x.get()
/// });
/// assert_eq!(values.unwrap(), [7, 7, 7]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Leader;

/// Promises that all copies agree. It is checked; if two differ, every member gets an error.
///
/// ```
/// use superstep::{Config, ErrorKind, Same};
///
/// let same = Config::new().procs(2).run(|g| g.step(|s| s.reduce(s.size(), Same)));
/// assert_eq!(same.unwrap(), 2);
/// let differs = Config::new().procs(2).run(|g| g.step(|s| s.reduce(s.rank(), Same)));
/// assert_eq!(differs.unwrap_err().kind(), ErrorKind::ReplicaDiverged);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Same;

macro_rules! picks {
    ($($op:ident $may_fail:literal;)*) => { $(
        impl<T> Combine<T> for $op {
            const WAY: Way<Self, T> = Way::Made($op);
            fn combine(&self, _: &mut T, _: &T) {}
            fn rule(&self) -> Rule {
                Rule::$op
            }
            fn may_fail(&self) -> bool {
                $may_fail
            }
        }
    )* };
}
picks! { Any false; Leader false; Same true; }

/// Adds; integers wrap around. [`Checked`]`(Sum)` makes overflow an error.
///
/// ```
/// use superstep::{Config, Sum};
///
/// let sum = Config::new().procs(4).run(|g| g.step(|s| s.reduce(s.rank(), Sum)));
/// assert_eq!(sum.unwrap(), 6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sum;
/// Multiplies; integers wrap around. [`Checked`]`(Product)` makes overflow an error.
///
/// ```
/// use superstep::{Config, Product};
///
/// let product = Config::new().procs(4).run(|g| g.step(|s| s.reduce(s.rank() + 1, Product)));
/// assert_eq!(product.unwrap(), 24);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Product;
/// Takes the smallest, the lowest rank's where equal.
///
/// ```
/// use superstep::{Config, Min};
///
/// let least = Config::new().procs(3).run(|g| g.step(|s| s.reduce(10 - s.rank(), Min)));
/// assert_eq!(least.unwrap(), 8);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Min;
/// Takes the largest, the lowest rank's where equal.
///
/// ```
/// use superstep::{Config, Max};
///
/// let most = Config::new().procs(3).run(|g| g.step(|s| s.reduce(0.5 * s.rank() as f64, Max)));
/// assert_eq!(most.unwrap(), 1.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Max;
/// And, bit by bit.
///
/// ```
/// use superstep::{And, Config};
///
/// let all = Config::new().procs(3).run(|g| g.step(|s| s.reduce(s.rank() < 2, And)));
/// assert!(!all.unwrap());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct And;
/// Or, bit by bit.
///
/// ```
/// use superstep::{Config, Or};
///
/// let bits = Config::new().procs(3).run(|g| g.step(|s| s.reduce(1u8 << s.rank(), Or)));
/// assert_eq!(bits.unwrap(), 0b111);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Or;
/// Exclusive or, bit by bit.
///
/// ```
/// use superstep::{Config, Xor};
///
/// let bits = Config::new().procs(3).run(|g| g.step(|s| s.reduce(s.rank() as u8 + 1, Xor)));
/// assert_eq!(bits.unwrap(), 1 ^ 2 ^ 3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Xor;

/// Makes an operator's overflow an error on every member.
///
/// ```
/// use superstep::{Checked, Config, ErrorKind, Sum};
///
/// let sum = |x: u8| Config::new().procs(2).run(move |g| g.step(|s| s.reduce(x, Checked(Sum))));
/// assert_eq!(sum(100).unwrap(), 200);
/// assert_eq!(sum(200).unwrap_err().kind(), ErrorKind::Overflow);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Checked<C>(pub C);

/// Combines by a function that travels with the values, so one member alone can use it on elements of arrays. Any other
/// closure has to be named by all members in the same step, because the owner of an element calls its own.
///
/// ```
/// use superstep::{Block, Config, Fold};
///
/// let found = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Block>(3);
///     g.step(|s| if s.rank() == 1 {
///         s.scatter(&a, &[0, 2, 2], &[3, 4, 5], Fold(|x, y| *x = 10 * *x + y));
///     });
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(found.unwrap(), [3, 0, 45]);
/// ```
///
/// The function must not capture anything:
///
/// ```compile_fail,E0308
/// let factor = 10;
/// let fold = superstep::Fold(move |x: &mut u64, y: &u64| *x = factor * *x + y);
/// ```
pub struct Fold<T>(pub fn(&mut T, &T));

impl<T> Clone for Fold<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Fold<T> {}

impl<T> std::fmt::Debug for Fold<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fold<{}>", std::any::type_name::<T>())
    }
}

impl<T: 'static> Combine<T> for Fold<T> {
    fn combine(&self, acc: &mut T, with: &T) {
        (self.0)(acc, with);
    }

    fn mark(&self) -> u64 {
        let [object, place] = fabric::code::place_of(self.0 as usize);
        mix(object, place)
    }

    const WAY: Way<Self, T> = Way::Function(|fold| fold.0);
}

/// Applies an operator element by element, to vectors of one length and to arrays.
///
/// ```
/// use superstep::{Config, Each, Max};
///
/// let tallest = Config::new().procs(3).run(|g| {
///     let heights = vec![g.rank(), 5 - g.rank()];
///     g.step(|s| s.reduce(heights, Each(Max)))
/// });
/// assert_eq!(tallest.unwrap(), [2, 5]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Each<C>(pub C);

/// Unwinds a combine with an error that every member of the group then gets.
pub(super) fn refuse(kind: ErrorKind, message: String) -> ! {
    std::panic::resume_unwind(Box::new(Error::new(kind, message)))
}

/// What an error says of vectors of different lengths.
pub(crate) fn unequal(lower: usize, higher: usize) -> String {
    format!("vectors of {lower} and of {higher} elements cannot be combined")
}

impl<T, C: Combine<T>> Combine<Vec<T>> for Each<C> {
    fn combine(&self, acc: &mut Vec<T>, with: &Vec<T>) {
        if acc.len() != with.len() {
            refuse(ErrorKind::CombineMismatch, unequal(acc.len(), with.len()));
        }
        for (acc, with) in acc.iter_mut().zip(with) {
            self.0.combine(acc, with);
        }
    }

    fn rule(&self) -> Rule {
        self.0.rule()
    }

    fn may_fail(&self) -> bool {
        // Where elements are folded, vectors may differ in length.
        self.0.rule() == Rule::Fold || self.0.may_fail()
    }

    fn is_by_element(&self) -> bool {
        self.0.rule() == Rule::Fold && !self.0.may_fail()
    }

    fn mark(&self) -> u64 {
        self.0.mark()
    }

    const WAY: Way<Self, Vec<T>> = each(C::WAY);
}

/// An operator on each element travels as the operator itself does.
const fn each<C: Copy, T, V>(way: Way<C, T>) -> Way<Each<C>, V> {
    match way {
        Way::Made(op) => Way::Made(Each(op)),
        _ => Way::Handed,
    }
}

impl<T, C: Combine<T>, const N: usize> Combine<[T; N]> for Each<C> {
    fn combine(&self, acc: &mut [T; N], with: &[T; N]) {
        for (acc, with) in acc.iter_mut().zip(with) {
            self.0.combine(acc, with);
        }
    }

    fn identity(&self) -> Option<[T; N]> {
        let elements: Option<Vec<T>> = (0..N).map(|_| self.0.identity()).collect();
        elements?.try_into().ok()
    }

    fn rule(&self) -> Rule {
        self.0.rule()
    }

    fn may_fail(&self) -> bool {
        self.0.may_fail()
    }

    fn mark(&self) -> u64 {
        self.0.mark()
    }

    const WAY: Way<Self, [T; N]> = each(C::WAY);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the boundary asks an operator, as one row.
    fn row<T>(op: &impl Combine<T>) -> (Rule, bool, bool, bool, bool) {
        (op.rule(), op.may_fail(), op.is_exact(), op.commutes(), op.is_by_element())
    }

    const SAFE: (Rule, bool, bool, bool, bool) = (Rule::Fold, false, false, false, false);

    #[test]
    fn an_operator_says_which_copies_take_part_and_whether_it_may_refuse() {
        assert_eq!(row::<u8>(&Any), (Rule::Any, false, false, false, false));
        assert_eq!(row::<u8>(&Leader), (Rule::Leader, false, false, false, false));
        assert_eq!(row::<u8>(&Same), (Rule::Same, true, false, false, false));
        let any = (Rule::Fold, true, false, false, false);
        assert_eq!(row::<u8>(&|_: &mut u8, _: &u8| ()), any);
        assert_eq!(row::<u8>(&Fold(|_: &mut u8, _: &u8| ())), any);
        assert_eq!(row::<u8>(&Checked(Sum)), any);
        assert_eq!(row::<i64>(&Checked(Product)), any);
        let exact = (Rule::Fold, false, true, true, false);
        for found in [row::<u8>(&Sum), row::<i64>(&Product), row::<u16>(&And), row::<bool>(&Or), row::<usize>(&Xor)] {
            assert_eq!(found, exact);
        }
        for found in [row::<f64>(&Sum), row::<f32>(&Product)] {
            assert_eq!(found, (Rule::Fold, false, false, true, false), "grouping shows in the last bits");
        }
        for found in [row::<u8>(&Min), row::<char>(&Max), row::<bool>(&Max), row::<i128>(&Min)] {
            assert_eq!(found, (Rule::Fold, false, true, false, false));
        }
        for found in [row::<f64>(&Min), row::<f32>(&Max), row::<f32>(&Min), row::<f64>(&Max)] {
            assert_eq!(found, SAFE, "what is no number is in nobody's order");
        }
        for found in [row::<String>(&Min), row::<(u8, u8)>(&Max)] {
            assert_eq!(found, any, "the program compares");
        }
    }

    #[test]
    fn an_operator_on_elements_says_what_the_one_of_the_elements_does() {
        // Vectors may differ in length, where elements are folded.
        assert_eq!(row::<Vec<u8>>(&Each(Sum)), (Rule::Fold, true, false, false, true));
        assert_eq!(row::<Vec<u8>>(&Each(Checked(Sum))), (Rule::Fold, true, false, false, false));
        assert_eq!(row::<Vec<u8>>(&Each(Any)), (Rule::Any, false, false, false, false));
        assert_eq!(row::<Vec<u8>>(&Each(Leader)), (Rule::Leader, false, false, false, false));
        assert_eq!(row::<Vec<u8>>(&Each(Same)), (Rule::Same, true, false, false, false));
        assert_eq!(row::<[u8; 2]>(&Each(Sum)), SAFE);
        assert_eq!(row::<[u8; 2]>(&Each(Checked(Sum))), (Rule::Fold, true, false, false, false));
        assert_eq!(row::<[u8; 2]>(&Each(Any)), (Rule::Any, false, false, false, false));
        assert_eq!(row::<[u8; 2]>(&Each(Same)), (Rule::Same, true, false, false, false));
    }

    #[test]
    fn functions_are_told_apart_by_their_marks_and_types_need_none() {
        let add = Fold(|a: &mut u8, b: &u8| *a = a.wrapping_add(*b));
        let last = Fold(|a: &mut u8, b: &u8| *a = *b);
        assert!(add.mark() != last.mark() && add.mark() > 1 && last.mark() > 1);
        assert_eq!(Combine::<Vec<u8>>::mark(&Each(add)), add.mark());
        assert_eq!(Combine::<[u8; 3]>::mark(&Each(last)), last.mark());
        assert_eq!(Combine::<u8>::mark(&Sum), 0);
        assert_eq!(Combine::<Vec<u8>>::mark(&Each(Sum)), 0);
    }

    #[test]
    fn what_changes_nothing_is_known_of_numbers() {
        assert_eq!([Combine::<i8>::identity(&Min), Combine::<i8>::identity(&Max)], [Some(i8::MAX), Some(i8::MIN)]);
        assert_eq!([Combine::<bool>::identity(&Min), Combine::<bool>::identity(&Max)], [Some(true), Some(false)]);
        let [least, most] = [Combine::<f64>::identity(&Max), Combine::<f64>::identity(&Min)];
        assert_eq!((least, most), (Some(f64::NEG_INFINITY), Some(f64::INFINITY)));
        assert_eq!([Combine::<u16>::identity(&And), Combine::<u16>::identity(&Or)], [Some(0xFFFF), Some(0)]);
        assert_eq!([Combine::<bool>::identity(&And), Combine::<bool>::identity(&Xor)], [Some(true), Some(false)]);
        assert_eq!([Combine::<i32>::identity(&Sum), Combine::<i32>::identity(&Product)], [Some(0), Some(1)]);
        assert_eq!([Combine::<f32>::identity(&Sum), Combine::<f32>::identity(&Product)], [Some(0.0), Some(1.0)]);
        assert_eq!(Combine::<u8>::identity(&Checked(Sum)), Some(0));
        assert_eq!(Combine::<u8>::identity(&Checked(Product)), Some(1));
        assert_eq!(Combine::<String>::identity(&Min), None);
        assert_eq!(Combine::<[i32; 2]>::identity(&Each(Product)), Some([1, 1]));
        assert_eq!(Combine::<[i32; 2]>::identity(&Each(Any)), None);
        assert_eq!(Combine::<Vec<i32>>::identity(&Each(Sum)), None, "nobody knows how long it is");
    }
}
