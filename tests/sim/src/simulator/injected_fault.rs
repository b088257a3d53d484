// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the adversary does to messages, and what the oracle of delivery hears of them.

use lnd_core::message::{Envelope, Message};
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_shortmsg::wire::{decode, Checksum};

use super::mailbox::{Frame, Lane, Post};
use super::network::{Network, MEMORY};
use super::run_log::FrameId;

impl Network<'_> {
    pub(crate) fn late(&mut self) -> Span {
        Span::from_nanos(self.rng.below(u64::from(self.faults.delay_us) * 1_000 + 1))
    }

    pub(crate) fn strikes(&mut self, rate: u32, what: &'static str) -> bool {
        let hit = rate > 0 && self.rng.chance(rate);
        if hit {
            self.tally.count(what);
        }
        hit
    }

    /// What the sender of a message that is lost without a word is told.
    const fn lost(&self) -> Sent {
        if self.reliable {
            Sent::Unknown
        } else {
            Sent::Ok
        }
    }

    /// Whether a message arrives, and what its sender is told.
    pub(crate) fn injected(&mut self, lane: Lane) -> (bool, Sent) {
        let faults = self.faults;
        if self.down.contains(&(lane.from, lane.link)) {
            self.tally.count("messages into a dead link");
            return (false, Sent::NotDelivered);
        }
        let far = self.down.contains(&(lane.to, lane.link));
        if far || self.cut.contains(&(lane.from, lane.to)) {
            self.tally.count("messages to where no node hears");
            return (false, if self.rng.below(2) == 0 { self.lost() } else { Sent::Unknown });
        }
        if self.strikes(faults.drop, "messages dropped") {
            (false, self.lost())
        } else if self.strikes(faults.not_delivered, "messages not delivered") {
            (false, Sent::NotDelivered)
        } else if self.strikes(faults.unknown, "messages with an unknown end") {
            (self.rng.below(2) == 0, Sent::Unknown)
        } else {
            (true, Sent::Ok)
        }
    }

    /// Tells the oracle of delivery what leaves.
    pub(crate) fn track(&self, lane: Lane, envelope: &Envelope, message: &Message<'_>) {
        let Some(oracle) = &self.tracking else { return };
        let mut oracle = oracle.borrow_mut();
        match *message {
            Message::Immediate { header, .. }
            | Message::PutReq { header, .. }
            | Message::GetReq { header, .. } => {
                oracle.sent((lane.from, lane.to), header, envelope.to_incarnation);
            }
            Message::PullReady(ready) => oracle.reply_sent(lane.from, ready.source),
            _ => {}
        }
    }

    /// Tells the oracle what a node has taken out of its mailbox.
    pub(crate) fn tell_taken(&self, lane: Lane, bytes: &[u8]) {
        let Some(oracle) = &self.tracking else { return };
        let Ok(frame) = decode(bytes, Checksum::On) else { return };
        let (envelope, message) = frame.into_parts();
        let header = match message {
            Message::Immediate { header, .. }
            | Message::PutReq { header, .. }
            | Message::GetReq { header, .. } => Some(header),
            _ => None,
        };
        let closes = matches!(message, Message::Close);
        oracle.borrow_mut().takes((lane.from, lane.to), envelope.from_incarnation, header, closes);
    }

    /// Puts a frame on its way, and what the adversary makes of it.
    pub(crate) fn deliver(&mut self, lane: Lane, mut bytes: Vec<u8>, id: FrameId) {
        let (faults, mut fault) = (self.faults, "");
        if !self.reliable && self.strikes(faults.duplicate, "messages duplicated") {
            let at = self.now.after(self.latency()).after(self.late());
            self.posts.push((at, frame(lane, bytes.clone(), id, "duplicated")));
        }
        if faults.replay > 0 && !self.reliable {
            self.replay(lane, &bytes);
        }
        if !self.reliable && self.strikes(faults.corrupt, "messages corrupted") {
            fault = "corrupted";
            for _ in 0..self.rng.between(1, 4) {
                let at = self.rng.below(bytes.len() as u64) as usize;
                // Never zero: a byte is changed for sure.
                let flip = self.rng.between(1, 255) as u8;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= flip;
                }
            }
        }
        let mut at = self.now.after(self.latency());
        let delayed = self.strikes(faults.delay, "messages delayed");
        if delayed {
            at = at.after(self.late());
        }
        // In order, behind the one before. What loses nothing keeps its order, too: what is delayed
        // holds up what lies behind it.
        if let Some(mailbox) = self.boxes.get_mut(&lane).filter(|_| !delayed || self.reliable) {
            at = at.max(mailbox.last.after(Span::from_nanos(1)));
            mailbox.last = at;
        }
        self.boxes.entry(lane).or_default().taken += 1;
        self.occupy(lane, 1);
        if delayed && fault.is_empty() {
            fault = "delayed";
        }
        let frame = Frame { bytes, placed: true, id, fault };
        self.posts.push((at, Post::Frame(lane, frame)));
    }

    /// Remembers a frame, and now and then sends some from memory, in their order.
    fn replay(&mut self, lane: Lane, bytes: &[u8]) {
        if !self.old.is_empty() && self.strikes(self.faults.replay, "messages replayed") {
            let which = self.rng.below(self.old.len() as u64) as usize;
            let many = self.rng.between(1, 8) as usize;
            let mut at = self.now.after(self.late());
            for (lane, bytes) in self.old.iter().skip(which).take(many).cloned() {
                at = at.after(Span::from_nanos(100));
                self.posts.push((at, frame(lane, bytes, 0, "replayed")));
            }
        }
        if self.old.len() == MEMORY {
            self.old.pop_front();
        }
        self.old.push_back((lane, bytes.to_vec()));
    }
}

/// A frame that has no place of its own in its mailbox.
fn frame(lane: Lane, bytes: Vec<u8>, id: FrameId, fault: &'static str) -> Post {
    Post::Frame(lane, Frame { bytes, placed: false, id, fault })
}
