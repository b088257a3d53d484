// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What peers send.

pub(super) mod arrival;
