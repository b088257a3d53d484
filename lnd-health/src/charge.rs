// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which interface loses health by the end of a try: one table by cause and place, one for refusals
//! at the call.
//!
//! Health measures interfaces (S4-5): only a failure of an interface, or of the path between two,
//! costs health. A full table, a slow peer's credits, a wrong address, an expired deadline, and a
//! decision of the upper layer or of the caller cost none: one slow peer must not take our
//! interface away from all others. The message may still be resent over another path.

use lnd_core::driver::Why;
use lnd_core::transfer::{Cause, HealthClass, Place};

/// Which interface loses health by the end of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charge {
    /// None.
    None,
    /// Our interface: the evidence names it (S4-6).
    OurNi,
    /// The next hop's interface: the evidence names it (S4-11).
    PeerNi,
    /// Both ends: the evidence does not name one (S4-16).
    Path,
}

impl Charge {
    /// Whether our interface loses health, and whether the next hop's does.
    pub(crate) const fn ends(self) -> (bool, bool) {
        match self {
            Self::None => (false, false),
            Self::OurNi => (true, false),
            Self::PeerNi => (false, true),
            Self::Path => (true, true),
        }
    }

    /// Which interface a loss charges, by its cause and place. Context: any; constant time.
    pub const fn of(cause: Cause, place: Place) -> Self {
        use Place::{Answer, Message, Moving, Queue, Staged};
        match (cause, place) {
            // The link of our interface has failed (S4-6).
            (Cause::LinkDown, _)
            | (Cause::Channel, Queue)
            | (Cause::Device, Queue | Message) => Self::OurNi,
            // The peer's interface does not answer, or did not take what was handed over (S4-11).
            (Cause::PeerDown, _)
            | (Cause::Channel, Message)
            | (Cause::Channel | Cause::Device | Cause::Deadline, Staged) => Self::PeerNi,
            // Lost between the two, and nothing shows at which end (S4-16).
            (Cause::Deadline, Message)
            | (
                Cause::Deadline | Cause::Channel | Cause::Device | Cause::ConnectionDown,
                Answer | Moving,
            ) => Self::Path,
            // It waited in our queue for the peer's handshake or credits. A slow peer is not a
            // failed interface, and a peer that is down is reported as `PeerDown`.
            (Cause::Deadline, Queue)
            // A stopped connection charges no interface for transfers that had not begun.
            | (Cause::ConnectionDown, Queue | Message | Staged)
            | (
                // The new incarnation's handshake came over that very interface.
                Cause::PeerRestarted
                // This node's own decision.
                | Cause::Shutdown
                | Cause::Withdrawn
                // The peer's upper layer has answered: the interfaces work.
                | Cause::Refused
                // The caller's addresses; the peer's software.
                | Cause::Local
                | Cause::Protocol,
                _,
            ) => Self::None,
        }
    }
}

/// The meaning of a send that was refused at the call (R46, H15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The class that is reported if the message ends here.
    pub class: HealthClass,
    /// The interface that it charges.
    pub charge: Charge,
    /// Whether another try can help: not if the request itself is wrong.
    pub again: bool,
    /// Back-pressure: a full table has room again after another message has ended.
    pub full: bool,
}

impl Refusal {
    /// A refusal after which the message may be resent.
    const fn again(class: HealthClass, charge: Charge) -> Self {
        Self { class, charge, again: true, full: false }
    }

    /// The caller's error: it charges no interface, and no further try helps.
    pub const CALLER: Self =
        Self { class: HealthClass::LocalError, charge: Charge::None, again: false, full: false };
}

/// The meaning of a refusal by the driver. Context: any; constant time.
pub const fn refusal(why: Why) -> Refusal {
    let class = why.health();
    match why {
        Why::PeerDown => Refusal::again(class, Charge::PeerNi),
        // Another local interface may have a route. The message's own deadline ends it; the slice
        // of one try does not. The next try names the peer by its NID.
        Why::NoRoute | Why::DeadlinePassed | Why::StalePeer => Refusal::again(class, Charge::None),
        Why::PeersFull | Why::NoSlots | Why::NoLists => {
            Refusal { full: true, ..Refusal::again(class, Charge::None) }
        }
        Why::BadLink
        | Why::Fragments(_)
        | Why::BadAddress
        | Why::HeaderTooLong
        | Why::TooLong
        | Why::WrongKind
        | Why::ShuttingDown => Refusal { class, ..Refusal::CALLER },
    }
}

/// The same for an LND that reports only a negative errno. Only an errno that names an interface
/// costs health.
pub const fn refusal_of_errno(errno: i32) -> Refusal {
    match errno {
        // EINVAL, EFAULT, EMSGSIZE, EPROTO; ESHUTDOWN, ECANCELED
        -22 | -14 | -90 | -71 | -108 | -125 => Refusal::CALLER,
        // EHOSTUNREACH, ENETUNREACH
        -113 | -101 => refusal(Why::NoRoute),
        // EHOSTDOWN, ECONNREFUSED, ECONNRESET, ESTALE, ECONNABORTED
        -112 | -111 | -104 | -116 | -103 => refusal(Why::PeerDown),
        // ETIMEDOUT, ETIME
        -110 | -62 => refusal(Why::DeadlinePassed),
        // EAGAIN, ENOMEM, ENOBUFS
        -11 | -12 | -105 => refusal(Why::NoSlots),
        // ENETDOWN
        -100 => Refusal::again(HealthClass::LocalDropped, Charge::OurNi),
        // EIO, ENXIO, ENODEV
        -5 | -6 | -19 => Refusal::again(HealthClass::LocalError, Charge::OurNi),
        _ => Refusal::again(HealthClass::LocalError, Charge::None),
    }
}
