// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames that a byzantine node makes up.

use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::message::{Envelope, Hello, HelloAck, Lane, Message, NakReason, PullReady};
use lnd_shortmsg::wire::layout::{at, PREFIX_LEN};
use lnd_shortmsg::wire::{checksum, encode, encoded_len, Checksum};

use super::Byzantine;
use crate::fabric::nid_of;
use crate::lnet::{Body, LnetHeader, Target};

/// The portals of the honest nodes' users, and one that no user has.
const PORTALS: [u32; 5] = [1, 2, 3, 9, 77];

impl Byzantine<'_> {
    fn chance(&mut self, one_in: u64) -> bool {
        self.rng.below(one_in) == 0
    }

    /// A number near another one, or any.
    fn near(&mut self, number: u32) -> u32 {
        match self.rng.below(8) {
            0 | 1 => number,
            2 => number.wrapping_add(1),
            3 => number.wrapping_sub(1),
            4 => number.wrapping_add(self.rng.below(70) as u32),
            5 => number ^ (1 << self.rng.below(32)),
            6 => number.wrapping_add(1 << 31),
            _ => self.rng.next() as u32,
        }
    }

    pub(super) fn any_tag(&mut self) -> Tag {
        let known = self.captured.cookie(&mut self.rng);
        let known = known.unwrap_or(Tag { index: 0, generation: self.rng.next() as u32 });
        match self.rng.below(4) {
            0 => Tag { generation: self.near(known.generation), ..known },
            1 => Tag { index: self.near(known.index), ..known },
            _ => known,
        }
    }

    pub(super) fn any_length(&mut self) -> u32 {
        let lengths = [0, 1, 5, 4096, 5000, 70_000, 1 << 20, u32::MAX];
        match self.rng.below(10) {
            8 => self.rng.below(128 << 10) as u32,
            9 => self.rng.next() as u32,
            n => lengths[n as usize],
        }
    }

    fn any_incarnation(&mut self, incarnation: Option<Incarnation>) -> Option<Incarnation> {
        let raw = incarnation.map_or(1, Incarnation::raw);
        match self.rng.below(6) {
            0 => None,
            1 => Incarnation::from_raw(raw.wrapping_add(1)),
            2 => Incarnation::from_raw(raw ^ (1 << self.rng.below(64))),
            3 => Incarnation::from_raw(self.rng.next()),
            _ => incarnation,
        }
    }

    fn any_nid(&mut self) -> Nid {
        let node = self.rng.below(u64::from(self.nodes) + 2) as u32;
        match self.rng.below(4) {
            0 => Nid::from_raw(self.rng.next()).unwrap_or(nid_of(node)),
            _ => nid_of(node),
        }
    }

    /// What a correct node would write on the outside. A request has the next number.
    pub(super) fn envelope(&mut self, to: u32, lane: Lane) -> Envelope {
        let first = self.first;
        let known = self.captured.node(to);
        if lane == Lane::Request {
            known.sequence = known.sequence.wrapping_add(1);
        }
        Envelope {
            from: nid_of(self.node),
            to: nid_of(to),
            from_incarnation: self.incarnation,
            to_incarnation: known.incarnation,
            session: known.ours,
            sequence: known.sequence,
            credits: (first as u16).wrapping_add(known.consumed),
            credits_of: known.theirs,
        }
    }

    /// Changes one thing or some in an envelope.
    pub(super) fn twist(&mut self, envelope: &mut Envelope) {
        for _ in 0..self.rng.between(1, 2) {
            match self.rng.below(8) {
                0 => envelope.from = self.any_nid(),
                1 => envelope.to = self.any_nid(),
                2 => {
                    envelope.from_incarnation =
                        self.any_incarnation(Some(self.incarnation)).unwrap_or(self.incarnation)
                }
                3 => envelope.to_incarnation = self.any_incarnation(envelope.to_incarnation),
                4 => envelope.session = self.near(envelope.session),
                5 => envelope.sequence = self.near(envelope.sequence),
                6 => envelope.credits = self.near(u32::from(envelope.credits)) as u16,
                _ => envelope.credits_of = self.near(envelope.credits_of),
            }
        }
    }

    /// The frame of a message; `None`: it has no wire format.
    pub(super) fn frame_of(envelope: &Envelope, message: &Message<'_>) -> Option<Vec<u8>> {
        let mut bytes = vec![0; encoded_len(envelope, message).ok()?];
        encode(envelope, message, Checksum::On, &mut bytes).ok()?;
        Some(bytes)
    }

    /// A header for the upper layer: mostly one that it understands.
    fn any_header(&mut self, to: u32, length: u32) -> Vec<u8> {
        if self.chance(6) {
            let bytes = self.rng.below(97) as usize;
            return (0..bytes).map(|_| self.rng.next() as u8).collect();
        }
        let request = self.any_tag();
        // In quiet times it takes no place from those who are to be served.
        let from = if self.calm { 3 } else { 0 };
        let target = Target {
            portal: PORTALS[self.rng.between(from, 4) as usize],
            match_bits: self.rng.next(),
            offset: if self.chance(2) { 0 } else { self.any_length() },
            data: self.rng.below(1000),
        };
        let body = match self.rng.below(4) {
            0 => Body::Put { target, length, ack: self.chance(2).then_some(request) },
            1 => Body::Ack { request, length },
            2 => Body::Get { target, length, request },
            _ => Body::Reply { request, length },
        };
        let honest = self.calm || !self.chance(6);
        let source = if honest { nid_of(self.node) } else { self.any_nid() };
        let destination = if honest { nid_of(to) } else { self.any_nid() };
        LnetHeader { hops: 0, source, destination, body }.encode().to_vec()
    }

    /// Any message in any envelope.
    pub(super) fn forged(&mut self, to: u32) -> Option<Vec<u8>> {
        let (tag, other) = (self.any_tag(), self.any_tag());
        let length = self.any_length();
        let header = self.any_header(to, length);
        let payload = vec![0xbd; length.min(2048) as usize];
        let why = NakReason::ALL[self.rng.below(5) as usize];
        let session = self.captured.node(to).theirs;
        let key = key_like(tag);
        let message = match self.rng.below(12) {
            0 => Message::Hello(self.any_hello()),
            1 => Message::HelloAck(self.any_ack(session, 1)),
            2 => Message::Immediate { header: &header, payload: &payload },
            3 => Message::PutReq { header: &header, source: tag, length, key: key.as_bytes() },
            4 => Message::PutNak { source: tag, why },
            5 => Message::PutDone { source: tag, failed: self.chance(2).then_some(why) },
            6 => Message::GetReq { header: &header, sink: tag, length, key: key.as_bytes() },
            7 => Message::GetNak { sink: tag, why },
            8 => Message::Noop,
            9 => Message::Close,
            10 if length.is_multiple_of(4) => Message::CancelGet { source: other, sink: tag },
            10 if length % 4 == 1 => {
                Message::CancelPut { source: tag, session, sequence: other.index }
            }
            10 if length % 4 == 2 => {
                Message::CancelPush { sink: tag, session, sequence: other.index }
            }
            // In place of some PULL_READY, so that all else of a run stays as it was.
            10 => done(tag, length, why),
            _ => Message::PullReady(PullReady {
                sink: tag,
                source: other,
                length,
                key: key.as_bytes(),
            }),
        };
        let mut envelope = self.envelope(to, message.lane());
        self.twist(&mut envelope);
        Self::frame_of(&envelope, &message)
    }

    fn any_hello(&mut self) -> Hello {
        let fits = !self.chance(4);
        Hello {
            version_min: if fits { 1 } else { self.rng.next() as u8 },
            version_max: if fits { 1 } else { self.rng.next() as u8 },
            immediate_max: self.any_length(),
            features: if self.chance(2) { 3 } else { self.rng.next() as u32 },
            given_up: if self.chance(2) { 0 } else { self.rng.next() as u32 },
            attempt: self.rng.next() as u8,
        }
    }

    /// An answer to a hello of `session` and `attempt`, or to another one.
    pub(super) fn any_ack(&mut self, session: u32, attempt: u8) -> HelloAck {
        let depths = [0, 1, 8, 32, 33, u16::MAX];
        HelloAck {
            session: if self.chance(4) { self.near(session) } else { session },
            attempt: if self.chance(4) { self.rng.next() as u8 } else { attempt },
            version: match self.rng.below(8) {
                0 => None,
                1 => Some(2),
                _ => Some(1),
            },
            depth: depths[self.rng.below(6) as usize],
            immediate_max: self.any_length(),
            features: if self.chance(2) { 3 } else { self.rng.next() as u32 },
        }
    }

    /// Random bytes; some that begin as a frame does.
    pub(super) fn noise(&mut self) -> Vec<u8> {
        let bytes = self.rng.below(self.frame as u64 + 1) as usize;
        let mut frame: Vec<u8> = (0..bytes).map(|_| self.rng.next() as u8).collect();
        if self.chance(2) {
            let prefix = [1 + self.rng.below(2) as u8, 1 + self.rng.below(10) as u8, 1, 0];
            frame.iter_mut().zip(prefix).for_each(|(to, from)| *to = from);
            self.mend(&mut frame);
        }
        frame
    }

    /// A frame that was sent, not quite as it was.
    pub(super) fn spoilt(&mut self, to: u32) -> Option<Vec<u8>> {
        let mut bytes = self.captured.frame(&mut self.rng)?;
        match self.rng.below(4) {
            0 => bytes.truncate(self.rng.below(bytes.len() as u64) as usize),
            1 => bytes.extend((0..self.rng.between(1, 64)).map(|n| n as u8)),
            2 => {
                let other = self.captured.frame(&mut self.rng)?;
                let cut = self.rng.below(bytes.len().min(other.len()) as u64) as usize;
                bytes.truncate(cut);
                bytes.extend_from_slice(&other[cut..]);
            }
            _ => {
                for _ in 0..self.rng.between(1, 8) {
                    let bit = self.rng.below(8 * bytes.len() as u64) as usize;
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
        if !self.chance(4) {
            // As if we had sent it to this neighbour.
            if bytes.len() >= at::TO_INCARNATION && self.chance(2) {
                put64(&mut bytes, at::FROM, nid_of(self.node).raw());
                put64(&mut bytes, at::TO, nid_of(to).raw());
                put64(&mut bytes, at::FROM_INCARNATION, self.incarnation.raw());
            }
            self.mend(&mut bytes);
        }
        Some(bytes)
    }

    /// Makes magic, length and checksum of a frame right.
    fn mend(&mut self, bytes: &mut [u8]) {
        if bytes.len() >= PREFIX_LEN {
            let length = bytes.len() as u32;
            put32(bytes, at::MAGIC, lnd_shortmsg::wire::layout::MAGIC);
            put32(bytes, at::LENGTH, length);
            let sum = checksum(bytes);
            put32(bytes, at::CHECKSUM, sum);
        }
    }

    /// A frame that was sent, as it was.
    pub(super) fn replayed(&mut self) -> Option<Vec<u8>> {
        self.captured.frame(&mut self.rng)
    }

    /// A burst of hellos.
    pub(super) fn handshake_often(&mut self, to: u32, link: LinkId) {
        for _ in 0..self.rng.between(1, 12) {
            let hello = self.any_hello();
            let mut envelope = self.envelope(to, Lane::Control);
            envelope.session = self.near(envelope.session);
            if let Some(incarnation) = self.any_incarnation(Some(self.incarnation)) {
                envelope.from_incarnation = incarnation;
            }
            envelope.to_incarnation = self.any_incarnation(envelope.to_incarnation);
            let Some(bytes) = Self::frame_of(&envelope, &Message::Hello(hello)) else { continue };
            self.tally.count("byzantine: hellos");
            self.say(to, link, bytes);
        }
    }

    /// An answer, in the right envelope, to what this peer has not asked: by cookies of others, or
    /// of its own, some of long ago.
    pub(super) fn unasked(&mut self, to: u32) -> Option<Vec<u8>> {
        let (tag, source) = (self.any_tag(), self.any_tag());
        let length = self.any_length();
        let why = NakReason::ALL[self.rng.below(5) as usize];
        let key = key_like(tag);
        let message = match self.rng.below(6) {
            _ if length % 4 == 3 => done(tag, length, why),
            0 => Message::PutNak { source: tag, why },
            1 => Message::PutDone { source: tag, failed: Some(why) },
            2 => Message::PutDone { source: tag, failed: None },
            3 => Message::GetNak { sink: tag, why },
            _ => Message::PullReady(PullReady { sink: tag, source, length, key: key.as_bytes() }),
        };
        let envelope = self.envelope(to, Lane::Control);
        Self::frame_of(&envelope, &message)
    }

    /// A request as a correct node would make it, but with a cookie of nothing and for any memory.
    pub(super) fn request(&mut self, to: u32) -> Option<Vec<u8>> {
        if !self.captured.node(to).open {
            return self.hello(to);
        }
        let length = self.any_length().min(256 << 10);
        let (tag, header) = (self.any_tag(), self.any_header(to, length));
        let payload = vec![0xbd; length.min(2048) as usize];
        let key = key_like(tag);
        let message = match self.rng.below(3) {
            0 => Message::Immediate { header: &header, payload: &payload },
            1 => Message::PutReq { header: &header, source: tag, length, key: key.as_bytes() },
            _ => Message::GetReq { header: &header, sink: tag, length, key: key.as_bytes() },
        };
        let envelope = self.envelope(to, Lane::Request);
        Self::frame_of(&envelope, &message)
    }

    /// A HELLO as it should be, of a new session.
    pub(super) fn hello(&mut self, to: u32) -> Option<Vec<u8>> {
        let first = self.first;
        let known = self.captured.node(to);
        known.ours = known.ours.max(first).wrapping_add(1).max(1);
        (known.open, known.sequence) = (false, first);
        let message = Message::Hello(Hello {
            version_min: 1,
            version_max: 1,
            immediate_max: 4096,
            features: 3,
            given_up: 0,
            attempt: 1,
        });
        let envelope = Envelope { sequence: first, ..self.envelope(to, Lane::Control) };
        Self::frame_of(&envelope, &message)
    }
}

/// A push that has ended, well or not.
fn done(sink: Tag, length: u32, why: NakReason) -> Message<'static> {
    let failed = Some(why).filter(|_| length % 8 < 4);
    Message::GetDone { sink, length, failed }
}

/// A key of any length, or none. It takes no random number: engines here have no keys, and ignore
/// those of others.
fn key_like(tag: Tag) -> Key {
    let bytes = [tag.to_cookie().to_le_bytes(); 4].concat();
    Key::new(&bytes[..tag.generation as usize % (bytes.len() + 1)]).unwrap_or(Key::NONE)
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_ne_bytes());
    }
}

fn put64(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at..at + 8) {
        place.copy_from_slice(&value.to_ne_bytes());
    }
}
