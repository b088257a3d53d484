// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles hellos that the channel could not deliver (LU-14536, R68).

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::ports::{Engine, Ports};
use crate::shard::Driver;
use crate::slots::shared::attention;

impl<P: Ports> Driver<'_, P> {
    /// Handles up to `budget` peers to which a hello was not delivered. `wanted` holds the requests
    /// of other contexts for attention.
    pub(crate) fn hear_unheard(&mut self, now: Instant, wanted: u32, budget: u32) {
        if self.peers.all_heard() && wanted & attention::UNHEARD == 0 {
            return;
        }
        for _ in 0..budget {
            let Some((id, number)) = self.peers.next_unheard() else { return };
            self.hello_unheard(now, id, number);
        }
        // The budget is spent, and a further batch may be on the shared list. The attention bit
        // brings the next call here.
        self.shared.want(attention::UNHEARD);
    }

    /// Handles a hello that the channel reports as not delivered. Each working link is tried once,
    /// without delay. Then the peer is down, and no hello goes out before its hold-off is over
    /// (R68).
    fn hello_unheard(&mut self, now: Instant, id: PeerId, number: u32) {
        let Some(peer) = self.peers.get(id) else { return };
        let via = peer.handshake.link_of(number);
        // A late report of an earlier hello must not end the present attempt: the number must be
        // that of the last hello.
        let current = via.is_some() && self.peers.state(id) == HelloState::Handshake;
        if !current || self.run.is_over() {
            return;
        }
        let (tries, nid) = (peer.tries, peer.nid);
        let out = |link| nid.is_some_and(|nid| self.links.is_out(nid, link));
        // A hello that was lost on a failing link of ours, or on a connection that is being
        // stopped, proves nothing about the peer. The attempt goes on until its timer ends.
        if via.is_some_and(out) || !via.is_some_and(|link| self.link_works(link)) {
            return;
        }
        self.counters.count(Counter::UnheardHellos);
        let links = self.links.ids().filter(|&link| self.link_works(link)).count();
        let again = usize::from(tries) < links && tries < self.config.hello_tries;
        self.hello_event(now, id, if again { HelloEvent::TryAgain } else { HelloEvent::Exhausted });
    }

    /// Whether a link's gate is open and its register reports that it works.
    fn link_works(&mut self, link: LinkId) -> bool {
        self.links.is_open(link) && self.links.get_mut(link).is_some_and(|l| l.engine.link_up())
    }
}
