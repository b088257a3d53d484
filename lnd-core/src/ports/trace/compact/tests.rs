// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::base::time::Instant;
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Cause, Debts, Effect, Event, Place, Policy, Status, Word};
use crate::ports::trace::Trace;
use std::vec::Vec;

const LARGEST: Tag = Tag { index: u32::MAX, generation: u32::MAX };
const LINKS: [LinkState; 6] = [
    LinkState::Up,
    LinkState::Stalled,
    LinkState::Stopping,
    LinkState::Reclaiming,
    LinkState::Down,
    LinkState::Failed,
];
const HELLOS: [HelloState; 4] =
    [HelloState::Unknown, HelloState::Handshake, HelloState::Good, HelloState::Down];

fn events() -> Vec<Event> {
    let mut all = std::vec![
        Event::Arm(Debts(0xf)),
        Event::PayCpu,
        Event::HwOk,
        Event::HwUntouched,
        Event::HwTouched,
        Event::Stopped,
        Event::MsgOk,
        Event::MsgNotDelivered,
        Event::MsgUnknown,
        Event::Accepted,
        Event::Done,
        Event::Refused,
    ];
    for cause in Cause::ALL {
        all.extend([Event::Withdraw(Debts::HW, cause), Event::Cancel(cause)]);
    }
    all
}

/// Every variant with every value of every enum in it, and the largest numbers.
fn everything() -> Vec<Trace> {
    use Effect::*;
    let nid = Nid::from_raw(u64::MAX).unwrap();
    let (tag, link) = (LARGEST, LinkId::new(7).unwrap());
    let mut all = std::vec![
        Trace::Accepted { tag, peer: nid, length: u32::MAX },
        Trace::Stale { tag },
        Trace::Posted { tag, link },
        Trace::Invalidated { tag, link },
    ];
    for truth in [false, true] {
        all.push(Trace::Reclaimed { tag, link, real: truth });
        let lane = if truth { Lane::Request } else { Lane::Control };
        all.push(Trace::Sent { to: nid, link, lane, sequence: u32::MAX });
        all.push(Trace::Received { from: nid, lane, sequence: u32::MAX, taken: truth });
    }
    let (before, after) = (Word::from_bits(u32::MAX), Word::from_bits(0));
    for event in events() {
        for effect in
            [None, Finalize, Invalidate, StartPull, Unqueue, TooLate, Late, Repeat, Misuse]
        {
            all.push(Trace::Step { tag, event, before, after, effect });
        }
    }
    all.extend(HELLOS.map(|state| Trace::Peer { peer: nid, state }));
    all.extend(LINKS.map(|state| Trace::Link { link, state }));
    let connection = Connection { link, peer: nid, number: core::num::NonZeroU32::MAX };
    all.extend(LINKS.map(|state| Trace::Connection { connection, state }));
    for cause in Cause::ALL {
        for place in Place::ALL {
            let status = Status::of(Policy::Seed, cause, place);
            all.push(Trace::Finalized { tag, status });
            let (sequence, length) = (u32::MAX, u32::MAX);
            all.push(Trace::Ended { peer: nid, sequence, length, status });
        }
    }
    let done = Status::of_word(Policy::Seed, Word::from_bits(0xc000)).unwrap();
    all.push(Trace::Finalized { tag, status: done });
    all
}

#[test]
fn what_is_read_is_what_was_written() {
    let mut longest = 0;
    for trace in everything().into_iter().step_by(if cfg!(miri) { 7 } else { 1 }) {
        let mut bytes = [0; MAX_RECORD];
        let length = encode(Instant::NEVER, &trace, &mut bytes);
        assert_eq!(decode(&bytes), Ok((length, Instant::NEVER, trace)));
        longest = longest.max(length);
    }
    assert!(longest < MAX_RECORD, "the longest record, {longest} bytes, may have been cut");
}

#[test]
fn what_none_wrote_is_refused() {
    // Interpreted, a hundred times slower: some of the records, some of the wrong lengths.
    let (records, lengths) = if cfg!(miri) { (101, 37) } else { (1, 1) };
    for trace in everything().into_iter().step_by(records) {
        let mut bytes = [0; MAX_RECORD];
        let length = encode(Instant::NEVER, &trace, &mut bytes);
        for short in 0..length {
            assert_eq!(decode(&bytes[..short]), Err(Malformed), "{short} bytes of {trace:?}");
        }
        let wrong = (0..=u8::MAX).filter(|&said| usize::from(said) != length);
        for said in wrong.step_by(lengths) {
            bytes[0] = said;
            assert_eq!(decode(&bytes), Err(Malformed), "{said} for {length} bytes of {trace:?}");
        }
    }
    // Whatever comes: an answer, and no harm.
    let mut state = 1_u32;
    for _ in 0..if cfg!(miri) { 100 } else { 100_000 } {
        let mut bytes = [0; MAX_RECORD];
        for byte in &mut bytes {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
        bytes[0] %= MAX_RECORD as u8;
        if let Ok((length, _, _)) = decode(&bytes) {
            assert!(length <= MAX_RECORD);
        }
    }
}

#[test]
fn a_status_of_numbers_without_a_meaning_is_refused() {
    let status = Status::of(Policy::Seed, Cause::Deadline, Place::Queue);
    let mut bytes = [0; MAX_RECORD];
    let length = encode(Instant::NEVER, &Trace::Finalized { tag: LARGEST, status }, &mut bytes);
    // Its last bytes: cause and place, from one on; both are zero where there is no evidence.
    for (at, wrong) in [(length - 2, 0), (length - 2, 13), (length - 1, 0), (length - 1, 6)] {
        let mut spoilt = bytes;
        spoilt[at] = wrong;
        assert_eq!(decode(&spoilt), Err(Malformed), "{wrong} at {at} of {length}");
    }
    let connection = Connection {
        link: LinkId::new(0).unwrap(),
        peer: Nid::from_raw(1).unwrap(),
        number: core::num::NonZeroU32::MIN,
    };
    let trace = Trace::Connection { connection, state: LinkState::Up };
    let mut bytes_of = [0; MAX_RECORD];
    let long = encode(Instant::NEVER, &trace, &mut bytes_of);
    assert_eq!(decode(&bytes_of).map(|read| read.2), Ok(trace));
    bytes_of[long - 2] = 0;
    assert_eq!(decode(&bytes_of), Err(Malformed), "a connection without a number");
    let status = Status { errno: i32::MIN, ..status };
    encode(Instant::NEVER, &Trace::Finalized { tag: LARGEST, status }, &mut bytes);
    assert_eq!(decode(&bytes), Err(Malformed));
}
