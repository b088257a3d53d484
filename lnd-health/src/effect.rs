// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a health class to its effect (S4-5 to S4-18, R42, R43): one table per profile.

use lnd_core::transfer::{Delivery, HealthClass};

/// The profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The 2017 design: a failure of any class is repaired through another path.
    #[default]
    Seed,
    /// The behaviour of public Lustre (`lnet_health_check`).
    LnetCompat,
}

/// The path over which a message may be resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resend {
    /// Not at all.
    No,
    /// From another local interface (S4-9).
    OtherLocal,
    /// To another interface of the peer (S4-14).
    OtherRemote,
    /// Over a wholly new path (S4-17).
    NewPath,
    /// Over any path that was not tried in this round: after a pause.
    Untried,
    /// Over any path that selection finds, as LNet does.
    Anew,
}

/// The effect of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthEffect {
    /// The local interface loses health and is queued for recovery.
    pub local_decrement: bool,
    /// The peer's interface loses health and is queued for recovery.
    pub remote_decrement: bool,
    /// Where to resend, if the message may be resent.
    pub resend: Resend,
}

const fn row(local_decrement: bool, remote_decrement: bool, resend: Resend) -> HealthEffect {
    HealthEffect { local_decrement, remote_decrement, resend }
}

/// In the order of [`HealthClass`]'s numbers.
const SEED: [HealthEffect; 11] = [
    row(false, false, Resend::No),         // Ok
    row(true, false, Resend::OtherLocal),  // LocalInterrupt
    row(true, false, Resend::OtherLocal),  // LocalDropped
    row(true, false, Resend::OtherLocal),  // LocalAborted
    row(true, false, Resend::OtherLocal),  // LocalNoRoute
    row(true, false, Resend::OtherLocal),  // LocalError
    row(true, false, Resend::OtherLocal),  // LocalTimeout
    row(false, true, Resend::OtherRemote), // RemoteError
    row(false, true, Resend::OtherRemote), // RemoteDropped
    row(false, true, Resend::OtherRemote), // RemoteTimeout
    row(true, true, Resend::NewPath),      // NetworkTimeout
];

const LNET: [HealthEffect; 11] = [
    row(false, false, Resend::No),
    row(true, false, Resend::OtherLocal),
    row(true, false, Resend::OtherLocal),
    row(true, false, Resend::OtherLocal),
    row(true, false, Resend::OtherLocal),
    row(true, false, Resend::No), // LocalError
    row(true, false, Resend::OtherLocal),
    row(false, true, Resend::No), // RemoteError
    row(false, true, Resend::OtherRemote),
    row(false, true, Resend::No), // RemoteTimeout
    row(true, true, Resend::No),  // NetworkTimeout
];

/// The effect of an outcome of class `health`. A message that may have been delivered is resent
/// only if the receiver suppresses duplicates. Context: any; constant time.
pub const fn effect(
    profile: Profile,
    health: HealthClass,
    delivery: Delivery,
    duplicates_suppressed: bool,
) -> HealthEffect {
    let row = match profile {
        Profile::Seed => SEED[health as usize],
        Profile::LnetCompat => LNET[health as usize],
    };
    let safe = matches!(delivery, Delivery::NotDelivered) || duplicates_suppressed;
    match profile {
        // LNet uses the class alone.
        Profile::Seed if !safe => HealthEffect { resend: Resend::No, ..row },
        Profile::Seed | Profile::LnetCompat => row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HealthClass::*;

    const ALL: [HealthClass; 11] = [
        Ok,
        LocalInterrupt,
        LocalDropped,
        LocalAborted,
        LocalNoRoute,
        LocalError,
        LocalTimeout,
        RemoteError,
        RemoteDropped,
        RemoteTimeout,
        NetworkTimeout,
    ];

    fn cell(profile: Profile, health: HealthClass) -> (bool, bool, Resend) {
        let e = effect(profile, health, Delivery::NotDelivered, false);
        (e.local_decrement, e.remote_decrement, e.resend)
    }

    #[test]
    fn every_cell_of_both_profiles() {
        use Resend::*;
        for (health, seed, lnet) in [
            (Ok, (false, false, No), (false, false, No)),
            (LocalInterrupt, (true, false, OtherLocal), (true, false, OtherLocal)),
            (LocalDropped, (true, false, OtherLocal), (true, false, OtherLocal)),
            (LocalAborted, (true, false, OtherLocal), (true, false, OtherLocal)),
            (LocalNoRoute, (true, false, OtherLocal), (true, false, OtherLocal)),
            (LocalError, (true, false, OtherLocal), (true, false, No)),
            (LocalTimeout, (true, false, OtherLocal), (true, false, OtherLocal)),
            (RemoteError, (false, true, OtherRemote), (false, true, No)),
            (RemoteDropped, (false, true, OtherRemote), (false, true, OtherRemote)),
            (RemoteTimeout, (false, true, OtherRemote), (false, true, No)),
            (NetworkTimeout, (true, true, NewPath), (true, true, No)),
        ] {
            assert_eq!(cell(Profile::Seed, health), seed, "{health:?}");
            assert_eq!(cell(Profile::LnetCompat, health), lnet, "{health:?}");
        }
    }

    #[test]
    fn what_may_have_arrived_is_not_sent_twice() {
        // R45: unless the receiver suppresses duplicates.
        for health in ALL {
            let e = effect(Profile::Seed, health, Delivery::Unknown, false);
            assert_eq!(e.resend, Resend::No, "{health:?}");
            let e = effect(Profile::Seed, health, Delivery::Unknown, true);
            assert_eq!(e.resend == Resend::No, health == Ok, "{health:?}");
        }
    }
}
