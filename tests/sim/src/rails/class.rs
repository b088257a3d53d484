// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health classes by the names that plans give them, and what a sender is shown of them.

use lnd_core::transfer::{Delivery, Health, Status};
use serde::{Deserialize, Serialize};

/// A health class, as plans name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// [`Health::LocalInterrupt`].
    LocalInterrupt,
    /// [`Health::LocalDropped`].
    LocalDropped,
    /// [`Health::LocalAborted`].
    LocalAborted,
    /// [`Health::LocalNoRoute`].
    LocalNoRoute,
    /// [`Health::LocalError`].
    LocalError,
    /// [`Health::LocalTimeout`].
    LocalTimeout,
    /// [`Health::RemoteError`].
    RemoteError,
    /// [`Health::RemoteDropped`].
    RemoteDropped,
    /// [`Health::RemoteTimeout`].
    RemoteTimeout,
    /// [`Health::NetworkTimeout`].
    NetworkTimeout,
}

impl Class {
    /// Every class that is a failure.
    pub const ALL: [Self; 10] = [
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

    /// The core's class.
    pub const fn health(self) -> Health {
        match self {
            Self::LocalInterrupt => Health::LocalInterrupt,
            Self::LocalDropped => Health::LocalDropped,
            Self::LocalAborted => Health::LocalAborted,
            Self::LocalNoRoute => Health::LocalNoRoute,
            Self::LocalError => Health::LocalError,
            Self::LocalTimeout => Health::LocalTimeout,
            Self::RemoteError => Health::RemoteError,
            Self::RemoteDropped => Health::RemoteDropped,
            Self::RemoteTimeout => Health::RemoteTimeout,
            Self::NetworkTimeout => Health::NetworkTimeout,
        }
    }

    /// Whether the interface here is to blame alone.
    pub const fn is_local(self) -> bool {
        (self.health() as u8) < Health::RemoteError as u8
    }

    /// The status that the sender is shown. A local failure says that nothing was delivered; a
    /// class of which LNet knows nothing more says no more here.
    pub const fn status(self) -> Status {
        let known = self.is_local() || matches!(self, Self::RemoteDropped);
        let timed_out =
            matches!(self, Self::LocalTimeout | Self::RemoteTimeout | Self::NetworkTimeout);
        Status {
            errno: if timed_out { -110 } else { -5 },
            health: self.health(),
            delivery: if known { Delivery::NotDelivered } else { Delivery::Unknown },
            resend: known,
            evidence: None,
        }
    }
}
