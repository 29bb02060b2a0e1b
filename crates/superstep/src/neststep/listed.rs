//! A list of elements by their numbers.

use std::rc::Rc;

/// In 32 bits each, where that is enough for the array: the list is written once and read twice, and a loop over it is
/// as fast as memory is. A boundary borrows it for that.
#[derive(Debug)]
pub(super) enum Listed {
    Short(Rc<Vec<u32>>),
    Long(Vec<usize>),
}

impl Default for Listed {
    fn default() -> Self {
        Self::Long(Vec::new())
    }
}

impl Listed {
    /// An empty one for an array of so many elements, in the room of another if that fits.
    pub(super) fn for_array(len: usize, room: Self) -> Self {
        let is_short = u32::try_from(len.saturating_sub(1)).is_ok();
        match room {
            Self::Short(mut all) if is_short => {
                Rc::make_mut(&mut all).clear();
                Self::Short(all)
            }
            Self::Long(mut all) if !is_short => {
                all.clear();
                Self::Long(all)
            }
            _ if is_short => Self::Short(Rc::default()),
            _ => Self::Long(Vec::new()),
        }
    }

    /// The list, if it is one of 32 bits each.
    pub(super) fn short(&self) -> &[u32] {
        if let Self::Short(all) = self { all } else { &[] }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Short(all) => all.len(),
            Self::Long(all) => all.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<usize> {
        match self {
            Self::Short(all) => all.get(number).map(|&index| index as usize),
            Self::Long(all) => all.get(number).copied(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Short(all) => Rc::make_mut(all).clear(),
            Self::Long(all) => all.clear(),
        }
    }

    /// Adds elements that exist.
    #[inline]
    pub(super) fn extend(&mut self, more: impl Iterator<Item = usize>) {
        match self {
            Self::Short(all) => Rc::make_mut(all).extend(more.map(|index| index as u32)),
            Self::Long(all) => all.extend(more),
        }
    }
}
