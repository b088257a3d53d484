// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A look at the frames of a node as they pass.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use lnd_core::id::LinkId;

/// A frame that passes.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// The node has sent it, else it has taken it in.
    pub sent: bool,
    /// By which link.
    pub link: LinkId,
    /// The other node.
    pub peer: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Sees frames. It is called by the thread that sends or receives, and is to be quick.
pub trait Tap: Debug + Send {
    /// A frame passes.
    fn see(&mut self, frame: &Passing<'_>);
}

/// A tap of both halves of a channel.
pub type SharedTap = Arc<Mutex<dyn Tap>>;

/// Shows a frame to a tap, if there is one.
pub(super) fn show(tap: Option<&SharedTap>, frame: &Passing<'_>) {
    if let Some(Ok(mut tap)) = tap.map(|tap| tap.lock()) {
        tap.see(frame);
    }
}
