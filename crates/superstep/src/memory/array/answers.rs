//! Questions to the owners of elements, and how they answer.
//!
//! A reader asks while the step still computes; owners answer after everything is committed, in the order of the
//! questions:
//!
//! ```text
//! request: item u64 | form u64 | by form: the places, u32 or u64 each; or spans of places: first, step, count, u64;
//!          or the number of a plan, u64
//! each answer:  the values
//! ```

use super::{served::Plans, writes::Spares};
use crate::{
    engine::{Address, Element, Outbox, Payload, Tag, damaged, decode_into, read_words},
    error::Result,
    memory::section::Span,
};
use fabric::{Ahead, CHUNK};

pub(super) const SHORT: u64 = 0;
pub(super) const LONG: u64 = 1;
pub(super) const SPANS: u64 = 2;
pub(super) const WHOLE: u64 = 3;
pub(super) const PLANNED: u64 = 4;

pub(super) fn answer<T: Element>(
    part: &[T],
    plans: &Plans,
    from: usize,
    mut request: &[u8],
    outbox: &mut Outbox,
) -> Result {
    let [item, form] = read_words(&mut request)?;
    let item = u32::try_from(item).map_err(|_| damaged())?;
    let mut say = |count: usize, write: &mut dyn FnMut(&mut Vec<u8>)| {
        let length = count * size_of::<T>();
        outbox.push_sized(from, Address::Item(item), Tag::Data, length, |out| write(out));
    };
    match form {
        SHORT => pick(part, request, |bytes| u32::from_le_bytes(bytes) as usize, say)?,
        LONG => pick(part, request, |bytes| u64::from_le_bytes(bytes) as usize, say)?,
        SPANS => {
            let values = of_spans(part, request)?;
            say(values.len(), &mut |out| out.extend_from_slice(bytemuck::cast_slice(&values)));
        }
        WHOLE if request.is_empty() => {
            say(part.len(), &mut |out| out.extend_from_slice(bytemuck::cast_slice(part)));
        }
        PLANNED => {
            let [number] = read_words(&mut request)?;
            let plan = plans.find(number)?;
            let (mut count, mut fits) = (0, true);
            plan.each_meant(from, |base, places| {
                count += places.len();
                fits &= places.last().is_none_or(|&highest| base + (highest as usize) < part.len());
            });
            if !fits {
                return Err(damaged());
            }
            say(count, &mut |out| {
                plan.each_meant(from, |base, places| copy(&part[base..], places, |place| place as usize, out));
            });
        }
        _ => return Err(damaged()),
    }
    Ok(())
}

/// Answers with the elements at the places of a request, `B` bytes each.
fn pick<T: Element, const B: usize>(
    part: &[T],
    request: &[u8],
    place: impl Fn([u8; B]) -> usize,
    mut say: impl FnMut(usize, &mut dyn FnMut(&mut Vec<u8>)),
) -> Result {
    let (places, []) = request.as_chunks() else { return Err(damaged()) };
    if places.iter().any(|&bytes| place(bytes) >= part.len()) {
        return Err(damaged());
    }
    say(places.len(), &mut |out| copy(part, places, &place, out));
    Ok(())
}

/// Copies the elements at some places, and prefetches the next chunk meanwhile.
fn copy<T: Element, P: Copy>(part: &[T], places: &[P], place: impl Fn(P) -> usize, out: &mut Vec<u8>) {
    let (ahead, mut values) = (Ahead::of(part), [T::zeroed(); CHUNK]);
    let mut later = places.chunks(CHUNK).skip(1);
    for chunk in fabric::chunks(places) {
        later.next().unwrap_or_default().iter().for_each(|&at| ahead.ask(place(at)));
        for (value, &at) in values.iter_mut().zip(chunk) {
            *value = part[place(at)];
        }
        out.extend_from_slice(bytemuck::cast_slice(&values[..chunk.len()]));
    }
}

fn of_spans<T: Element>(part: &[T], mut request: &[u8]) -> Result<Vec<T>> {
    let mut values = Vec::new();
    while !request.is_empty() {
        let [first, step, count] = read_words(&mut request)?;
        let span = Span { first: first as usize, step: step as isize, count: count as usize };
        if span.count > part.len() {
            return Err(damaged());
        }
        if span.is_range() {
            values.extend_from_slice(part.get(span.hull()).ok_or_else(damaged)?);
        } else {
            for at in span.indices() {
                values.push(part.get(at).copied().ok_or_else(damaged)?);
            }
        }
    }
    Ok(values)
}

/// What was asked of the owners that cannot be reached, and what they answered, by rank.
pub(super) enum Asked<T> {
    /// It can be reached, or nothing is needed of it.
    Nothing,
    /// So many elements, in the order in which the reader needs them.
    InOrder(usize, Vec<T>),
    /// Its whole part.
    Whole(Vec<T>),
}

impl<T: Element> Asked<T> {
    pub(super) fn into_values(self) -> Option<Vec<T>> {
        match self {
            Self::Nothing => None,
            Self::InOrder(_, values) | Self::Whole(values) => Some(values),
        }
    }

    /// Whether all has come that was asked for, of an owner of `len` elements.
    pub(super) fn is_answered(&self, len: usize) -> bool {
        match self {
            Self::Nothing => true,
            Self::InOrder(count, values) => values.len() == *count,
            Self::Whole(values) => values.len() == len,
        }
    }

    /// Takes in an answer, into the room of a vector that is spare.
    pub(super) fn take(&mut self, payload: Payload<'_>, len: usize, spares: &mut Spares<T>) -> Result {
        let bytes = payload.bytes()?;
        let mut values = spares.values.take(bytes.len() / size_of::<T>().max(1));
        decode_into(bytes, &mut values)?;
        match self {
            Self::InOrder(_, answer) | Self::Whole(answer) => *answer = values,
            Self::Nothing => return Err(damaged()),
        }
        if self.is_answered(len) { Ok(()) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Block, Distribution as _, divisor::Divisor, layout::Locator, routes::Routes, served::PlanPart, writes::Pool,
        },
        *,
    };
    use crate::engine::Receives as _;
    use fabric::wire::Writer as _;
    use std::{panic::Location, rc::Rc};

    /// A plan whose member 1 means the elements 2 and 5 of a part of six.
    fn plan() -> Rc<PlanPart> {
        let map = Block::new().lay(&[6], 1).unwrap();
        let locator = Locator { map, inner: 1, by_inner: Divisor::new(1), len: 6, windows: 1 };
        let Ok(routes) = Routes::find(&[], &locator, &[6], &[true]) else { panic!("no index is wrong") };
        let plan = PlanPart::new(routes, 6, <[String; 2]>::default(), Location::caller());
        let mut meant = Vec::new();
        meant.put([2u64, 2]);
        meant.extend_from_slice(bytemuck::cast_slice(&[0u32, 3]));
        plan.receive(1, Payload::Bytes(&meant)).unwrap();
        Rc::new(plan)
    }

    /// X5, and A7: places of 64 bits are for parts that are longer than 32 bits can count.
    #[test]
    fn an_owner_answers_what_is_in_its_part_and_nothing_else() {
        let (part, plans, plan) = ([0u16, 10, 20, 30, 40, 50], Plans::default(), plan());
        plans.add(3, &plan);
        let requests: [(u64, &[u64], usize, bool); 12] = [
            (LONG, &[0, 5], 6, true),
            (LONG, &[0, 5], 5, false),
            (SPANS, &[0, 1, 6], 6, true),
            (SPANS, &[0, 1, 7], 6, false),
            (SPANS, &[1, 1, 6], 6, false),
            (SPANS, &[0, 2, 3, 0, 1, 1], 5, true),
            (WHOLE, &[], 6, true),
            (WHOLE, &[0], 6, false),
            (PLANNED, &[3], 6, true),
            (PLANNED, &[3], 5, false),
            (PLANNED, &[2], 6, false),
            (9, &[], 6, false),
        ];
        for (form, words, len, is_answered) in requests {
            let (mut request, mut outbox) = (Vec::new(), Outbox::default());
            request.put([7, form]);
            for &word in words {
                request.put(word);
            }
            let outcome = answer(&part[..len], &plans, 1, &request, &mut outbox);
            assert_eq!((outcome.is_ok(), !outbox.is_empty()), (is_answered, is_answered), "{form}: {words:?} of {len}");
        }
        let mut spans = Vec::new();
        spans.put([4u64, u64::MAX, 2, 0, 1, 6]);
        assert_eq!(of_spans(&part, &spans).unwrap(), [40u16, 30, 0, 10, 20, 30, 40, 50]);
    }

    /// X5: what did not come is not taken for zeros.
    #[test]
    fn an_owner_has_answered_when_all_that_was_asked_has_come() {
        let pool = Pool::default();
        for (mut asked, len) in [(Asked::InOrder(2, Vec::<u16>::new()), 5), (Asked::Whole(Vec::new()), 2)] {
            assert!(!asked.is_answered(len));
            let mut take = |bytes: &[u8]| asked.take(Payload::Bytes(bytes), len, &mut pool.spares());
            assert!(take(&[1, 0]).is_err() && take(&[1, 0, 2]).is_err());
            take(&[1, 0, 2, 0]).unwrap();
            assert_eq!(asked.into_values(), Some(vec![1, 2]));
        }
        assert!(Asked::<u16>::Nothing.is_answered(7));
    }
}
