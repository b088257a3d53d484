// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file writes records. Context: any. Only the bytes of the record are touched.

use super::{kind, MAX_RECORD};
use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::base::time::Instant;
use crate::machines::link::LinkState;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Effect, Event, Status};
use crate::ports::trace::Trace;

/// Writes one event to the front of `into` and returns the record's length.
pub fn encode(now: Instant, trace: &Trace, into: &mut [u8; MAX_RECORD]) -> usize {
    let mut to = Writer { into, at: 1 };
    to.entry(now, trace);
    let length = to.at;
    if let Some(first) = to.into.first_mut() {
        // The length is known only now. It lets a reader find the next record.
        *first = length as u8;
    }
    length
}

struct Writer<'b> {
    into: &'b mut [u8; MAX_RECORD],
    at: usize,
}

impl Writer<'_> {
    fn byte(&mut self, byte: u8) {
        // A test shows that the longest record fits. A longer one would be cut, not written past.
        if let Some(place) = self.into.get_mut(self.at) {
            *place = byte;
            self.at += 1;
        }
    }

    fn number(&mut self, mut number: u64) {
        // Most numbers are small, and a trace buffer in firmware is small too.
        while number > 0x7f {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn word(&mut self, word: u32) {
        self.number(u64::from(word));
    }

    fn tag(&mut self, tag: Tag) {
        self.word(tag.index);
        self.word(tag.generation);
    }

    fn nid(&mut self, nid: Nid) {
        self.number(nid.raw());
    }

    fn link(&mut self, link: LinkId) {
        self.byte(link.index() as u8);
    }

    fn lane(&mut self, lane: Lane) {
        self.byte(match lane {
            Lane::Request => 0,
            Lane::Control => 1,
        });
    }

    fn event(&mut self, event: Event) {
        // The numbers are part of the format. A number is never given to another event.
        let (number, debts, cause) = match event {
            Event::Arm(debts) => (0, Some(debts), None),
            Event::Withdraw(debts, cause) => (1, Some(debts), Some(cause)),
            Event::PayCpu => (2, None, None),
            Event::HwOk => (3, None, None),
            Event::HwUntouched => (4, None, None),
            Event::HwTouched => (5, None, None),
            Event::Stopped => (6, None, None),
            Event::MsgOk => (7, None, None),
            Event::MsgNotDelivered => (8, None, None),
            Event::MsgUnknown => (9, None, None),
            Event::Accepted => (10, None, None),
            Event::Done => (11, None, None),
            Event::Refused => (12, None, None),
            Event::Cancel(cause) => (13, None, Some(cause)),
        };
        self.byte(number);
        if let Some(debts) = debts {
            self.byte(debts.0);
        }
        if let Some(cause) = cause {
            self.byte(cause as u8);
        }
    }

    fn effect(&mut self, effect: Effect) {
        self.byte(match effect {
            Effect::None => 0,
            Effect::Finalize => 1,
            Effect::Invalidate => 2,
            Effect::StartPull => 3,
            Effect::Unqueue => 4,
            Effect::TooLate => 5,
            Effect::Late => 6,
            Effect::Repeat => 7,
            Effect::Misuse => 8,
        });
    }

    fn status(&mut self, status: &Status) {
        // The sign is known: an errno is zero or negative.
        self.word(status.errno.unsigned_abs());
        self.byte(status.health as u8);
        self.byte(status.delivery as u8);
        self.byte(u8::from(status.resend));
        let (cause, place) = status.evidence.map_or((0, 0), |(c, p)| (c as u8, p as u8));
        self.byte(cause);
        self.byte(place);
    }

    fn begin(&mut self, kind: u8, now: Instant) {
        self.byte(kind);
        self.number(now.as_nanos());
    }

    fn tagged(&mut self, kind: u8, now: Instant, tag: Tag) {
        self.begin(kind, now);
        self.tag(tag);
    }

    fn entry(&mut self, now: Instant, trace: &Trace) {
        match *trace {
            Trace::Accepted { tag, peer, length } => {
                self.tagged(kind::ACCEPTED, now, tag);
                self.nid(peer);
                self.word(length);
            }
            Trace::Step { tag, event, before, after, effect } => {
                self.tagged(kind::STEP, now, tag);
                self.event(event);
                self.word(before.bits());
                self.word(after.bits());
                self.effect(effect);
            }
            Trace::Stale { tag } => self.tagged(kind::STALE, now, tag),
            Trace::Posted { tag, link } => {
                self.tagged(kind::POSTED, now, tag);
                self.link(link);
            }
            Trace::Invalidated { tag, link } => {
                self.tagged(kind::INVALIDATED, now, tag);
                self.link(link);
            }
            Trace::Reclaimed { tag, link, real } => {
                self.tagged(kind::RECLAIMED, now, tag);
                self.link(link);
                self.byte(u8::from(real));
            }
            Trace::Finalized { tag, ref status } => {
                self.tagged(kind::FINALIZED, now, tag);
                self.status(status);
            }
            _ => self.untagged(now, trace),
        }
    }

    /// What is about no one transfer.
    fn untagged(&mut self, now: Instant, trace: &Trace) {
        match *trace {
            Trace::Sent { to, link, lane, sequence } => {
                self.begin(kind::SENT, now);
                self.nid(to);
                self.link(link);
                self.lane(lane);
                self.word(sequence);
            }
            Trace::Received { from, lane, sequence, taken } => {
                self.begin(kind::RECEIVED, now);
                self.nid(from);
                self.lane(lane);
                self.word(sequence);
                self.byte(u8::from(taken));
            }
            Trace::Ended { peer, sequence, length, ref status } => {
                self.begin(kind::ENDED, now);
                self.nid(peer);
                self.word(sequence);
                self.word(length);
                self.status(status);
            }
            Trace::Peer { peer, state } => {
                self.begin(kind::PEER, now);
                self.nid(peer);
                self.byte(hello_number(state));
            }
            Trace::Connection { connection, state } => {
                self.begin(kind::CONNECTION, now);
                self.link(connection.link);
                self.nid(connection.peer);
                self.word(connection.number.get());
                self.byte(link_number(state));
            }
            Trace::Link { link, state } => {
                self.begin(kind::LINK, now);
                self.link(link);
                self.byte(link_number(state));
            }
            _ => {}
        }
    }
}

const fn hello_number(state: HelloState) -> u8 {
    match state {
        HelloState::Unknown => 0,
        HelloState::Handshake => 1,
        HelloState::Good => 2,
        HelloState::Down => 3,
    }
}

const fn link_number(state: LinkState) -> u8 {
    match state {
        LinkState::Up => 0,
        LinkState::Stalled => 1,
        LinkState::Stopping => 2,
        LinkState::Reclaiming => 3,
        LinkState::Down => 4,
        LinkState::Failed => 5,
    }
}
