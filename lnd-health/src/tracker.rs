// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Response tracking (R54): a PUT that wants an ACK, or a GET, waits for its answer end to end.
//!
//! ACK and REPLY are separate messages, through all routers (S1-9 to S1-12). Their absence is no
//! evidence about the hop's completion, and the request is never resent for it (S1-13). The tracker
//! lies in the caller's request and is ended exactly once.

use crate::terms::Path;
use lnd_core::time::{Instant, Span};

/// Which requests are tracked (`lnet_response_tracking`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// LNet's own pings and pushes.
    Own,
    /// GETs.
    Gets,
    /// PUTs that want an ACK.
    Puts,
    /// Both.
    #[default]
    Both,
}

/// A request that has an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A PUT wants an ACK (S1-7: only when wanted).
    Ack,
    /// A GET wants a REPLY.
    Reply,
}

impl Tracking {
    /// Whether a request is tracked. `own`: it is a ping or push of the network layer itself.
    /// `option`: the option of the memory descriptor, which takes precedence.
    pub const fn tracks(self, wants: Wants, own: bool, option: Option<bool>) -> bool {
        match option {
            Some(option) => option,
            None if own => true,
            None => matches!(
                (self, wants),
                (Self::Both, _) | (Self::Gets, Wants::Reply) | (Self::Puts, Wants::Ack)
            ),
        }
    }
}

/// The end of the wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrackEnd {
    /// The answer arrived.
    Answered,
    /// The memory was unlinked: the answer is no longer needed.
    Unlinked,
    /// The request could not be sent.
    SendFailed,
    /// The answer did not arrive in time. Only the next hop loses health: there is no evidence
    /// about those beyond it.
    Expired {
        /// The request's path.
        path: Path,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Off,
    Waiting { deadline: Instant, path: Path },
    Ended(TrackEnd),
}

/// The tracker of one request. The first end wins; each later one returns `None`.
///
/// ```
/// use lnd_core::time::{Instant, Span};
/// use lnd_health::attempts::Path;
/// use lnd_health::tracker::{TrackEnd, Tracker};
/// use lnd_health::{NiId, PeerNiId};
///
/// let path = Path { local: NiId::new(0).unwrap(), hop: PeerNiId::new(3) };
/// let mut tracker = Tracker::begin(Instant::ORIGIN, Span::from_secs(50), path);
/// assert_eq!(tracker.expire(Instant::ORIGIN.after(Span::from_secs(49))), None);
/// assert_eq!(tracker.answer(), Some(TrackEnd::Answered));
/// // The answer that arrives a second time is counted and dropped.
/// assert_eq!(tracker.answer(), None);
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Tracker(State);

impl Tracker {
    /// A tracker that is not in use: nothing ends it.
    pub const OFF: Self = Self(State::Off);

    /// Starts to wait: a request was sent over `path` at `now`, and its answer is due within
    /// `timeout`. The deadline is exact: the caller calls [`expire`](Self::expire) at it.
    pub const fn begin(now: Instant, timeout: Span, path: Path) -> Self {
        Self(State::Waiting { deadline: now.after(timeout), path })
    }

    /// When the answer is due, while it is awaited.
    pub const fn deadline(&self) -> Option<Instant> {
        match self.0 {
            State::Waiting { deadline, .. } => Some(deadline),
            State::Off | State::Ended(_) => None,
        }
    }

    /// The end of the wait, if it has ended.
    pub const fn ended(&self) -> Option<TrackEnd> {
        match self.0 {
            State::Ended(end) => Some(end),
            State::Off | State::Waiting { .. } => None,
        }
    }

    /// The request was resent over another path: that path is charged from now on.
    pub fn resent(&mut self, path: Path) {
        if let State::Waiting { path: current, .. } = &mut self.0 {
            *current = path;
        }
    }

    /// The answer arrived. A late one, after another end, returns `None`: count it and drop it.
    pub fn answer(&mut self) -> Option<TrackEnd> {
        self.end(TrackEnd::Answered)
    }

    /// The memory was unlinked.
    pub fn unlink(&mut self) -> Option<TrackEnd> {
        self.end(TrackEnd::Unlinked)
    }

    /// The request's tries failed.
    pub fn send_failed(&mut self) -> Option<TrackEnd> {
        self.end(TrackEnd::SendFailed)
    }

    /// Ends it if its answer is overdue at `now`.
    pub fn expire(&mut self, now: Instant) -> Option<TrackEnd> {
        match self.0 {
            State::Waiting { deadline, path } if deadline <= now => {
                self.end(TrackEnd::Expired { path })
            }
            _ => None,
        }
    }

    fn end(&mut self, end: TrackEnd) -> Option<TrackEnd> {
        let State::Waiting { .. } = self.0 else { return None };
        self.0 = State::Ended(end);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{NiId, PeerNiId};

    const DEADLINE: Instant = Instant::from_nanos(150);

    fn path() -> Path {
        Path { local: NiId::new(0).unwrap(), hop: PeerNiId::new(3) }
    }

    fn tracker() -> Tracker {
        Tracker::begin(Instant::ORIGIN, Span::from_nanos(150), path())
    }

    /// Each end, as a function, with what it must report if it comes first.
    type End = (fn(&mut Tracker) -> Option<TrackEnd>, TrackEnd);

    #[test]
    fn the_first_end_wins_in_every_order() {
        // R54, B11, LU-12568, LU-10931. S1-9: a request that was not sent is no evidence about its
        // answer.
        let ends: [End; 4] = [
            (Tracker::answer, TrackEnd::Answered),
            (Tracker::unlink, TrackEnd::Unlinked),
            (Tracker::send_failed, TrackEnd::SendFailed),
            (|t| t.expire(DEADLINE), TrackEnd::Expired { path: path() }),
        ];
        for (first, expected) in ends {
            let mut tracker = tracker();
            assert_eq!(first(&mut tracker), Some(expected));
            for (second, _) in ends {
                assert_eq!(second(&mut tracker), None);
            }
            assert_eq!((tracker.ended(), tracker.deadline()), (Some(expected), None));
            let mut off = Tracker::OFF;
            assert_eq!(first(&mut off), None);
        }
    }

    #[test]
    fn expiry_is_exact_and_blames_the_last_path() {
        let mut tracker = tracker();
        assert_eq!(tracker.expire(Instant::from_nanos(149)), None);
        let other = Path { hop: PeerNiId::new(4), ..path() };
        tracker.resent(other);
        assert_eq!(tracker.deadline(), Some(DEADLINE), "a resend does not extend it");
        assert_eq!(tracker.expire(DEADLINE), Some(TrackEnd::Expired { path: other }));
    }

    #[test]
    fn what_is_tracked() {
        // A5: modes 0 to 3; an option of the memory descriptor takes precedence.
        use Tracking::*;
        for (mode, ack, reply) in
            [(Own, false, false), (Gets, false, true), (Puts, true, false), (Both, true, true)]
        {
            assert_eq!(mode.tracks(Wants::Ack, false, None), ack);
            assert_eq!(mode.tracks(Wants::Reply, false, None), reply);
            assert!(mode.tracks(Wants::Reply, true, None));
            assert!(mode.tracks(Wants::Ack, false, Some(true)));
            assert!(!mode.tracks(Wants::Ack, true, Some(false)));
        }
    }
}
