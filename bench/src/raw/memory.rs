//! Memory for hand-written code that is as good as superstep's: on huge pages where it is large.
//!
//! A lone processor makes areas and lends them out; the threads that work on them are bare ones.

use crate::contest::Sample;
use std::cell::RefMut;
use superstep::{Area, Config, Element, Fabric, Group, Result};

/// Runs `body` with a group of one, in which areas can be made.
pub(crate) fn with_group(body: impl Fn(&mut Group) -> Sample + Sync) -> Result<Sample> {
    Config::new().procs(1).fabric(Fabric::Threads).run(body)
}

/// So many areas of `len` elements each, all zero.
pub(crate) fn areas<T: Element>(g: &mut Group, count: usize, len: usize) -> Vec<Area<T>> {
    (0..count).map(|_| g.area::<T>(len)).collect()
}

/// Lends all of them for writing.
pub(crate) fn lent<T: Element>(areas: &[Area<T>]) -> Vec<RefMut<'_, [T]>> {
    areas.iter().map(Area::local_mut).collect()
}

/// Plain slices out of what was lent, which threads can share.
pub(crate) fn slices<'a, T: Element>(lent: &'a mut [RefMut<'_, [T]>]) -> Vec<&'a mut [T]> {
    lent.iter_mut().map(|buffer| &mut **buffer).collect()
}

/// Hands `body` so many buffers of `len` elements each.
pub(crate) fn with_buffers<T: Element>(
    count: usize,
    len: usize,
    body: impl Fn(Vec<&mut [T]>) -> Sample + Sync,
) -> Result<Sample> {
    with_group(|g| {
        let areas = areas(g, count, len);
        body(slices(&mut lent(&areas)))
    })
}
