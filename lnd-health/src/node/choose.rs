// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The path of a message's next try (S4-10).

use super::Health;
use crate::journey::Journey;
use crate::select::{select, Choice, Distance, NoPath, Wanted};

impl Health<'_> {
    /// Chooses the path of a message's next try, and says why. Changes nothing: asked twice, it
    /// answers the same (R52).
    ///
    /// # Errors
    /// There is none; then [`give_up`](Self::give_up).
    pub fn choose(&self, journey: &Journey, distances: &[Distance]) -> Result<Choice, NoPath> {
        let peer = self.peer(journey.peer()).ok_or(NoPath::Unknown)?;
        let wanted = Wanted {
            source: journey.source().or(peer.settings.bound),
            destination: journey.destination(),
            distances,
            history: journey.history(),
            ..Wanted::any(self.interfaces(journey.peer()).next().ok_or(NoPath::NoRoute)?)
        };
        select(&self.view(), &wanted)
    }
}
