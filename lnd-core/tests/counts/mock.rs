// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ports that do nothing but record, and the words of a peer that always agrees.
//!
//! What is counted or timed over them is the driver's own part. Everything they need is allocated
//! when they are made. The benchmarks use the same file.

use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::driver::{Driver, Identity, Kind, Request};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Hello, HelloAck, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Engine, Features, Memory, NoTrace, Ports, PostError,
    Returned, Sent,
};
use lnd_core::time::{Instant, Span};

/// The only link.
pub const LINK: LinkId = LinkId::new(0).unwrap();

/// The recording ports.
#[derive(Debug)]
pub struct Mock;

impl Ports for Mock {
    type Engine = Recorder;
    type Channel = Post;
    type Memory = Anywhere;
    type Tracer = NoTrace;
}

/// An engine that keeps what is posted until it is told how it ends.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Descriptors posted and doorbells rung.
    pub posts: u64,
    /// Doorbells rung.
    pub doorbells: u64,
    /// Descriptors asked to come back, in order. Room is reserved when the engine is made.
    pub invalidated: Vec<Tag>,
    /// How long each post takes: addresses and lengths added up, so that nothing is optimised away.
    pub digest: u64,
    /// It stops when it is told to, and then gives back what it has.
    pub stops: bool,
    /// It has stopped.
    pub stopped: bool,
}

impl Engine for Recorder {
    fn features(&self) -> Features {
        Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        self.posts += 1;
        let first = bd.fragments.first().map_or(0, |f| f.address);
        self.digest = self.digest.wrapping_add(first ^ u64::from(bd.length));
        Ok(())
    }

    fn doorbell(&mut self) {
        self.doorbells += 1;
    }

    fn invalidate(&mut self, tag: Tag) {
        self.invalidated.push(tag);
    }

    fn stop(&mut self) {
        self.stopped = self.stops;
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        // SAFETY: this engine reads and writes no memory at all.
        self.stopped.then(|| unsafe { Quiesced::assert_stopped(LINK) })
    }

    fn reclaim(&mut self, _tag: Tag, _proof: &Quiesced) -> Option<Returned> {
        self.stopped.then_some(Returned::Untouched)
    }

    fn reset(&mut self, _proof: Quiesced) {
        self.stopped = false;
    }

    fn is_gone(&self) -> bool {
        false
    }

    fn link_up(&mut self) -> bool {
        true
    }
}

/// A channel that takes everything and remembers the session it last connected with.
#[derive(Debug, Default)]
pub struct Post {
    /// Messages taken.
    pub sent: u64,
    /// Session of the last hello.
    pub session: u32,
    /// Messages have ended when they are taken.
    pub ends_at_once: bool,
}

impl Channel for Post {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ends_at_once(&self) -> bool {
        self.ends_at_once
    }

    fn immediate_max(&self) -> u32 {
        4096
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, _lane: Lane) -> bool {
        true
    }

    fn send(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        self.sent += 1;
        if matches!(message, Message::Hello(_)) {
            self.session = envelope.session;
        }
        Ok(self.ends_at_once.then_some(Sent::Ok))
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

/// Memory of which every address is good and nothing is kept.
#[derive(Debug)]
pub struct Anywhere;

impl Memory for Anywhere {
    fn read(&self, _address: u64, _into: &mut [u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn write(&mut self, _address: u64, _from: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, _fragment: &Fragment) -> bool {
        true
    }
}

/// A driver over recording ports, and what its peers say to it.
pub struct Rig {
    /// The driver.
    pub driver: Driver<'static, Mock>,
    /// The time; the caller moves it.
    pub now: Instant,
}

/// The incarnation of node number `n`.
pub fn incarnation(n: u64) -> Incarnation {
    Incarnation::from_raw(n + 100).unwrap()
}

/// The NID of node number `n`; ours is number 0.
pub fn nid(n: u64) -> Nid {
    Nid::from_raw(n + 1).unwrap()
}

/// The session that every peer opens with us.
const THEIRS: u32 = 1;

impl Rig {
    /// A driver whose link is up and that knows no peer. Its memory is leaked.
    pub fn new(config: Config) -> Self {
        let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
        let me = Identity { nid: nid(0), incarnation: incarnation(0) };
        let engine = Recorder {
            invalidated: Vec::with_capacity(config.slots as usize),
            ..Recorder::default()
        };
        let driver =
            Driver::create(memory, config, me, [engine], Post::default(), Anywhere, NoTrace)
                .unwrap();
        let mut rig = Self { driver, now: Instant::from_nanos(1_000_000_000) };
        rig.driver.on_time(rig.now);
        rig
    }

    /// The envelope of a message of peer `n` that has consumed `credits` requests of ours.
    pub fn envelope(&self, n: u64, sequence: u32, credits: u16) -> Envelope {
        let session = self.driver.channel().session;
        Envelope {
            from: nid(n),
            to: nid(0),
            from_incarnation: incarnation(n),
            to_incarnation: Some(incarnation(0)),
            session: THEIRS,
            sequence,
            credits,
            credits_of: session,
        }
    }

    /// Peer `n` connects to us and answers our HELLO; returns our session with it.
    pub fn meet(&mut self, n: u64) -> u32 {
        let features = (Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED).0;
        let hello = Hello {
            version_min: 1,
            version_max: 1,
            immediate_max: 4096,
            features,
            given_up: 0,
            attempt: 1,
        };
        let envelope = self.envelope(n, 0, 0);
        let _ = self.driver.on_message(self.now, LINK, &envelope, &Message::Hello(hello));
        // Connected by us as soon as there is something to send.
        let request = self.request(Kind::Put, n, &[]);
        let tag = self.driver.submit(self.now, request).unwrap().tag().unwrap();
        let session = self.driver.channel().session;
        let ack = HelloAck {
            session,
            attempt: 1,
            version: Some(1),
            depth: 32,
            immediate_max: 4096,
            features,
        };
        let envelope = self.envelope(n, 0, 0);
        let _ = self.driver.on_message(self.now, LINK, &envelope, &Message::HelloAck(ack));
        self.driver.on_time(self.now);
        self.driver.on_sent(self.now, tag, Sent::Ok);
        assert!(self.driver.next_report(self.now).is_some_and(|r| r.status.errno == 0));
        session
    }

    /// A request to peer `n` with a deadline a minute away.
    pub fn request<'r>(&self, kind: Kind, n: u64, payload: &'r [Fragment]) -> Request<'r> {
        Request {
            kind,
            peer: nid(n).into(),
            link: None,
            routed: false,
            header: &[0x5a; 72],
            payload,
            deadline: self.now.after(Span::from_secs(60)),
            user: 7,
        }
    }
}
