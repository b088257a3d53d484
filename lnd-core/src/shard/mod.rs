// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver of one shard: verbs in, hardware ports out, no callbacks, no recursion, bounded work per
//! call (R63, R64, INV-13).
//!
//! ```text
//!  upper layer       driver (one thread at a time)                 hardware ports
//!  submit ─────────▶ tx/submit ─▶ peer's queue ─▶ tx/post ──────▶  Engine::post, Channel::send
//!  Arrival ◀──────── rx/message ◀───────────────────────────────── on_message
//!  recv/give/refuse ▶ rx/recv ─▶ tx/reply, tx/pull ─▶ tx/post
//!  next_report ◀──── recovery/finalize ◀─ ended slots ◀─ Decider (any context) ◀─ completions
//!                    handshake/ ◀─▶ peers        recovery/ ◀─ on_time: timers, links, the sweep
//! ```
//!
//! A *shard* is a whole driver with its own peers, tables and engines; shards share nothing. All
//! calls take the shard exclusively (`&mut self`); what interrupts need lies in
//! [`Shared`] and is reached through a [`IrqHandle`].
//!
//! This room holds the driver's tables ([`Slots`], [`Peers`], [`Links`]) together and knows none of the
//! rooms that work on them: `handshake`, `tx`, `rx`, `recovery`.

mod audit;
pub mod config;
mod create;
mod domain;
mod ended;
mod fingerprint;
mod irq;
mod quiet;
mod run;
mod step;
mod view;

pub use audit::Broken;
pub use irq::{Interrupt, IrqHandle, Served};
pub(crate) use quiet::unless_never;
pub(crate) use run::Run;
pub use run::RunState;
pub use view::{CreditView, PeerView, TransferView};

use crate::base::counters::Counters;
use crate::base::id::{Identity, LinkId, Nid, PeerId};
use crate::base::time::{Instant, Span};
use crate::links::Links;
use crate::machines::peer::HelloState;
use crate::peers::{HellosRefused, Peers};
use crate::ports::Ports;
use crate::shard::config::Config;
use crate::slots::shared::Shared;
use crate::slots::{Rounds, Slots};

/// The driver of one shard. Context of every call: the shard's owner, a thread.
pub struct Driver<'m, P: Ports> {
    pub(crate) me: Identity,
    pub(crate) config: Config,
    pub(crate) shared: &'m Shared<'m>,
    pub(crate) slots: Slots<'m>,
    pub(crate) peers: Peers<'m>,
    pub(crate) links: Links<'m, P::Engine>,
    pub(crate) channel: P::Channel,
    pub(crate) memory: P::Memory,
    pub(crate) tracer: P::Tracer,
    /// Where an inline payload is gathered for a channel that has no place of its own.
    pub(crate) scratch: &'m mut [u8],
    /// Replies that wait for room in the control lane.
    pub(crate) replies: Rounds,
    pub(crate) hellos_refused: HellosRefused,
    /// What waits in the channel may be taken now.
    pub(crate) offer: bool,
    pub(crate) run: Run,
    /// Before this time, and until the next call that leaves something to do, `on_time` has nothing to do.
    pub(crate) quiet_until: Instant,
    /// When it was last due to look at what nothing tells of: links that are out, and room in the channel.
    pub(crate) polled: Instant,
    /// When `on_time` was called last, and since when it has been called without a gap that may be a pause.
    pub(crate) ran: Instant,
    pub(crate) awake: Instant,
    /// A longer time without a call may have been a pause: two of the configuration's granularities.
    pub(crate) gap: Span,
    pub(crate) counters: Counters,
}

impl<'m, P: Ports> Driver<'m, P> {
    /// The handle for interrupts and other contexts.
    pub const fn irq_handle(&self) -> IrqHandle<'m> {
        IrqHandle::new(self.shared)
    }

    /// Who we are.
    pub const fn identity(&self) -> Identity {
        self.me
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What this shard's thread has counted. Interrupts count on their own.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The short-message channel.
    pub const fn channel(&self) -> &P::Channel {
        &self.channel
    }

    /// The short-message channel.
    pub fn channel_mut(&mut self) -> &mut P::Channel {
        self.stir();
        &mut self.channel
    }

    /// Payload memory.
    pub fn memory_mut(&mut self) -> &mut P::Memory {
        &mut self.memory
    }

    /// The trace sink.
    pub fn tracer_mut(&mut self) -> &mut P::Tracer {
        &mut self.tracer
    }

    /// The engine of a link.
    pub fn engine_mut(&mut self, link: LinkId) -> Option<&mut P::Engine> {
        self.stir();
        self.links.get_mut(link).map(|l| &mut l.engine)
    }

    /// The id of a known peer.
    pub fn peer(&self, nid: Nid) -> Option<PeerId> {
        self.peers.find(nid)
    }

    /// How far the handshake with a peer has come; `Unknown` if the id is stale.
    #[inline]
    pub fn peer_state(&self, peer: PeerId) -> HelloState {
        self.peers.named(peer).map_or(HelloState::Unknown, |_| self.peers.state(peer))
    }

    /// Transfers in use: `(ours, peers' requests)`.
    pub const fn in_use(&self) -> (u32, u32) {
        self.slots.in_use()
    }

    /// How far the shutdown has come.
    pub const fn run_state(&self) -> RunState {
        self.run.state()
    }

    /// Something is left to do, or another time may be the next one.
    #[inline]
    pub(crate) fn stir(&mut self) {
        self.quiet_until = Instant::ORIGIN;
    }
}
