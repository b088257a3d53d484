// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handles: small values that name something of one NI, and can go stale.

/// struct lnd_transfer - Names a transfer from its acceptance to its report.
/// @index: slot.
/// @generation: use of the slot.
/// @ni: the NI's own number.
/// @kind: kind of handle.
///
/// All handles are values without pointers: keep, copy and compare them as you like. The one with
/// all fields 0 names nothing.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_transfer {
    /// Slot.
    pub index: u32,
    /// Use of the slot.
    pub generation: u32,
    /// Which NI.
    pub ni: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_request - Names a peer's request that waits for its decision.
/// @index: the link by which it came; slot, of one that lnd_keep() has kept.
/// @generation: use of that place.
/// @ni: the NI's own number.
/// @kind: kind of handle.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_request {
    /// Link or slot.
    pub index: u32,
    /// Use of it.
    pub generation: u32,
    /// Which NI.
    pub ni: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_message - Names a short message whose end the channel still has to tell.
/// @index: slot.
/// @generation: use of the slot.
/// @ni: the NI's own number.
/// @kind: kind of handle.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_message {
    /// Slot.
    pub index: u32,
    /// Use of the slot.
    pub generation: u32,
    /// Which NI.
    pub ni: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_peer - Names a peer in the table of one NI.
/// @nid: its NID.
/// @index: its place in the table.
/// @generation: use of the place.
/// @ni: the NI's own number.
/// @kind: kind of handle.
///
/// Stale once the NI has forgotten the peer, also if it knows one of the same NID again. A host that sends to
/// one peer often names it so in struct lnd_send_request.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_peer {
    /// NID.
    pub nid: u64,
    /// Place.
    pub index: u32,
    /// Use of the place.
    pub generation: u32,
    /// Which NI.
    pub ni: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_health_ni - Names an interface in a health object: one of ours, or a peer's.
/// @index: its place in the table; of ours: 0 for the first one that was added, and so on.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @kind: enum lnd_object.
///
/// Stale once the interface, or its peer, was removed. The one with all fields 0 names nothing.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_health_ni {
    /// Place.
    pub index: u32,
    /// Use of the place.
    pub generation: u32,
    /// Which object.
    pub owner: u32,
    /// What it is.
    pub kind: u32,
}

/// struct lnd_health_peer - Names a peer in a health object.
/// @index: its place in the table.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @kind: kind of handle.
///
/// Stale once the peer was removed.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_health_peer {
    /// Place.
    pub index: u32,
    /// Use of the place.
    pub generation: u32,
    /// Which object.
    pub owner: u32,
    /// Which kind of handle.
    pub kind: u32,
}

/// struct lnd_health_route - Names a route in a health object.
/// @index: its place in the table.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @kind: kind of handle.
///
/// Stale once the route was removed.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct lnd_health_route {
    /// Place.
    pub index: u32,
    /// Use of the place.
    pub generation: u32,
    /// Which object.
    pub owner: u32,
    /// Which kind of handle.
    pub kind: u32,
}
