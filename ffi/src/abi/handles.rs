// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handles: small values that name an object of one NI and can become stale.

/// struct lnd_transfer - Names a transfer from its acceptance to its report.
/// @index: slot.
/// @generation: use of the slot.
/// @ni: the NI's own number.
/// @kind: kind of handle.
///
/// All handles are values without pointers. They may be kept, copied and compared. A handle whose
/// fields are all 0 names nothing.
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

/// struct lnd_request - Names a peer's request that waits for a decision.
/// @index: the link on which it arrived; after lnd_keep(), the slot.
/// @generation: use of that link or slot.
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

/// struct lnd_message - Names a short message whose end the channel has not yet reported.
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
/// The handle is stale once the NI has removed the peer, even if the peer is added again with the
/// same NID. A host that often sends to one peer passes this handle in struct lnd_send_request.
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

/// struct lnd_health_ni - Names an interface in a health object: a local one or a peer's.
/// @index: its place in the table. Local interfaces count from 0 in the order in which they were
///         added.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @kind: enum lnd_object.
///
/// The handle is stale once the interface or its peer is removed. A handle whose fields are all 0
/// names nothing.
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
    /// Kind of object.
    pub kind: u32,
}

/// struct lnd_health_peer - Names a peer in a health object.
/// @index: its place in the table.
/// @generation: use of the place.
/// @owner: the health object's own number.
/// @kind: kind of handle.
///
/// The handle is stale once the peer is removed.
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
/// The handle is stale once the route is removed.
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
