// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Creation and end.

use core::ffi::c_void;
use core::mem::{size_of, MaybeUninit};

use ::lnd_health::attempts::Attempts;
use ::lnd_health::node::Action;
use ::lnd_health::{Health, HealthConfig, Profile};
use lnd_core::arena::{Arena, ArenaFull, LINE};
use lnd_core::id::Incarnation;
use lnd_core::sync::{AtomicU32, Guarded, Ordering};
use lnd_core::time::{Instant, Span};

use super::handle_table::{HandleSlot, HandleTable};
use super::{lnd_health, Cell, Whole, ALIVE, DEAD};
use crate::abi::{lnd_error, lnd_health_config, lnd_profile, LND_UNTIL_DEADLINE};
use crate::config::{known, LND_ALIGN};
use crate::errors::outcome;
use crate::input::{given, input, place, put};

/// Most messages, and most actions.
const MOST: u32 = 65_536;

/// lnd_health_config_init() - Fills in a configuration with the usual numbers.
/// @config: the configuration; every byte of it is written.
/// @abi_version: LND_ABI_VERSION.
/// @locals: local interfaces.
/// @peers: peers.
/// @peer_nis: interfaces of all peers together.
///
/// @incarnation stays 0 and is left for the caller to fill in.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_VERSION.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_config_init(
    config: *mut lnd_health_config,
    abi_version: u32,
    locals: u32,
    peers: u32,
    peer_nis: u32,
) -> lnd_error {
    if !known(abi_version) {
        return lnd_error::LND_E_VERSION;
    }
    let usual = HealthConfig::new(1, peers, peer_nis);
    let filled = lnd_health_config {
        size: size_of::<lnd_health_config>() as u32,
        abi_version,
        locals,
        peers,
        peer_nis,
        journal: usual.journal,
        attempts: 1024,
        actions: 256,
        profile: lnd_profile::LND_PROFILE_SEED as u32,
        sensitivity: u32::from(usual.sensitivity),
        retries: u32::from(usual.retries),
        seed: usual.seed,
        recovery_first: usual.recovery.first.as_nanos(),
        recovery_cap: usual.recovery.cap.as_nanos(),
        recovery_limit: usual.recovery_limit.as_nanos(),
        resend_first: usual.resend.first.as_nanos(),
        resend_cap: usual.resend.cap.as_nanos(),
        probe_idle: usual.probe.idle.as_nanos(),
        probe_again: usual.probe.again.as_nanos(),
        probe_hold_off: usual.probe.hold_off.as_nanos(),
        action_bound: usual.reconnect.bound.as_nanos(),
        action_every: usual.action_every.as_nanos(),
        action_burst: usual.action_burst,
        probe_results: u32::from(usual.probe.results),
        routes: u32::from(usual.routes),
        routing: 0,
        numa_range: u32::from(usual.numa_range),
        connects_at_once: u32::from(usual.reconnect.at_once),
        incarnation: 0,
    };
    outcome(given!(put(config, filled)))
}

fn understand(given: &lnd_health_config) -> Result<HealthConfig, lnd_error> {
    let wrong = |_| lnd_error::LND_E_CONFIG;
    if !known(given.abi_version) {
        return Err(lnd_error::LND_E_VERSION);
    }
    let mut config =
        HealthConfig::new(u8::try_from(given.locals).map_err(wrong)?, given.peers, given.peer_nis);
    match given.profile {
        p if p == lnd_profile::LND_PROFILE_SEED as u32 => config.profile = Profile::Seed,
        p if p == lnd_profile::LND_PROFILE_LNET as u32 => config = config.lnet_compat(),
        _ => return Err(lnd_error::LND_E_CONFIG),
    }
    config.journal = given.journal;
    config.sensitivity = u16::try_from(given.sensitivity).map_err(wrong)?;
    if given.retries != LND_UNTIL_DEADLINE {
        config.retries = u8::try_from(given.retries).map_err(wrong)?;
    }
    config.seed = given.seed;
    config.recovery.first = Span::from_nanos(given.recovery_first);
    config.recovery.cap = Span::from_nanos(given.recovery_cap);
    config.recovery_limit = Span::from_nanos(given.recovery_limit);
    config.resend.first = Span::from_nanos(given.resend_first);
    config.resend.cap = Span::from_nanos(given.resend_cap);
    config.probe.idle = Span::from_nanos(given.probe_idle);
    config.probe.again = Span::from_nanos(given.probe_again);
    config.probe.hold_off = Span::from_nanos(given.probe_hold_off);
    config.probe.results = u8::try_from(given.probe_results).map_err(wrong)?;
    config.reconnect.bound = Span::from_nanos(given.action_bound);
    config.action_every = Span::from_nanos(given.action_every);
    config.action_burst = given.action_burst;
    config.routes = u16::try_from(given.routes).map_err(wrong)?;
    config.routing = given.routing != 0;
    config.numa_range = u16::try_from(given.numa_range).map_err(wrong)?;
    config.reconnect.at_once = u16::try_from(given.connects_at_once).map_err(wrong)?;
    let incarnation = Incarnation::from_raw(given.incarnation);
    config.incarnation = Some(incarnation.ok_or(lnd_error::LND_E_CONFIG)?);
    config.check().map_err(|_| lnd_error::LND_E_CONFIG)?;
    let bounded = |n: u32| (1..=MOST).contains(&n);
    if !bounded(given.attempts) || !bounded(given.actions) {
        return Err(lnd_error::LND_E_CONFIG);
    }
    Ok(config)
}

fn bytes(given: &lnd_health_config) -> Result<usize, lnd_error> {
    let config = understand(&lnd_health_config { incarnation: 1, ..*given })?;
    Ok(2 * LINE
        + Arena::table_bytes::<u8>(config.bytes_needed())
        + Arena::table_bytes::<HandleSlot<Attempts>>(given.attempts as usize)
        + Arena::table_bytes::<HandleSlot<Action>>(given.actions as usize)
        + Arena::table_bytes::<Cell>(1)
        + Arena::table_bytes::<lnd_health>(1))
}

/// lnd_health_size() - Bytes of memory for a health object of this configuration.
/// @config: the configuration; its @incarnation does not matter.
///
/// Context: any.
/// Return: the bytes, or 0 if the configuration is not valid.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_size(config: *const lnd_health_config) -> usize {
    given!(input(config)).and_then(bytes).unwrap_or(0)
}

/// lnd_health_create() - Creates a node's health in the caller's memory.
/// @mem: the memory, aligned to LND_ALIGN; the object's until lnd_health_destroy(). Initialised:
///       zero it before the first object, and leave it unchanged between two objects.
/// @len: its bytes, at least lnd_health_size().
/// @config: sizes and knobs; copied.
/// @now: the time.
/// @health: where the object's pointer is written.
///
/// Create one object for each incarnation of the node: its numbers start again with it.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_VERSION, LND_E_CONFIG, LND_E_MEMORY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_create(
    mem: *mut c_void,
    len: usize,
    config: *const lnd_health_config,
    now: u64,
    health: *mut *mut lnd_health,
) -> lnd_error {
    let create = || {
        let given = given!(input(config))?;
        place(health)?;
        let needed = bytes(given)?;
        if mem.is_null() {
            return Err(lnd_error::LND_E_NULL);
        }
        if mem as usize % LND_ALIGN != 0 {
            return Err(lnd_error::LND_E_ALIGN);
        }
        if len < needed || len > isize::MAX as usize {
            return Err(lnd_error::LND_E_MEMORY);
        }
        let id = next_id(mem, now);
        // SAFETY: by the contract of the ABI the memory is ours until the object is destroyed: that
        // is what `'static` means here.
        let memory = unsafe { core::slice::from_raw_parts_mut(mem.cast::<MaybeUninit<u8>>(), len) };
        // `next_id` uses the first line.
        let memory = memory.get_mut(LINE..).ok_or(lnd_error::LND_E_MEMORY)?;
        let mut arena = Arena::new(memory);
        let cell = &*fill(&mut arena, given, now)?;
        let made = arena.place(lnd_health {
            magic: AtomicU32::new(ALIVE),
            busy: AtomicU32::new(0),
            id,
            entered: cell,
        })?;
        given!(put(health, core::ptr::from_mut(made)))
    };
    outcome(create())
}

/// The number of an object at `mem`; its handles carry it. The memory's first line counts the
/// objects made there, from whatever value it held before the first. So a handle of an earlier
/// object does not match the next one, even if both were made at the same time (R14). Never zero.
fn next_id(mem: *mut c_void, now: u64) -> u32 {
    // SAFETY: aligned to a line and as long as one, which the caller has checked; initialised, and
    // the caller's memory alone, by the contract of the ABI: no other context has it.
    let count = unsafe { &mut *mem.cast::<u32>() };
    let number = count.wrapping_add(1);
    *count = number;
    let place = (mem as usize as u64).wrapping_add(now).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let id = number.wrapping_add((place >> 32) as u32);
    if id == 0 {
        u32::MAX
    } else {
        id
    }
}

/// Builds the owner's half in its place. Not inlined, to save stack.
#[inline(never)]
fn fill(
    arena: &mut Arena<'static>,
    given: &lnd_health_config,
    now: u64,
) -> Result<&'static mut Cell, lnd_error> {
    let config = understand(given)?;
    // Not `place`, which would build it on the stack.
    let cell = arena.table(1, |_| Cell(Guarded::new(MaybeUninit::uninit())))?;
    let cell = cell.first_mut().ok_or(ArenaFull)?;
    let block = arena.table(config.bytes_needed(), |_| MaybeUninit::<u8>::uninit())?;
    let attempts = HandleTable::new(arena.table(given.attempts as usize, HandleSlot::free)?);
    let actions = HandleTable::new(arena.table(given.actions as usize, HandleSlot::free)?);
    let health = Health::create(block, config, Instant::from_nanos(now));
    let health = health.map_err(|_| lnd_error::LND_E_CONFIG)?;
    cell.0.get_mut().write(Whole { health, attempts, actions });
    Ok(cell)
}

/// lnd_health_destroy() - Ends a health object; its memory is the caller's again.
/// @health: the object.
///
/// Messages and actions under way are discarded.
///
/// Context: any; no other call is under way or follows.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_destroy(health: *mut lnd_health) -> lnd_error {
    let enter = |_: u32, _: &mut Whole| Ok(());
    outcome(given!(lnd_health::with(health, enter)).map(|()| {
        // SAFETY: just found alive.
        let magic = unsafe { &(*health).magic };
        magic.store(DEAD, Ordering::Relaxed);
    }))
}
