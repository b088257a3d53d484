// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A platform for one NI: its lock, its contexts, its memory, and what it has been told.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr::{null, null_mut, NonNull};
use std::rc::Rc;

use lnd_core::id::{Incarnation, Nid};
use lnd_core::message::{Envelope, Hello, HelloAck, Message};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, InterruptBits, LinkBits, Register, RegisterAccess, StatusBits};
use lnd_ffi::abi::*;
use lnd_ffi::config::{lnd_config_init, lnd_ring_format, lnd_ring_size};
use lnd_ffi::create::{lnd_ni_create, lnd_ni_destroy, lnd_ni_size};
use lnd_ffi::decision::lnd_recv;
use lnd_ffi::interrupts::{lnd_interrupt, lnd_link_failed};
use lnd_ffi::lnd_ni;
use lnd_ffi::messages::{lnd_frame_in, lnd_sent};
use lnd_ffi::peers::lnd_link_state_get;
use lnd_ffi::run::lnd_run;
use lnd_ffi::shutdown::lnd_shutdown;
use lnd_ffi::stats::{lnd_counter, lnd_stats_get};
use lnd_ffi::submit::{lnd_submit, lnd_withdraw};
use lnd_ffi::version::LND_ABI_VERSION;
use lnd_loom::Watched;
use lnd_shortmsg::wire::{decode, encode, Checksum, Frame};
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread::{self, JoinHandle};

use super::platform;

pub const NOW: u64 = 1;
pub const OK: lnd_error = lnd_error::LND_OK;
pub const BUSY: lnd_error = lnd_error::LND_E_BUSY;

/// One line of memory, all of it words of loom's, which are larger than the machine's.
#[repr(C, align(64))]
struct Line([AtomicU32; 16]);

/// Memory that lives as long as the host. An NI's is not touched before the NI is made.
struct Block<T>(NonNull<[T]>);

impl<T> Block<T> {
    fn new(bytes: usize, make: impl Fn() -> T) -> Self {
        let items = bytes.div_ceil(size_of::<T>());
        Self(NonNull::from(Box::leak((0..items).map(|_| make()).collect())))
    }

    fn at(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    fn len(&self) -> usize {
        self.0.len() * size_of::<T>()
    }
}

impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        // SAFETY: from `Box::leak` in `new`; the host goes last.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// What the platform's lock does.
#[derive(Clone, Copy, PartialEq)]
pub enum Lock {
    Excludes,
    /// It does not: the NI has to find out by itself (R65).
    Broken,
}

pub struct Host {
    pub ni: Cell<*mut lnd_ni>,
    pub(super) turn: Condvar,
    pub(super) lock: Option<Mutex<()>>,
    /// Borrows `lock`, which is no sooner gone than this: by `Drop`.
    pub(super) held: RefCell<Option<MutexGuard<'static, ()>>>,
    /// Whom the lock has let in, in order.
    pub order: RefCell<Vec<u32>>,
    /// The wake-up call: taken by the thread that runs the NI.
    pub(super) woken: AtomicU32,
    /// The frame that `lnd_frame_in` was lent.
    pub frame: Watched,
    /// Frames that stay where they are until the end.
    frames: RefCell<Vec<Box<[u8]>>>,
    pub said: RefCell<Vec<(Vec<u8>, lnd_message)>>,
    /// `user` of what was reported.
    pub reports: RefCell<Vec<u64>>,
    pub bugs: Cell<u32>,
    rings: [Block<Line>; 2],
    memory: RefCell<Option<Block<Unused>>>,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Unused([core::mem::MaybeUninit<u8>; 64]);

const UNUSED: Unused = Unused([core::mem::MaybeUninit::uninit(); 64]);

impl Host {
    /// An NI of two links that work, which have been found to.
    pub fn new(lock: Lock) -> Rc<Self> {
        let mut config = config();
        // SAFETY: a configuration.
        let ring = unsafe { lnd_ring_size(&raw const config) };
        let ring = || Block::new(ring, || Line(core::array::from_fn(|_| AtomicU32::new(0))));
        let host = Rc::new(Self {
            ni: Cell::new(null_mut()),
            turn: Condvar::new(),
            lock: (lock == Lock::Excludes).then(|| Mutex::new(())),
            held: RefCell::default(),
            order: RefCell::default(),
            woken: AtomicU32::new(0),
            frame: Watched::new(0),
            frames: RefCell::default(),
            said: RefCell::default(),
            reports: RefCell::default(),
            bugs: Cell::new(0),
            rings: [ring(), ring()],
            memory: RefCell::default(),
        });
        for (ring, link) in host.rings.iter().zip(config.rings.iter_mut()) {
            *link = lnd_ring { base: ring.at(), len: ring.len() };
        }
        host.create(&config);
        assert_eq!(host.run(), OK);
        host.order.borrow_mut().clear();
        host
    }

    fn create(self: &Rc<Self>, config: &lnd_config) {
        for (at, ring) in self.rings.iter().enumerate() {
            // SAFETY: words of loom's, as many as are needed, and no thread uses them yet.
            let made = unsafe { lnd_ring_format(config, ring.at(), ring.len(), 0, 1) };
            assert_eq!(made, OK);
            let memory = self.registers(at as u32);
            memory.write(Register::Status, StatusBits::RUNNING.bits());
            memory.write(Register::Link, LinkBits::UP.bits());
        }
        // SAFETY: a configuration.
        let memory = Block::new(unsafe { lnd_ni_size(config) }, || UNUSED);
        let ops = platform::ops(self.lock.is_some());
        let ctx = Rc::as_ptr(self).cast_mut().cast();
        let (at, len) = (memory.at(), memory.len());
        *self.memory.borrow_mut() = Some(memory);
        let mut ni = null_mut();
        // SAFETY: all of it lives as long as the host, in which every context has a share.
        let made = unsafe { lnd_ni_create(at, len, config, &raw const ops, ctx, &raw mut ni) };
        assert_eq!(made, OK);
        self.ni.set(ni);
    }

    /// An interrupt of a link's engine.
    pub fn interrupt(&self, link: u32) -> lnd_error {
        // SAFETY: the NI's memory lives as long as the host.
        unsafe { lnd_interrupt(self.ni.get(), link, 4, NOW, null_mut()) }
    }

    pub fn destroy(&self) -> lnd_error {
        self.turn();
        // SAFETY: the NI's memory lives as long as the host, whatever becomes of the NI.
        unsafe { lnd_ni_destroy(self.ni.get()) }
    }

    /// Ends everything, so that the NI can be destroyed.
    pub fn shut_down(&self) {
        // SAFETY: the NI's memory lives as long as the host.
        assert_eq!(unsafe { lnd_shutdown(self.ni.get(), NOW, NOW) }, OK);
        let mut state = 0;
        while state != lnd_run_state::LND_QUIESCENT as u32 {
            // The engines do as they are told.
            for link in 0..2 {
                let memory = self.registers(link);
                let control = ControlBits(memory.read(Register::Control));
                let stopped = StatusBits::STOPPED.in_round(control.round());
                memory.write(Register::Status, stopped.bits());
            }
            assert_eq!(self.run(), OK);
            state = self.stats().unwrap().run_state;
        }
        self.order.borrow_mut().clear();
    }

    pub fn withdraw(&self, transfer: lnd_transfer) -> lnd_error {
        // SAFETY: the NI's memory lives as long as the host.
        unsafe { lnd_withdraw(self.ni.get(), transfer, NOW) }
    }

    pub fn link_failed(&self, link: u32) -> lnd_error {
        // SAFETY: the NI's memory lives as long as the host.
        unsafe { lnd_link_failed(self.ni.get(), link) }
    }

    pub fn link_is_up(&self, link: u32) -> bool {
        let mut state = 0;
        // SAFETY: the NI's memory lives as long as the host; the place is there.
        let error = unsafe { lnd_link_state_get(self.ni.get(), link, &raw mut state) };
        assert_eq!(error, OK);
        state == lnd_link_state::LND_LINK_UP as u32
    }

    /// Takes what a peer's message brought.
    pub fn recv(&self, request: lnd_request) -> lnd_error {
        let frag = lnd_frag { addr: 64, len: 8, reserved: 0 };
        let decision = lnd_decision {
            size: size_of::<lnd_decision>() as u32,
            nfrags: 1,
            frags: &raw const frag,
            len: 8,
            reserved: 0,
            deadline: LND_NEVER,
            user: 5,
        };
        // SAFETY: the NI's memory lives as long as the host; the decision is there.
        unsafe {
            lnd_recv(self.ni.get(), request, &raw const decision, NOW, null_mut(), null_mut())
        }
    }

    /// The end of a message, from the channel.
    pub fn sent(&self, message: lnd_message) -> lnd_error {
        // SAFETY: the NI's memory lives as long as the host.
        unsafe { lnd_sent(self.ni.get(), message, lnd_sent_how::LND_SENT_OK as u32, NOW) }
    }

    /// The registers and rings of a link.
    pub fn registers(&self, link: u32) -> LinkMemory<'static> {
        let ring = &self.rings[link as usize];
        // SAFETY: formatted, and used through `LinkMemory` only; lives as long as the host.
        unsafe { LinkMemory::attach(NonNull::new(ring.at()).unwrap().cast(), ring.len()) }.unwrap()
    }

    /// The engine says that a link's state has changed: it is down.
    pub fn link_breaks(&self, link: u32) {
        let memory = self.registers(link);
        memory.write(Register::Link, 0);
        memory.write(Register::Status, StatusBits::CLOCK_OFF.bits());
        memory.registers().interrupt.fetch_or(InterruptBits::LINK.bits(), Ordering::Release);
    }

    /// The engine tells of a descriptor that was never posted.
    pub fn stale_completion(&self, link: u32) {
        let memory = self.registers(link);
        let entry = memory.completion(0);
        entry.generation.store(77, Ordering::Relaxed);
        // Release: as the engine does it.
        entry.sequence.store(1, Ordering::Release);
        memory.registers().interrupt.fetch_or(InterruptBits::COMPLETION.bits(), Ordering::Release);
    }

    /// Another context, with a number of its own.
    pub fn context<T: 'static>(
        self: &Rc<Self>,
        me: u32,
        run: impl FnOnce(&Rc<Self>) -> T + 'static,
    ) -> JoinHandle<T> {
        let host = Rc::clone(self);
        thread::spawn(move || {
            platform::is(me);
            run(&host)
        })
    }

    pub fn run(&self) -> lnd_error {
        // SAFETY: the NI's memory lives as long as the host.
        unsafe { lnd_run(self.ni.get(), NOW, 16, null_mut()) }
    }

    /// Runs the NI if it has called for it. Whether it had.
    pub fn run_if_woken(&self) -> bool {
        let woken = self.take_wake();
        if woken {
            assert_eq!(self.run(), OK);
        }
        woken
    }

    /// Whom the lock has let in first.
    pub fn first(&self) -> u32 {
        self.order.borrow()[0]
    }

    fn take_wake(&self) -> bool {
        // AcqRel: partner is `wake`.
        self.woken.swap(0, Ordering::AcqRel) != 0
    }

    /// Sends a header to the peer. The handle, if it was accepted.
    pub fn submit(&self, user: u64) -> (lnd_error, lnd_transfer) {
        let request = lnd_send_request {
            size: size_of::<lnd_send_request>() as u32,
            kind: lnd_kind::LND_PUT as u32,
            nid: 2,
            link: LND_ANY_LINK,
            routed: 0,
            header: null(),
            frags: null(),
            header_len: 0,
            nfrags: 0,
            deadline: LND_NEVER,
            user,
            peer: lnd_peer::default(),
        };
        let mut handle = lnd_transfer::default();
        // SAFETY: the NI's memory lives as long as the host; the request is there.
        let error = unsafe {
            lnd_submit(self.ni.get(), &raw const request, NOW, &raw mut handle, null_mut())
        };
        (error, handle)
    }

    pub fn stats(&self) -> Result<lnd_stats, lnd_error> {
        self.turn();
        // SAFETY: integers: zero is valid.
        let mut stats: lnd_stats = unsafe { core::mem::zeroed() };
        stats.size = size_of::<lnd_stats>() as u32;
        // SAFETY: the NI's memory lives as long as the host; the struct is there.
        let error = unsafe { lnd_stats_get(self.ni.get(), &raw mut stats) };
        if error == OK {
            Ok(stats)
        } else {
            Err(error)
        }
    }

    /// The counter of this number.
    pub fn counter(&self, counter: lnd_core::counters::Counter) -> u64 {
        let mut value = 0;
        // SAFETY: the NI's memory lives as long as the host; the place is there.
        let error = unsafe { lnd_counter(self.ni.get(), counter as u32, &raw mut value) };
        assert_eq!(error, OK);
        value
    }

    /// A frame of the peer comes in, which is no request.
    pub fn frame_in(&self, session: u32, sequence: u32, message: &Message<'_>) -> lnd_error {
        self.offer(session, sequence, message).0
    }

    /// A frame of the peer comes in. Its request, if it is one.
    pub fn offer(
        &self,
        session: u32,
        sequence: u32,
        message: &Message<'_>,
    ) -> (lnd_error, lnd_request) {
        let hello = matches!(message, Message::Hello(_));
        let envelope = Envelope {
            from: nid(2),
            to: nid(1),
            from_incarnation: incarnation(2),
            to_incarnation: (!hello).then(|| incarnation(1)),
            session,
            sequence,
            credits: 0,
            credits_of: self.session(),
        };
        let mut bytes = [0; 256];
        let len = encode(&envelope, message, Checksum::Off, &mut bytes).unwrap();
        let frame: Box<[u8]> = bytes[..len].into();
        let at = frame.as_ptr().cast();
        self.frames.borrow_mut().push(frame);
        // SAFETY: integers and pointers: zero is valid.
        let mut arrival: lnd_arrival = unsafe { core::mem::zeroed() };
        arrival.size = size_of::<lnd_arrival>() as u32;
        let from = nid(2).raw();
        // SAFETY: the NI's memory lives as long as the host; the bytes stay until then.
        let error = unsafe { lnd_frame_in(self.ni.get(), 0, from, at, len, NOW, &raw mut arrival) };
        (error, arrival.request)
    }

    /// The session that our hello has opened.
    fn session(&self) -> u32 {
        let said = self.said.borrow();
        said.last().map_or(0, |(bytes, _)| match decode(bytes, Checksum::Off) {
            Ok(Frame::Lnd(envelope, _)) => envelope.session,
            _ => 0,
        })
    }

    /// The peer connects, and answers our hello.
    pub fn handshake(&self) {
        let hello = Hello {
            version_min: 1,
            version_max: 1,
            immediate_max: 8,
            features: 1,
            given_up: 0,
            attempt: 1,
        };
        assert_eq!(self.frame_in(1, 0, &Message::Hello(hello)), OK);
        let session = self.session();
        let ack = HelloAck {
            session,
            attempt: 1,
            version: Some(1),
            depth: 8,
            immediate_max: 8,
            features: 1,
        };
        assert_eq!(self.frame_in(1, 1, &Message::HelloAck(ack)), OK);
        assert_eq!(self.run(), OK);
        self.take_wake();
        self.order.borrow_mut().clear();
    }

    /// As [`World::turn`](lnd_loom::World::turn).
    pub(super) fn turn(&self) {
        self.turn.notify_one();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        assert!(self.held.get_mut().is_none(), "the lock is still held");
    }
}

fn config() -> lnd_config {
    // SAFETY: integers and pointers: zero is valid.
    let mut config: lnd_config = unsafe { core::mem::zeroed() };
    // SAFETY: a place for it.
    let made = unsafe { lnd_config_init(&raw mut config, LND_ABI_VERSION, 4, 1, 2) };
    assert_eq!(made, OK);
    (config.lists, config.immediate_max, config.flags) = (0, 8, 0);
    (config.nid, config.incarnation) = (1, 1);
    config
}

fn nid(n: u64) -> Nid {
    Nid::from_raw(n).unwrap()
}

fn incarnation(n: u64) -> Incarnation {
    Incarnation::from_raw(n).unwrap()
}
