// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The words attached to entries and requests: whose event is it?

use lnd_sim::lnet::Event;

/// In the upper 16 bits of every word of this module. Other users of the same layer leave it alone.
pub const WORD_MARK: u64 = 0xf11e;

/// What an entry or a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// Server: request buffers for calls.
    Calls = 1,
    /// Server: request buffers for chunks.
    Chunks = 2,
    /// Server: a window of a file, by id.
    Window = 3,
    /// Server: an answer on its way.
    Reply = 4,
    /// Client: request buffers for answers.
    Answers = 5,
    /// Client: an operation.
    Operation = 6,
}

const ROLES: [Role; 6] =
    [Role::Calls, Role::Chunks, Role::Window, Role::Reply, Role::Answers, Role::Operation];

/// Bits for the number within a role.
const NUMBER_BITS: u32 = 40;

/// The word of the `number`-th of a role.
pub(super) fn word(role: Role, number: u64) -> u64 {
    WORD_MARK << 48 | (role as u64) << NUMBER_BITS | number & ((1 << NUMBER_BITS) - 1)
}

/// What a word says.
fn meaning(word: u64) -> Option<(Role, u64)> {
    let role = (word >> NUMBER_BITS) as u8;
    let role = ROLES.into_iter().find(|known| *known as u8 == role)?;
    (word >> 48 == WORD_MARK).then_some((role, word & ((1 << NUMBER_BITS) - 1)))
}

/// What an event is about; `None`: not about files.
pub(super) fn about(event: &Event) -> Option<(Role, u64)> {
    match event {
        Event::PutReceived { user, .. }
        | Event::GetServed { user, .. }
        | Event::SendDone { user, .. }
        | Event::Ack { user, .. }
        | Event::Reply { user, .. }
        | Event::Expired { user, .. }
        | Event::RequestDone { user, .. }
        | Event::Unlinked { user, .. } => meaning(*user),
        Event::Dropped { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_what_was_put_in_and_others_mean_nothing() {
        for role in ROLES {
            for number in [0, 1, 0xff_ffff_ffff] {
                assert_eq!(meaning(word(role, number)), Some((role, number)));
            }
        }
        assert_eq!(meaning(0), None);
        assert_eq!(meaning(WORD_MARK << 48), None);
        assert_eq!(meaning(1 << 40), None);
    }
}
