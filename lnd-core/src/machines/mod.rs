// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The machines and gates of one transfer, one peer and one link: what may happen to each.

pub mod link;
pub mod peer;
pub mod transfer;
