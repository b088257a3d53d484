// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the pure machines and the gates of one transfer, one peer and one link.

pub mod link;
pub mod peer;
pub mod transfer;
