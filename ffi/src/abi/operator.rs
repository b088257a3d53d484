// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an operator says to health and reads from it, as C sees it.

use super::handles::lnd_health_ni;

/// LND_MAX_RULES - Most rules of lnd_health_set_rules().
pub const LND_MAX_RULES: u32 = 256;

/// LND_NO_SENSITIVITY - An interface has no sensitivity of its own.
pub const LND_NO_SENSITIVITY: u32 = 0xffff_ffff;

/// enum lnd_rule_kind - What a rule is about.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_rule_kind {
    /// A network has the priority.
    LND_RULE_NETWORK = 1,
    /// An interface, ours or a peer's, has the priority.
    LND_RULE_NID = 2,
    /// An interface of a peer is preferred from one of ours.
    LND_RULE_PAIR = 3,
    /// All routes through an interface of a gateway have the priority.
    LND_RULE_GATEWAY = 4,
}

/// struct lnd_rule - A user-defined policy of selection.
/// @size: sizeof(struct lnd_rule).
/// @kind: enum lnd_rule_kind.
/// @priority: 0 to 65,535; 0 is the best. A pair has none.
/// @network: of LND_RULE_NETWORK: its number, the upper half of the NIDs on it.
/// @nid: of LND_RULE_NID and LND_RULE_GATEWAY: the interface; of LND_RULE_PAIR: ours.
/// @peer_nid: of LND_RULE_PAIR: the peer's interface.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_rule {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Priority.
    pub priority: u32,
    /// Network.
    pub network: u32,
    /// Interface.
    pub nid: u64,
    /// The peer's.
    pub peer_nid: u64,
}

/// struct lnd_distance - How far an interface of ours is from the memory and the CPUs of a message.
/// @device: from the device that has the memory, 0 to 255; 0 is the nearest.
/// @numa: from the CPUs, as the machine's NUMA table has it, 0 to 4,095.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_distance {
    /// Device.
    pub device: u32,
    /// CPUs.
    pub numa: u32,
}

/// enum lnd_evidence - On which evidence an interface's health changed.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_evidence {
    /// How a try of a message ended.
    LND_EVIDENCE_MESSAGE = 0,
    /// A try was refused at the call.
    LND_EVIDENCE_REFUSAL = 1,
    /// How a recovery ping ended.
    LND_EVIDENCE_PING = 2,
    /// Something was received.
    LND_EVIDENCE_HEARD = 3,
    /// An answer did not come in time.
    LND_EVIDENCE_NO_RESPONSE = 4,
    /// What the liveness prober found.
    LND_EVIDENCE_PROBE = 5,
    /// The fabric's report.
    LND_EVIDENCE_FABRIC = 6,
    /// An operator.
    LND_EVIDENCE_OPERATOR = 7,
}

/// struct lnd_health_change - An entry of health's journal.
/// @size: sizeof(struct lnd_health_change).
/// @evidence: enum lnd_evidence.
/// @number: which change, from 0.
/// @at: when.
/// @cookie: the caller's name for the message that was the evidence; 0: none.
/// @ni: the interface.
/// @nid: its NID; 0: it is gone.
/// @from: health before, 0 to 1000.
/// @to: health after.
/// @up: 1 if it counts as up since.
/// @health_class: enum lnd_health_class that was the evidence, of a message, a refusal or a ping; else 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_health_change {
    /// Bytes of this struct.
    pub size: u32,
    /// Why.
    pub evidence: u32,
    /// Which.
    pub number: u64,
    /// When.
    pub at: u64,
    /// Which message.
    pub cookie: u64,
    /// Which interface.
    pub ni: lnd_health_ni,
    /// Its NID.
    pub nid: u64,
    /// Before.
    pub from: u32,
    /// After.
    pub to: u32,
    /// Status.
    pub up: u32,
    /// Class.
    pub health_class: u32,
}
