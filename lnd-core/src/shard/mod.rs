// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the driver of one shard: verbs in, hardware ports out, no callbacks, no
//! recursion, bounded work per call (R63, R64, INV-13).
//!
//! ```text
//!  upper layer       driver (one thread at a time)                 hardware ports
//!  submit ─────────▶ tx/submit ─▶ peer's queue ─▶ tx/post ──────▶  Engine::post, Channel::send
//!  Arrival ◀──────── rx/message ◀───────────────────────────────── on_message
//!  recv/reply/nak ─▶ rx/recv ─▶ tx/reply, tx/pull ─▶ tx/post
//!  next_report ◀──── recovery/finalize ◀─ ended slots ◀─ IrqHandle (any context) ◀─ completions
//!                    handshake/ ◀─▶ peers        recovery/ ◀─ on_time: timers, links, the sweep
//! ```
//!
//! A *shard* is a whole driver with its own peers, tables and engines. Shards share nothing
//! (decision 0001). All calls take the shard exclusively (`&mut self`). What interrupts need is in
//! [`Shared`] and is reached through an [`IrqHandle`].
//!
//! This folder keeps the driver's tables ([`Slots`], [`Peers`], [`Links`]) together. It does not
//! depend on the folders that work on them: `handshake`, `tx`, `rx`, `recovery`.

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
///
/// ```
/// # // Two nodes in one thread; the file shows how they are made.
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pair/mod.rs"));
/// # fn main() {
/// # let mut w = World::new(4, |_| ());
/// let driver = &mut w.nodes[0];
/// let payload = [Fragment::new(0, 32)];
/// let deadline = w.now.after(Span::from_secs(50));
/// let request = Request { user: 7, ..Request::put(nid(1), b"match bits", &payload, deadline) };
/// let Ok(Submitted::Pending(tag)) = driver.submit(w.now, request) else { panic!() };
/// # for _ in 0..4 {
/// #     w.round(1, |it| it.recv(&Receive::new(&[Fragment::new(0, 32)], 32, deadline)).is_ok());
/// #     w.round(0, |_| false);
/// # }
/// // After some rounds of both nodes:
/// let report = w.reports[0].pop().unwrap();
/// assert_eq!((report.tag, report.user, report.status.errno), (tag, 7, 0));
/// assert_eq!(report.status.delivery, Delivery::Delivered);
/// # }
/// ```
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
    /// Memory to gather an inline payload for a channel that has none of its own.
    pub(crate) scratch: &'m mut [u8],
    /// Replies that wait for room in the control lane.
    pub(crate) replies: Rounds,
    pub(crate) hellos_refused: HellosRefused,
    /// A request that waits in the channel may be acceptable now.
    pub(crate) offer: bool,
    pub(crate) run: Run,
    /// Until this time `on_time` has nothing to do, unless another call leaves work.
    pub(crate) quiet_until: Instant,
    /// When `on_time` last polled what has no event: links that are out, and room in the channel.
    pub(crate) polled: Instant,
    /// The last call of `on_time`, and the start of the calls without a gap that may be a pause.
    pub(crate) ran: Instant,
    pub(crate) awake: Instant,
    /// A longer time without a call may have been a pause. It is two of the configuration's
    /// granularities.
    pub(crate) gap: Span,
    pub(crate) counters: Counters,
}

impl<'m, P: Ports> Driver<'m, P> {
    /// The handle for interrupts and other contexts.
    ///
    /// Until the first call the driver's own thread is the only context of its words, and changes
    /// them without locked operations, unless the crate has the feature `compact`. A host that
    /// handles completions with [`complete`](Self::complete), or
    /// [`on_completion`](Self::on_completion), needs no handle.
    pub fn irq_handle(&self) -> IrqHandle<'m> {
        self.shared.alone().end();
        IrqHandle::new(self.shared)
    }

    /// The same for this thread, which keeps it no longer than a call.
    #[inline]
    pub(crate) const fn own_handle(&self) -> IrqHandle<'m> {
        IrqHandle::new(self.shared)
    }

    /// The NID and incarnation of this driver.
    pub const fn identity(&self) -> Identity {
        self.me
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The counters of this shard's thread. Interrupts have counters of their own.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The short-message channel.
    pub const fn channel(&self) -> &P::Channel {
        &self.channel
    }

    /// The short-message channel.
    pub fn channel_mut(&mut self) -> &mut P::Channel {
        // The caller may change what the ports report, so the last answer of `on_time` is void.
        self.note_work();
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
        self.note_work();
        self.links.get_mut(link).map(|l| &mut l.engine)
    }

    /// The id of a known peer.
    pub fn peer(&self, nid: Nid) -> Option<PeerId> {
        self.peers.find(nid)
    }

    /// How far the handshake with a peer has come. `Unknown` if the id is stale.
    #[inline]
    pub fn peer_state(&self, peer: PeerId) -> HelloState {
        self.peers.named(peer).map_or(HelloState::Unknown, |_| self.peers.state(peer))
    }

    /// Transfers in use: `(ours, requests of peers)`.
    pub const fn in_use(&self) -> (u32, u32) {
        self.slots.in_use()
    }

    /// How far the shutdown has come.
    pub const fn run_state(&self) -> RunState {
        self.run.state()
    }

    /// Notes that a call may have left work, or an earlier next time.
    #[inline]
    pub(crate) fn note_work(&mut self) {
        self.quiet_until = Instant::ORIGIN;
    }
}
