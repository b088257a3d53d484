// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file translates the end of a transfer, a (cause, place), to errno, health class and
//! delivery (R7, R42).

#[cfg(not(feature = "compact"))]
use super::word::EVIDENCES;
use super::word::{Cause, Phase, Place, Word};

/// LNet's health classes (`lnet_msg_hstatus`; `lnet/include/lnet/lib-types.h` of public Lustre).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HealthClass {
    /// Nothing is wrong.
    Ok = 0,
    /// Interrupted locally.
    LocalInterrupt = 1,
    /// Never left this node.
    LocalDropped = 2,
    /// Aborted locally.
    LocalAborted = 3,
    /// No path from this interface.
    LocalNoRoute = 4,
    /// A local set-up error.
    LocalError = 5,
    /// Timed out in a local queue.
    LocalTimeout = 6,
    /// The peer received it and reported a failure.
    RemoteError = 7,
    /// The peer refused it, or the path to it was lost.
    RemoteDropped = 8,
    /// The peer has it and does not answer.
    RemoteTimeout = 9,
    /// Timed out at an unknown place.
    NetworkTimeout = 10,
}

impl HealthClass {
    /// Every class, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::LocalInterrupt,
        Self::LocalDropped,
        Self::LocalAborted,
        Self::LocalNoRoute,
        Self::LocalError,
        Self::LocalTimeout,
        Self::RemoteError,
        Self::RemoteDropped,
        Self::RemoteTimeout,
        Self::NetworkTimeout,
    ];
}

/// What is known about the delivery of the payload (S0-18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Delivery {
    /// It was delivered. Of a short message over a reliable channel: the peer's upper layer sees
    /// it, unless the peer's incarnation ends first.
    Delivered = 1,
    /// It was not delivered and will not be.
    NotDelivered = 2,
    /// It may have been delivered.
    Unknown = 3,
    /// It was handed to a channel that may lose it. Nothing more is known, now or later.
    Sent = 4,
}

/// How a transfer ended: one final status, with what is known of delivery (S0-18). A status has no
/// default: it is made from a finished word (INV-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    /// Zero or a negative Linux errno.
    pub errno: i32,
    /// The health class; [`HealthClass::Ok`] if and only if `errno` is zero.
    pub health: HealthClass,
    /// What is known about delivery.
    pub delivery: Delivery,
    /// Whether a resend cannot deliver it twice.
    pub resend: bool,
    /// Why and where it was lost. `None` if it was not lost.
    pub evidence: Option<(Cause, Place)>,
}

/// The table that translates ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// By what is known (S0-17).
    #[default]
    Seed,
    /// The codes and classes that o2iblnd would report.
    O2ibCompat,
}

/// Number of causes: rows of the table.
pub const CAUSES: usize = Cause::ALL.len();
/// Number of places: columns of the table.
pub const PLACES: usize = Place::ALL.len();

const ECONNABORTED: i32 = -103;
const ECONNRESET: i32 = -104;
const ECONNREFUSED: i32 = -111;
const EHOSTDOWN: i32 = -112;
const EIO: i32 = -5;
const ENETDOWN: i32 = -100;
const EPROTO: i32 = -71;
const ESHUTDOWN: i32 = -108;
const ETIMEDOUT: i32 = -110;
const ECANCELED: i32 = -125;
const EREMOTEIO: i32 = -121;
const ESTALE: i32 = -116;
const EFAULT: i32 = -14;

type Row = [(i32, HealthClass); PLACES];

/// Columns: Queue, Message, Answer, Staged (untouched), Moving.
const SEED: [Row; CAUSES] = {
    use HealthClass::*;
    [
        // PeerDown
        [
            (EHOSTDOWN, RemoteDropped),
            (EHOSTDOWN, RemoteDropped),
            (EIO, RemoteError),
            (ECONNABORTED, RemoteDropped),
            (EIO, RemoteError),
        ],
        // PeerRestarted
        [
            (ESTALE, RemoteDropped),
            (ESTALE, RemoteDropped),
            (EIO, RemoteError),
            (ECONNABORTED, RemoteDropped),
            (EIO, RemoteError),
        ],
        // LinkDown
        [
            (ENETDOWN, LocalDropped),
            (ENETDOWN, LocalDropped),
            (EIO, LocalError),
            (ENETDOWN, LocalDropped),
            (EIO, LocalError),
        ],
        // Deadline
        [
            (ETIMEDOUT, LocalTimeout),
            (ETIMEDOUT, LocalTimeout),
            (ETIMEDOUT, NetworkTimeout),
            (ETIMEDOUT, RemoteTimeout),
            (ETIMEDOUT, NetworkTimeout),
        ],
        // Shutdown
        [
            (ESHUTDOWN, LocalAborted),
            (ESHUTDOWN, LocalAborted),
            (ESHUTDOWN, LocalAborted),
            (ESHUTDOWN, LocalAborted),
            (ESHUTDOWN, LocalAborted),
        ],
        // Withdrawn
        [
            (ECANCELED, LocalAborted),
            (ECANCELED, LocalAborted),
            (ECANCELED, LocalInterrupt),
            (ECANCELED, LocalAborted),
            (ECANCELED, LocalInterrupt),
        ],
        // Refused
        [
            (ECONNREFUSED, RemoteDropped),
            (ECONNREFUSED, RemoteDropped),
            (EREMOTEIO, RemoteError),
            (EREMOTEIO, RemoteError),
            (EREMOTEIO, RemoteError),
        ],
        // Channel
        [
            (EIO, LocalDropped),
            (EIO, RemoteDropped),
            (EIO, NetworkTimeout),
            (EIO, RemoteDropped),
            (EIO, NetworkTimeout),
        ],
        // Device
        [
            (EIO, LocalError),
            (EIO, LocalError),
            (EIO, NetworkTimeout),
            (ECONNABORTED, RemoteDropped),
            (EIO, NetworkTimeout),
        ],
        // Local
        [
            (EFAULT, LocalError),
            (EFAULT, LocalError),
            (EFAULT, LocalError),
            (EFAULT, LocalError),
            (EFAULT, LocalError),
        ],
        // Protocol
        [
            (EPROTO, RemoteError),
            (EPROTO, RemoteError),
            (EPROTO, RemoteError),
            (EPROTO, RemoteError),
            (EPROTO, RemoteError),
        ],
        // ConnectionDown
        [
            (ECONNRESET, RemoteDropped),
            (ECONNRESET, RemoteDropped),
            (EIO, NetworkTimeout),
            (ECONNRESET, RemoteDropped),
            (EIO, NetworkTimeout),
        ],
    ]
};

/// What o2iblnd reports at the same points (public Lustre, `o2iblnd_cb.c`: `kiblnd_abort_txs`,
/// `kiblnd_tx_complete`, `kiblnd_handle_completion`).
const O2IB: [Row; CAUSES] = {
    use HealthClass::*;
    const ABORT: Row = [
        (EIO, LocalError),
        (EIO, NetworkTimeout),
        (EIO, RemoteTimeout),
        (EIO, NetworkTimeout),
        (EIO, NetworkTimeout),
    ];
    [
        ABORT,
        ABORT,
        ABORT,
        // Deadline
        [
            (ETIMEDOUT, LocalTimeout),
            (ETIMEDOUT, NetworkTimeout),
            (ETIMEDOUT, RemoteTimeout),
            (ETIMEDOUT, NetworkTimeout),
            (ETIMEDOUT, NetworkTimeout),
        ],
        // Shutdown
        ABORT,
        // Withdrawn
        ABORT,
        // Refused
        [(EIO, RemoteError); PLACES],
        // Channel
        [(EIO, RemoteDropped); PLACES],
        // Device
        [(EIO, RemoteDropped); PLACES],
        // Local
        [(EIO, LocalError); PLACES],
        // Protocol
        [(EPROTO, RemoteError); PLACES],
        // ConnectionDown
        ABORT,
    ]
};

impl Place {
    /// What a loss at this place proves about delivery.
    pub const fn delivery(self) -> Delivery {
        match self {
            Self::Queue | Self::Message | Self::Staged => Delivery::NotDelivered,
            Self::Answer | Self::Moving => Delivery::Unknown,
        }
    }
}

impl Status {
    /// The end of a transfer that lost nothing.
    pub const OK: Self = Self {
        errno: 0,
        health: HealthClass::Ok,
        delivery: Delivery::Delivered,
        resend: false,
        evidence: None,
    };

    /// The status of a loss: one cell of the table.
    pub const fn of(policy: Policy, cause: Cause, place: Place) -> Self {
        let table = match policy {
            Policy::Seed => &SEED,
            Policy::O2ibCompat => &O2IB,
        };
        // Causes and places are numbered from 1. Zero in the word means none, which is no index
        // here.
        let (errno, health) = table[cause as usize - 1][place as usize - 1];
        // A refusal is the upper layer's own decision. A repetition does not cure a local or
        // protocol error. Everything else may be sent again as long as it cannot arrive twice.
        let curable = !matches!(
            cause,
            Cause::Refused | Cause::Local | Cause::Protocol | Cause::Shutdown | Cause::Withdrawn
        );
        let delivery = match (cause, place) {
            // The peer itself reports that it has not received the data.
            (Cause::Refused, Place::Staged | Place::Answer) => Delivery::NotDelivered,
            _ => place.delivery(),
        };
        let resend = curable && matches!(delivery, Delivery::NotDelivered);
        Self { errno, health, delivery, resend, evidence: Some((cause, place)) }
    }

    /// The status of a finished word, or `None` if the word is not finished.
    pub const fn of_word(policy: Policy, word: Word) -> Option<Self> {
        if !matches!(word.phase(), Phase::Done) {
            return None;
        }
        if !word.lost() {
            return Some(Self::OK);
        }
        Some(Self::of_lost(policy, word))
    }

    /// The status of a finished word that has lost something.
    #[cfg(feature = "compact")]
    const fn of_lost(policy: Policy, word: Word) -> Self {
        Self::of_evidence(policy, word)
    }

    /// The status of a finished word that has lost something. It is looked up: when a peer goes
    /// down, many words have lost something.
    #[cfg(not(feature = "compact"))]
    #[inline]
    const fn of_lost(policy: Policy, word: Word) -> Self {
        LOSSES[policy as usize][word.evidence()]
    }

    const fn of_evidence(policy: Policy, word: Word) -> Self {
        match (word.cause(), word.place()) {
            (Some(cause), Some(place)) => Self::of(policy, cause, place),
            // `step` records both with every loss. No driver makes a word without them; the table
            // still answers it.
            _ => Self::of(policy, Cause::Local, Place::Moving),
        }
    }
}

/// The status of every evidence, by policy.
#[cfg(not(feature = "compact"))]
static LOSSES: [[Status; EVIDENCES]; 2] = [losses(Policy::Seed), losses(Policy::O2ibCompat)];

#[cfg(not(feature = "compact"))]
const fn losses(policy: Policy) -> [Status; EVIDENCES] {
    let mut table = [Status::OK; EVIDENCES];
    let mut evidence = 0;
    while evidence < EVIDENCES {
        table[evidence] = Status::of_evidence(policy, Word::of_evidence(evidence));
        evidence += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_and_class_agree_in_every_cell() {
        // INV-4, R42: LNet skips its health work where the two disagree.
        for policy in [Policy::Seed, Policy::O2ibCompat] {
            for cause in Cause::ALL {
                for place in Place::ALL {
                    let status = Status::of(policy, cause, place);
                    assert!(status.errno < 0, "{cause:?} {place:?}");
                    assert_ne!(status.health, HealthClass::Ok, "{cause:?} {place:?}");
                    assert_ne!(status.delivery, Delivery::Delivered);
                    assert!(!status.resend || status.delivery == Delivery::NotDelivered);
                }
            }
        }
        assert_eq!((Status::OK.errno, Status::OK.health), (0, HealthClass::Ok));
    }

    #[test]
    fn a_lost_word_has_the_status_of_its_cause_and_place() {
        use super::super::word::Debts;
        use super::super::{step, Event};
        for policy in [Policy::Seed, Policy::O2ibCompat] {
            for cause in Cause::ALL {
                for (end, place) in
                    [(Event::HwTouched, Place::Moving), (Event::HwUntouched, Place::Staged)]
                {
                    let word = step(Word::live(9, Debts::HW), Event::PayCpu).word;
                    let word = step(step(word, Event::Cancel(cause)).word, end).word;
                    let status = Status::of_word(policy, word).unwrap();
                    assert_eq!(status, Status::of(policy, cause, place), "{word:?}");
                }
            }
            // No driver makes these.
            let unknown = Word::from_bits(0xc010 | 15 << 7 | 7 << 11);
            let none = Word::from_bits(0xc010);
            for word in [unknown, none] {
                let status = Status::of(policy, Cause::Local, Place::Moving);
                assert_eq!(Status::of_word(policy, word), Some(status));
            }
        }
    }

    #[test]
    fn invalidated_transfers_are_told_apart_by_what_is_known() {
        // S0-17: untouched is "not delivered"; possibly moved is "unknown".
        let cell = |cause, place| {
            let s = Status::of(Policy::Seed, cause, place);
            (s.errno, s.health, s.delivery)
        };
        use Delivery::*;
        assert_eq!(
            cell(Cause::PeerDown, Place::Staged),
            (ECONNABORTED, HealthClass::RemoteDropped, NotDelivered)
        );
        assert_eq!(
            cell(Cause::LinkDown, Place::Staged),
            (ENETDOWN, HealthClass::LocalDropped, NotDelivered)
        );
        assert_eq!(
            cell(Cause::Deadline, Place::Moving),
            (ETIMEDOUT, HealthClass::NetworkTimeout, Unknown)
        );
        assert_eq!(cell(Cause::PeerDown, Place::Moving), (EIO, HealthClass::RemoteError, Unknown));
        assert_eq!(cell(Cause::LinkDown, Place::Moving), (EIO, HealthClass::LocalError, Unknown));
    }
}
