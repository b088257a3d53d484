// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The consequence of a try's end for the message and for the interfaces (S4-5 to S4-18).

use super::{End, Health, WhyEnded};
use crate::attempts::Attempts;
use crate::classify::{classify, Change, Consequence, Situation};
use crate::effect::Resend;
use crate::journal::Evidence;
use crate::ni::Ni;
use crate::select::NoPath;
use crate::terms::Path;
use lnd_core::time::Instant;
use lnd_core::transfer::{Delivery, HealthClass as Class};

impl Health<'_> {
    /// The consequence, and why the message ends here; `NoPath` means that it does not end.
    pub(super) fn consequence(
        &self,
        now: Instant,
        attempts: &Attempts,
        path: Path,
        end: End,
        delivery: Delivery,
    ) -> (Consequence, WhyEnded) {
        let retries = self.config.resends();
        let peer = self.peer(attempts.peer());
        let hop = self.peer_ni(path.hop);
        let situation = Situation {
            charge: end.charge,
            delivery,
            // A try before the first handshake may have reached any incarnation.
            suppressed: attempts.number.is_some()
                && attempts.acquainted
                && peer.is_some_and(|p| p.starts == attempts.starts),
            may_resend: end.curable && !end.withdrawn && attempts.may_try_again(now, retries),
            late: now >= attempts.deadline(),
            stopping: self.stopping || end.withdrawn,
            fatal: self.local(path.local).is_some_and(Ni::is_fatal),
            own: hop.is_some_and(|hop| self.locals.iter().any(|ni| ni.nid == hop.nid)),
            heard: false,
            router: self.config.routing || self.is_router(path.hop),
            many_local: self.locals.iter().filter(|ni| ni.nid.is_some()).count() > 1,
            many_remote: hop.is_some_and(|hop| self.many_remote(attempts, hop)),
        };
        let consequence = classify(self.config.profile, end.class, &situation);
        let why = if matches!(end.class, Class::Ok) {
            WhyEnded::Delivered
        } else if consequence.resend != Resend::No {
            WhyEnded::NoPath(NoPath::Tried)
        } else if situation.late {
            WhyEnded::Deadline
        } else if end.curable && !end.withdrawn && attempts.is_spent(retries) {
            WhyEnded::Tries
        } else if !situation.may_resend {
            WhyEnded::NotResendable
        } else if delivery != Delivery::NotDelivered && !situation.suppressed {
            WhyEnded::MayHaveArrived
        } else {
            WhyEnded::NotResendable
        };
        (consequence, why)
    }

    /// Whether the next hop could be another interface: of the peer, or of another gateway.
    fn many_remote(&self, attempts: &Attempts, hop: &Ni) -> bool {
        let direct = hop.peer == attempts.peer().raw();
        let owner = self.peers.get(hop.peer as usize);
        let routes = || self.routes.iter().filter(|route| route.far.is_some()).count();
        owner.is_some_and(|owner| owner.interfaces > 1) || !direct && routes() > 1
    }

    pub(super) fn blame(
        &mut self,
        now: Instant,
        path: Path,
        consequence: Consequence,
        evidence: Evidence,
        message: u64,
    ) {
        let marks = [consequence.local, consequence.remote];
        for (object, change) in path.ends().into_iter().zip(marks) {
            if change != Change::Keep {
                self.mark(now, object, change, evidence, message);
            }
        }
    }
}
