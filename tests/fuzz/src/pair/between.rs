// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What lies between the nodes: frames arrive or come back, engines move bytes.

use lnd_core::driver::Inbound;
use lnd_core::id::{LinkId, Tag};
use lnd_core::ports::{Returned, Sent};
use lnd_shortmsg::wire::{decode, Checksum};

use super::world::{Way, World};
use super::Decision;
use crate::hardware::Posted;

impl World<'_> {
    pub(super) fn sent(&mut self, node: usize, pick: usize, how: u8) {
        let hardware = self.nodes[node].hardware.borrow();
        let count = hardware.endings.len();
        let Some(&(_, tag)) = hardware.endings.get(pick % count.max(1)) else { return };
        drop(hardware);
        let sent = match how % 8 {
            6 => Sent::Unknown,
            7 => self.takes_back(node, tag),
            _ => Sent::Ok,
        };
        // What a channel finds out about a hello is no silence.
        self.absences[node].notified |= sent != Sent::Ok;
        self.nodes[node].sent(pick, sent);
    }

    /// The channel finds out that it cannot deliver a frame, if the frame is still in it.
    fn takes_back(&mut self, node: usize, tag: Tag) -> Sent {
        let lanes = self.ways.iter_mut().filter(|(way, _)| way.0 == node);
        for letters in lanes.map(|(_, letters)| letters) {
            // Former incarnations have used the same tags: theirs lie in front.
            if let Some(at) = letters.iter().rposition(|letter| letter.tag == Some(tag)) {
                letters.remove(at);
                return Sent::NotDelivered;
            }
        }
        Sent::Ok
    }

    /// An engine returns a descriptor, as it may.
    pub(super) fn engine(&mut self, node: usize, pick: usize, how: u8) {
        let hardware = self.nodes[node].hardware.borrow();
        let out = |(&(link, _), p): &(&(usize, u32), &Posted)| {
            p.done.is_none() && !hardware.asserted[link]
        };
        let count = hardware.posted.iter().filter(out).count().max(1);
        let Some((&key, &posted)) = hardware.posted.iter().filter(out).nth(pick % count) else {
            return;
        };
        drop(hardware);
        let done = match posted.source {
            Some(source) => Some(self.pull(node, &posted, source, how)),
            None if posted.pulled => posted.invalidated.then_some(Returned::Touched),
            None if posted.invalidated => Some(Returned::Untouched),
            None => (how == 255).then_some(Returned::Touched),
        };
        if let Some(posted) = self.nodes[node].hardware.borrow_mut().posted.get_mut(&key) {
            posted.done = done;
        }
    }

    fn pull(&mut self, node: usize, pull: &Posted, source: Tag, how: u8) -> Returned {
        let mut hardware = self.nodes[1 - node].hardware.borrow_mut();
        let asserted = hardware.asserted;
        let found = hardware.posted.iter_mut().find(|((link, _), p)| {
            let lent = p.source.is_none() && p.pushes == pull.pushes;
            p.tag == source && lent && p.done.is_none() && !asserted[*link]
        });
        let Some((_, staged)) = found else { return Returned::Untouched };
        match how % 8 {
            6 if pull.invalidated => return Returned::Untouched,
            7 => return Returned::Touched,
            _ => {}
        }
        staged.pulled = true;
        if self.engines.signals && !pull.pushes {
            staged.done = Some(Returned::Ok);
        }
        drop(hardware);
        self.book.moves((node, pull.tag), (1 - node, source));
        Returned::Ok
    }

    /// The oldest frame of a lane is offered to the driver that it is for. Returns whether it was
    /// taken.
    pub(super) fn deliver(&mut self, way: Way, decision: Decision) -> bool {
        let (to, link) = (1 - way.0, LinkId::new(way.1).expect("a link"));
        let letters = self.ways.entry(way).or_default();
        if self.paused[to] {
            return false;
        }
        let Some(letter) = letters.pop_front() else { return false };
        let frame = decode(&letter.bytes, Checksum::On).expect("the driver's frames are sound");
        let (envelope, message) = frame.into_parts();
        self.book.answered(to, &envelope, &message);
        let node = &mut self.nodes[to];
        node.now = self.now;
        match node.driver.on_message(self.now, link, &envelope, &message) {
            Inbound::Wait => {
                self.ways.entry(way).or_default().push_front(letter);
                return false;
            }
            Inbound::Request(arrival) => {
                let rx_request = arrival.keep();
                let number = self.book.sees(self.incarnation(to), &message);
                self.decide(to, rx_request, number, decision);
            }
            Inbound::Handled => {}
        }
        self.collect(to);
        true
    }
}
