// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is known of every message: by the frames that leave, by what the upper layers see, by the
//! bytes that engines move, and by the reports. Nothing here asks a driver.

use std::collections::{BTreeMap, BTreeSet};

use lnd_core::driver::{Report, Role};
use lnd_core::id::{Incarnation, Tag};
use lnd_core::message::{Envelope, Message};
use lnd_core::time::Instant;
use lnd_core::transfer::Delivery;
use lnd_shortmsg::wire::{decode, Checksum};

/// One message of an upper layer.
#[derive(Debug)]
struct Entry {
    deadline: Instant,
    /// Its sender's incarnation, and the receiver's that the frame named.
    sender: Incarnation,
    receiver: Option<Incarnation>,
    /// Its payload is staged and pulled.
    staged: bool,
    seen: bool,
    moved: bool,
    /// What its sender was told.
    promised: bool,
    denied: bool,
}

/// Every message of a run.
#[derive(Debug, Default)]
pub struct Book {
    messages: BTreeMap<u32, Entry>,
    /// Which message a transfer of a node belongs to.
    transfers: BTreeMap<(usize, Tag), u32>,
    /// Those that work for the other node's requests: taken, and not yet reported.
    taken: BTreeSet<(usize, Tag)>,
    /// Incarnations that are over or shut down, and those of them that said goodbye.
    ended: BTreeSet<Incarnation>,
    goodbyes: BTreeSet<Incarnation>,
    /// The last hello of each node: its session and attempt.
    hellos: [Option<(u32, u8)>; 2],
    /// Incarnations whose answers to such a hello have come.
    proven: BTreeSet<Incarnation>,
    /// Messages that nothing brings out of a lane: see [`Self::lies`].
    held_up: BTreeSet<u32>,
}

impl Book {
    /// A message was accepted.
    pub fn accepted(&mut self, number: u32, sender: Incarnation, deadline: Instant) {
        self.messages.entry(number).or_insert(Entry {
            deadline,
            sender,
            receiver: None,
            staged: false,
            seen: false,
            moved: false,
            promised: false,
            denied: false,
        });
    }

    /// A message was refused: there is no such message.
    pub fn refused(&mut self, number: u32) {
        let entry = self.messages.remove(&number);
        assert!(entry.is_some_and(|it| it.receiver.is_none()), "INV-1: refused, and sent");
    }

    /// A transfer works for a message.
    pub fn names(&mut self, node: usize, tag: Tag, number: u32) {
        self.transfers.insert((node, tag), number);
    }

    /// A node's upper layer has taken a request of the other node, in whatever session it came.
    pub fn takes(&mut self, node: usize, tag: Tag, bound: usize) {
        self.taken.insert((node, tag));
        let count = self.taken.iter().filter(|&&(of, _)| of == node).count();
        assert!(count <= bound, "one peer has {count} transfers of {bound} (INV-12)");
    }

    /// A frame leaves.
    pub fn leaves(&mut self, now: Instant, envelope: &Envelope, message: &Message<'_>) {
        if matches!(message, Message::Close) {
            self.goodbyes.insert(envelope.from_incarnation);
        }
        let Some(number) = number_of(message) else { return };
        let entry = self.messages.get_mut(&number).expect("a message that was accepted");
        assert!(now < entry.deadline, "sent after its deadline (LU-16303)");
        assert_eq!(entry.receiver, None, "sent twice (INV-5)");
        entry.receiver = envelope.to_incarnation;
        entry.staged = !matches!(message, Message::Immediate { .. });
    }

    /// An upper layer sees a request.
    pub fn sees(&mut self, incarnation: Incarnation, message: &Message<'_>) -> u32 {
        let number = number_of(message).expect("a request");
        let entry = self.messages.get_mut(&number).expect("a message that was accepted");
        assert!(!entry.seen, "message {number} is seen twice (INV-6)");
        assert_eq!(entry.receiver, Some(incarnation), "seen by another incarnation (INV-6)");
        assert!(entry.staged || !entry.denied, "seen, and was reported as not delivered (S0-18)");
        entry.seen = true;
        number
    }

    /// An engine pulls what the other one has staged.
    pub fn moves(&mut self, sink: (usize, Tag), source: (usize, Tag)) {
        let (to, from) = (self.transfers.get(&sink), self.transfers.get(&source));
        assert_eq!(to, from, "a pull met what another message has staged (R14, LU-17841)");
        let entry = to.and_then(|number| self.messages.get_mut(number)).expect("a message");
        assert!(!entry.denied, "moved, and was reported as not delivered (S0-18)");
        entry.moved = true;
    }

    /// A node's transfer was reported.
    pub fn reported(&mut self, node: usize, report: &Report) {
        self.taken.remove(&(node, report.tag));
        let Some(number) = self.transfers.remove(&(node, report.tag)) else { return };
        let entry = self.messages.get_mut(&number).expect("a message that was accepted");
        let (good, delivery) = (report.status.errno == 0, report.status.delivery);
        let pulls = !matches!(report.role, Role::Immediate | Role::InlineSink);
        assert!(!good || !pulls || entry.moved, "OK, and no byte was moved (INV-4): {report:?}");
        let sender = matches!(
            report.role,
            Role::Immediate | Role::PutSource | Role::GetSink | Role::GetPull | Role::PushSink
        );
        if sender {
            let arrived = if pulls { entry.moved } else { entry.seen };
            entry.promised |= good || delivery == Delivery::Delivered;
            entry.denied |= delivery == Delivery::NotDelivered;
            assert!(!entry.denied || !arrived, "arrived, and is reported as not delivered (S0-18)");
        }
    }

    /// An incarnation is over, or no longer takes requests.
    pub fn ends(&mut self, incarnation: Incarnation) {
        self.ended.insert(incarnation);
    }

    /// A node has no transfers any more.
    pub fn restarts(&mut self, node: usize) {
        self.transfers.retain(|&(of, _), _| of != node);
        self.taken.retain(|&(of, _)| of != node);
    }

    /// A node says hello.
    pub fn asks(&mut self, node: usize, envelope: &Envelope, message: &Message<'_>) {
        if let Message::Hello(hello) = message {
            self.hellos[node] = Some((envelope.session, hello.attempt));
        }
    }

    /// An answer to a node's hello has come.
    pub fn answered(&mut self, node: usize, envelope: &Envelope, message: &Message<'_>) {
        if let Message::HelloAck(ack) = message {
            if self.hellos[node] == Some((ack.session, ack.attempt)) {
                self.proven.insert(envelope.from_incarnation);
            }
        }
    }

    /// A lane in which frames are left at the end, oldest first. If its sender has left in good
    /// order and has not answered the last hello, and the first frame is of an incarnation that
    /// crashed before, nothing tells which of the two was the last: what is behind waits until that
    /// node is there again (decision 0018, what is left).
    pub fn lies<'f>(&mut self, last: Incarnation, lane: impl Iterator<Item = &'f [u8]>) {
        let frames = lane.map(|bytes| decode(bytes, Checksum::On).expect("a frame").into_parts());
        let mut first = None;
        for (envelope, message) in frames {
            let of = *first.get_or_insert(envelope.from_incarnation);
            let crashed = self.ended.contains(&of) && !self.goodbyes.contains(&of);
            if crashed && self.goodbyes.contains(&last) && !self.proven.contains(&last) {
                self.held_up.extend(number_of(&message));
            }
        }
    }

    /// What was promised was seen, unless the receiver's incarnation has ended, or the sender's
    /// without a goodbye.
    pub fn check(&self) {
        for (number, it) in self.messages.iter().filter(|(_, it)| it.promised && !it.seen) {
            let receiver = it.receiver.expect("delivered, and never sent (S0-18)");
            let silent = self.ended.contains(&it.sender) && !self.goodbyes.contains(&it.sender);
            let excused = self.ended.contains(&receiver) || silent || self.held_up.contains(number);
            assert!(
                excused,
                "message {number} was reported as delivered, and never seen (S0-18): {it:?}"
            );
        }
    }
}

/// The number that our header holds.
fn number_of(message: &Message<'_>) -> Option<u32> {
    match message {
        Message::Immediate { header, .. }
        | Message::PutReq { header, .. }
        | Message::GetReq { header, .. } => {
            Some(u32::from_le_bytes((*header).try_into().expect("our header")))
        }
        _ => None,
    }
}
