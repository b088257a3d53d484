// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Creation and end of an NI: all of it lies in one block of the caller's memory (R61).

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use lnd_core::arena::{Arena, ArenaFull, LINE};
use lnd_core::config::Config;
use lnd_core::driver::{Driver, Identity, IrqHandle, RunState, RxRequest};
use lnd_core::id::{Incarnation, LinkId, Nid};
use lnd_core::sync::{Guarded, Ordering};
use lnd_dma::memory::LinkMemory;
use lnd_shortmsg::dispatch::Receiver;
use lnd_shortmsg::wire::Checksum;

use crate::abi::{
    lnd_config, lnd_error, lnd_ops, lnd_ring, LND_CHECKSUM, LND_NEVER, LND_NID_UNKNOWN,
};
use crate::check::operations;
use crate::config::{frame_bytes, understand, LND_ALIGN};
use crate::engine::{EngineRef, LinkEngine};
use crate::input::{given, input, place, put};
use crate::ni::{lnd_ni, Irq, Thread, ThreadCell};
use crate::offered::Offered;
use crate::platform::Platform;
use crate::ports::{Frames, Host, Payload};
use crate::registers::{Numbers, Registers};
use crate::tally::{Tally, Totals};
use crate::tracing::{Events, Tracing};

fn size_of_ni(config: &Config) -> usize {
    let (slots, links) = (config.slots as usize, config.links as usize);
    LINE + Arena::table_bytes::<Platform>(1)
        + Arena::table_bytes::<Option<LinkMemory<'static>>>(links)
        + Arena::table_bytes::<Tally>(1)
        + Arena::table_bytes::<ThreadCell>(1)
        + Arena::table_bytes::<Option<LinkEngine>>(links)
        + Arena::table_bytes::<u8>(frame_bytes(config))
        + Arena::table_bytes::<Totals>(1)
        + Arena::table_bytes::<Events>(1)
        + Arena::table_bytes::<Offered>(links)
        + Arena::table_bytes::<Option<RxRequest<'static>>>(slots)
        + Arena::table_bytes::<u8>(config.bytes_needed())
        + Arena::table_bytes::<Shard>(1)
        + Arena::table_bytes::<Irq>(links)
        + Arena::table_bytes::<lnd_ni>(1)
}

/// lnd_ni_size() - Bytes of memory that an NI of this configuration needs.
/// @config: the configuration; @nid, @incarnation and @rings do not matter.
///
/// Context: any.
/// Return: the bytes, or 0 if the configuration is not valid.
#[no_mangle]
pub unsafe extern "C" fn lnd_ni_size(config: *const lnd_config) -> usize {
    match given!(input(config)).and_then(|it| Ok(understand(it)?)) {
        Ok(config) => size_of_ni(&config),
        Err(_) => 0,
    }
}

/// A link's memory, if it is large enough for the configuration.
fn attach(config: &lnd_config, ring: &lnd_ring) -> Result<LinkMemory<'static>, lnd_error> {
    let base = NonNull::new(ring.base.cast::<u8>()).ok_or(lnd_error::LND_E_NULL)?;
    if ring.base as usize % LND_ALIGN != 0 {
        return Err(lnd_error::LND_E_ALIGN);
    }
    // SAFETY: by the contract of the ABI the ring memory stays until the NI is destroyed, and only
    // its engine and this NI use it.
    let memory = unsafe { LinkMemory::attach(base, ring.len) };
    let memory = memory.map_err(|_| lnd_error::LND_E_RING)?;
    let sizes = memory.geometry();
    if sizes.descriptors < config.slots || sizes.lists < config.lists {
        return Err(lnd_error::LND_E_RING);
    }
    Ok(memory)
}

/// Checks that the ring memory is large enough. An engine that is operations needs none.
fn check_ring(config: &lnd_config, ring: &lnd_ring, ops: &lnd_ops) -> Result<(), lnd_error> {
    if ops.engine_post.is_none() {
        return attach(config, ring).map(|_| ());
    }
    if ring.base.is_null() && ring.len == 0 {
        Ok(())
    } else {
        Err(lnd_error::LND_E_RING)
    }
}

/// The NI's own number, in its handles. It differs for every address and every incarnation:
/// concurrent NIs have different addresses, successive NIs at one address have different
/// incarnations.
fn own_number(at: usize, incarnation: Incarnation) -> u32 {
    let incarnation = incarnation.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((at / LND_ALIGN) as u32).wrapping_add(incarnation as u32).max(1)
}

/// lnd_ni_create() - Creates an NI in the caller's memory.
/// @mem: the memory, aligned to LND_ALIGN; the NI's until lnd_ni_destroy().
/// @len: its bytes, at least lnd_ni_size().
/// @config: sizes, times, identity and ring memory; copied.
/// @ops: the platform's operations; copied.
/// @ctx: passed to every operation.
/// @ni: where the NI's pointer is written.
///
/// All links begin down; lnd_run() opens those that work. Of the operations, this call uses those
/// of registers and engine_features() only.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_VERSION, LND_E_CONFIG, LND_E_OPS,
/// LND_E_MEMORY, LND_E_RING, LND_E_UNSUPPORTED (@connections, in a library without them).
#[no_mangle]
pub unsafe extern "C" fn lnd_ni_create(
    mem: *mut c_void,
    len: usize,
    config: *const lnd_config,
    ops: *const lnd_ops,
    ctx: *mut c_void,
    ni: *mut *mut lnd_ni,
) -> lnd_error {
    let config = match given!(input(config)) {
        Ok(config) => config,
        Err(error) => return error,
    };
    let ops = match given!(input(ops)) {
        Ok(ops) => ops,
        Err(error) => return error,
    };
    if let Err(error) = place(ni) {
        return error;
    }
    if mem.is_null() {
        return lnd_error::LND_E_NULL;
    }
    if mem as usize % LND_ALIGN != 0 {
        return lnd_error::LND_E_ALIGN;
    }
    if len > isize::MAX as usize {
        return lnd_error::LND_E_MEMORY;
    }
    // SAFETY: by the contract of the ABI the memory is ours until the NI is destroyed: that is what
    // `'static` means here.
    let memory = unsafe { core::slice::from_raw_parts_mut(mem.cast(), len) };
    match create(memory, config, ops, ctx) {
        Ok(created) => match given!(put(ni, core::ptr::from_ref(created).cast_mut())) {
            Ok(()) => lnd_error::LND_OK,
            Err(error) => error,
        },
        Err(error) => error,
    }
}

impl From<ArenaFull> for lnd_error {
    fn from(_: ArenaFull) -> Self {
        Self::LND_E_MEMORY
    }
}

type Shard = Driver<'static, Host>;

/// What one stage of the creation passes to the next. Each stage is a separate function that is not
/// inlined, so that a kernel's stack never holds more than one of them.
struct Made {
    platform: &'static Platform,
    memories: &'static [Option<LinkMemory<'static>>],
    tally: &'static Tally,
}

impl Made {
    fn registers(&self, at: usize) -> Option<Registers> {
        let memory = self.memories.get(at)?.as_ref()?;
        Some(Registers::new(self.platform, memory, LinkId::new(at)?))
    }
}

fn create(
    memory: &'static mut [MaybeUninit<u8>],
    given: &lnd_config,
    ops: &lnd_ops,
    ctx: *mut c_void,
) -> Result<&'static lnd_ni, lnd_error> {
    let config = understand(given)?;
    let nid = Nid::from_raw(given.nid).filter(|nid| nid.raw() != LND_NID_UNKNOWN);
    let nid = nid.ok_or(lnd_error::LND_E_CONFIG)?;
    let incarnation = Incarnation::from_raw(given.incarnation).ok_or(lnd_error::LND_E_CONFIG)?;
    operations(ops, &config, given.flags).map_err(|_| lnd_error::LND_E_OPS)?;
    if memory.len() < size_of_ni(&config) {
        return Err(lnd_error::LND_E_MEMORY);
    }
    let links = config.links as usize;
    for ring in given.rings.iter().take(links) {
        check_ring(given, ring, ops)?;
    }
    let id = own_number(memory.as_ptr() as usize, incarnation);
    let mut arena = Arena::new(memory);
    let ring_memory = |at: usize| given.rings.get(at).and_then(|ring| attach(given, ring).ok());
    let made = Made {
        platform: arena.place(Platform::new(ops, ctx, id))?,
        memories: arena.table(links, ring_memory)?,
        tally: arena.place(Tally::default())?,
    };
    let cell = arena.place(ThreadCell(Guarded::new(MaybeUninit::uninit())))?;
    let irq_handle =
        fill(cell, &mut arena, &config, Identity { nid, incarnation }, &made, given.flags)?;
    let irqs = make_irqs(&mut arena, links, irq_handle, &made)?;
    let connects = config.connections > 0;
    Ok(arena.place(lnd_ni::new(made.platform, irq_handle, irqs, connects, cell, made.tally))?)
}

/// Builds the thread's half in its place.
#[inline(never)]
fn fill(
    cell: &mut ThreadCell,
    arena: &mut Arena<'static>,
    config: &Config,
    me: Identity,
    made: &Made,
    flags: u32,
) -> Result<IrqHandle<'static>, lnd_error> {
    let checksum = if flags & LND_CHECKSUM != 0 { Checksum::On } else { Checksum::Off };
    let engines = make_engines(arena, config.links as usize, made)?;
    let buffer = arena.table(frame_bytes(config), |_| 0_u8)?;
    let events = make::<Events>(arena)?;
    let offered = arena.table(config.links as usize, |_| Offered::default())?;
    let parked = arena.table(config.slots as usize, |_| None)?;
    let totals = make::<Totals>(arena)?;
    let block = arena.table(config.bytes_needed(), |_| MaybeUninit::<u8>::uninit())?;
    let place = arena.place(MaybeUninit::<Shard>::uninit())?;
    let driver = Shard::create_in(
        place,
        block,
        *config,
        me,
        engines.iter_mut().enumerate().filter_map(|(at, engine)| {
            Some(EngineRef::new(made.platform, LinkId::new(at)?, engine.as_mut(), flags))
        }),
        Frames::new(made.platform, buffer, checksum, flags),
        Payload(made.platform),
        Tracing::new(made.platform, events),
    );
    let driver = driver.map_err(|_| lnd_error::LND_E_CONFIG)?;
    let receiver = Receiver::new(checksum);
    // Whatever is due first is due before a run that nothing has asked for.
    let (frame_waits, next_run, runs) = (false, LND_NEVER, 0);
    let thread = Thread { driver, receiver, offered, parked, totals, frame_waits, next_run, runs };
    let thread = cell.0.get_mut().write(thread);
    Ok(thread.driver.irq_handle())
}

/// Not inlined, because the value is built on the stack first.
#[inline(never)]
fn make<T: Default>(arena: &mut Arena<'static>) -> Result<&'static mut T, lnd_error> {
    Ok(arena.place(T::default())?)
}

#[inline(never)]
fn make_engines(
    arena: &mut Arena<'static>,
    links: usize,
    made: &Made,
) -> Result<&'static mut [Option<LinkEngine>], lnd_error> {
    let engine = |at: usize| {
        let (registers, link) = (made.registers(at)?, LinkId::new(at)?);
        Some(LinkEngine::new(link, registers, registers.memory(), Numbers(made.platform)))
    };
    Ok(arena.table(links, engine)?)
}

#[inline(never)]
fn make_irqs(
    arena: &mut Arena<'static>,
    links: usize,
    irq_handle: IrqHandle<'static>,
    made: &Made,
) -> Result<&'static [Irq], lnd_error> {
    let zero = LinkId::new(0).ok_or(lnd_error::LND_E_CONFIG)?;
    let irq = |at: usize| {
        let link = LinkId::new(at).unwrap_or(zero);
        Irq::new(irq_handle, made.registers(at), link)
    };
    Ok(arena.table(links, irq)?)
}

/// lnd_ni_destroy() - Ends an NI. Its memory and its ring memory are the caller's again.
/// @ni: the NI.
///
/// The NI must be LND_QUIESCENT with no report due: see lnd_shutdown(). No interrupt and no other
/// call may be under way or follow.
///
/// Context: thread.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY (a
/// call is under way), LND_E_RUNNING (see lnd_blocker_next()).
#[no_mangle]
pub unsafe extern "C" fn lnd_ni_destroy(ni: *mut lnd_ni) -> lnd_error {
    let ni = match given!(lnd_ni::of(ni)) {
        Ok(ni) => ni,
        Err(error) => return error,
    };
    let mut entered = match ni.enter() {
        Ok(entered) => entered,
        Err(error) => return error,
    };
    let busy = ni.runner.load(Ordering::Relaxed) != 0 || ni.irqs.iter().any(Irq::is_busy);
    if busy {
        return lnd_error::LND_E_BUSY;
    }
    let thread = entered.thread();
    let still = thread.driver.run_state() == RunState::Quiescent;
    if !still || !thread.driver.nothing_to_report() {
        return lnd_error::LND_E_RUNNING;
    }
    entered.mark_dead();
    lnd_error::LND_OK
}
