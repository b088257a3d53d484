// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the upper layer sends.

mod short;
