// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One driver whose engine and channel are in the hands of the input, and whose ends are counted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::rc::Rc;

use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::{Driver, Identity, Kind, Request, RunState};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Completion, Engine, Features, Memory, NoTrace, Ports,
    PostError, Returned, Sent,
};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{encode, encoded_len, Checksum};

/// Links of a node.
pub const LINKS: usize = 2;
/// Addresses below this are payload memory.
const MEMORY: u64 = 1 << 16;

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    pub link: LinkId,
    pub to: Nid,
    pub bytes: Vec<u8>,
}

/// The hardware of one node.
#[derive(Debug, Default)]
pub struct Hardware {
    /// Descriptors that the engines have.
    pub posted: BTreeMap<(usize, u32), Tag>,
    /// Stop was asked for, and a proof was given.
    stopping: [bool; LINKS],
    vouched: [bool; LINKS],
    pub link_down: [bool; LINKS],
    /// Neither channel nor post ring has room.
    pub full: bool,
    pub outbox: Vec<Letter>,
    /// Messages whose end was not reported yet.
    pub endings: Vec<(usize, Tag)>,
}

type Shared = Rc<RefCell<Hardware>>;

pub struct Mock;

impl Ports for Mock {
    type Engine = MockEngine;
    type Channel = MockChannel;
    type Memory = MockMemory;
    type Tracer = NoTrace;
}

pub struct MockEngine {
    hardware: Shared,
    link: usize,
}

impl Engine for MockEngine {
    fn features(&self) -> Features {
        // One link of each kind: with remote completion and without.
        Features(if self.link == 0 { Features::REMOTE_COMPLETION.0 } else { 0 })
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let mut hardware = self.hardware.borrow_mut();
        assert!(
            !hardware.stopping[self.link],
            "posted to an engine that was asked to stop (S0-20)"
        );
        if hardware.full {
            return Err(PostError::Full);
        }
        let old = hardware.posted.insert((self.link, bd.tag.index), bd.tag);
        assert_eq!(old, None, "posted twice (R17)");
        Ok(())
    }

    fn doorbell(&mut self) {}

    fn invalidate(&mut self, _tag: Tag) {}

    fn stop(&mut self) {
        self.hardware.borrow_mut().stopping[self.link] = true;
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let mut hardware = self.hardware.borrow_mut();
        if !hardware.stopping[self.link] || hardware.vouched[self.link] {
            return None;
        }
        hardware.vouched[self.link] = true;
        let link = LinkId::new(self.link)?;
        // SAFETY: this engine moves nothing at any time.
        Some(unsafe { Quiesced::assert_stopped(link) })
    }

    fn yank(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        assert_eq!(proof.link().index(), self.link, "yanked with another link's proof (S0-12)");
        self.hardware.borrow_mut().posted.remove(&(self.link, tag.index));
        None
    }

    fn reset(&mut self, proof: Quiesced) {
        assert_eq!(proof.link().index(), self.link, "reset with another link's proof (S0-11)");
        let mut hardware = self.hardware.borrow_mut();
        let left = hardware.posted.keys().any(|&(link, _)| link == self.link);
        assert!(!left, "reset with descriptors that were not yanked");
        (hardware.stopping[self.link], hardware.vouched[self.link]) = (false, false);
    }

    fn is_gone(&self) -> bool {
        false
    }

    fn link_up(&mut self) -> bool {
        !self.hardware.borrow().link_down[self.link]
    }
}

pub struct MockChannel(Shared);

impl Channel for MockChannel {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        256
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, _lane: Lane) -> bool {
        !self.0.borrow().full
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let mut hardware = self.0.borrow_mut();
        if hardware.full {
            return Err(ChannelFull);
        }
        let length = encoded_len(envelope, message).expect("the driver says what can be said");
        let mut bytes = vec![0; length];
        encode(envelope, message, Checksum::On, &mut bytes).expect("there is room");
        hardware.outbox.push(Letter { link, to: envelope.to, bytes });
        if let Some(tag) = tag {
            hardware.endings.push((link.index(), tag));
        }
        Ok(None)
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        assert_eq!(proof.link(), link, "the proof of another link (INV-3)");
        self.0.borrow_mut().endings.retain(|&(of, _)| of != link.index());
    }
}

pub struct MockMemory;

impl Memory for MockMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        into.fill(address as u8);
        Ok(())
    }

    fn write(&mut self, _address: u64, _from: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        fragment.address.checked_add(u64::from(fragment.length)).is_some_and(|end| end <= MEMORY)
    }
}

/// The configuration of every node: as small as it can be, with short times.
pub fn config() -> Config {
    let mut config = Config::new(8, 3, LINKS as u8);
    config.lists = 3;
    config.immediate_max = 256;
    config.depth = 2;
    config.pulls = 1;
    config.batch = 4;
    config.hello_timeout = Span::from_millis(20);
    config.hello_tries = 3;
    config.credit_stall = Span::from_millis(50);
    config.drain_bound = Span::from_millis(30);
    config.verdict_bound = Span::from_millis(100);
    config
}

/// A driver, its hardware, and the ledger of its transfers (INV-1).
pub struct Node<'m> {
    pub driver: Driver<'m, Mock>,
    pub hardware: Shared,
    pub now: Instant,
    counters: Counters,
    /// Accepted and not yet reported, by the number that the report brings back.
    open: BTreeMap<u64, Tag>,
    next: u64,
}

/// A NID of the tests' network.
pub fn nid(number: u8) -> Nid {
    Nid::from_raw(u64::from(number.max(1))).expect("not zero")
}

impl<'m> Node<'m> {
    pub fn new(memory: &'m mut [MaybeUninit<u8>], me: Nid, life: u64, now: Instant) -> Self {
        let hardware = Shared::default();
        let engine = |link| MockEngine { hardware: Rc::clone(&hardware), link };
        let life = Incarnation::from_raw(life.max(1)).expect("not zero");
        let driver = Driver::create(
            memory,
            config(),
            Identity { nid: me, life },
            (0..LINKS).map(engine),
            MockChannel(Rc::clone(&hardware)),
            MockMemory,
            NoTrace,
        );
        let driver = driver.expect("the configuration is sound");
        let (counters, open) = (Counters::new(), BTreeMap::new());
        let mut node = Self { driver, hardware, now, counters, open, next: 0 };
        node.tick(Span::from_nanos(0));
        node
    }

    /// Time passes.
    pub fn tick(&mut self, span: Span) {
        self.now = self.now.after(span);
        self.driver.on_time(self.now);
    }

    /// A number for the next transfer.
    pub fn ticket(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A transfer was accepted: there will be one report.
    pub fn accepted(&mut self, user: u64, tag: Tag) {
        assert_eq!(self.open.insert(user, tag), None);
    }

    pub fn submit(&mut self, kind: Kind, to: Nid, length: u32, routed: bool, patience: Span) {
        let user = self.ticket();
        let payload = [Fragment::new(64, length.clamp(1, 4096)), Fragment::new(8192, 17)];
        // Nothing, one piece, or two.
        let pieces = usize::from(length > 0) + usize::from(length % 3 == 2);
        let request = Request {
            kind,
            peer: to,
            link: None,
            routed,
            header: b"header",
            payload: payload.get(..pieces).unwrap_or(&[]),
            deadline: self.now.after(patience),
            user,
        };
        if let Ok(tag) = self.driver.submit(self.now, request) {
            self.accepted(user, tag);
        }
    }

    /// A posted descriptor comes back.
    pub fn complete(&mut self, pick: usize, returned: Returned) {
        let mut hardware = self.hardware.borrow_mut();
        let nth = pick % hardware.posted.len().max(1);
        let Some((&key, &tag)) = hardware.posted.iter().nth(nth) else { return };
        hardware.posted.remove(&key);
        drop(hardware);
        self.completion(tag, returned);
    }

    fn completion(&mut self, tag: Tag, returned: Returned) {
        let completion = Completion { tag, returned };
        let decider = self.driver.decider();
        decider.on_completion(self.now, completion, &mut self.counters, &mut NoTrace);
    }

    /// An engine says that something has come back which it does not have.
    pub fn stray_completion(&mut self, tag: Tag, returned: Returned) {
        let real = self.hardware.borrow().posted.values().any(|&posted| posted == tag);
        if !real {
            self.completion(tag, returned);
        }
    }

    /// The end of a short message is reported.
    pub fn sent(&mut self, pick: usize, sent: Sent) {
        let mut hardware = self.hardware.borrow_mut();
        let nth = pick % hardware.endings.len().max(1);
        if nth < hardware.endings.len() {
            let (_, tag) = hardware.endings.swap_remove(nth);
            drop(hardware);
            self.driver.on_sent(self.now, tag, sent);
        }
    }

    /// Takes all reports, and checks the books.
    pub fn check(&mut self) {
        loop {
            while let Some(report) = self.driver.next_report(self.now) {
                let tag = self.open.remove(&report.user);
                assert_eq!(tag, Some(report.tag), "INV-1: {report:?}");
                let lent = self.hardware.borrow().posted.values().any(|&tag| tag == report.tag);
                assert!(!lent, "INV-2: the engine still has {report:?}");
            }
            if self.driver.nothing_to_report() {
                break;
            }
        }
        assert_eq!(self.driver.audit(), Ok(()));
        let (ours, theirs) = self.driver.in_use();
        assert!(ours + theirs <= config().slots, "INV-14");
    }

    /// Everything comes back and nothing new is accepted: the node must come to rest (INV-15).
    pub fn run_down(&mut self) {
        self.hardware.borrow_mut().full = false;
        self.driver.shutdown(self.now, self.now);
        for _ in 0..500 {
            while !self.hardware.borrow().posted.is_empty() {
                self.complete(0, Returned::Touched);
            }
            while !self.hardware.borrow().endings.is_empty() {
                self.sent(0, Sent::Unknown);
            }
            self.tick(Span::from_millis(5));
            self.check();
            if self.driver.run_state() == RunState::Quiescent {
                assert_eq!(self.driver.in_use(), (0, 0), "INV-15: quiescent with slots in use");
                assert!(self.open.is_empty(), "INV-1: never reported: {:?}", self.open);
                return;
            }
        }
        panic!("INV-15: shutdown does not end: {:?}", self.driver.blocker(0));
    }
}
