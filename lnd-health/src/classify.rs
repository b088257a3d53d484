// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From the end of one try to its consequence: the table's effect, less the exceptions of the
//! situation, in the order in which they are checked (`lnet_health_check`).

use crate::charge::Charge;
use crate::effect::{effect, Profile, Resend};
use lnd_core::transfer::{Delivery, HealthClass};

/// The change of an interface's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// None.
    Keep,
    /// It loses its sensitivity, and is queued for recovery.
    Decrement,
    /// The same, but it stays above the lower threshold: the evidence does not name it.
    DecrementStayUp,
    /// It gains its sensitivity.
    Increment,
    /// It gains full health.
    Full,
}

/// The consequence of one try's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Consequence {
    /// For our interface.
    pub local: Change,
    /// For the next hop's interface.
    pub remote: Change,
    /// For the message.
    pub resend: Resend,
}

impl Consequence {
    const NOTHING: Self = Self { local: Change::Keep, remote: Change::Keep, resend: Resend::No };
}

/// The situation of a try beside its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The interface that it charges, where more is known than the class.
    pub charge: Option<Charge>,
    /// What is known of delivery over all tries of the message.
    pub delivery: Delivery,
    /// The receiver recognises a duplicate (R45).
    pub suppressed: bool,
    /// One more try may begin: tries, deadline and the message's terms allow it.
    pub may_resend: bool,
    /// The message's deadline has passed.
    pub late: bool,
    /// This node is shutting down.
    pub stopping: bool,
    /// The fabric has reported that our interface is unusable: a failure over it is no evidence
    /// against the peer.
    pub fatal: bool,
    /// The far interface is a local one (LU-15398).
    pub own: bool,
    /// The far interface was heard before.
    pub heard: bool,
    /// The peer is a router, or this node routes.
    pub router: bool,
    /// This node has more than one interface.
    pub many_local: bool,
    /// The peer has more than one interface.
    pub many_remote: bool,
}

impl Situation {
    /// A direct message between nodes with several interfaces that certainly did not arrive.
    pub const PLAIN: Self = Self {
        charge: None,
        delivery: Delivery::NotDelivered,
        suppressed: false,
        may_resend: true,
        late: false,
        stopping: false,
        fatal: false,
        own: false,
        heard: false,
        router: false,
        many_local: true,
        many_remote: true,
    };
}

/// The consequence of a try's end with class `health` in a situation. Pure; constant time.
pub const fn classify(profile: Profile, health: HealthClass, s: &Situation) -> Consequence {
    let failed = !matches!(health, HealthClass::Ok);
    // LNet only counts a late failure. But a deadline that passes in the network is the very
    // evidence that S4-3 requires.
    if s.stopping || failed && s.late && matches!(profile, Profile::LnetCompat) {
        return Consequence::NOTHING;
    }
    if !failed {
        return success(s);
    }
    let e = effect(profile, health, s.delivery, s.suppressed);
    // R49: only an interface that can be avoided is charged. A class that names no interface does
    // not charge our only one. A peer's only interface is charged only if it stands for more than
    // itself (LU-13501).
    let (local, remote) = match s.charge {
        Some(charge) => charge.ends(),
        None => (e.local_decrement, e.remote_decrement),
    };
    let ambiguous = local && remote;
    let blame_local = match profile {
        Profile::Seed => local && (s.many_local || !ambiguous),
        Profile::LnetCompat => local,
    };
    let excused = s.own || s.fatal && matches!(profile, Profile::Seed);
    let blame_remote = remote && !excused && (s.many_remote || s.router);
    Consequence {
        local: match (blame_local, profile) {
            (false, _) => Change::Keep,
            // A peer that is down must not cost us our own interfaces, and with them all other
            // peers.
            (true, Profile::Seed) if ambiguous => Change::DecrementStayUp,
            (true, _) => Change::Decrement,
        },
        remote: if blame_remote { Change::Decrement } else { Change::Keep },
        resend: if s.may_resend && !s.late { path(profile, e.resend, s) } else { Resend::No },
    }
}

/// In the seed's profile the path that the table requires is searched at once; if there is none,
/// the message pauses (S4-19). For LNet a resend without another path is none (R49).
const fn path(profile: Profile, wanted: Resend, s: &Situation) -> Resend {
    let elsewhere = match wanted {
        Resend::No => false,
        Resend::OtherLocal => s.many_local,
        Resend::OtherRemote => s.many_remote,
        Resend::NewPath => s.many_local && s.many_remote,
        Resend::Untried | Resend::Anew => true,
    };
    match profile {
        Profile::Seed => wanted,
        Profile::LnetCompat if elsewhere => Resend::Anew,
        Profile::LnetCompat => Resend::No,
    }
}

const fn success(s: &Situation) -> Consequence {
    let remote = match (s.heard && !s.own, s.router) {
        (false, _) => Change::Keep,
        (true, false) => Change::Increment,
        (true, true) => Change::Full,
    };
    Consequence { local: Change::Increment, remote, resend: Resend::No }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::*;
    use HealthClass::*;

    fn result(profile: Profile, health: HealthClass, s: Situation) -> (Change, Change, Resend) {
        let v = classify(profile, health, &s);
        (v.local, v.remote, v.resend)
    }

    /// S4-5 to S4-18 in one picture: class; then local, remote, resend of both profiles for a node
    /// and a peer with several interfaces.
    #[test]
    fn every_class_with_many_rails() {
        use Resend::{Anew, NewPath, No, OtherLocal, OtherRemote};
        for (class, seed, lnet) in [
            (Ok, (Increment, Keep, No), (Increment, Keep, No)),
            (LocalInterrupt, (Decrement, Keep, OtherLocal), (Decrement, Keep, Anew)),
            (LocalDropped, (Decrement, Keep, OtherLocal), (Decrement, Keep, Anew)),
            (LocalAborted, (Decrement, Keep, OtherLocal), (Decrement, Keep, Anew)),
            (LocalNoRoute, (Decrement, Keep, OtherLocal), (Decrement, Keep, Anew)),
            (LocalError, (Decrement, Keep, OtherLocal), (Decrement, Keep, No)),
            (LocalTimeout, (Decrement, Keep, OtherLocal), (Decrement, Keep, Anew)),
            (RemoteError, (Keep, Decrement, OtherRemote), (Keep, Decrement, No)),
            (RemoteDropped, (Keep, Decrement, OtherRemote), (Keep, Decrement, Anew)),
            (RemoteTimeout, (Keep, Decrement, OtherRemote), (Keep, Decrement, No)),
            (NetworkTimeout, (DecrementStayUp, Decrement, NewPath), (Decrement, Decrement, No)),
        ] {
            assert_eq!(result(Profile::Seed, class, Situation::PLAIN), seed, "{class:?}");
            assert_eq!(result(Profile::LnetCompat, class, Situation::PLAIN), lnet, "{class:?}");
        }
    }

    /// R49, LU-13501, A12's 204 and 206: with one rail nothing is charged that cannot be avoided,
    /// and LNet resends nothing. The seed's profile continues (S4-19): selection finds no other
    /// path, so the message pauses first.
    #[test]
    fn single_rails() {
        use Resend::{NewPath, No, OtherLocal, OtherRemote};
        let single = Situation { many_local: false, many_remote: false, ..Situation::PLAIN };
        for (profile, local, remote) in
            [(Profile::Seed, OtherLocal, OtherRemote), (Profile::LnetCompat, No, No)]
        {
            assert_eq!(result(profile, LocalDropped, single), (Decrement, Keep, local));
            assert_eq!(result(profile, RemoteDropped, single), (Keep, Keep, remote));
            let router = Situation { router: true, ..single };
            assert_eq!(result(profile, RemoteDropped, router), (Keep, Decrement, remote));
        }
        assert_eq!(result(Profile::Seed, NetworkTimeout, single), (Keep, Keep, NewPath));
        let lnet = result(Profile::LnetCompat, NetworkTimeout, single);
        assert_eq!(lnet, (Decrement, Keep, No));
        // One local interface and two remote ones: no wholly new path (S4-18) without a pause.
        let half = Situation { many_local: false, ..Situation::PLAIN };
        assert_eq!(result(Profile::Seed, NetworkTimeout, half), (Keep, Decrement, NewPath));
    }

    #[test]
    fn exceptions_in_their_order() {
        for profile in [Profile::Seed, Profile::LnetCompat] {
            let stopping = Situation { stopping: true, ..Situation::PLAIN };
            assert_eq!(result(profile, Ok, stopping), (Keep, Keep, Resend::No));
            assert_eq!(result(profile, LocalDropped, stopping), (Keep, Keep, Resend::No));
            // LU-15398: a local interface is not charged as a peer's.
            let own = Situation { own: true, ..Situation::PLAIN };
            assert_eq!(result(profile, RemoteDropped, own).1, Keep);
            let spent = Situation { may_resend: false, ..Situation::PLAIN };
            assert_eq!(result(profile, LocalDropped, spent), (Decrement, Keep, Resend::No));
        }
        let late = Situation { late: true, ..Situation::PLAIN };
        let seed = result(Profile::Seed, NetworkTimeout, late);
        assert_eq!(seed, (DecrementStayUp, Decrement, Resend::No));
        let lnet = result(Profile::LnetCompat, NetworkTimeout, late);
        assert_eq!(lnet, (Keep, Keep, Resend::No));
    }

    #[test]
    fn only_what_was_heard_heals_the_peer() {
        let heard = Situation { heard: true, ..Situation::PLAIN };
        assert_eq!(result(Profile::Seed, Ok, heard).1, Increment);
        let router = Situation { router: true, ..heard };
        assert_eq!(result(Profile::Seed, Ok, router).1, Full);
        let own = Situation { own: true, ..heard };
        assert_eq!(result(Profile::Seed, Ok, own).1, Keep);
    }

    #[test]
    fn unknown_delivery_needs_the_receivers_window() {
        let unknown = Situation { delivery: Delivery::Unknown, ..Situation::PLAIN };
        assert_eq!(result(Profile::Seed, NetworkTimeout, unknown).2, Resend::No);
        let suppressed = Situation { suppressed: true, ..unknown };
        assert_eq!(result(Profile::Seed, NetworkTimeout, suppressed).2, Resend::NewPath);
    }
}
