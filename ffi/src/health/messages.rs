// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ends of a message's tries.

use core::mem::size_of;

use ::lnd_health::attempts::Attempts;
use ::lnd_health::node::{End, Ended, Next, WhyEnded};
use ::lnd_health::{refusal, Refusal};
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, HealthClass as Class, Place, Status};

use super::paths::check;
use super::{lnd_health, Whole};
use crate::abi::{lnd_attempts, lnd_error, lnd_next, lnd_outcome, lnd_report, lnd_why_ended};
use crate::errors::{outcome, why_of};
use crate::input::{given, input, output};

/// The class and the delivery of a report.
fn end_of(report: &lnd_report) -> Result<End, lnd_error> {
    let class = Class::ALL.get(report.health as usize).copied();
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
    // The status behind the report, as far as ends need it.
    let mut end = End::of(&Status {
        errno: report.error,
        health: class,
        delivery,
        resend: report.resend != 0,
        evidence: cause.map(|cause| (cause, place.unwrap_or(Place::Queue))),
    });
    if place.is_none() {
        // A report without a place: health decides by its class.
        end.charge = None;
    }
    Ok(end)
}

/// A class by its number.
pub(super) fn class_of(class: u32) -> Result<Class, lnd_error> {
    Class::ALL.get(class as usize).copied().ok_or(lnd_error::LND_E_ARGUMENT)
}

/// A message that continues; `at`: not before.
fn goes_on(way: &Attempts, at: Option<Instant>) -> lnd_outcome {
    let next = if at.is_some() { lnd_next::LND_NEXT_LATER } else { lnd_next::LND_NEXT_AGAIN };
    let uncertain = way.may_have_arrived();
    let delivery = if uncertain { Delivery::Unknown } else { Delivery::NotDelivered };
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
    /// Ends a message's try with `end`. Returns how the message continues.
    fn try_ended(
        &mut self,
        id: u32,
        attempts: lnd_attempts,
        end: impl FnOnce(&mut ::lnd_health::Health<'static>, Attempts) -> Next,
    ) -> Result<lnd_outcome, lnd_error> {
        check(id, attempts)?;
        let found = self.attempts.borrow(attempts.index, attempts.generation);
        match end(&mut self.health, found.ok_or(lnd_error::LND_E_STALE)?) {
            Next::Again(way) => {
                let outcome = goes_on(&way, None);
                self.attempts.put_back(attempts.index, way);
                Ok(outcome)
            }
            Next::Later(way, at) => {
                let outcome = goes_on(&way, Some(at));
                self.attempts.put_back(attempts.index, way);
                Ok(outcome)
            }
            Next::Ended(ended) => {
                self.attempts.forget(attempts.index);
                Ok(over(&ended))
            }
        }
    }
}

/// lnd_health_ended() - Reports the end of a try, from finalize().
/// @health: the object.
/// @attempts: the message.
/// @report: the report.
/// @now: the time.
/// @result: filled in; the caller sets its size.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_ended(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    report: *const lnd_report,
    now: u64,
    result: *mut lnd_outcome,
) -> lnd_error {
    let ended = |id, whole: &mut Whole| {
        let result = given!(output(result))?;
        let end = end_of(given!(input(report))?)?;
        let now = Instant::from_nanos(now);
        *result = whole.try_ended(id, attempts, |health, way| health.outcome(now, way, end))?;
        Ok(())
    };
    outcome(given!(lnd_health::with(health, ended)))
}

/// The meaning of an error of `lnd_submit`. Errors that are no refusal are the caller's.
const fn refusal_of(error: u32) -> Refusal {
    match why_of(error) {
        Some(why) => refusal(why),
        None => Refusal::CALLER,
    }
}

/// lnd_health_refused() - Reports that lnd_submit() has refused a try.
/// @health: the object.
/// @attempts: the message.
/// @error: what lnd_submit() returned.
/// @now: the time.
/// @result: filled in; the caller sets its size.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_refused(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    error: u32,
    now: u64,
    result: *mut lnd_outcome,
) -> lnd_error {
    let refused = |id, whole: &mut Whole| {
        let result = given!(output(result))?;
        let refusal = refusal_of(error);
        let now = Instant::from_nanos(now);
        *result = whole.try_ended(id, attempts, |health, way| health.refused(now, way, refusal))?;
        Ok(())
    };
    outcome(given!(lnd_health::with(health, refused)))
}

/// lnd_health_give_up() - Ends a message, with or without a try under way.
/// @health: the object.
/// @attempts: the message.
/// @result: filled in, with what is known of delivery; the caller sets its size. May be NULL.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_NULL (the object).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_give_up(
    health: *mut lnd_health,
    attempts: lnd_attempts,
    result: *mut lnd_outcome,
) -> lnd_error {
    let give_up = |id, whole: &mut Whole| {
        let result = if result.is_null() { None } else { Some(given!(output(result))?) };
        check(id, attempts)?;
        let found = whole.attempts.take(attempts.index, attempts.generation);
        let found = found.ok_or(lnd_error::LND_E_STALE)?;
        let ended = whole.health.give_up(found, WhyEnded::NotResendable);
        if let Some(result) = result {
            *result = over(&ended);
        }
        Ok(())
    };
    outcome(given!(lnd_health::with(health, give_up)))
}
