// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end of a try, and how its message continues.

use crate::attempts::Attempts;
use crate::charge::{Charge, Refusal};
use crate::select::NoPath;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, HealthClass as Class, Status};

/// The end of one try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its health class.
    pub class: Class,
    /// What is known of its delivery.
    pub delivery: Delivery,
    /// The interface that it charges; `None`: by its class.
    pub charge: Option<Charge>,
    /// Whether a resend could help: another path does not cure a refusal by the upper layer or a
    /// protocol error.
    pub curable: bool,
    /// This node itself withdrew it: it costs no health.
    pub withdrawn: bool,
    /// It found no room, which is soon available again.
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

    /// A failure with a class, without further knowledge: another try may help.
    pub const fn failed(class: Class, delivery: Delivery) -> Self {
        Self { class, delivery, charge: None, curable: true, withdrawn: false, full: false }
    }

    /// The end for a final status of `lnd-core`.
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

/// An end of which only the class is known.
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

/// Why a message was not resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyEnded {
    /// It was delivered.
    Delivered,
    /// Its class or its owner does not allow a resend, or another path would not help.
    NotResendable,
    /// It may have arrived, and the receiver would not recognise a duplicate (R45).
    MayHaveArrived,
    /// The operator's limit of tries is reached.
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

/// The end of a message, which is reported to the upper layer once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "the upper layer must receive it"]
pub struct Ended {
    /// The caller's value for it.
    pub cookie: u64,
    /// The class of its last try; [`Class::Ok`] if and only if it was delivered.
    pub class: Class,
    /// What is known of delivery, over all tries.
    pub delivery: Delivery,
    /// Tries made.
    pub tries: u32,
    /// Why it was not resent.
    pub why: WhyEnded,
}

/// How a message continues after a try.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the message goes on, or its end is reported"]
pub enum Next {
    /// It is resent: [`choose`](crate::Health::choose) selects its next path.
    Again(Attempts),
    /// It is resent at this time, no sooner: every path has just been tried (S4-19).
    /// [`Health::next_try`](crate::Health::next_try) returns an earlier time after an interface's
    /// recovery.
    Later(Attempts, Instant),
    /// It has ended.
    Ended(Ended),
}
