// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One driver whose engine and channel are in the hands of the input, and whose ends are counted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::rc::Rc;

use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::{Driver, Identity, Kind, Report, Request, RunState, Submitted};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::time::{Instant, Span};

use crate::hardware::{Hardware, Mock, MockChannel, MockEngine, MockMemory, Posted, Shared, LINKS};

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
    config.decision_bound = Span::from_millis(100);
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
    pub fn new(memory: &'m mut [MaybeUninit<u8>], me: Nid, incarnation: u64, now: Instant) -> Self {
        // The input decides by the incarnation, which may be any.
        let hardware = Hardware { pushes: incarnation & 2 != 0, ..Hardware::default() };
        Self::with(config(), memory, me, incarnation, now, hardware)
    }

    /// As [`new`](Self::new), over this hardware.
    pub fn with(
        config: Config,
        memory: &'m mut [MaybeUninit<u8>],
        me: Nid,
        incarnation: u64,
        now: Instant,
        hardware: Hardware,
    ) -> Self {
        let hardware = Shared::new(RefCell::new(hardware));
        let engine = |link| MockEngine { hardware: Rc::clone(&hardware), link };
        let incarnation = Incarnation::from_raw(incarnation.max(1)).expect("not zero");
        let driver = Driver::create(
            memory,
            config,
            Identity { nid: me, incarnation },
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
    pub fn rx_request(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A transfer was accepted: there will be one report.
    pub fn accepted(&mut self, user: u64, tag: Tag) {
        assert_eq!(self.open.insert(user, tag), None);
    }

    pub fn submit(&mut self, kind: Kind, to: Nid, length: u32, routed: bool, patience: Span) {
        let user = self.rx_request();
        let payload = [Fragment::new(64, length.clamp(1, 4096)), Fragment::new(8192, 17)];
        // Nothing, one piece, or two.
        let pieces = usize::from(length > 0) + usize::from(length % 3 == 2);
        let request = Request {
            kind,
            peer: to.into(),
            link: None,
            routed,
            header: b"header",
            payload: payload.get(..pieces).unwrap_or(&[]),
            deadline: self.now.after(patience),
            user,
        };
        if let Ok(Submitted::Pending(tag)) = self.driver.submit(self.now, request) {
            self.accepted(user, tag);
        }
    }

    /// A posted descriptor comes back.
    pub fn complete(&mut self, pick: usize, returned: Returned) {
        let mut hardware = self.hardware.borrow_mut();
        let nth = pick % hardware.posted.len().max(1);
        let Some((&key, &Posted { tag, .. })) = hardware.posted.iter().nth(nth) else { return };
        hardware.posted.remove(&key);
        drop(hardware);
        self.completion(tag, returned);
    }

    /// The interrupts take note of what has come back, on links whose device answers.
    pub fn interrupt(&mut self) {
        let mut hardware = self.hardware.borrow_mut();
        let gone = hardware.gone;
        let mut back = Vec::new();
        hardware.posted.retain(|&(link, _), posted| match posted.done {
            Some(returned) if !gone[link] => {
                back.push((posted.tag, returned));
                false
            }
            _ => true,
        });
        drop(hardware);
        for (tag, returned) in back {
            self.completion(tag, returned);
        }
    }

    fn completion(&mut self, tag: Tag, returned: Returned) {
        let completion = Completion { tag, returned };
        let irq_handle = self.driver.irq_handle();
        irq_handle.on_completion(self.now, completion, &mut self.counters, &mut NoTrace);
    }

    /// An engine says that something has come back which it does not have.
    pub fn stray_completion(&mut self, tag: Tag, returned: Returned) {
        let real = self.hardware.borrow().posted.values().any(|posted| posted.tag == tag);
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
    pub fn check(&mut self) -> Vec<Report> {
        let mut reports = Vec::new();
        loop {
            while let Some(report) = self.driver.next_report(self.now) {
                let tag = self.open.remove(&report.user);
                assert_eq!(tag, Some(report.tag), "INV-1: {report:?}");
                let out = |p: &Posted| p.tag == report.tag && p.done.is_none();
                let lent = self.hardware.borrow().posted.values().any(out);
                assert!(!lent, "INV-2: the engine still has {report:?}");
                reports.push(report);
            }
            if self.driver.nothing_to_report() {
                break;
            }
        }
        assert_eq!(self.driver.audit(), Ok(()));
        let (ours, theirs) = self.driver.in_use();
        assert!(ours + theirs <= config().slots, "INV-14");
        reports
    }

    /// Everything comes back and nothing new is accepted: the node must come to rest (INV-15).
    pub fn run_down(&mut self) {
        let mut hardware = self.hardware.borrow_mut();
        (hardware.full, hardware.gone) = (false, Default::default());
        drop(hardware);
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
