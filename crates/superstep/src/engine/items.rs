//! What a step's verbs leave behind for its boundary.
//!
//! Each verb that yields a pending value places one item. Items are numbered in the order of the calls. The check of S5
//! makes sure that all members place the same ones, so a number is enough to name them.

use super::{
    contribution::{Portion, Portions},
    exchange::Outbox,
    record::Payload,
    value::decode,
};
use crate::error::Result;
use fabric::Circle;
use std::any::Any;

/// What an item asks of the meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: its data travels in trays or is read directly.
    Nothing,
    /// What all contributed.
    Total,
    /// What the ranks below contributed.
    Before,
}

/// One verb's part in a boundary. Every method but the last is called only on items that need it.
///
/// Its type says which verb it is, and that is how members find out that they call different ones: no two verbs place
/// items of one type.
pub(crate) trait Item: Any {
    /// How a divergence names it; asked of those that every member places.
    fn describe(&self) -> String {
        String::new()
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Whether an operator may refuse it on some members alone, in what the ranks below contributed. The same on all.
    fn may_fail(&self) -> bool {
        false
    }

    /// Appends what this processor has to say.
    fn contribute(&self, _out: &mut Vec<u8>) -> Result {
        Ok(())
    }

    /// Appends what `left` and `right` amount to; an empty one stands for ranks that had nothing to say.
    fn meld(&self, _left: &[u8], _right: &[u8], _out: &mut Vec<u8>) -> Result {
        Ok(())
    }

    /// Takes what the meeting found; `None` where nobody in question had anything to say.
    fn conclude(&mut self, _found: Option<&[u8]>) -> Result {
        Ok(())
    }

    /// The tenant of whose contributions this is the prefix, instead of something of its own.
    fn follows(&self) -> Option<u32> {
        None
    }

    /// Reads directly from peers, before anything is committed. `left` holds the ranks that left in this boundary.
    fn read_before(&mut self, _left: &[usize]) -> Result {
        Ok(())
    }

    /// Reads directly from peers, after everything is committed. `left` as in [`read_before`](Self::read_before).
    fn read_after(&mut self, _left: &[usize]) -> Result {
        Ok(())
    }

    /// Takes a record that member `from` addressed to this item.
    fn deliver(&mut self, _from: usize, _payload: Payload<'_>) -> Result {
        Ok(())
    }

    /// Passes on what came in the first round of a two-phase verb. `left` holds the ranks that left in this boundary.
    fn forward(&mut self, _number: u32, _outbox: &mut Outbox, _circle: &dyn Circle, _left: &[usize]) -> Result {
        Ok(())
    }

    /// Makes the value of what has arrived. `left` holds the ranks that left in this boundary.
    fn finish(&mut self, _left: &[usize]) -> Result {
        Ok(())
    }

    /// The value, as an `Option<T>` for the `T` of the item's `Pending<T>`.
    fn outcome(&mut self) -> &mut dyn Any;
}

/// Tells every member one number of each of them, in rank order; those who leave have none.
pub(crate) struct Tally {
    mine: u64,
    all: Option<Vec<u64>>,
}

impl Tally {
    pub(crate) fn new(mine: u64) -> Self {
        Self { mine, all: None }
    }
}

impl Item for Tally {
    fn describe(&self) -> String {
        "a number from each".to_owned()
    }

    fn needs(&self) -> Needs {
        Needs::Total
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(&self.mine.to_le_bytes());
        Ok(())
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
        Ok(())
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        self.all = Some(decode(found.unwrap_or_default())?);
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.all
    }
}

/// Marks the number of an item that one member placed alone. All numbers are below it.
const ALONE: u32 = 1 << 30;

/// Boxes that the same verb at the same place uses again, so that a steady loop allocates nothing.
#[derive(Default)]
struct Boxes {
    all: Vec<Placed>,
    used: usize,
}

/// An item, and what the boundary asks about it again and again.
pub(crate) struct Placed {
    pub(crate) item: Box<dyn Item>,
    pub(crate) needs: Needs,
    /// Whether it has a part of its own in the contribution.
    pub(crate) speaks: bool,
    /// Whether the members have to agree that it was refused on none of them before anything is committed.
    pub(crate) is_doubtful: bool,
}

impl Boxes {
    #[inline]
    fn place<I: Item>(&mut self, item: I) -> u32 {
        let needs = item.needs();
        let speaks = needs != Needs::Nothing && item.follows().is_none();
        let is_doubtful = needs == Needs::Before && item.may_fail();
        let number = u32::try_from(self.used).ok().filter(|&number| number < ALONE);
        let number = number.expect("a step has fewer than 2^30 verbs of a kind");
        match self.all.get_mut(self.used) {
            None => self.all.push(Placed { item: Box::new(item), needs, speaks, is_doubtful }),
            Some(old) => {
                (old.needs, old.speaks, old.is_doubtful) = (needs, speaks, is_doubtful);
                match (&mut *old.item as &mut dyn Any).downcast_mut::<I>() {
                    Some(same) => *same = item,
                    None => old.item = Box::new(item),
                }
            }
        }
        self.used += 1;
        number
    }

    #[inline]
    fn all_mut(&mut self) -> &mut [Placed] {
        &mut self.all[..self.used]
    }
}

/// The items of one step: those that every member places, and those that this one has for itself.
#[derive(Default)]
pub(crate) struct Items {
    collective: Boxes,
    alone: Boxes,
    /// A fingerprint of the collective verbs so far.
    pub(crate) verbs: u64,
}

impl Items {
    pub(crate) fn clear(&mut self) {
        self.collective.used = 0;
        self.alone.used = 0;
        self.verbs = 0;
    }

    /// Takes back the collective items of this number and above; `verbs` is the fingerprint of those below.
    pub(crate) fn take_back(&mut self, item: u32, verbs: u64) {
        self.collective.used = item as usize;
        self.verbs = verbs;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.collective.used + self.alone.used == 0
    }

    /// Adds an item that every member has, and returns its number, which is the same on all.
    #[inline]
    pub(crate) fn place<I: Item>(&mut self, item: I) -> u32 {
        self.collective.place(item)
    }

    /// Adds an item of this member alone, and returns its number.
    pub(crate) fn place_alone<I: Item>(&mut self, item: I) -> u32 {
        self.alone.place(item) | ALONE
    }

    /// The number that the next item of this member alone will have.
    pub(crate) fn next_alone(&self) -> u32 {
        self.alone.used as u32 | ALONE
    }

    #[inline]
    pub(crate) fn collective(&self) -> &[Placed] {
        &self.collective.all[..self.collective.used]
    }

    #[inline]
    pub(crate) fn collective_mut(&mut self) -> &mut [Placed] {
        self.collective.all_mut()
    }

    /// Gives the prefixes of tenants what the ranks below have written: those that may be refused, or the others.
    pub(crate) fn conclude_following(&mut self, written: Option<Portions<'_>>, doubtful: bool) -> Result {
        for Placed { item, is_doubtful, .. } in self.collective.all_mut() {
            let Some(tenant) = item.follows().filter(|_| *is_doubtful == doubtful) else { continue };
            let mut found = None;
            let mut entries = written;
            while let Some((number, part)) = entries.as_mut().map_or(Ok(None), Portions::next)? {
                found = found.or((number == tenant).then_some(part));
            }
            item.conclude(found.map(Portion::get).transpose()?)?;
        }
        Ok(())
    }

    /// Whether an item may be refused on some members alone.
    #[inline]
    pub(crate) fn has_doubts(&self) -> bool {
        self.collective().iter().any(|placed| placed.is_doubtful)
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Item>> {
        self.collective.all_mut().iter_mut().chain(self.alone.all_mut()).map(|placed| &mut placed.item)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Box<dyn Item>> {
        let boxes = if number & ALONE == 0 { &mut self.collective } else { &mut self.alone };
        boxes.all_mut().get_mut((number & !ALONE) as usize).map(|placed| &mut placed.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for what the ranks below have, by an operator that cannot fail.
    struct Below(Option<u64>);

    impl Item for Below {
        fn needs(&self) -> Needs {
            Needs::Before
        }

        fn outcome(&mut self) -> &mut dyn Any {
            &mut self.0
        }
    }

    #[test]
    fn what_cannot_be_refused_is_not_in_doubt() {
        let mut items = Items::default();
        items.place(Below(None));
        assert!(!items.has_doubts());
    }

    #[test]
    fn a_tally_is_named_in_a_divergence() {
        assert_eq!(Tally::new(1).describe(), "a number from each");
    }
}
