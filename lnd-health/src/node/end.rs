// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a try ends, and what becomes of its message.

use crate::attempts::Attempts;
use crate::charge::{Charge, Refusal};
use crate::select::NoPath;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, HealthClass as Class, Status};

/// How one try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its health class.
    pub class: Class,
    /// What is known of its delivery.
    pub delivery: Delivery,
    /// Whom it costs health; `None`: what its class says.
    pub charge: Option<Charge>,
    /// Whether repeating it could help: a refusal by the upper layer or an error of the protocol is
    /// not cured by another path.
    pub curable: bool,
    /// This node itself took it back: it costs no health.
    pub withdrawn: bool,
    /// It found no room, which there is again soon.
    pub full: bool,
}

impl End {
    /// It was delivered.
    pub const OK: Self = Self {
        class: Class::Ok,
        delivery: Delivery::Delivered,
        charge: None,
        curable: false,
        withdrawn: false,
        full: false,
    };

    /// A failure with a class, of which nothing more is known than that another try may help.
    pub const fn failed(class: Class, delivery: Delivery) -> Self {
        Self { class, delivery, charge: None, curable: true, withdrawn: false, full: false }
    }

    /// The end that a final status of `lnd-core` tells of.
    pub const fn of(status: &Status) -> Self {
        let (curable, withdrawn) = match status.evidence {
            Some((Cause::Shutdown | Cause::Withdrawn, _)) => (false, true),
            Some((Cause::Refused | Cause::Local | Cause::Protocol, _)) => (false, false),
            _ => (true, false),
        };
        let charge = match status.evidence {
            Some((cause, place)) => Some(Charge::of(cause, place)),
            None => None,
        };
        let failed = Self::failed(status.health, status.delivery);
        Self { charge, curable, withdrawn, ..failed }
    }
}

/// An end of which nothing more is known than its class.
impl From<Class> for End {
    fn from(class: Class) -> Self {
        match class {
            Class::Ok => Self::OK,
            _ => Self::failed(class, Delivery::Unknown),
        }
    }
}

/// A refusal at the call: nothing was sent.
impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        Self {
            charge: Some(refusal.charge),
            curable: refusal.again,
            full: refusal.full,
            ..Self::failed(refusal.class, Delivery::NotDelivered)
        }
    }
}

/// Why a message was not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyEnded {
    /// It was delivered.
    Delivered,
    /// Its class or its owner does not allow it, or another path could not help.
    NotResendable,
    /// It may have arrived, and the receiver could not recognise a second copy (R45).
    MayHaveArrived,
    /// As many tries as the operator's limit allows were made.
    Tries,
    /// Its deadline has passed (S4-20), or leaves no time for another try.
    Deadline,
    /// There is no other path (S4-10, S4-15, S4-18).
    NoPath(NoPath),
}

impl From<NoPath> for WhyEnded {
    fn from(why: NoPath) -> Self {
        Self::NoPath(why)
    }
}

/// The end of a message, which is reported up once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "the upper layer is to hear of it"]
pub struct Ended {
    /// The caller's name for it.
    pub cookie: u64,
    /// The class of its last try; [`Class::Ok`] if and only if it was delivered.
    pub class: Class,
    /// What is known of delivery, over all tries.
    pub delivery: Delivery,
    /// Tries made.
    pub tries: u32,
    /// Why it was not tried again.
    pub why: WhyEnded,
}

/// What becomes of a message after a try.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the message goes on, or its end is reported"]
pub enum Next {
    /// It is to be tried again: [`choose`](crate::Health::choose) finds its next path.
    Again(Attempts),
    /// It is to be tried again at this time, no sooner: every path was tried a moment ago (S4-19).
    /// [`HealthClass::next_try`](crate::Health::next_try) says if an interface's recovery has made it sooner.
    Later(Attempts, Instant),
    /// It has ended.
    Ended(Ended),
}
