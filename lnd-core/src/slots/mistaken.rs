// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects of the transfer's table, which is a constant: they change the event in front of it.

use crate::base::defect::seeded;
use crate::machines::transfer::{Cause, Debts, Event, Word};

/// `event`, unless a defect misreads it: what a step must do is decided by a table that is a
/// constant, so its defects are seeded in front of it.
#[inline(always)]
pub(crate) fn mistaken(before: Word, event: Event) -> Event {
    match event {
        Event::HwOk if before.asked() && seeded("lost-race-is-an-error") => Event::HwUntouched,
        Event::MsgUnknown if seeded("unknown-is-not-delivered") => Event::MsgNotDelivered,
        Event::HwTouched | Event::HwUntouched if seeded("device-error-is-ok") => Event::HwOk,
        Event::Cancel(_) if before.owes(Debts::MSG) && seeded("message-called-back") => {
            Event::MsgNotDelivered
        }
        Event::HwOk if before.cause() == Some(Cause::Channel) && seeded("pull-is-no-answer") => {
            Event::HwUntouched
        }
        // Changes nothing.
        Event::MsgNotDelivered | Event::MsgUnknown if seeded("failed-message-ignored") => {
            Event::Arm(Debts(0))
        }
        Event::MsgNotDelivered if !before.owes(Debts::MSG) && seeded("second-end-counts") => {
            Event::HwUntouched
        }
        other => other,
    }
}
