// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The path of a message's next try (S4-10).

use super::Health;
use crate::attempts::Attempts;
use crate::select::{select, Choice, Distance, NoPath, Wanted};

impl Health<'_> {
    /// Selects the path of a message's next try, with its reasons. It has no effect: a second call
    /// returns the same (R52).
    ///
    /// # Errors
    /// There is no path; call [`give_up`](Self::give_up).
    pub fn choose(&self, attempts: &Attempts, distances: &[Distance]) -> Result<Choice, NoPath> {
        let peer = self.peer(attempts.peer()).ok_or(NoPath::Unknown)?;
        let wanted = Wanted {
            source: attempts.source().or(peer.settings.bound),
            destination: attempts.destination(),
            distances,
            history: attempts.history(),
            ..Wanted::any(self.interfaces(attempts.peer()).next().ok_or(NoPath::NoRoute)?)
        };
        select(&self.view(), &wanted)
    }
}
