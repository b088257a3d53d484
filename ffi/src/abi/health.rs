// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node's health, as C sees it.

use super::copies::lnd_stamp;
use super::handles::lnd_health_ni;

/// enum lnd_profile - The behaviour of health.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_profile {
    /// A failure of any class is repaired through another path.
    LND_PROFILE_SEED = 0,
    /// The behaviour of public Lustre.
    LND_PROFILE_LNET = 1,
}

/// LND_UNTIL_DEADLINE - As a limit of resends: only the message's deadline limits them.
pub const LND_UNTIL_DEADLINE: u32 = 255;

/// struct lnd_health_config - Sizes and knobs of a node's health.
/// @size: sizeof(struct lnd_health_config).
/// @abi_version: LND_ABI_VERSION.
/// @locals: local interfaces, 1 to 32.
/// @peers: peers, 1 to 16,384.
/// @peer_nis: interfaces of all peers together, @peers to 262,144.
/// @journal: entries of the journal, 0 to 65,536.
/// @attempts: messages under way at once, 1 to 65,536.
/// @actions: pings, probes and connections under way at once, 1 to 65,536.
/// @profile: enum lnd_profile.
/// @sensitivity: by how much a failure decrements health, 0 to 1000; 0: health is off.
/// @retries: limit of a message's resends, 0 to 254. LND_UNTIL_DEADLINE: the profile's own limit,
///           which is none for LND_PROFILE_SEED and 2 for LND_PROFILE_LNET.
/// @seed: seed of the jitter. Each node uses a different one.
/// @recovery_first: ns to the first recovery ping.
/// @recovery_cap: longest interval between two recovery pings, in ns.
/// @resend_first: ns of a message's first pause after all its paths were tried.
/// @resend_cap: longest such pause, in ns.
/// @recovery_limit: ns after which recovery of an interface stops, 0: never.
/// @probe_idle: ns without traffic after which a peer is probed.
/// @probe_again: ns between two probes of a peer that does not answer.
/// @probe_hold_off: ns for which a path must be dead before the peer is down.
/// @action_bound: ns after which a ping, probe or connection without a reported end is over.
/// @action_every: ns for each ping, probe or connection: their rate, at least 1 us.
/// @action_burst: most pings, probes and connections in one burst, at least 1.
/// @probe_results: consecutive dead results before the peer is down.
/// @routes: routes, 0 to 4,096.
/// @routing: 1 if this node is a router.
/// @numa_range: NUMA distances below this one count as equal, 0 to 65,535.
/// @connects_at_once: connections being made at once, over all peers, 1 to 65,535.
/// @incarnation: this node's incarnation, the same as in all its NIs; not 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_health_config {
    /// Bytes of this struct.
    pub size: u32,
    /// The ABI the caller was compiled for.
    pub abi_version: u32,
    /// Local interfaces.
    pub locals: u32,
    /// Peers.
    pub peers: u32,
    /// Peers' interfaces.
    pub peer_nis: u32,
    /// Journal.
    pub journal: u32,
    /// Messages.
    pub attempts: u32,
    /// Actions.
    pub actions: u32,
    /// Profile.
    pub profile: u32,
    /// Decrement.
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
    /// Connections being made.
    pub connects_at_once: u32,
    /// Incarnation.
    pub incarnation: u64,
}

/// struct lnd_attempts - Names a message over all its tries.
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

/// struct lnd_path - The path of a message's next try.
/// @size: sizeof(struct lnd_path).
/// @routed: 1 if the hop is a router. Pass it in struct lnd_send_request unchanged.
/// @local: our interface.
/// @hop: the next hop's interface.
/// @destination: the peer's interface.
/// @stamp: the stamp in the header of this try.
/// @hop_nid: the next hop's NID.
/// @slice: time by which this try should have ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_path {
    /// Bytes of this struct.
    pub size: u32,
    /// Over a router.
    pub routed: u32,
    /// Local interface.
    pub local: lnd_health_ni,
    /// Next hop's interface.
    pub hop: lnd_health_ni,
    /// Peer's interface.
    pub destination: lnd_health_ni,
    /// Stamp.
    pub stamp: lnd_stamp,
    /// Next hop's NID.
    pub hop_nid: u64,
    /// End of this try's time.
    pub slice: u64,
}

/// enum lnd_next - How a message continues after a try.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_next {
    /// It has ended. Its handle is stale.
    LND_NEXT_ENDED = 0,
    /// It is tried again. lnd_health_begin() selects its next path.
    LND_NEXT_AGAIN = 1,
    /// It is tried again, not before the time that lnd_health_next_try() returns.
    LND_NEXT_LATER = 2,
}

/// enum lnd_why_ended - Why a message has ended.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_why_ended {
    /// It has not ended.
    LND_WHY_NOT_ENDED = 0,
    /// It was delivered.
    LND_WHY_DELIVERED = 1,
    /// Its class or its owner does not allow a resend, or another path would not help.
    LND_WHY_NOT_RESENDABLE = 2,
    /// It may have arrived, and the receiver would not recognise a duplicate.
    LND_WHY_MAY_HAVE_ARRIVED = 3,
    /// The limit of tries is reached.
    LND_WHY_TRIES = 4,
    /// Its deadline has passed.
    LND_WHY_DEADLINE = 5,
    /// There is no other path.
    LND_WHY_NO_PATH = 6,
}

/// struct lnd_outcome - The state of a message after a try.
/// @size: sizeof(struct lnd_outcome).
/// @next: enum lnd_next.
/// @delivery: enum lnd_delivery over all tries. Report it to the upper layer.
/// @health: enum lnd_health_class of the last try.
/// @tries: tries made.
/// @why: enum lnd_why_ended.
/// @cookie: the caller's value for the message.
/// @next_try: with LND_NEXT_LATER: when its next try may begin; else 0. lnd_health_next_try()
///            returns an earlier time if there is one.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_outcome {
    /// Bytes of this struct.
    pub size: u32,
    /// Next.
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
    /// Time of the next try.
    pub next_try: u64,
}

/// enum lnd_object - The kind of a struct lnd_health_ni.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_object {
    /// A local interface.
    LND_OBJECT_LOCAL = 1,
    /// An interface of a peer.
    LND_OBJECT_PEER_NI = 2,
}

/// struct lnd_health_info - The health of an interface.
/// @size: sizeof(struct lnd_health_info).
/// @value: health, 0 to 1000.
/// @nid: its NID.
/// @heard: when its last message arrived.
/// @in_flight: messages under way through it.
/// @up: 1 if it counts as up.
/// @fatal: 1 if the fabric has reported a fatal error of it.
/// @draining: 1 if no new message is sent through it.
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
    /// Last message.
    pub heard: u64,
    /// In flight.
    pub in_flight: u32,
    /// Up.
    pub up: u32,
    /// Fatal error.
    pub fatal: u32,
    /// Draining.
    pub draining: u32,
}

/// enum lnd_action_kind - What the host does for health.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_action_kind {
    /// Ping, and report through lnd_health_answered().
    LND_ACTION_PING = 1,
    /// Probe, and report through lnd_prober_ended().
    LND_ACTION_PROBE = 2,
    /// Connect, and report through lnd_health_connected().
    LND_ACTION_CONNECT = 3,
}

/// enum lnd_probe_kind - The operation that probes a peer. None uses a receive buffer.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_probe_kind {
    /// A read of no bytes.
    LND_PROBE_ZERO_READ = 0,
    /// A read of an illegal address.
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
    /// The peer refused access: the peer is up.
    LND_PROBE_ACCESS_ERROR = 1,
    /// The transport's retries are exhausted.
    LND_PROBE_RETRY_EXCEEDED = 2,
    /// Any other end. It proves nothing.
    LND_PROBE_OTHER = 3,
}

/// enum lnd_finding - The prober's result.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_finding {
    /// No change.
    LND_FINDING_NOTHING = 0,
    /// The peer is up.
    LND_FINDING_ALIVE = 1,
    /// The peer is down. Report it to its NI through lnd_peer_event().
    LND_FINDING_DOWN = 2,
    /// The peer is down and this node only receives from it. Clean it up, even while it is in use.
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
    /// The node is up and refuses connections.
    LND_CONNECT_REFUSED = 2,
}

/// enum lnd_connection - The state of the connection to a peer's interface.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_connection {
    /// Nothing blocks sending.
    LND_CONNECTION_UP = 0,
    /// A connection is being made. Messages wait for it.
    LND_CONNECTION_TRYING = 1,
    /// The node refuses connections. Messages are refused at once.
    LND_CONNECTION_REFUSED = 2,
}

/// struct lnd_action - An action that the host performs for health.
/// @size: sizeof(struct lnd_action).
/// @kind: enum lnd_action_kind.
/// @index: place. @index and @generation name the action.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @probe: a probe's enum lnd_probe_kind.
/// @target: the target interface.
/// @local: for a ping, the local interface; all 0 if a local interface pings itself.
/// @nid: the target interface's NID.
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
    /// Target.
    pub target: lnd_health_ni,
    /// Local interface.
    pub local: lnd_health_ni,
    /// NID.
    pub nid: u64,
}
