// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a byzantine node makes of what it is told: it answers rightly, wrongly, or not at all.

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::message::{Lane, Message, NakReason, PullReady};
use lnd_core::ports::Motion;
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{decode, Checksum};

use super::Byzantine;
use crate::fabric::{nid_of, node_of};
use crate::simulator::mailbox;

impl Byzantine<'_> {
    /// Hears one frame that was sent to it.
    pub(super) fn react(&mut self, now: Instant, lane: mailbox::Lane, bytes: &[u8]) {
        self.captured.learn(&mut self.net.borrow_mut().overheard);
        let Ok(frame) = decode(bytes, Checksum::On) else { return };
        let (envelope, message) = frame.into_parts();
        let Some(peer) = node_of(envelope.from) else { return };
        self.captured.note(&envelope, &message);
        if message.lane() == Lane::Request {
            let known = self.captured.node(peer);
            known.consumed = known.consumed.wrapping_add(1);
        }
        if self.rng.chance(self.rates.deaf) {
            self.tally.count("byzantine: goes deaf");
            self.deaf_until = now.after(Span::from_millis(self.rng.between(1, 100)));
        }
        let silent = self.calm && !self.rates.goes_on;
        if silent || !self.rng.chance(self.rates.answers) {
            return;
        }
        match message {
            Message::Hello(hello) => {
                self.connected(peer, lane.link, envelope.session, hello.attempt);
            }
            Message::HelloAck(ack) => {
                let known = self.captured.node(peer);
                known.open |= ack.session == known.ours;
            }
            Message::PutReq { source, length, .. } => {
                self.put_asked(peer, lane.link, source, length);
            }
            // A request with a key asks for a push.
            Message::GetReq { sink, length, key, .. } if !key.is_empty() => {
                self.push_asked(peer, lane.link, sink, length);
            }
            Message::GetReq { sink, length, .. } => {
                self.get_asked(peer, lane.link, sink, length);
            }
            Message::PullReady(ready) => self.pull(peer, lane.link, ready.source, ready.length),
            _ => {}
        }
    }

    fn answer(&mut self, to: u32, link: LinkId, message: &Message<'_>) {
        let mut envelope = self.envelope(to, message.lane());
        if self.rng.below(6) == 0 {
            self.twist(&mut envelope);
        }
        if let Some(bytes) = Self::frame_of(&envelope, message) {
            self.tally.count("byzantine: answers");
            self.say(to, link, bytes);
        }
    }

    fn connected(&mut self, peer: u32, link: LinkId, session: u32, attempt: u8) {
        let known = self.captured.node(peer);
        (known.theirs, known.consumed) = (session, 0);
        let ack = self.any_ack(session, attempt);
        self.answer(peer, link, &Message::HelloAck(ack));
        if !self.captured.node(peer).open {
            if let Some(bytes) = self.hello(peer) {
                self.say(peer, link, bytes);
            }
        }
    }

    /// An honest node has staged something for us.
    fn put_asked(&mut self, peer: u32, link: LinkId, source: Tag, length: u32) {
        let why = NakReason::ALL[self.rng.below(5) as usize];
        match self.rng.below(6) {
            0 => self.answer(peer, link, &Message::PutNak { source, why }),
            // It says that it has pulled, and has not.
            1 => self.answer(peer, link, &Message::PutDone { source, failed: None }),
            2 => self.answer(peer, link, &Message::PutDone { source, failed: Some(why) }),
            _ => self.pull(peer, link, source, length),
        }
    }

    /// An honest node waits for us to stage something.
    fn get_asked(&mut self, peer: u32, link: LinkId, sink: Tag, length: u32) {
        let why = NakReason::ALL[self.rng.below(5) as usize];
        let length = if self.rng.below(3) == 0 { self.any_length() } else { length };
        match self.rng.below(4) {
            0 => self.answer(peer, link, &Message::GetNak { sink, why }),
            1 => {
                let source = self.any_tag();
                self.answer(
                    peer,
                    link,
                    &Message::PullReady(PullReady { sink, source, length, key: &[] }),
                );
            }
            _ => {
                let staged = if self.rng.below(3) == 0 { self.any_length() } else { length };
                let to = Motion::Stage { to: nid_of(peer) };
                let Some(source) = self.post(link, to, staged) else { return };
                self.answer(
                    peer,
                    link,
                    &Message::PullReady(PullReady { sink, source, length, key: &[] }),
                );
            }
        }
    }

    /// An honest node waits for us to push something into its memory. It says that it has, and has
    /// not, or refuses; or it stages and says so, which was not asked.
    fn push_asked(&mut self, peer: u32, link: LinkId, sink: Tag, length: u32) {
        let why = NakReason::ALL[self.rng.below(5) as usize];
        let length = if self.rng.below(3) == 0 { self.any_length() } else { length };
        match self.rng.below(4) {
            0 => self.answer(peer, link, &Message::GetNak { sink, why }),
            1 => self.answer(peer, link, &Message::GetDone { sink, length, failed: None }),
            2 => {
                let failed = Some(why);
                self.answer(peer, link, &Message::GetDone { sink, length: 0, failed });
            }
            _ => self.get_asked(peer, link, sink, length),
        }
    }

    /// Has its engine pull what was staged for it, or something beside it.
    fn pull(&mut self, peer: u32, link: LinkId, source: Tag, length: u32) {
        let source = if self.rng.below(4) == 0 { self.any_tag() } else { source };
        let length = if self.rng.below(4) == 0 { self.any_length() } else { length };
        self.post(link, Motion::Pull { from: nid_of(peer), source, key: Key::NONE }, length);
        if self.rng.below(2) == 0 {
            self.answer(peer, link, &Message::PutDone { source, failed: None });
        }
    }

    /// Memory of its own, or of no node.
    pub(super) fn any_memory(&mut self, length: u32) -> Fragment {
        let address = match self.rng.below(8) {
            0 => self.rng.next(),
            _ => self.rng.below(8 << 20),
        };
        Fragment::new(address, length)
    }
}
