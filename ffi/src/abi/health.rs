// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node's health, as C sees it.

use super::copies::lnd_stamp;
use super::handles::lnd_health_ni;

/// enum lnd_profile - Which behaviour health has.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_profile {
    /// All classes of failure are repaired by another path.
    LND_PROFILE_SEED = 0,
    /// As public Lustre does.
    LND_PROFILE_LNET = 1,
}

/// LND_UNTIL_DEADLINE - As a limit of resends: none but the message's deadline.
pub const LND_UNTIL_DEADLINE: u32 = 255;

/// struct lnd_health_config - Sizes and knobs of a node's health.
/// @size: sizeof(struct lnd_health_config).
/// @abi_version: LND_ABI_VERSION.
/// @locals: interfaces of ours, 1 to 32.
/// @peers: peers, 1 to 16,384.
/// @peer_nis: interfaces of all peers together, @peers to 262,144.
/// @journal: entries of the journal, 0 to 65,536.
/// @journeys: messages on their way at once, 1 to 65,536.
/// @actions: pings, probes and connections under way at once, 1 to 65,536.
/// @profile: enum lnd_profile.
/// @sensitivity: what a failure costs, 0 to 1000; 0: health is off.
/// @retries: an operator's limit of a message's resends, 0 to 254; LND_UNTIL_DEADLINE: the profile's
///           own, which is none for LND_PROFILE_SEED and 2 for LND_PROFILE_LNET.
/// @seed: of the jitter; another one on each node.
/// @recovery_first: ns to the first recovery ping.
/// @recovery_cap: most ns between two.
/// @resend_first: ns of the first pause of a message whose paths have all been tried.
/// @resend_cap: most ns of such a pause.
/// @recovery_limit: ns after which an interface is given up, 0: never.
/// @probe_idle: ns without traffic after which a peer is probed.
/// @probe_again: ns between two probes of one that does not answer.
/// @probe_hold_off: ns for which a dead path must last before the peer is down.
/// @action_bound: ns after which a ping, probe or connection whose end was not told is over.
/// @action_every: ns for each ping, probe or connection: their budget, at least 1 us.
/// @action_burst: most of them at once, at least 1.
/// @probe_results: dead verdicts before the peer is down.
/// @routes: routes, 0 to 4,096.
/// @routing: 1 if this node is a router.
/// @numa_range: NUMA distances below this count as equal, 0 to 65,535.
/// @connects_at_once: most attempts to connect under way, over all peers, 1 to 65,535.
/// @incarnation: this node's incarnation, the @life of all its NIs; not 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_health_config {
    /// Bytes of this struct.
    pub size: u32,
    /// The ABI the caller was compiled for.
    pub abi_version: u32,
    /// Ours.
    pub locals: u32,
    /// Peers.
    pub peers: u32,
    /// Theirs.
    pub peer_nis: u32,
    /// Journal.
    pub journal: u32,
    /// Messages.
    pub attempts: u32,
    /// Actions.
    pub actions: u32,
    /// Profile.
    pub profile: u32,
    /// Sensitivity.
    pub sensitivity: u32,
    /// Retries.
    pub retries: u32,
    /// Seed.
    pub seed: u32,
    /// Recovery.
    pub recovery_first: u64,
    /// Recovery.
    pub recovery_cap: u64,
    /// Recovery.
    pub recovery_limit: u64,
    /// Pauses.
    pub resend_first: u64,
    /// Pauses.
    pub resend_cap: u64,
    /// Prober.
    pub probe_idle: u64,
    /// Prober.
    pub probe_again: u64,
    /// Prober.
    pub probe_hold_off: u64,
    /// Actions.
    pub action_bound: u64,
    /// Budget.
    pub action_every: u64,
    /// Budget.
    pub action_burst: u32,
    /// Prober.
    pub probe_results: u32,
    /// Routes.
    pub routes: u32,
    /// Router.
    pub routing: u32,
    /// Distances.
    pub numa_range: u32,
    /// Attempts.
    pub connects_at_once: u32,
    /// Incarnation.
    pub incarnation: u64,
}

/// struct lnd_attempts - Names a message on its way over several tries.
/// @index: place.
/// @generation: use of the place.
/// @ni: the health object's own number.
/// @kind: kind of handle.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_attempts {
    /// Place.
    pub index: u32,
    /// Use.
    pub generation: u32,
    /// Which object.
    pub ni: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_path - Where the next try of a message goes.
/// @size: sizeof(struct lnd_path).
/// @routed: 1 if the hop is a router: it goes into struct lnd_send_request as it is.
/// @local: our interface.
/// @hop: the next hop's interface.
/// @destination: the peer's interface.
/// @stamp: what the header of this try carries.
/// @hop_nid: the next hop's NID.
/// @slice: until when this try should have ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_path {
    /// Bytes of this struct.
    pub size: u32,
    /// By a router.
    pub routed: u32,
    /// Ours.
    pub local: lnd_health_ni,
    /// Next hop's.
    pub hop: lnd_health_ni,
    /// Peer's.
    pub destination: lnd_health_ni,
    /// Stamp.
    pub stamp: lnd_stamp,
    /// Next hop.
    pub hop_nid: u64,
    /// This try's time.
    pub slice: u64,
}

/// enum lnd_next - What becomes of a message after a try.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_next {
    /// It has ended: the journey is stale.
    LND_NEXT_ENDED = 0,
    /// It is tried again: lnd_health_begin() finds its next path.
    LND_NEXT_AGAIN = 1,
    /// It is tried again, not before the time that lnd_health_next_try() tells.
    LND_NEXT_LATER = 2,
}

/// enum lnd_why_ended - Why a message is not tried again.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_why_ended {
    /// It is tried again.
    LND_WHY_NOT_ENDED = 0,
    /// It was delivered.
    LND_WHY_DELIVERED = 1,
    /// Its class or its owner does not allow it, or another path could not help.
    LND_WHY_NOT_RESENDABLE = 2,
    /// It may have arrived, and the receiver could not recognise a second copy.
    LND_WHY_MAY_HAVE_ARRIVED = 3,
    /// As many tries as may be were made.
    LND_WHY_TRIES = 4,
    /// Its deadline has passed.
    LND_WHY_DEADLINE = 5,
    /// There is no other path.
    LND_WHY_NO_PATH = 6,
}

/// struct lnd_outcome - What becomes of a message after a try.
/// @size: sizeof(struct lnd_outcome).
/// @next: enum lnd_next.
/// @delivery: enum lnd_delivery, of what is known over all tries: what the upper layer is to hear.
/// @health: enum lnd_health_class of the last try.
/// @tries: tries made.
/// @why: enum lnd_why_ended.
/// @cookie: the caller's name for it.
/// @next_try: with LND_NEXT_LATER: when its next try may begin; else 0. lnd_health_next_try() says if
///            that has become sooner.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_outcome {
    /// Bytes of this struct.
    pub size: u32,
    /// Goes on or not.
    pub next: u32,
    /// Delivery.
    pub delivery: u32,
    /// Class.
    pub health: u32,
    /// Tries.
    pub tries: u32,
    /// Why.
    pub why: u32,
    /// Cookie.
    pub cookie: u64,
    /// When.
    pub next_try: u64,
}

/// enum lnd_object - What has health: the kind of a struct lnd_health_ni.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_object {
    /// An interface of ours.
    LND_OBJECT_LOCAL = 1,
    /// An interface of a peer.
    LND_OBJECT_PEER_NI = 2,
}

/// struct lnd_health_info - How an interface stands.
/// @size: sizeof(struct lnd_health_info).
/// @value: health, 0 to 1000.
/// @nid: its NID.
/// @heard: when it was last heard of.
/// @in_flight: messages on their way by it.
/// @up: 1 if it counts as up.
/// @fatal: 1 if the fabric has condemned it.
/// @draining: 1 if nothing new is sent by it.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_health_info {
    /// Bytes of this struct.
    pub size: u32,
    /// Health.
    pub value: u32,
    /// NID.
    pub nid: u64,
    /// Heard.
    pub heard: u64,
    /// In flight.
    pub in_flight: u32,
    /// Up.
    pub up: u32,
    /// Condemned.
    pub fatal: u32,
    /// Draining.
    pub draining: u32,
}

/// enum lnd_action_kind - What health asks its host to do.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_action_kind {
    /// Ping, and tell by lnd_health_answered().
    LND_ACTION_PING = 1,
    /// Probe, and tell by lnd_prober_ended().
    LND_ACTION_PROBE = 2,
    /// Connect, and tell by lnd_health_connected().
    LND_ACTION_CONNECT = 3,
}

/// enum lnd_probe_kind - By which operation a peer is probed. None uses a receive buffer.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_probe_kind {
    /// A read of no bytes.
    LND_PROBE_ZERO_READ = 0,
    /// A read of an address that is surely illegal.
    LND_PROBE_ILLEGAL_READ = 1,
    /// A read of a word that the peer has published.
    LND_PROBE_PUBLISHED_WORD = 2,
    /// An empty message of the control lane.
    LND_PROBE_NOOP = 3,
}

/// enum lnd_probe_end - How a probe ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_probe_end {
    /// It succeeded.
    LND_PROBE_SUCCESS = 0,
    /// The far end refused access: somebody is there.
    LND_PROBE_ACCESS_ERROR = 1,
    /// The transport's retries are spent.
    LND_PROBE_RETRY_EXCEEDED = 2,
    /// Anything else: nothing is known.
    LND_PROBE_OTHER = 3,
}

/// enum lnd_finding - What the prober concludes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_finding {
    /// Nothing new.
    LND_FINDING_NOTHING = 0,
    /// It lives.
    LND_FINDING_ALIVE = 1,
    /// It is down: tell its NI by lnd_peer_event().
    LND_FINDING_DOWN = 2,
    /// It is down and only sends to us: clean it up, also while it is in use.
    LND_FINDING_CLEAN_UP = 3,
}

/// enum lnd_connected - How an attempt to connect ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_connected {
    /// Connected.
    LND_CONNECTED = 0,
    /// Failed: try again.
    LND_CONNECT_FAILED = 1,
    /// The node is there and nobody listens.
    LND_CONNECT_REFUSED = 2,
}

/// enum lnd_connection - What stands in the way of sending to a peer's interface.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_connection {
    /// Nothing.
    LND_CONNECTION_UP = 0,
    /// A connection is being made: what is sent waits for it.
    LND_CONNECTION_TRYING = 1,
    /// The node refuses connections: what is sent is refused at once.
    LND_CONNECTION_REFUSED = 2,
}

/// struct lnd_action - What health asks its host to do.
/// @size: sizeof(struct lnd_action).
/// @kind: enum lnd_action_kind.
/// @index: place; with @generation the action's name.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @probe: a probe's enum lnd_probe_kind.
/// @target: the interface that is meant.
/// @local: a ping's interface of ours; all 0 if an interface of ours pings itself.
/// @nid: the interface's NID.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_action {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Place.
    pub index: u32,
    /// Use.
    pub generation: u32,
    /// Which object.
    pub owner: u32,
    /// Kind of probe.
    pub probe: u32,
    /// What is meant.
    pub target: lnd_health_ni,
    /// By which of ours.
    pub local: lnd_health_ni,
    /// NID.
    pub nid: u64,
}
