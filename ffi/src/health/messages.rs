// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message's way through the paths: where each try goes, and what its end means.

use core::mem::size_of;

use ::lnd_health::journey::{Journey, Terms};
use ::lnd_health::node::{End, Ended, Next, WhyEnded};
use ::lnd_health::{refusal, Refusal};
use lnd_core::defect::seeded;
use lnd_core::driver::Why;
use lnd_core::id::Nid;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, Health as Class, Place, Status};

use super::{copies, lnd_health, names, Whole};
use crate::abi::{
    lnd_error, lnd_health_peer, lnd_journey, lnd_next, lnd_outcome, lnd_path, lnd_report,
    lnd_stamp, lnd_why_ended,
};
use crate::errors::outcome;
use crate::input::{input, output, place, put};

// Arbitrary, and not zero.
const JOURNEY: u32 = 0x4a4e_0004;

fn check(id: u32, journey: lnd_journey) -> Result<(), lnd_error> {
    if journey.kind != JOURNEY {
        return Err(lnd_error::LND_E_STALE);
    }
    if journey.ni != id {
        return Err(lnd_error::LND_E_FOREIGN);
    }
    Ok(())
}

/// lnd_health_open() - A message begins its way to a peer.
/// @health: the object.
/// @peer: the peer.
/// @deadline: the one deadline, over all tries.
/// @resend: 1 if it may be sent again.
/// @cookie: the caller's name for it, in the journal.
/// @journey: where the handle is written.
///
/// Ended by lnd_health_ended(), lnd_health_refused() or lnd_health_give_up().
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (no
/// such peer any more), LND_E_NO_SLOTS.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_open(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    deadline: u64,
    resend: u32,
    cookie: u64,
    journey: *mut lnd_journey,
) -> lnd_error {
    let open = |id, whole: &mut Whole| {
        place(journey)?;
        if whole.journeys.is_full() {
            return Err(lnd_error::LND_E_NO_SLOTS);
        }
        let terms =
            Terms { resend: resend != 0, ..Terms::new(cookie, Instant::from_nanos(deadline)) };
        let peer = whole.peer(id, peer)?;
        let opened = whole.health.open(peer, terms);
        let kept = whole.journeys.keep(Instant::ORIGIN, opened.ok_or(lnd_error::LND_E_STALE)?);
        let (index, generation) = kept.map_err(|_| lnd_error::LND_E_NO_SLOTS)?;
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(journey, lnd_journey { index, generation, ni: id, kind: JOURNEY }) }
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, open) })
}

/// lnd_health_begin() - Finds the path of a message's next try, and begins it.
/// @health: the object.
/// @journey: the message.
/// @now: the time.
/// @path: filled in; its size is set.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE, LND_E_NO_ROUTE (no path that is allowed; lnd_health_give_up() is next),
/// LND_E_DEADLINE (no try may begin any more; the same), LND_E_RUNNING (a try is under way),
/// LND_E_WAIT (not before lnd_health_next_try(); nothing has changed).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_begin(
    health: *mut lnd_health,
    journey: lnd_journey,
    now: u64,
    path: *mut lnd_path,
) -> lnd_error {
    let begin = |id, whole: &mut Whole| {
        // SAFETY: by the contract of the ABI.
        let path = unsafe { output(path)? };
        check(id, journey)?;
        let now = Instant::from_nanos(now);
        let found = whole.journeys.get(journey.index, journey.generation);
        let way = found.ok_or(lnd_error::LND_E_STALE)?;
        if way.under_way() {
            return Err(lnd_error::LND_E_RUNNING);
        }
        if way.tries() > 0 && now < whole.health.next_try(way) {
            return Err(lnd_error::LND_E_WAIT);
        }
        let choice = whole.health.choose(way, &[]).map_err(|_| lnd_error::LND_E_NO_ROUTE)?;
        if !whole.health.begin(now, way, &choice) {
            return Err(lnd_error::LND_E_DEADLINE);
        }
        let slice = whole.health.slice(now, way);
        *path = lnd_path {
            size: size_of::<lnd_path>() as u32,
            routed: u32::from(choice.route.is_some() && !seeded("path-never-routed")),
            local: names::local(id, choice.path.local),
            hop: names::peer_ni(id, choice.path.hop),
            destination: names::peer_ni(id, choice.destination),
            stamp: lnd_stamp { from: 0, to: 0, number: 0 },
            hop_nid: whole
                .health
                .peer_ni(choice.path.hop)
                .and_then(|ni| ni.nid())
                .map_or(0, Nid::raw),
            slice: slice.as_nanos(),
        };
        path.stamp = copies::to_c(whole.health.stamp(way));
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, begin) })
}

/// lnd_health_next_try() - From when on a message's next try may begin.
/// @health: the object.
/// @journey: the message.
/// @time: where the time is written; 0: now.
///
/// After LND_NEXT_LATER the message pauses, since every path has failed a moment ago: call
/// lnd_health_begin() at this time. It becomes sooner when an interface has recovered.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_next_try(
    health: *const lnd_health,
    journey: lnd_journey,
    time: *mut u64,
) -> lnd_error {
    let next = |id, whole: &mut Whole| {
        place(time)?;
        check(id, journey)?;
        let found = whole.journeys.get(journey.index, journey.generation);
        let at = whole.health.next_try(found.ok_or(lnd_error::LND_E_STALE)?);
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(time, at.as_nanos()) }
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, next) })
}

/// The class and the delivery that a report speaks of.
fn end_of(report: &lnd_report) -> Result<End, lnd_error> {
    let class = CLASSES.get(report.health as usize).copied();
    let class = class.ok_or(lnd_error::LND_E_ARGUMENT)?;
    let delivery = match report.delivery {
        d if d == Delivery::Delivered as u32 => Delivery::Delivered,
        d if d == Delivery::NotDelivered as u32 => Delivery::NotDelivered,
        d if d == Delivery::Unknown as u32 => Delivery::Unknown,
        d if d == Delivery::Sent as u32 => Delivery::Sent,
        _ => return Err(lnd_error::LND_E_ARGUMENT),
    };
    let cause = Cause::ALL.get((report.cause as usize).wrapping_sub(1)).copied();
    let place = Place::ALL.get((report.place as usize).wrapping_sub(1)).copied();
    // The status that the report was made of, as far as ends need it.
    let mut end = End::of(&Status {
        errno: report.error,
        health: class,
        delivery,
        resend: report.resend != 0,
        evidence: cause.map(|cause| (cause, place.unwrap_or(Place::Queue))),
    });
    if place.is_none() {
        // Without a place the class has to do.
        end.charge = None;
    }
    Ok(end)
}

/// Classes by number.
const CLASSES: [Class; 11] = [
    Class::Ok,
    Class::LocalInterrupt,
    Class::LocalDropped,
    Class::LocalAborted,
    Class::LocalNoRoute,
    Class::LocalError,
    Class::LocalTimeout,
    Class::RemoteError,
    Class::RemoteDropped,
    Class::RemoteTimeout,
    Class::NetworkTimeout,
];

/// A class by its number.
pub(super) fn class_of(class: u32) -> Result<Class, lnd_error> {
    CLASSES.get(class as usize).copied().ok_or(lnd_error::LND_E_ARGUMENT)
}

/// A message that is tried again; `at`: not before.
fn goes_on(way: &Journey, at: Option<Instant>) -> lnd_outcome {
    let next = if at.is_some() { lnd_next::LND_NEXT_LATER } else { lnd_next::LND_NEXT_AGAIN };
    let doubt = way.may_have_arrived();
    let delivery = if doubt { Delivery::Unknown } else { Delivery::NotDelivered };
    lnd_outcome {
        size: size_of::<lnd_outcome>() as u32,
        next: next as u32,
        delivery: delivery as u32,
        health: way.last_class().map_or(0, |class| class as u32),
        tries: way.tries(),
        why: lnd_why_ended::LND_WHY_NOT_ENDED as u32,
        cookie: way.cookie(),
        next_try: at.map_or(0, Instant::as_nanos),
    }
}

/// A message that has ended.
fn over(ended: &Ended) -> lnd_outcome {
    let why = match ended.why {
        WhyEnded::Delivered => lnd_why_ended::LND_WHY_DELIVERED,
        WhyEnded::NotResendable => lnd_why_ended::LND_WHY_NOT_RESENDABLE,
        WhyEnded::MayHaveArrived => lnd_why_ended::LND_WHY_MAY_HAVE_ARRIVED,
        WhyEnded::Tries => lnd_why_ended::LND_WHY_TRIES,
        WhyEnded::Deadline => lnd_why_ended::LND_WHY_DEADLINE,
        WhyEnded::NoPath(_) => lnd_why_ended::LND_WHY_NO_PATH,
    };
    lnd_outcome {
        size: size_of::<lnd_outcome>() as u32,
        next: lnd_next::LND_NEXT_ENDED as u32,
        delivery: ended.delivery as u32,
        health: ended.class as u32,
        tries: ended.tries,
        why: why as u32,
        cookie: ended.cookie,
        next_try: 0,
    }
}

impl Whole {
    /// Ends a journey's try by `end`; what becomes of the message.
    fn try_ended(
        &mut self,
        id: u32,
        journey: lnd_journey,
        end: impl FnOnce(&mut ::lnd_health::Health<'static>, Journey) -> Next,
    ) -> Result<lnd_outcome, lnd_error> {
        check(id, journey)?;
        let found = self.journeys.borrow(journey.index, journey.generation);
        match end(&mut self.health, found.ok_or(lnd_error::LND_E_STALE)?) {
            Next::Again(way) => {
                let outcome = goes_on(&way, None);
                self.journeys.put_back(journey.index, way);
                Ok(outcome)
            }
            Next::Later(way, at) => {
                let outcome = goes_on(&way, Some(at));
                self.journeys.put_back(journey.index, way);
                Ok(outcome)
            }
            Next::Ended(ended) => {
                self.journeys.forget(journey.index);
                Ok(over(&ended))
            }
        }
    }
}

/// lnd_health_ended() - A try has ended, as finalize() reports it.
/// @health: the object.
/// @journey: the message.
/// @report: the report.
/// @now: the time.
/// @result: filled in; its size is set.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_ended(
    health: *mut lnd_health,
    journey: lnd_journey,
    report: *const lnd_report,
    now: u64,
    result: *mut lnd_outcome,
) -> lnd_error {
    let ended = |id, whole: &mut Whole| {
        // SAFETY: by the contract of the ABI.
        let result = unsafe { output(result)? };
        // SAFETY: by the contract of the ABI.
        let end = end_of(unsafe { input(report)? })?;
        let now = Instant::from_nanos(now);
        *result = whole.try_ended(id, journey, |health, way| health.outcome(now, way, end))?;
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, ended) })
}

/// What a refusal of `lnd_submit` says. All that is not listed is the caller's error.
const fn refusal_of(error: u32) -> Refusal {
    const PEER_DOWN: u32 = lnd_error::LND_E_PEER_DOWN as u32;
    const NO_ROUTE: u32 = lnd_error::LND_E_NO_ROUTE as u32;
    const DEADLINE: u32 = lnd_error::LND_E_DEADLINE as u32;
    const PEERS_FULL: u32 = lnd_error::LND_E_PEERS_FULL as u32;
    const NO_SLOTS: u32 = lnd_error::LND_E_NO_SLOTS as u32;
    const NO_LISTS: u32 = lnd_error::LND_E_NO_LISTS as u32;
    match error {
        PEER_DOWN => refusal(Why::PeerDown),
        NO_ROUTE => refusal(Why::NoRoute),
        DEADLINE => refusal(Why::DeadlinePassed),
        PEERS_FULL => refusal(Why::PeersFull),
        NO_SLOTS => refusal(Why::NoSlots),
        NO_LISTS => refusal(Why::NoLists),
        _ => Refusal::CALLER,
    }
}

/// lnd_health_refused() - lnd_submit() has refused a try.
/// @health: the object.
/// @journey: the message.
/// @error: what lnd_submit() returned.
/// @now: the time.
/// @result: filled in; its size is set.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_refused(
    health: *mut lnd_health,
    journey: lnd_journey,
    error: u32,
    now: u64,
    result: *mut lnd_outcome,
) -> lnd_error {
    let refused = |id, whole: &mut Whole| {
        // SAFETY: by the contract of the ABI.
        let result = unsafe { output(result)? };
        let refusal = refusal_of(error);
        let now = Instant::from_nanos(now);
        *result = whole.try_ended(id, journey, |health, way| health.refused(now, way, refusal))?;
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, refused) })
}

/// lnd_health_give_up() - Ends a message's way, with or without a try under way.
/// @health: the object.
/// @journey: the message.
/// @result: filled in, with what is known of delivery; its size is set. May be NULL.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_NULL (the object).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_give_up(
    health: *mut lnd_health,
    journey: lnd_journey,
    result: *mut lnd_outcome,
) -> lnd_error {
    let give_up = |id, whole: &mut Whole| {
        let result = if result.is_null() {
            None
        } else {
            // SAFETY: by the contract of the ABI.
            Some(unsafe { output(result)? })
        };
        check(id, journey)?;
        let found = whole.journeys.take(journey.index, journey.generation);
        let found = found.ok_or(lnd_error::LND_E_STALE)?;
        let ended = whole.health.give_up(found, WhyEnded::NotResendable);
        if let Some(result) = result {
            *result = over(&ended);
        }
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, give_up) })
}
