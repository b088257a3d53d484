// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hellos that the channel could not deliver: there is nothing to wait for (LU-14536, R68).

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::time::Instant;
use crate::machines::peer::{HelloEvent, HelloState};
use crate::ports::{Engine, Ports};
use crate::shard::Driver;
use crate::slots::shared::attention;

impl<P: Ports> Driver<'_, P> {
    /// Looks at up to `budget` of the peers to which a hello was not delivered. `wanted`: what other
    /// contexts have asked us to look at.
    pub(crate) fn hear_unheard(&mut self, now: Instant, wanted: u32, budget: u32) {
        if self.peers.all_heard() && wanted & attention::UNHEARD == 0 {
            return;
        }
        for _ in 0..budget {
            let Some((id, number)) = self.peers.next_unheard() else { return };
            self.hello_unheard(now, id, number);
        }
        // A batch may be left on the list that was not taken yet.
        self.shared.want(attention::UNHEARD);
    }

    /// The channel knows that our last hello did not get through. Each link that works is tried once,
    /// without delay; then the peer is down, and is not asked again before the hold-off is over (R68).
    ///
    /// A hello that was lost on a link of ours that fails, or on a connection that is being stopped, says
    /// nothing of the peer: its time goes on.
    fn hello_unheard(&mut self, now: Instant, id: PeerId, number: u32) {
        let Some(peer) = self.peers.get(id) else { return };
        let via = peer.handshake.link_of(number);
        let current = via.is_some() && self.peers.state(id) == HelloState::Handshake;
        if !current || self.run.is_over() {
            return;
        }
        let (tries, nid) = (peer.tries, peer.nid);
        let out = |link| nid.is_some_and(|nid| self.links.is_out(nid, link));
        if via.is_some_and(out) || !via.is_some_and(|link| self.link_works(link)) {
            return;
        }
        self.counters.count(Counter::UnheardHellos);
        let links = self.links.ids().filter(|&link| self.link_works(link)).count();
        let again = usize::from(tries) < links && tries < self.config.hello_tries;
        self.hello_event(now, id, if again { HelloEvent::TryAgain } else { HelloEvent::Exhausted });
    }

    /// Whether a link's gate is open and its register says that it works.
    fn link_works(&mut self, link: LinkId) -> bool {
        self.links.is_open(link) && self.links.get_mut(link).is_some_and(|l| l.engine.link_up())
    }
}
