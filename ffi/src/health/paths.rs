// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The paths of a message: where each try goes.

use core::mem::size_of;

use ::lnd_health::attempts::Terms;
use ::lnd_health::select::{Distance, MAX_NUMA};
use ::lnd_health::MAX_LOCAL;
use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::{copies, lnd_health, names, Whole};
use crate::abi::{
    lnd_attempts, lnd_distance, lnd_error, lnd_health_ni, lnd_health_peer, lnd_path, lnd_stamp,
};
use crate::errors::outcome;
use crate::input::{given, output, place, put, values};

// Arbitrary, and not zero.
const ATTEMPTS: u32 = 0x4a4e_0004;

/// Whether a handle names a message of this object.
pub(super) fn check(id: u32, attempts: lnd_attempts) -> Result<(), lnd_error> {
    if attempts.kind != ATTEMPTS {
        return Err(lnd_error::LND_E_STALE);
    }
    if attempts.ni != id {
        return Err(lnd_error::LND_E_FOREIGN);
    }
    Ok(())
}

/// lnd_health_open() - Opens a message to a peer.
/// @health: the object.
/// @peer: the peer.
/// @deadline: the one deadline, over all tries.
/// @resend: 1 if it may be resent.
/// @cookie: the caller's value for it, in the journal.
/// @attempts: where the handle is written.
///
/// lnd_health_ended(), lnd_health_refused() or lnd_health_give_up() ends it.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (the
/// peer was removed), LND_E_NO_SLOTS.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_open(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    deadline: u64,
    resend: u32,
    cookie: u64,
    attempts: *mut lnd_attempts,
) -> lnd_error {
    let open = |id, whole: &mut Whole| {
        place(attempts)?;
        if whole.attempts.is_full() {
            return Err(lnd_error::LND_E_NO_SLOTS);
        }
        let terms =
            Terms { resend: resend != 0, ..Terms::new(cookie, Instant::from_nanos(deadline)) };
        let peer = whole.peer(id, peer)?;
        let opened = whole.health.open(peer, terms);
        let kept = whole.attempts.keep(Instant::ORIGIN, opened.ok_or(lnd_error::LND_E_STALE)?);
        let (index, generation) = kept.map_err(|_| lnd_error::LND_E_NO_SLOTS)?;
        given!(put(attempts, lnd_attempts { index, generation, ni: id, kind: ATTEMPTS }))
    };
    outcome(given!(lnd_health::with(health, open)))
}

/// lnd_health_bind() - Binds a message to a local interface, to its peer's, or to both.
/// @health: the object.
/// @attempts: the message, before its first lnd_health_begin().
/// @local: the local interface; all 0: any.
/// @peer_ni: the peer's interface; all 0: any.
///
/// A response that is bound takes the path of its request.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND, LND_E_ARGUMENT (an interface of another peer), LND_E_RUNNING (a try has
/// begun).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_bind(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    local: lnd_health_ni,
    peer_ni: lnd_health_ni,
) -> lnd_error {
    let bind = |id, whole: &mut Whole| {
        check(id, attempts)?;
        let source = match local {
            names::NO_NI => None,
            local => Some(whole.local(id, local)?),
        };
        let destination = match peer_ni {
            names::NO_NI => None,
            peer_ni => Some(whole.peer_ni(id, peer_ni)?),
        };
        let found = whole.attempts.get(attempts.index, attempts.generation);
        let way = found.ok_or(lnd_error::LND_E_STALE)?;
        let is_its = |ni| whole.health.interfaces(way.peer()).any(|its| its == ni);
        if !destination.is_none_or(is_its) {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        way.bind(source, destination).then_some(()).ok_or(lnd_error::LND_E_RUNNING)
    };
    outcome(given!(lnd_health::with(health, bind)))
}

/// lnd_health_begin() - Selects the path of a message's next try and begins the try.
/// @health: the object.
/// @attempts: the message.
/// @now: the time.
/// @path: filled in; the caller sets its size.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE, LND_E_NO_ROUTE (no allowed path; call lnd_health_give_up() next), LND_E_DEADLINE
/// (no further try may begin; the same), LND_E_RUNNING (a try is under way), LND_E_WAIT (not before
/// lnd_health_next_try(); no effect).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_begin(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    now: u64,
    path: *mut lnd_path,
) -> lnd_error {
    let begin = |id, whole: &mut Whole| {
        let path = given!(output(path))?;
        whole.begin(id, attempts, Instant::from_nanos(now), &[], path)
    };
    outcome(given!(lnd_health::with(health, begin)))
}

/// lnd_health_begin_near() - As lnd_health_begin(), and prefers near interfaces.
/// @health: the object.
/// @attempts: the message.
/// @distances: the distance of each local interface, by its @index.
/// @count: how many, 0 to 32; interfaces without an entry are near.
/// @now: the time.
/// @path: filled in; the caller sets its size.
///
/// Near interfaces are those near the message's memory and CPUs.
///
/// Health, an operator's rules and earlier tries take precedence over distances.
///
/// Context: the owner's.
/// Return: as lnd_health_begin(), LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_begin_near(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    distances: *const lnd_distance,
    count: u32,
    now: u64,
    path: *mut lnd_path,
) -> lnd_error {
    let begin = |id, whole: &mut Whole| {
        let path = given!(output(path))?;
        if count as usize > MAX_LOCAL {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        let given = given!(values(distances, count))?;
        let mut near = [Distance::default(); MAX_LOCAL];
        for (place, given) in near.iter_mut().zip(given) {
            *place = distance(given)?;
        }
        whole.begin(id, attempts, Instant::from_nanos(now), &near, path)
    };
    outcome(given!(lnd_health::with(health, begin)))
}

fn distance(given: &lnd_distance) -> Result<Distance, lnd_error> {
    let device = u8::try_from(given.device).ok();
    let numa = u16::try_from(given.numa).ok().filter(|&numa| numa <= MAX_NUMA);
    match (device, numa) {
        (Some(device), Some(numa)) => Ok(Distance { device, numa }),
        _ => Err(lnd_error::LND_E_ARGUMENT),
    }
}

impl Whole {
    /// Selects a path for a message's next try, and begins the try.
    fn begin(
        &mut self,
        id: u32,
        attempts: lnd_attempts,
        now: Instant,
        distances: &[Distance],
        path: &mut lnd_path,
    ) -> Result<(), lnd_error> {
        check(id, attempts)?;
        let found = self.attempts.get(attempts.index, attempts.generation);
        let way = found.ok_or(lnd_error::LND_E_STALE)?;
        if way.under_way() {
            return Err(lnd_error::LND_E_RUNNING);
        }
        if way.tries() > 0 && now < self.health.next_try(way) {
            return Err(lnd_error::LND_E_WAIT);
        }
        let choice = self.health.choose(way, distances).map_err(|_| lnd_error::LND_E_NO_ROUTE)?;
        if !self.health.begin(now, way, &choice) {
            return Err(lnd_error::LND_E_DEADLINE);
        }
        let slice = self.health.slice(now, way);
        *path = lnd_path {
            size: size_of::<lnd_path>() as u32,
            routed: u32::from(choice.route.is_some()),
            local: names::local(id, choice.path.local),
            hop: names::peer_ni(id, choice.path.hop),
            destination: names::peer_ni(id, choice.destination),
            stamp: lnd_stamp { from: 0, to: 0, number: 0 },
            hop_nid: self
                .health
                .peer_ni(choice.path.hop)
                .and_then(|ni| ni.nid())
                .map_or(0, Nid::raw),
            slice: slice.as_nanos(),
        };
        path.stamp = copies::to_c(self.health.stamp(way));
        Ok(())
    }
}

/// lnd_health_next_try() - The earliest time of a message's next try.
/// @health: the object.
/// @attempts: the message.
/// @time: where the time is written; 0: now.
///
/// After LND_NEXT_LATER the message pauses, because every path has just failed: call
/// lnd_health_begin() at this time. The time becomes earlier when an interface has recovered.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_next_try(
    health: *const lnd_health,
    attempts: lnd_attempts,
    time: *mut u64,
) -> lnd_error {
    let next = |id, whole: &mut Whole| {
        place(time)?;
        check(id, attempts)?;
        let found = whole.attempts.get(attempts.index, attempts.generation);
        let at = whole.health.next_try(found.ok_or(lnd_error::LND_E_STALE)?);
        given!(put(time, at.as_nanos()))
    };
    outcome(given!(lnd_health::with(health, next)))
}
