//! Whole arrays: from one distribution to another, by a permutation, to and from one processor.

use super::{
    Array,
    layout::Distribution,
    operator::Operator,
    reads::{Mirror, Wanted},
};
use crate::{
    engine::{Any, Core, Element, Item, Pending, Step, hash_numbers, type_hash},
    error::{Error, ErrorKind, Result},
    memory::{owned::left_unserved, section::Span, whole::Whole},
};
use std::panic::Location;

/// Stretches shorter than this travel element by element.
const SHORT: usize = 16;

/// The verbs that every member calls with the same arrays: only their types are used, to tell them apart.
enum Assign {}
enum Permute {}
enum GatherTo {}
enum ScatterFrom {}

impl Step {
    /// Copies all of `src` to `dst`, which has the same shape and may lie differently, at the boundary. Collective.
    ///
    /// Every processor's part of `src` is read now. It counts as an update with [`Any`].
    ///
    /// ```
    /// use superstep::{Block, Config, Cyclic};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let (blocks, dealt) = (g.array::<usize, Block>(5), g.array::<usize, Cyclic>(5));
    ///     blocks.forall_mut(|i, x| *x = i);
    ///     g.step(|s| s.assign(&dealt, &blocks));
    ///     dealt.local().to_vec()
    /// });
    /// assert_eq!(here.unwrap(), [vec![0, 2, 4], vec![1, 3]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n / p g for n words.
    ///
    /// # Panics
    ///
    /// If the shapes differ, if `src` is lent for writing, or if another group made one of the arrays;
    /// [`try_assign`](Self::try_assign) returns the error.
    #[track_caller]
    pub fn assign<T: Element, D: Distribution, E: Distribution, const N: usize>(
        &self,
        dst: &Array<T, D, N>,
        src: &Array<T, E, N>,
    ) {
        self.try_assign(dst, src).unwrap_or_else(|error| error.raise());
    }

    /// Copies like [`assign`](Self::assign), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, Cyclic, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let (long, short) = (g.array::<u8, Block>(5), g.array::<u8, Cyclic>(4));
    ///     g.step(|s| Local(s.try_assign(&long, &short).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadLength);
    /// ```
    #[track_caller]
    pub fn try_assign<T: Element, D: Distribution, E: Distribution, const N: usize>(
        &self,
        dst: &Array<T, D, N>,
        src: &Array<T, E, N>,
    ) -> Result {
        let site = Location::caller();
        dst.check_whole(&self.core, site)?;
        src.check_whole(&self.core, site)?;
        same_shape(&self.core, dst, src, site)?;
        let (local, any, note) = (src.try_local(site)?, Operator::new(Any), self.core.note(site));
        src.stretches(|offset, index, count| dst.write_stretch(index, &local[offset..offset + count], any, note));
        let words = format!("the assignment of array {} to array {}", src.core.number, dst.core.number);
        self.core
            .log
            .add_term(hash_numbers([type_hash::<Assign>(), dst.core.number.into(), src.core.number.into()]), words);
        Ok(())
    }

    /// Moves every element of `src` to where `to` says: `dst[to[i]] = src[i]`, at the boundary. Collective.
    ///
    /// `to` holds the numbers from 0 to `len() - 1` in some order, and lies as `src` does; `dst` may be `src` itself.
    /// The parts of `src` and `to` are read now. It counts as a scatter with [`Any`]: a number that comes twice takes
    /// the value of the lowest rank that has it.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let turned = Config::new().procs(3).run(|g| {
    ///     let (a, to) = (g.array::<usize, Block>(7), g.array::<usize, Block>(7));
    ///     a.forall_mut(|i, x| *x = 10 * i);
    ///     to.forall_mut(|i, place| *place = 6 - i);
    ///     g.step(|s| s.permute(&a, &a, &to));
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(turned.unwrap(), [60, 50, 40, 30, 20, 10, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// n / p g for n words with their places.
    ///
    /// # Panics
    ///
    /// If shapes differ, if `to` and `src` do not lie alike, if `to` names an element that there is not, if one of the
    /// two is lent for writing, or if another group made one of the arrays; [`try_permute`](Self::try_permute) returns
    /// the error.
    #[track_caller]
    pub fn permute<T: Element, D: Distribution, E: Distribution, const N: usize>(
        &self,
        dst: &Array<T, D, N>,
        src: &Array<T, E, N>,
        to: &Array<usize, E, N>,
    ) {
        self.try_permute(dst, src, to).unwrap_or_else(|error| error.raise());
    }

    /// Moves like [`permute`](Self::permute), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let (a, to) = (g.array::<u8, Block>(2), g.array::<usize, Block>(2));
    ///     to.local_mut().fill(2);
    ///     g.step(|s| Local(s.try_permute(&a, &a, &to).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::IndexOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_permute<T: Element, D: Distribution, E: Distribution, const N: usize>(
        &self,
        dst: &Array<T, D, N>,
        src: &Array<T, E, N>,
        to: &Array<usize, E, N>,
    ) -> Result {
        let site = Location::caller();
        dst.check_whole(&self.core, site)?;
        src.check_whole(&self.core, site)?;
        to.check_whole(&self.core, site)?;
        same_shape(&self.core, dst, src, site)?;
        same_shape(&self.core, to, src, site)?;
        if to.distribution.terms() != src.distribution.terms() {
            let what = format!(
                "a permutation that lies as {:?} of an array that lies as {:?}",
                to.distribution, src.distribution
            );
            return Err(self.core.error(ErrorKind::BadDistribution, what, site));
        }
        let (places, values) = (to.try_local(site)?, src.try_local(site)?);
        let note = self.core.note_permutation(site, || sources(dst, src, &places));
        // The lanes hold what the step has written before, so nothing is refused while they are out.
        let (locator, mut lanes) = (dst.part.locator(), dst.open(Operator::new(Any), None, note));
        let mut outcome = Ok(());
        let mut done: Vec<(usize, usize)> = Vec::new();
        src.stretches(|offset, _, count| {
            if outcome.is_ok() {
                let stretch = offset..offset + count;
                outcome = lanes.scatter(&locator, &places[stretch.clone()], &values[stretch]);
                done.push((offset, count));
            }
        });
        if outcome.is_err() {
            // The last one has taken its own writes back.
            done.pop();
            for &(offset, count) in &done {
                lanes.undo(&locator, &places[offset..offset + count]);
            }
        }
        dst.close(lanes);
        outcome.map_err(|index| dst.bad_index(index, site))?;
        let words = format!("the permutation of array {} into array {}", src.core.number, dst.core.number);
        self.core
            .log
            .add_term(hash_numbers([type_hash::<Permute>(), dst.core.number.into(), src.core.number.into()]), words);
        Ok(())
    }

    /// Writes the whole array, in row-major order, from `values` of member `root`, at the boundary. Collective; the
    /// others give `None`. It counts as an update with [`Any`].
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     let all = g.is_leader().then_some([1, 2, 3, 4]);
    ///     g.step(|s| s.scatter_from(0, &a, all.as_ref().map(|all| &all[..])));
    ///     a.local().to_vec()
    /// });
    /// assert_eq!(here.unwrap(), [[1, 2], [3, 4]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words on `root`.
    ///
    /// # Panics
    ///
    /// If there is no such member, if `root` gives nothing or not as many values as there are elements, or if another
    /// group made the array; [`try_scatter_from`](Self::try_scatter_from) returns the error.
    #[track_caller]
    pub fn scatter_from<T: Element, D: Distribution, const N: usize>(
        &self,
        root: usize,
        a: &Array<T, D, N>,
        values: Option<&[T]>,
    ) {
        self.try_scatter_from(root, a, values).unwrap_or_else(|error| error.raise());
    }

    /// Writes like [`scatter_from`](Self::scatter_from), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.step(|s| {
    ///         let refused = s.try_scatter_from(0, &a, None).err();
    ///         if refused.is_some() { s.scatter_from(0, &a, Some(&[0; 4])) } // made again
    ///         Local(refused.map(|error| error.kind()))
    ///     })
    /// });
    /// assert_eq!(kind.unwrap(), Some(ErrorKind::NoValue));
    /// ```
    #[track_caller]
    pub fn try_scatter_from<T: Element, D: Distribution, const N: usize>(
        &self,
        root: usize,
        a: &Array<T, D, N>,
        values: Option<&[T]>,
    ) -> Result {
        let site = Location::caller();
        a.check_whole(&self.core, site)?;
        self.core.check_rank(root, site)?;
        if self.rank() == root {
            let refuse = |kind: ErrorKind, what: String| Err(self.core.error(kind, what, site));
            let Some(values) = values else {
                return refuse(ErrorKind::NoValue, format!("rank {root} gives no values for the array"));
            };
            if values.len() != a.len() {
                let what = format!("{} values for an array of {}", values.len(), a.len());
                return refuse(ErrorKind::BadLength, what);
            }
            a.write_stretch(0, values, Operator::new(Any), self.core.note(site));
        }
        let words = format!("all of array {} from rank {root}", a.core.number);
        self.core.log.add_term(hash_numbers([type_hash::<ScatterFrom>(), a.core.number.into(), root as u64]), words);
        Ok(())
    }
}

/// What is left to those who do not have all of an array: where `root` does not get it, they hear of it, too.
struct Elsewhere {
    what: &'static str,
    site: &'static Location<'static>,
}

impl Item for Elsewhere {
    fn finish(&mut self, left: &[usize]) -> Result {
        left.first().map_or(Ok(()), |&rank| Err(left_unserved(rank, self.what, self.site)))
    }

    fn outcome(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

impl<T: Element, D: Distribution, const N: usize> Whole for Array<T, D, N> {
    type Element = T;

    fn bring(&self, step: &Step, root: usize, site: &'static Location<'static>) -> Result<Option<Pending<Vec<T>>>> {
        let core = &step.core;
        self.check_whole(core, site)?;
        core.check_rank(root, site)?;
        let all = self.shape.map(|extent| Span { first: 0, step: 1, count: extent });
        let pending = if step.rank() == root {
            Some(step.mirror_spans(self, all, Vec::new(), site))
        } else {
            // It has no value.
            let _: Pending<()> = core.place_alone(Elsewhere { what: <Mirror<N> as Wanted<T, D::Map>>::NAME, site });
            None
        };
        let words = format!("all of array {} for rank {root}", self.core.number);
        core.log.add_term(hash_numbers([type_hash::<GatherTo>(), self.core.number.into(), root as u64]), words);
        Ok(pending)
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Writes values to the elements that follow `index` in row-major order. All of them must exist.
    pub(super) fn write_stretch(&self, index: usize, values: &[T], operator: Operator<T>, note: u32) {
        if values.len() >= SHORT {
            let span = Span { first: index, step: 1, count: values.len() };
            self.update_spans((&[self.part.len], &[span]), values, operator, note);
            return;
        }
        let mut lanes = self.open(operator, None, note);
        for (more, &value) in values.iter().enumerate() {
            let (owner, at) = self.part.locate(index + more);
            lanes.push_at(self.part.windows, owner, at, value);
        }
        self.close(lanes);
    }
}

/// Which elements of `src` a permutation puts into each lane of `dst`, in the order in which it does.
fn sources<T: Element, D: Distribution, E: Distribution, const N: usize>(
    dst: &Array<T, D, N>,
    src: &Array<T, E, N>,
    places: &[usize],
) -> Vec<Vec<usize>> {
    let locator = dst.part.locator();
    let mut sources = vec![Vec::new(); dst.part.lens.len() * dst.part.windows];
    src.stretches(|offset, index, count| {
        for (source, &place) in (index..).zip(&places[offset..offset + count]) {
            // What does not exist is refused.
            if let Some((lane, _)) = locator.lane(place) {
                sources[lane].push(source);
            }
        }
    });
    sources
}

fn same_shape<T: Element, U: Element, D: Distribution, E: Distribution, const N: usize>(
    core: &Core,
    a: &Array<T, D, N>,
    b: &Array<U, E, N>,
    site: &Location<'_>,
) -> Result<(), Error> {
    if a.shape == b.shape {
        return Ok(());
    }
    let what = format!("an array of shape {:?} where one of shape {:?} is meant", a.shape, b.shape);
    Err(core.error(ErrorKind::BadLength, what, site))
}
