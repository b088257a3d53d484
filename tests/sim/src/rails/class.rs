// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health classes by the names that plans give them, and what a sender is shown of them.

use lnd_core::transfer::{Delivery, HealthClass, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A health class, as plans name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// [`HealthClass::LocalInterrupt`].
    LocalInterrupt,
    /// [`HealthClass::LocalDropped`].
    LocalDropped,
    /// [`HealthClass::LocalAborted`].
    LocalAborted,
    /// [`HealthClass::LocalNoRoute`].
    LocalNoRoute,
    /// [`HealthClass::LocalError`].
    LocalError,
    /// [`HealthClass::LocalTimeout`].
    LocalTimeout,
    /// [`HealthClass::RemoteError`].
    RemoteError,
    /// [`HealthClass::RemoteDropped`].
    RemoteDropped,
    /// [`HealthClass::RemoteTimeout`].
    RemoteTimeout,
    /// [`HealthClass::NetworkTimeout`].
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
    pub const fn health(self) -> HealthClass {
        match self {
            Self::LocalInterrupt => HealthClass::LocalInterrupt,
            Self::LocalDropped => HealthClass::LocalDropped,
            Self::LocalAborted => HealthClass::LocalAborted,
            Self::LocalNoRoute => HealthClass::LocalNoRoute,
            Self::LocalError => HealthClass::LocalError,
            Self::LocalTimeout => HealthClass::LocalTimeout,
            Self::RemoteError => HealthClass::RemoteError,
            Self::RemoteDropped => HealthClass::RemoteDropped,
            Self::RemoteTimeout => HealthClass::RemoteTimeout,
            Self::NetworkTimeout => HealthClass::NetworkTimeout,
        }
    }

    /// Whether the interface here is to blame alone.
    pub const fn is_local(self) -> bool {
        (self.health() as u8) < HealthClass::RemoteError as u8
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
