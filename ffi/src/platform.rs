// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Safe calls of the platform's operations: one method for each entry of the table.
//!
//! Every method calls a C function with the context pointer that came with it. The caller of
//! `lnd_ni_create` guarantees that this is sound: the functions behave as the header requires, from
//! creation to destruction.

use core::ffi::{c_char, c_void, CStr};
use core::num::NonZeroU32;

use lnd_core::message::Lane;
use lnd_core::sync::{fence, Ordering};
use spin::{Mutex, MutexGuard};

use crate::abi::{
    lnd_bd, lnd_context, lnd_event, lnd_frame, lnd_lane, lnd_ops, lnd_report, lnd_tag, lnd_trace,
    LND_MAX_KEY, LND_NO_NODE,
};

/// Whether engines may be operations, and their connections be stopped one by one.
pub(crate) const OPERATIONS: bool = cfg!(feature = "operations");

/// The operations of one NI and their context pointer.
#[derive(Debug)]
pub(crate) struct Platform {
    ops: lnd_ops,
    ctx: *mut c_void,
    /// The lock of a platform that has `self_id` and no lock of its own.
    own: Mutex<()>,
    /// The NI's own number, in all its handles.
    pub id: u32,
}

/// The NI's lock is held. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct Locked<'p> {
    platform: &'p Platform,
    _own: Option<MutexGuard<'p, ()>>,
}

// SAFETY: the context pointer is passed only to the platform's own functions. By the table's
// contract they may be called in the contexts that the library calls them in.
unsafe impl Send for Platform {}
// SAFETY: no field changes, and the platform's functions may be called from several contexts.
unsafe impl Sync for Platform {}

/// Converts a lane for C.
pub(crate) const fn lane_number(lane: Lane) -> u32 {
    match lane {
        Lane::Request => lnd_lane::LND_LANE_REQUEST as u32,
        Lane::Control => lnd_lane::LND_LANE_CONTROL as u32,
    }
}

/// Calls an operation if it is there.
macro_rules! call {
    ($self:ident . $op:ident ( $($argument:expr),* )) => {
        match $self.ops.$op {
            // SAFETY: the platform's own function with the platform's own pointer, in a context
            // that the table allows for it; see the module's comment.
            Some(op) => Some(unsafe { op($self.ctx $(, $argument)*) }),
            None => None,
        }
    };
}

/// Calls an operation of an engine if it is there, and engines may be operations.
macro_rules! engine {
    ($($call:tt)*) => { if OPERATIONS { call!($($call)*) } else { None } };
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let platform = self.platform;
        let _ = call!(platform.unlock());
    }
}

impl Platform {
    pub const fn new(ops: &lnd_ops, ctx: *mut c_void, id: u32) -> Self {
        Self { ops: *ops, ctx, own: Mutex::new(()), id }
    }

    /// Takes the NI's lock: the platform's, or else the library's own if callers have ids. Context:
    /// thread, with nothing held.
    pub fn lock(&self) -> Locked<'_> {
        let own = self.ops.lock.is_none() && self.ops.self_id.is_some();
        let own = own.then(|| self.own.lock());
        let _ = call!(self.lock());
        Locked { platform: self, _own: own }
    }

    /// Id of the current context; never zero.
    pub fn self_id(&self) -> u32 {
        call!(self.self_id()).unwrap_or(1).max(1)
    }

    /// Whether one context's id differs from another's.
    pub fn knows_callers(&self) -> bool {
        self.ops.self_id.is_some()
    }

    pub fn in_interrupt(&self) -> bool {
        call!(self.context()) == Some(lnd_context::LND_CONTEXT_INTERRUPT as u32)
    }

    pub fn has_registers(&self) -> bool {
        self.ops.reg_read32.is_some()
    }

    pub fn reg_read(&self, link: u32, offset: u32) -> u32 {
        // An engine that cannot be read is gone: all ones, as a bus returns.
        call!(self.reg_read32(link, offset)).unwrap_or(u32::MAX)
    }

    pub fn reg_write(&self, link: u32, offset: u32, value: u32) {
        if call!(self.dma_barrier()).is_none() {
            // Partner: the device's read of memory after it has seen the register.
            fence(Ordering::SeqCst);
        }
        let _ = call!(self.reg_write32(link, offset, value));
    }

    /// The fabric's number of a node.
    pub fn node_of(&self, nid: u64) -> Option<u32> {
        match call!(self.node_of(nid)) {
            Some(LND_NO_NODE) => None,
            Some(node) => Some(node),
            None => Some((nid as u32).wrapping_sub(1)),
        }
    }

    /// Whether the engines are operations; else they have registers.
    pub fn is_engine(&self) -> bool {
        OPERATIONS && self.ops.engine_post.is_some()
    }

    /// Posts a descriptor.
    pub fn engine_post(&self, bd: &lnd_bd) -> Option<u32> {
        engine!(self.engine_post(core::ptr::from_ref(bd)))
    }

    /// Whether the engines have keys.
    pub fn has_keys(&self) -> bool {
        OPERATIONS && self.ops.engine_key.is_some()
    }

    /// Writes the key of a staged descriptor and returns its length.
    pub fn engine_key(&self, link: u32, tag: lnd_tag, into: &mut [u8; LND_MAX_KEY]) -> usize {
        engine!(self.engine_key(link, tag, into.as_mut_ptr().cast())).unwrap_or(0) as usize
    }

    pub fn engine_doorbell(&self, link: u32) {
        let _ = engine!(self.engine_doorbell(link));
    }

    pub fn engine_invalidate(&self, link: u32, tag: lnd_tag) {
        let _ = engine!(self.engine_invalidate(link, tag));
    }

    pub fn engine_stop(&self, link: u32) {
        let _ = engine!(self.engine_stop(link));
    }

    pub fn engine_quiesced(&self, link: u32) -> bool {
        engine!(self.engine_quiesced(link)) == Some(1)
    }

    /// What is known of a descriptor's outcome.
    pub fn engine_reclaim(&self, link: u32, tag: lnd_tag) -> Option<u32> {
        engine!(self.engine_reclaim(link, tag))
    }

    pub fn engine_reset(&self, link: u32) {
        let _ = engine!(self.engine_reset(link));
    }

    pub fn engine_link_up(&self, link: u32) -> bool {
        engine!(self.engine_link_up(link)).is_none_or(|yes| yes != 0)
    }

    pub fn engine_features(&self, link: u32) -> u32 {
        engine!(self.engine_features(link)).unwrap_or(0)
    }

    /// The number of the connection with a peer; `None`: only the whole link can be stopped.
    pub fn connection(&self, link: u32, nid: u64) -> Option<NonZeroU32> {
        NonZeroU32::new(call!(self.connection(link, nid))?)
    }

    pub fn connection_stop(&self, link: u32, nid: u64, number: NonZeroU32) {
        let _ = call!(self.connection_stop(link, nid, number.get()));
    }

    pub fn connection_quiesced(&self, link: u32, nid: u64, number: NonZeroU32) -> bool {
        call!(self.connection_quiesced(link, nid, number.get())) == Some(1)
    }

    /// Resets one connection; with no NID and no number, the whole link's.
    pub fn connection_reset(&self, link: u32, nid: u64, number: u32) {
        let _ = call!(self.connection_reset(link, nid, number));
    }

    pub fn reaches(&self, nid: u64) -> bool {
        call!(self.reaches(nid)).is_none_or(|yes| yes != 0)
    }

    pub fn ready(&self, link: u32, nid: u64, lane: u32) -> bool {
        call!(self.ready(link, nid, lane)).is_none_or(|yes| yes != 0)
    }

    /// Sends a frame; `None` cannot occur, see `check`.
    pub fn send(&self, frame: &lnd_frame) -> Option<u32> {
        call!(self.send(core::ptr::from_ref(frame)))
    }

    pub fn quiesce(&self, link: u32) {
        let _ = call!(self.quiesce(link));
    }

    pub fn mem_read(&self, addr: u64, into: &mut [u8]) -> bool {
        let len = into.len() as u32;
        call!(self.mem_read(addr, into.as_mut_ptr().cast(), len)) == Some(0)
    }

    pub fn mem_write(&self, addr: u64, from: &[u8]) -> bool {
        let len = from.len() as u32;
        call!(self.mem_write(addr, from.as_ptr().cast(), len)) == Some(0)
    }

    pub fn mem_valid(&self, addr: u64, len: u32) -> bool {
        call!(self.mem_valid(addr, len)).is_none_or(|yes| yes != 0)
    }

    pub fn finalize(&self, report: &lnd_report) {
        let _ = call!(self.finalize(core::ptr::from_ref(report)));
    }

    pub fn wants_events(&self) -> bool {
        self.ops.event.is_some()
    }

    pub fn event(&self, event: &lnd_event) {
        let _ = call!(self.event(core::ptr::from_ref(event)));
    }

    pub fn wake(&self) {
        let _ = call!(self.wake());
    }

    /// Whether trace records are read now.
    pub fn wants_trace(&self) -> bool {
        // SAFETY: the table's contract keeps the word readable as long as the NI lives. The
        // platform may change it meanwhile, as a device changes a register, so the read is
        // volatile.
        let off = |word: *const u32| !word.is_null() && unsafe { word.read_volatile() } == 0;
        self.ops.trace.is_some() && !off(self.ops.tracing)
    }

    pub fn trace(&self, trace: &lnd_trace) {
        let _ = call!(self.trace(core::ptr::from_ref(trace)));
    }

    pub fn bug(&self, what: &'static CStr) {
        let what: *const c_char = what.as_ptr();
        let _ = call!(self.bug(what));
    }
}
