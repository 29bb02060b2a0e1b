//! A door for fuzzing: what a process makes of a ring that another has filled with anything.

use super::{
    board::{Board, TeamAlarm},
    carry,
    link::ProcsLink,
    ring::{Layout, UNIT, Writer},
    team::Team,
};
use crate::{alarm::Alarm as _, failure::Failure, mapping::Mapping, messages::Link as _};
use std::sync::{Arc, atomic::Ordering};

/// Writes bytes to a ring in portions, each behind its length in seven bits; the eighth says whether the packet ends
/// there. The process at the other end takes in what comes, and takes what was meant for carried memory for an offer.
pub(crate) fn fuzz_link(bytes: &[u8]) {
    let len = Team::free_from() + Layout::wanted(2);
    let layout = Layout::new(2, len).expect("so much was wanted");
    let shared = Mapping::map(len, len).expect("there is memory");
    let alarm = TeamAlarm { shared: Arc::new(shared), rank: 1 };
    // Both are this process, which may read its own memory, wherever an address leads.
    let board: &Board = alarm.shared.get(0);
    board.seats.iter().take(2).for_each(|seat| seat.pid.store(std::process::id().cast_signed(), Ordering::Release));
    let mut link = ProcsLink::of(alarm.clone(), layout, 2, true);
    link.outgoing[0].lent.push_back(vec![7; 100]);
    let mut writer = layout.writer(0, 1);
    let _ = fill(&mut link, &mut writer, &alarm, bytes);
    // The link waits for nobody then.
    alarm.raise(Failure::Damaged { rank: 0 });
}

fn fill(link: &mut ProcsLink, writer: &mut Writer, alarm: &TeamAlarm, mut bytes: &[u8]) -> Result<(), Failure> {
    let shared = &*alarm.shared;
    while let [head, rest @ ..] = bytes {
        let (portion, rest) = rest.split_at(usize::from(head & 0x7F).min(rest.len()));
        bytes = rest;
        if !writer.has_room(shared, portion.len().next_multiple_of(UNIT))? {
            break;
        }
        writer.write(shared, portion);
        if head & 0x80 != 0 {
            writer.end();
        }
        writer.hand_over(&link.layout, shared);
        while link.try_receive()?.is_some() {}
        while let Some((from, piece)) = link.pieces.pop_front() {
            carry::fuzz_offer(link, from, &piece);
        }
    }
    Ok(())
}
