// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The names that a host needs: `use lnd_core::prelude::*`.

pub use crate::config::{Config, ConfigError};
pub use crate::driver::{
    Arrival, Driver, Identity, Immediate, Inbound, Interrupt, IrqHandle, Receive, Received,
    RecvError, Refused, Reply, Report, Request, RequestKind, RunState, RxRequest, Served,
    Submitted, To, Why,
};
pub use crate::fragment::Fragment;
pub use crate::host::{Backlog, LinearMemory, WithoutEngine};
pub use crate::id::{Incarnation, LinkId, Nid, PeerId, Tag};
pub use crate::link::{Connection, LinkState, Quiesced};
pub use crate::message::{Envelope, Lane, Message, NakReason};
pub use crate::ports::{
    BadAddress, Bd, Channel, ChannelFull, Completion, Completions, Engine, Features, Memory,
    Motion, NoTrace, Ports, PostError, Returned, Sent, Tracer,
};
pub use crate::time::{Instant, Span};
pub use crate::transfer::{Delivery, Status};
