// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an operator sets in health and reads from it, as C sees it.

use super::handles::lnd_health_ni;

/// LND_MAX_RULES - Most rules of lnd_health_set_rules().
pub const LND_MAX_RULES: u32 = 256;

/// LND_NO_SENSITIVITY - The interface has no sensitivity of its own.
pub const LND_NO_SENSITIVITY: u32 = 0xffff_ffff;

/// enum lnd_rule_kind - What a rule applies to.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_rule_kind {
    /// The priority applies to a network.
    LND_RULE_NETWORK = 1,
    /// The priority applies to an interface, a local one or a peer's.
    LND_RULE_NID = 2,
    /// One of a peer's interfaces is preferred from one local interface.
    LND_RULE_PAIR = 3,
    /// The priority applies to all routes through a gateway's interface.
    LND_RULE_GATEWAY = 4,
}

/// struct lnd_rule - A user-defined selection policy.
/// @size: sizeof(struct lnd_rule).
/// @kind: enum lnd_rule_kind.
/// @priority: 0 to 65,535; 0 is the best. LND_RULE_PAIR has none.
/// @network: for LND_RULE_NETWORK: its number, the upper half of the NIDs on it.
/// @nid: for LND_RULE_NID and LND_RULE_GATEWAY: the interface; for LND_RULE_PAIR: the local one.
/// @peer_nid: for LND_RULE_PAIR: the peer's interface.
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
    /// The peer's interface.
    pub peer_nid: u64,
}

/// struct lnd_distance - The distance of a local interface from a message's memory and CPUs.
/// @device: distance from the device that has the memory, 0 to 255; 0 is the nearest.
/// @numa: distance from the CPUs in the machine's NUMA table, 0 to 4,095.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_distance {
    /// Device.
    pub device: u32,
    /// CPUs.
    pub numa: u32,
}

/// enum lnd_evidence - The evidence on which an interface's health changed.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_evidence {
    /// The end of a message's try.
    LND_EVIDENCE_MESSAGE = 0,
    /// A try that the call refused.
    LND_EVIDENCE_REFUSAL = 1,
    /// The end of a recovery ping.
    LND_EVIDENCE_PING = 2,
    /// A received message.
    LND_EVIDENCE_HEARD = 3,
    /// An answer that did not arrive in time.
    LND_EVIDENCE_NO_RESPONSE = 4,
    /// The liveness prober's result.
    LND_EVIDENCE_PROBE = 5,
    /// The fabric's report.
    LND_EVIDENCE_FABRIC = 6,
    /// An operator.
    LND_EVIDENCE_OPERATOR = 7,
}

/// struct lnd_health_change - An entry of health's journal.
/// @size: sizeof(struct lnd_health_change).
/// @evidence: enum lnd_evidence.
/// @number: number of the change, from 0.
/// @at: when.
/// @cookie: the caller's value for the message that was the evidence; 0: none.
/// @ni: the interface.
/// @nid: its NID; 0: it was removed.
/// @from: health before, 0 to 1000.
/// @to: health after.
/// @up: 1 if it counts as up after the change.
/// @health_class: enum lnd_health_class of the message, refusal or ping that was the evidence; else
///                0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_health_change {
    /// Bytes of this struct.
    pub size: u32,
    /// Evidence.
    pub evidence: u32,
    /// Number.
    pub number: u64,
    /// Time.
    pub at: u64,
    /// Message.
    pub cookie: u64,
    /// Interface.
    pub ni: lnd_health_ni,
    /// Its NID.
    pub nid: u64,
    /// Before.
    pub from: u32,
    /// After.
    pub to: u32,
    /// Up.
    pub up: u32,
    /// Class.
    pub health_class: u32,
}
