// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Engines.

use core::ffi::c_void;
use core::mem::{size_of, MaybeUninit};

use lnd_core::arena::{Arena, LINE};
use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::{Instant, Span};
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};

use super::error::{lnd_error, outcome};
use super::links::memory_of;
use super::memory::{arena, fill, given, input, object, put, Kind, Object, Part};
use super::node::{lnd_soft_node, NodeSlot};
use super::types::lnd_soft_progress;
use crate::bus::Bus;

type Engine = SoftEngine<'static, Bus<'static>, NoFaults>;

/// struct lnd_soft_engine - The engine of one link in software; opaque.
#[derive(Debug)]
#[repr(C)]
pub struct lnd_soft_engine {
    kind: Kind,
    memory: LinkMemory<'static>,
    inside: Part<&'static mut Engine>,
}

// SAFETY: `repr(C)`, the kind first.
unsafe impl Object for lnd_soft_engine {
    const KIND: u32 = 0x4c53_4503;
}

/// lnd_soft_engine_size() - Bytes of memory for an engine's object.
///
/// Context: any.
/// Return: the bytes.
#[no_mangle]
pub extern "C" fn lnd_soft_engine_size() -> usize {
    LINE + Arena::table_bytes::<Engine>(1) + Arena::table_bytes::<lnd_soft_engine>(1)
}

/// lnd_soft_engine_create() - Makes the engine of one of the node's links.
/// @mem: memory for the object, until lnd_soft_engine_destroy().
/// @len: its bytes, at least lnd_soft_engine_size().
/// @node: this host's node, prepared and not yet left; each of its links has one engine in each
///        incarnation.
/// @link: the link.
/// @chunk: most bytes moved for a descriptor in one step; it bounds how long an invalidation waits;
///         0: 256 KiB.
/// @retry: ns for which a pull retries a source that does not answer; 0: a second.
/// @engine: where the object's pointer is written.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_MEMORY, LND_E_BUSY, LND_E_LINK,
/// LND_E_GONE (the node is not prepared), LND_E_RING.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_engine_create(
    mem: *mut c_void,
    len: usize,
    node: *mut lnd_soft_node,
    link: u32,
    chunk: u32,
    retry: u64,
    engine: *mut *mut lnd_soft_engine,
) -> lnd_error {
    let create = || {
        let mut block = given!(arena(mem, len))?;
        let node = given!(object(node))?;
        if !matches!(&*node.slot.enter()?, NodeSlot::Joined(_)) {
            return Err(lnd_error::LND_E_GONE);
        }
        let memory = memory_of(&node.fabric, node.number, link)?;
        let link = LinkId::new(link as usize).ok_or(lnd_error::LND_E_LINK)?;
        let usual = Settings::default();
        let settings = Settings {
            chunk: if chunk == 0 { usual.chunk } else { chunk },
            retry_bound: if retry == 0 { usual.retry_bound } else { Span::from_nanos(retry) },
        };
        given!(put(engine, core::ptr::null_mut()))?;
        let full = |_| lnd_error::LND_E_MEMORY;
        let place = block.place(MaybeUninit::uninit()).map_err(full)?;
        let bus = Bus::alone(&node.fabric);
        let inside = Engine::new_in(place, node.number, link, memory, bus, NoFaults, settings);
        let kind = Kind::of::<lnd_soft_engine>();
        let made = lnd_soft_engine { kind, memory, inside: Part::new(inside) };
        let made = block.place(made).map_err(full)?;
        given!(put(engine, made))
    };
    outcome(create())
}

/// lnd_soft_engine_step() - Does a bounded piece of an engine's work.
/// @engine: the engine.
/// @now: ns on the clock that all calls of this host use.
/// @budget: most invalidations, returns and new pulls each; every active pull (8 at most) moves one
///          chunk.
/// @progress: the caller sets its size; filled.
///
/// Call it when the driver has written a register for which lnd_soft_reg_write32() returned 1, when
/// the node is rung, and while it is busy. If the driver writes the registers in memory, call it
/// periodically.
///
/// Context: any; one at a time for an engine.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY (another context steps
/// it).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_engine_step(
    engine: *mut lnd_soft_engine,
    now: u64,
    budget: u32,
    progress: *mut lnd_soft_progress,
) -> lnd_error {
    let step = || {
        let engine = given!(object(engine))?;
        // SAFETY: by the contract of the ABI. Checked first: a step without a valid report must not
        // happen.
        unsafe { input(progress.cast_const()) }?;
        let mut inside = engine.inside.enter()?;
        // Relaxed: bits that we miss here were raised before, and only this engine raises them.
        let pending = || engine.memory.registers().interrupt.load(Ordering::Relaxed);
        let before = pending();
        let done = inside.step(Instant::from_nanos(now), budget);
        let mut raised = pending() & !before;
        if done.completions > 0 {
            raised |= lnd_dma::regs::InterruptBits::COMPLETION.bits();
        }
        let bus = inside.fabric_mut();
        let notified = lnd_soft_progress {
            size: size_of::<lnd_soft_progress>() as u32,
            busy: u32::from(done.busy),
            bytes: done.bytes,
            completions: done.completions,
            interrupts: raised,
            reserved: 0,
            violations: bus.violations().0,
            ring: bus.signals().bits(),
        };
        given!(fill(progress, notified))
    };
    outcome(step())
}

/// lnd_soft_engine_destroy() - Ends an engine; its memory is the caller's again.
/// @engine: the engine. It has stopped, or the node ends without leaving.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (a step is under way).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_engine_destroy(engine: *mut lnd_soft_engine) -> lnd_error {
    let destroy = || {
        let engine = given!(object(engine))?;
        let _inside = engine.inside.enter()?;
        engine.kind.end().then_some(()).ok_or(lnd_error::LND_E_NI)
    };
    outcome(destroy())
}
