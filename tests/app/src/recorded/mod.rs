// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is made of a simulated run that was logged: captures and reports.

mod cast;
mod outputs;

pub use cast::{Cast, Unit};
pub use outputs::{whole, Outputs, Told};
