// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A host of one NI, for the target `abi`: memory, operations, and an engine that runs and stops
//! and never moves a byte.

// What one callback is given is judged by one argument.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use lnd_dma::regs::{ControlBits, LinkBits, StatusBits, MAGIC};
use lnd_ffi::abi::{
    lnd_arrival, lnd_config, lnd_context, lnd_decision, lnd_error, lnd_frag, lnd_frame,
    lnd_message, lnd_nak_reason, lnd_ops, lnd_report, lnd_request, lnd_ring, lnd_send,
    LND_RELIABLE,
};
use lnd_ffi::config::{lnd_config_init, lnd_ring_format, lnd_ring_size, LND_ALIGN};
use lnd_ffi::create::{lnd_ni_create, lnd_ni_size};
use lnd_ffi::decision::{lnd_keep, lnd_nak, lnd_recv};
use lnd_ffi::lnd_ni;
use lnd_ffi::messages::lnd_frame_in;
use lnd_ffi::run::lnd_run;

pub const SECOND: u64 = 1_000_000_000;

/// Places of the registers that the engine answers, as words (docs/registers.md).
const CONTROL: usize = 0xc4 / 4;
const STATUS: usize = 0x80 / 4;
const LINK: usize = 0xc0 / 4;

struct Block {
    base: *mut u8,
    layout: Layout,
}

impl Block {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.max(1), LND_ALIGN).unwrap();
        // SAFETY: not of size zero.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null());
        Self { base, layout }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from `alloc_zeroed` with this layout.
        unsafe { dealloc(self.base, self.layout) }
    }
}

/// One NI's host. Never moves: its operations have a pointer to it.
pub struct Host {
    ni: Cell<*mut lnd_ni>,
    registers: [Cell<u32>; 64],
    /// How the next frames end: two bits each.
    pub answers: Cell<u8>,
    pub in_interrupt: Cell<bool>,
    pub dead: Cell<bool>,
    /// How often the lock is held.
    pub held: Cell<i32>,
    /// The registers read all ones, and writes are lost.
    pub ones: Cell<bool>,
    /// The channel loses nothing and repeats nothing, and the NI was told so.
    reliable: bool,
    /// Frames that were sent: link, lane and bytes.
    pub wire: RefCell<VecDeque<(u32, u32, Vec<u8>)>>,
    pub messages: RefCell<Vec<lnd_message>>,
    pub requests: RefCell<Vec<lnd_request>>,
    /// Requests that `lnd_frame_in` has found.
    offers: Cell<u32>,
    /// Users of transfers that were accepted and not reported.
    pub open: RefCell<BTreeSet<u64>>,
    /// Accepted transfers of user 0.
    pub anonymous: Cell<u32>,
    /// Messages that the upper layer has seen, and reports that it got.
    pub seen: RefCell<BTreeSet<u64>>,
    pub reports: RefCell<Vec<lnd_report>>,
    memory: [Block; 2],
}

impl Host {
    pub fn new(nid: u64, reliable: bool) -> Box<Self> {
        // SAFETY: integers and pointers: zero is valid.
        let mut config: lnd_config = unsafe { std::mem::zeroed() };
        // SAFETY: a place for it.
        let made = unsafe { lnd_config_init(&raw mut config, 1, 8, 2, 1) };
        assert_eq!(made, lnd_error::LND_OK);
        (config.nid, config.incarnation, config.immediate_max) = (nid, 100 + nid, 256);
        config.flags |= if reliable { LND_RELIABLE } else { 0 };
        // SAFETY: a configuration.
        let ring = Block::new(unsafe { lnd_ring_size(&raw const config) });
        let len = ring.layout.size();
        config.rings[0] = lnd_ring { base: ring.base.cast(), len };
        // SAFETY: the ring's own memory.
        let made =
            unsafe { lnd_ring_format(&raw const config, ring.base.cast(), len, nid as u32, 0) };
        assert_eq!(made, lnd_error::LND_OK);
        // SAFETY: a configuration.
        let memory = Block::new(unsafe { lnd_ni_size(&raw const config) });
        let (at, size) = (memory.base.cast(), memory.layout.size());
        let host = Box::new(Self {
            ni: Cell::new(null_mut()),
            registers: std::array::from_fn(|word| {
                // SAFETY: the ring memory begins with its registers, 256 bytes.
                Cell::new(unsafe { ring.base.cast::<u32>().add(word).read() })
            }),
            answers: Cell::new(0),
            in_interrupt: Cell::new(false),
            dead: Cell::new(false),
            held: Cell::new(0),
            ones: Cell::new(false),
            reliable,
            wire: RefCell::default(),
            messages: RefCell::default(),
            requests: RefCell::default(),
            offers: Cell::new(0),
            open: RefCell::default(),
            anonymous: Cell::new(0),
            seen: RefCell::default(),
            reports: RefCell::default(),
            memory: [memory, ring],
        });
        host.registers[0].set(MAGIC);
        host.registers[STATUS].set(StatusBits::RUNNING.bits());
        host.set_link(true);
        let context = std::ptr::from_ref(&*host).cast_mut().cast();
        let ni = host.ni.as_ptr();
        // SAFETY: memory and host stay until the host is dropped, after the NI's last call.
        let made = unsafe { lnd_ni_create(at, size, &raw const config, &ops(), context, ni) };
        assert_eq!(made, lnd_error::LND_OK);
        host
    }

    /// A frame comes in, and its request is decided or not. `LND_E_WAIT`: it stays in its channel.
    pub fn frame_in(&self, link: u32, sender: u64, bytes: &[u8], now: u64) -> lnd_error {
        // SAFETY: integers and pointers: zero is valid.
        let mut arrival: lnd_arrival = unsafe { std::mem::zeroed() };
        arrival.size = size_of::<lnd_arrival>() as u32;
        let (at, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: see `Host::ni`; the bytes are there until the request is decided or forgotten.
        let error =
            unsafe { lnd_frame_in(self.ni(), link, sender, at, len, now, &raw mut arrival) };
        match error {
            lnd_error::LND_REQUEST => self.decide(&arrival, now),
            error => error,
        }
    }

    /// Takes, refuses, keeps or leaves a request, in turn.
    fn decide(&self, arrival: &lnd_arrival, now: u64) -> lnd_error {
        assert_eq!(self.held.get(), 0, "the lock is held");
        let (ni, request) = (self.ni(), arrival.request);
        self.offers.set(self.offers.get().wrapping_add(1));
        let habit = self.offers.get().wrapping_add(arrival.len) % 5;
        if habit == 4 {
            return lnd_error::LND_E_WAIT;
        }
        let (frag, none) =
            (lnd_frag { addr: 8192, len: arrival.len, reserved: 0 }, arrival.len == 0);
        let decision = lnd_decision {
            size: size_of::<lnd_decision>() as u32,
            nfrags: u32::from(!none),
            frags: &raw const frag,
            len: arrival.len,
            reserved: 0,
            deadline: now + SECOND,
            user: 0,
        };
        // SAFETY: integers: zero is valid.
        let mut report: lnd_report = unsafe { std::mem::zeroed() };
        report.size = size_of::<lnd_report>() as u32;
        let (nowhere, why) = (null_mut(), lnd_nak_reason::LND_NAK_NO_MATCH as u32);
        let mut kept = lnd_request::default();
        // SAFETY: see `Host::ni`; all that is pointed to is there, and so is the frame.
        let error = unsafe {
            match habit {
                1 => lnd_recv(ni, request, &raw const decision, now, nowhere, &raw mut report),
                2 => lnd_nak(ni, request, why, now),
                3 => lnd_recv(ni, request, &raw const decision, now, nowhere, null_mut()),
                _ => lnd_error::LND_E_WRONG_KIND,
            }
        };
        let error = match error {
            lnd_error::LND_OK if habit != 2 => {
                self.open.borrow_mut().insert(0);
                self.anonymous.set(self.anonymous.get() + 1);
                error
            }
            lnd_error::LND_DONE => {
                assert_eq!((habit, report.error == 0), (1, report.health == 0), "INV-4");
                lnd_error::LND_OK
            }
            lnd_error::LND_OK | lnd_error::LND_E_WAIT | lnd_error::LND_E_GONE => error,
            // What cannot be carried out has decided nothing.
            _ => {
                // SAFETY: see above.
                let error = unsafe { lnd_keep(ni, request, now, &raw mut kept) };
                if error == lnd_error::LND_OK {
                    self.requests.borrow_mut().push(kept);
                }
                error
            }
        };
        if error == lnd_error::LND_OK {
            self.sees(arrival);
        }
        error
    }

    /// The upper layer has decided about a message.
    fn sees(&self, arrival: &lnd_arrival) {
        let (at, len) = (arrival.header.cast::<u8>(), arrival.header_len as usize);
        // SAFETY: the header is a part of the frame, which is still there.
        let header = unsafe { std::slice::from_raw_parts(at, len) };
        let number = header.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        // Only where nothing is forged has each message a number of its own.
        if self.reliable && number != 0 {
            let first = self.seen.borrow_mut().insert(number);
            assert!(first, "message {number} is seen twice (INV-6)");
        }
    }

    /// The NI, or what was one: its memory is there as long as the host is, so that every call with
    /// it keeps the ABI's contract.
    pub fn ni(&self) -> *mut lnd_ni {
        self.ni.get()
    }

    pub fn set_link(&self, up: bool) {
        self.registers[LINK].set(if up { LinkBits::UP.bits() } else { 0 });
    }

    /// The device writes any word behind its registers.
    pub fn scribble(&self, word: u16, value: u32) {
        let ring = &self.memory[1];
        let words = ring.layout.size() / 4 - self.registers.len();
        let at = self.registers.len() + usize::from(word) % words;
        // SAFETY: within the ring's memory, which is aligned; an atomic is valid for every bit
        // pattern.
        let word = unsafe { &*ring.base.cast::<AtomicU32>().add(at) };
        word.store(value, Ordering::Relaxed);
    }

    /// The engine does at once what it is told.
    fn control(&self, value: u32) {
        let control = ControlBits::from_bits_retain(value);
        let status = if control.contains(ControlBits::STOP) {
            StatusBits::STOPPED
        } else {
            StatusBits::RUNNING
        };
        self.registers[STATUS].set(status.in_round(control.round()).bits());
        self.registers[CONTROL].set(control.difference(ControlBits::RESET).bits());
    }

    /// A call from inside of an operation is refused, and does no harm.
    fn call_in(&self) {
        // SAFETY: see `ni`.
        let error = unsafe { lnd_run(self.ni(), SECOND, 1, null_mut()) };
        assert!(self.ni().is_null() || error == lnd_error::LND_E_REENTRY, "{error:?}");
    }
}

unsafe fn host<'a>(context: *mut c_void) -> &'a Host {
    // SAFETY: the context is the host, which outlives the NI and is only shared.
    unsafe { &*context.cast::<Host>() }
}

unsafe extern "C" fn lock(context: *mut c_void) {
    // SAFETY: see `host`.
    let held = &unsafe { host(context) }.held;
    held.set(held.get() + 1);
    assert_eq!(held.get(), 1, "locked twice");
}

unsafe extern "C" fn unlock(context: *mut c_void) {
    // SAFETY: see `host`.
    let held = &unsafe { host(context) }.held;
    held.set(held.get() - 1);
    assert_eq!(held.get(), 0, "unlocked twice");
}

unsafe extern "C" fn self_id(_: *mut c_void) -> u32 {
    1
}

unsafe extern "C" fn context(context: *mut c_void) -> u32 {
    // SAFETY: see `host`.
    let inside = unsafe { host(context) }.in_interrupt.get();
    if inside {
        lnd_context::LND_CONTEXT_INTERRUPT as u32
    } else {
        0
    }
}

unsafe extern "C" fn reg_read32(context: *mut c_void, _: u32, offset: u32) -> u32 {
    // SAFETY: see `host`.
    let host = unsafe { host(context) };
    if host.ones.get() {
        return u32::MAX;
    }
    host.registers[offset as usize / 4].get()
}

unsafe extern "C" fn reg_write32(context: *mut c_void, _: u32, offset: u32, value: u32) {
    // SAFETY: see `host`.
    let host = unsafe { host(context) };
    if host.ones.get() {
        return;
    }
    if offset as usize / 4 == CONTROL {
        host.control(value);
    } else {
        host.registers[offset as usize / 4].set(value);
    }
}

unsafe extern "C" fn send(context: *mut c_void, frame: *const lnd_frame) -> u32 {
    // SAFETY: see `host`; the frame is the library's own, its bytes are there.
    let (host, frame) = unsafe { (host(context), &*frame) };
    host.call_in();
    let answer = host.answers.get();
    host.answers.set(answer.rotate_right(2));
    // SAFETY: see above.
    let bytes = unsafe { std::slice::from_raw_parts(frame.bytes.cast::<u8>(), frame.len as usize) };
    let kept = [lnd_send::LND_SEND_DONE, lnd_send::LND_SEND_PENDING];
    let all = [kept[0], kept[1], lnd_send::LND_SEND_FAILED, lnd_send::LND_SEND_FULL];
    let how = all[usize::from(answer & 3)];
    if kept.contains(&how) {
        host.wire.borrow_mut().push_back((frame.link, frame.lane, bytes.to_vec()));
    }
    if frame.tracked == 1 && how == lnd_send::LND_SEND_PENDING {
        host.messages.borrow_mut().push(frame.message);
    }
    how as u32
}

unsafe extern "C" fn mem_read(_: *mut c_void, _: u64, to: *mut c_void, len: u32) -> u32 {
    // SAFETY: the library's own buffer.
    unsafe { to.cast::<u8>().write_bytes(0x5a, len as usize) };
    0
}

unsafe extern "C" fn mem_write(_: *mut c_void, _: u64, _: *const c_void, _: u32) -> u32 {
    0
}

unsafe extern "C" fn finalize(context: *mut c_void, report: *const lnd_report) {
    // SAFETY: see `host`; the report is the library's own.
    let (host, report) = unsafe { (host(context), &*report) };
    assert_eq!(host.held.get(), 0, "called with the lock held");
    host.call_in();
    if report.user == 0 {
        let left = host.anonymous.get().checked_sub(1);
        host.anonymous.set(left.expect("INV-1: reported and not accepted"));
        if host.anonymous.get() > 0 {
            return;
        }
    }
    assert!(host.open.borrow_mut().remove(&report.user), "INV-1: {report:?}");
    assert_eq!(report.error == 0, report.health == 0, "INV-4");
    host.reports.borrow_mut().push(*report);
}

unsafe extern "C" fn bug(_: *mut c_void, _: *const c_char) {}

fn ops() -> lnd_ops {
    // SAFETY: integers and optional function pointers: zero is valid.
    let none: lnd_ops = unsafe { std::mem::zeroed() };
    lnd_ops {
        size: size_of::<lnd_ops>() as u32,
        lock: Some(lock),
        unlock: Some(unlock),
        self_id: Some(self_id),
        context: Some(context),
        reg_read32: Some(reg_read32),
        reg_write32: Some(reg_write32),
        send: Some(send),
        mem_read: Some(mem_read),
        mem_write: Some(mem_write),
        finalize: Some(finalize),
        bug: Some(bug),
        ..none
    }
}
