// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hellos that the channel could not deliver: there is nothing to wait for (LU-14536, R68).

use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, PeerId, Tag};
use crate::peer::{HelloEvent, HelloState};
use crate::ports::{Engine, Ports};
use crate::shared::attention;
use crate::time::Instant;

impl<P: Ports> Driver<'_, P> {
    /// The name of the next hello to a peer, for the channel: an index that no slot has, and a number
    /// that no other hello of this incarnation has.
    pub(super) fn name_hello(&mut self, id: PeerId, link: LinkId) -> Option<Tag> {
        self.next_hello = self.next_hello.wrapping_add(1).max(1);
        let generation = self.next_hello;
        let peer = self.peers.get_mut(id)?;
        peer.hello = generation;
        peer.hello_link = link.index() as u8;
        Some(Tag { index: self.config.slots + id.index() as u32, generation })
    }

    /// Looks at up to `budget` of the peers to which a hello was not delivered. `wanted`: what other
    /// contexts have asked us to look at.
    pub(super) fn hear_unheard(&mut self, now: Instant, wanted: u32, budget: u32) {
        if self.unheard.is_empty() && wanted & attention::UNHEARD == 0 {
            return;
        }
        for _ in 0..budget {
            if self.unheard.is_empty() {
                self.unheard = self.shared.take_unheard();
            }
            let Some((place, number)) = self.shared.next_unheard(&mut self.unheard) else { return };
            if let Some(id) = self.peers.id(place) {
                self.hello_unheard(now, id, number);
            }
        }
        // A batch may be left on the list that was not taken yet.
        self.shared.want(attention::UNHEARD);
    }

    /// The channel knows that our last hello did not get through. Each link that works is tried once,
    /// without delay; then the peer is down, and is not asked again before the hold-off is over (R68).
    ///
    /// A hello that was lost on a link of ours that fails is our own fault and says nothing of the peer:
    /// its time goes on.
    fn hello_unheard(&mut self, now: Instant, id: PeerId, number: u32) {
        let Some(peer) = self.peers.get(id) else { return };
        let current = peer.hello == number && self.peer_state(id) == HelloState::Greeting;
        if !current || self.run.is_over() || seeded("unheard-hello-not-heard") {
            return;
        }
        let (via, tries) = (peer.hello_link, peer.tries);
        if !LinkId::new(via as usize).is_some_and(|link| self.link_works(link)) {
            return;
        }
        self.counters.count(Counter::UnheardHellos);
        let all = (0..self.links.len()).filter_map(LinkId::new);
        let links = all.filter(|&link| self.link_works(link)).count();
        let again = usize::from(tries) < links && tries < self.config.hello_tries;
        self.hello_event(now, id, if again { HelloEvent::TryAgain } else { HelloEvent::Exhausted });
    }

    /// Whether a link's gate is open and its register says that it works.
    fn link_works(&mut self, link: LinkId) -> bool {
        let open = self.shared.link(link).is_some_and(|gate| gate.is_open());
        open && self.links.get_mut(link.index()).is_some_and(|l| l.engine.link_up())
    }
}
