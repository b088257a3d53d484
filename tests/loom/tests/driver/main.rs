// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A whole driver against interrupts (INV-1, INV-2, S0-16, S0-20).
//!
//! Protocol: the shard's thread calls the driver, other contexts call copies of its [`IrqHandle`];
//! they meet in the shared words only. The other models look at one protocol each with the
//! submitter's steps written out; here they are the driver's own.
//!
//! Property: a submission that is accepted is reported exactly once, a refused one not at all; one
//! that is handed out to a peer or a link that went down meanwhile is given up without waiting for
//! its deadline, and its descriptor is asked for, or taken away, exactly once.
//!
//! [`IrqHandle`]: lnd_core::driver::IrqHandle
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod late;
mod ports;

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::rc::Rc;

use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::{Driver, Identity, IrqHandle, Kind, Report, Request, Why};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, PeerId, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Envelope, HelloAck, Message};
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::time::{Instant, Span};
use lnd_loom::{explore, Bound};
use loom::thread::{self, JoinHandle};

use ports::{Device, Port};

const NOW: Instant = Instant::ORIGIN;

/// A driver, and the memory it lies in.
struct Node {
    driver: Driver<'static, Port>,
    device: Rc<Device>,
    /// The tag of the next submission: the next use of the slot used before.
    next: Tag,
    memory: NonNull<[MaybeUninit<u8>]>,
}

impl Node {
    /// A driver whose link is up and whose peer is good, with one transfer behind it.
    fn new() -> Self {
        let config = Config { lists: 0, immediate_max: 0, ..Config::new(2, 1, 1) };
        let bytes = vec![MaybeUninit::uninit(); config.bytes_needed()].into_boxed_slice();
        let memory = NonNull::from(Box::leak(bytes));
        // SAFETY: freed by `end` only; until then no other thread touches it.
        let lent = unsafe { &mut *memory.as_ptr() };
        let device = Device::new();
        let port = || Port(Rc::clone(&device));
        let me = Identity { nid: nid(1), incarnation: incarnation(1) };
        let driver = Driver::create(lent, config, me, [port()], port(), port(), port()).unwrap();
        let next = Tag { index: 0, generation: 0 };
        let mut node = Self { driver, device, next, memory };
        node.driver.on_time(NOW);
        node.next = node.handshake();
        node.next.generation = node.next.generation.wrapping_add(1);
        node
    }

    /// Submits a first message, answers the hello that it causes, and sees it through.
    fn handshake(&mut self) -> Tag {
        let tag = self.submit(&[]).unwrap();
        let envelope = Envelope {
            from: nid(2),
            to: nid(1),
            from_incarnation: incarnation(2),
            to_incarnation: Some(incarnation(1)),
            session: 1,
            sequence: 0,
            credits: 0,
            credits_of: 0,
        };
        let session = self.device.session.get();
        let ack = HelloAck {
            session,
            attempt: 1,
            version: Some(1),
            depth: 8,
            immediate_max: 0,
            features: 1,
        };
        let _ = self.driver.on_message(NOW, link(), &envelope, &Message::HelloAck(ack));
        assert!(self.device.carries(tag));
        self.driver.on_sent(NOW, tag, Sent::Ok);
        assert_eq!(self.report().map(|r| (r.tag, r.status.errno)), Some((tag, 0)));
        tag
    }

    /// Submits a PUT; with a payload it is staged.
    fn submit(&mut self, payload: &[Fragment]) -> Result<Tag, Why> {
        let request = Request {
            kind: Kind::Put,
            peer: nid(2).into(),
            link: None,
            routed: false,
            header: b"header",
            payload,
            deadline: NOW.after(Span::from_secs(9)),
            user: 7,
        };
        let submitted = self.driver.submit(NOW, request).map_err(|refused| refused.why)?;
        Ok(submitted.tag().expect("this channel ends nothing at once"))
    }

    fn report(&mut self) -> Option<Report> {
        self.driver.next_report(NOW)
    }

    /// A context that holds a decider and sees the device.
    fn context<T: 'static>(&self, run: impl FnOnce(&Context) -> T + 'static) -> JoinHandle<T> {
        let device = Rc::clone(&self.device);
        let context = Context { irq_handle: self.driver.irq_handle(), device };
        thread::spawn(move || run(&context))
    }

    /// This thread as such a context.
    fn here(&self) -> Context {
        Context { irq_handle: self.driver.irq_handle(), device: Rc::clone(&self.device) }
    }

    /// Nothing may be left. Context: the last one; all others have been joined.
    fn end(mut self) {
        assert!(self.report().is_none(), "reported twice");
        assert_eq!(self.driver.in_use(), (0, 0));
        drop(self.driver);
        // SAFETY: from `Box::leak` in `new`; the driver and every decider are gone.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// Another context than the shard's thread.
struct Context {
    irq_handle: IrqHandle<'static>,
    device: Rc<Device>,
}

impl Context {
    fn peer_down(&self, peer: PeerId) {
        self.device.turn();
        self.irq_handle.peer_down(peer);
    }

    fn fail_link(&self) {
        self.device.turn();
        self.irq_handle.link_failed(link());
    }

    /// The descriptor comes back, if the device has it. Whether it did.
    fn complete(&self, tag: Tag, returned: Returned) -> bool {
        let has = self.device.has(tag);
        if has {
            self.device.turn();
            let completion = Completion { tag, returned };
            self.irq_handle.on_completion(NOW, completion, &mut Counters::new(), &mut NoTrace);
        }
        has
    }

    /// The message ends, if the channel has it. Whether it did.
    fn deliver(&self, tag: Tag) -> bool {
        let carries = self.device.carries(tag);
        if carries {
            self.device.turn();
            self.irq_handle.on_sent(NOW, tag, Sent::Ok, &mut Counters::new(), &mut NoTrace);
        }
        carries
    }
}

fn nid(n: u64) -> Nid {
    Nid::from_raw(n).unwrap()
}

fn incarnation(n: u64) -> Incarnation {
    Incarnation::from_raw(n).unwrap()
}

fn link() -> LinkId {
    LinkId::new(0).unwrap()
}

/// What is sent in the race.
const STAGED: &[Fragment] = &[Fragment::new(0x1000, 8)];

#[test]
fn inv_1_submit_against_completions() {
    let ends = explore("driver: submit ‖ completions", Bound::Exhaustive, || {
        let mut node = Node::new();
        let tag = node.next;
        let interrupt = node
            .context(move |context| (context.complete(tag, Returned::Ok), context.deliver(tag)));
        assert_eq!(node.submit(STAGED), Ok(tag));
        let early = node.report();
        let (completed, delivered) = interrupt.join().unwrap();
        // What was not there yet when the interrupt looked comes now.
        let here = node.here();
        assert!(completed || here.complete(tag, Returned::Ok));
        assert!(delivered || here.deliver(tag));

        let was_early = early.is_some();
        let report = early.or_else(|| node.report()).unwrap();
        assert_eq!((report.tag, report.user, report.status.errno), (tag, 7, 0));
        node.end();
        (completed, delivered, was_early)
    });
    let all = [
        (false, false, false),
        (false, true, false),
        (true, false, false),
        (true, true, false),
        (true, true, true),
    ];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// A driver alone has posted the transfer. Then its first handle is taken, and from there on both
/// contexts pay one debt each (decision 0037).
#[test]
fn inv_1_a_handle_is_taken_in_the_middle_of_a_transfer() {
    let ends = explore("driver: alone; message ends ‖ completion", Bound::Exhaustive, || {
        let mut node = Node::new();
        let tag = node.submit(STAGED).unwrap();
        let interrupt = node.context(move |context| context.complete(tag, Returned::Ok));
        node.device.turn();
        assert!(node.device.carries(tag));
        node.driver.on_sent(NOW, tag, Sent::Ok);
        let early = node.report();
        assert!(interrupt.join().unwrap());

        let was_early = early.is_some();
        let report = early.or_else(|| node.report()).expect("a debt is lost");
        assert_eq!((report.tag, report.status.errno), (tag, 0));
        node.end();
        was_early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

#[test]
fn inv_1_submit_against_peer_down() {
    let ends = explore("driver: submit ‖ peer-down", Bound::Exhaustive, || {
        let mut node = Node::new();
        let tag = node.next;
        let peer = node.driver.peer(nid(2)).unwrap();
        let interrupt = node.context(move |context| context.peer_down(peer));
        let accepted = node.submit(STAGED);
        interrupt.join().unwrap();
        node.driver.on_time(NOW);

        let (here, invalidated) = (node.here(), node.device.invalidated.get());
        let posted = here.complete(tag, Returned::Untouched);
        let said = here.deliver(tag);
        assert_eq!((said, invalidated), (posted, u32::from(posted)), "asked for exactly once");
        match accepted {
            Ok(accepted) => {
                assert_eq!(accepted, tag);
                let report = node.report().unwrap();
                assert_eq!(report.tag, tag);
                assert_ne!(report.status.errno, 0);
            }
            Err(why) => assert_eq!((why, posted), (Why::PeerDown, false)),
        }
        node.end();
        (accepted.is_ok(), posted)
    });
    // Refused; accepted and taken back, or queued and given up; handed out.
    let all = [(false, false), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_2_submit_against_link_failure_and_late_completion() {
    let ends = explore("driver: submit ‖ link failure ‖ HwOk", Bound::Between(2, 4), || {
        let mut node = Node::new();
        let tag = node.next;
        let fabric = node.context(|context| context.fail_link());
        let interrupt = node.context(move |context| context.complete(tag, Returned::Ok));
        assert_eq!(node.submit(STAGED), Ok(tag));
        fabric.join().unwrap();
        // Gate closed, posters out, engine stopped and proven so, descriptors reclaimed, reset.
        for _ in 0..5 {
            node.driver.on_time(NOW);
        }
        assert_eq!(node.driver.link_state(link()), Some(LinkState::Down));
        let (posted, reclaimed) = (node.here().device.has(tag), node.device.reclaimed.get());
        if !posted {
            // It waits for a link that works.
            node.driver.withdraw(NOW, tag);
        }
        let report = node.report().unwrap();
        assert_eq!(report.tag, tag);
        let good = report.status.errno == 0;
        let real = interrupt.join().unwrap();
        // S0-21: even while the descriptor is being taken away, its real end may come first.
        assert!(reclaimed == 1 || good || !posted, "waited for a device that is stopped");
        assert!(reclaimed <= u32::from(posted) && real >= good, "{reclaimed} {real} {good}");
        node.end();
        (posted, real, good)
    });
    let all =
        [(false, false, false), (true, false, false), (true, true, false), (true, true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
