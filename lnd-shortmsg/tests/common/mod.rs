// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the tests share: a random number generator, and the messages behind the golden frames.
#![allow(dead_code)]

use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason, PullReady, MAX_HEADER};

/// Golden frames that may carry a key, and the bytes of theirs.
pub const KEYED: [(&str, u8); 6] = [
    ("put_req", 0),
    ("put_req_key", 13),
    ("get_req", 0),
    ("get_req_key", 32),
    ("pull_ready", 0),
    ("pull_ready_key", 32),
];

/// Xorshift with 64 bits of state.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Now and then an extreme, otherwise anything.
    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            _ => self.next(),
        }
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn tag(&mut self) -> Tag {
        Tag::from_cookie(self.number())
    }

    fn refusal(&mut self) -> NakReason {
        NakReason::ALL[self.below(NakReason::ALL.len())]
    }

    /// Any key, none now and then; its bytes are a part of `content`.
    fn key<'a>(&mut self, content: &'a [u8]) -> &'a [u8] {
        let length = self.below(3).min(1) * self.below(MAX_KEY + 1);
        &content[..length]
    }

    /// Any message; headers and payload are parts of `content`, of at least [`MAX_HEADER`] bytes.
    pub fn message<'a>(&mut self, content: &'a [u8]) -> Message<'a> {
        let header = &content[..self.below(MAX_HEADER + 1)];
        let payload = &content[self.below(content.len() + 1)..];
        match self.below(15) {
            0 => Message::Hello(Hello {
                version_min: self.next() as u8,
                version_max: self.next() as u8,
                immediate_max: self.number() as u32,
                features: self.number() as u32,
                given_up: self.number() as u32,
                attempt: self.next() as u8,
            }),
            1 => Message::HelloAck(HelloAck {
                session: self.number() as u32,
                attempt: self.next() as u8,
                version: Some(self.next() as u8).filter(|&version| version != 0),
                depth: self.number() as u16,
                immediate_max: self.number() as u32,
                features: self.number() as u32,
            }),
            2 => Message::Immediate { header, payload },
            3 => {
                let (source, length) = (self.tag(), self.number() as u32);
                Message::PutReq { header, source, length, key: self.key(content) }
            }
            4 => Message::PutNak { source: self.tag(), why: self.refusal() },
            5 => {
                let failed = (self.below(2) == 0).then(|| self.refusal());
                Message::PutDone { source: self.tag(), failed }
            }
            6 => {
                let (sink, length) = (self.tag(), self.number() as u32);
                Message::GetReq { header, sink, length, key: self.key(content) }
            }
            7 => Message::GetNak { sink: self.tag(), why: self.refusal() },
            8 => Message::Noop,
            9 => Message::Close,
            10 => {
                let (session, sequence) = (self.number() as u32, self.number() as u32);
                Message::CancelPut { source: self.tag(), session, sequence }
            }
            11 => Message::CancelGet { source: self.tag(), sink: self.tag() },
            12 => {
                let failed = (self.below(2) == 0).then(|| self.refusal());
                let length = if failed.is_none() { self.number() as u32 } else { 0 };
                Message::GetDone { sink: self.tag(), length, failed }
            }
            13 => {
                let (session, sequence) = (self.number() as u32, self.number() as u32);
                Message::CancelPush { sink: self.tag(), session, sequence }
            }
            _ => Message::PullReady(PullReady {
                sink: self.tag(),
                source: self.tag(),
                length: self.number() as u32,
                key: self.key(content),
            }),
        }
    }

    /// Any envelope that may go with the message.
    pub fn envelope(&mut self, message: &Message<'_>) -> Envelope {
        let hello = matches!(message, Message::Hello(_));
        Envelope {
            from: Nid::from_raw(self.number().max(1)).unwrap(),
            to: Nid::from_raw(self.number().max(1)).unwrap(),
            from_incarnation: Incarnation::from_raw(self.number().max(1)).unwrap(),
            to_incarnation: Incarnation::from_raw(self.number().max(u64::from(!hello))),
            session: self.number() as u32,
            sequence: self.number() as u32,
            credits: self.number() as u16,
            credits_of: self.number() as u32,
        }
    }
}

/// One message and the name of its golden files.
pub struct Sample {
    pub name: &'static str,
    pub envelope: Envelope,
    pub message: Message<'static>,
}

/// The envelope of the golden frames.
pub fn envelope() -> Envelope {
    Envelope {
        from: Nid::from_raw(0x0007_0001_0000_0a01).unwrap(),
        to: Nid::from_raw(0x0007_0001_0000_0b02).unwrap(),
        from_incarnation: Incarnation::from_raw(0x1111_2222_3333_4444).unwrap(),
        to_incarnation: Incarnation::from_raw(0x5555_6666_7777_8888),
        session: 9,
        sequence: 0x0102_0304,
        credits: 0x0506,
        credits_of: 0x0708_090a,
    }
}

const HEADER: [u8; 72] = {
    let mut bytes = [0; 72];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = 0xa0 + i as u8;
        i += 1;
    }
    bytes
};

const PAYLOAD: [u8; 21] = {
    let mut bytes = [0; 21];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = i as u8 * 7 + 1;
        i += 1;
    }
    bytes
};

const KEY: [u8; MAX_KEY] = {
    let mut bytes = [0; MAX_KEY];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = 0x60 + i as u8;
        i += 1;
    }
    bytes
};

/// A message for every golden file of version 1.
pub fn samples() -> Vec<Sample> {
    let tag = Tag { generation: 0xcafe_0003, index: 0x102 };
    let source = Tag { generation: 0xbeef_0004, index: 0x305 };
    let length = 1 << 20;
    let header = HEADER.as_slice();
    let ack = HelloAck {
        session: 12,
        attempt: 3,
        version: Some(1),
        depth: 64,
        immediate_max: 4000,
        features: 1,
    };
    let hello = Hello {
        version_min: 1,
        version_max: 1,
        immediate_max: 4096,
        features: 3,
        given_up: 5,
        attempt: 3,
    };
    let stranger = Envelope {
        to_incarnation: None,
        session: 12,
        sequence: 0,
        credits: 0,
        credits_of: 0,
        ..envelope()
    };
    let key = &KEY[..13];
    let ready = PullReady { sink: tag, source, length, key: &KEY };
    let sample = |name, message| Sample { name, envelope: envelope(), message };
    vec![
        Sample { name: "hello", envelope: stranger, message: Message::Hello(hello) },
        sample("hello_ack", Message::HelloAck(ack)),
        sample("hello_ack_no_version", Message::HelloAck(HelloAck { version: None, ..ack })),
        sample("immediate", Message::Immediate { header, payload: &PAYLOAD }),
        sample("put_req", Message::PutReq { header, source: tag, length, key: &[] }),
        sample("put_req_key", Message::PutReq { header, source: tag, length, key }),
        sample("put_nak", Message::PutNak { source: tag, why: NakReason::NoMatch }),
        sample("put_done", Message::PutDone { source: tag, failed: None }),
        sample(
            "put_done_failed",
            Message::PutDone { source: tag, failed: Some(NakReason::Failed) },
        ),
        sample("get_req", Message::GetReq { header, sink: tag, length, key: &[] }),
        sample("get_req_key", Message::GetReq { header, sink: tag, length, key: &KEY }),
        sample("get_nak", Message::GetNak { sink: tag, why: NakReason::NoResources }),
        sample("noop", Message::Noop),
        sample("close", Message::Close),
        sample("cancel_put", Message::CancelPut { source: tag, session: 8, sequence: 0x0b0c_0d0e }),
        sample("cancel_get", Message::CancelGet { source: tag, sink: source }),
        sample("get_done", Message::GetDone { sink: tag, length, failed: None }),
        sample(
            "get_done_failed",
            Message::GetDone { sink: tag, length: 0, failed: Some(NakReason::Failed) },
        ),
        sample("cancel_push", Message::CancelPush { sink: tag, session: 8, sequence: 0x0b0c_0d0e }),
        sample("pull_ready", Message::PullReady(PullReady { key: &[], ..ready })),
        sample("pull_ready_key", Message::PullReady(ready)),
    ]
}
