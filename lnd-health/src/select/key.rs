// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A candidate's place in the order of preference, as one number: the most important field is
//! highest.

use super::view::MAX_NUMA;
use crate::ni::Ni;

/// The field that decided between the winner and the runner-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Because {
    /// The request named it.
    Given,
    /// There was no other.
    Only,
    /// The fabric reports the other one as unusable.
    Fatal,
    /// Better health.
    Health,
    /// A user-defined priority; for routes, their own priority.
    Policy,
    /// Fewer hops.
    Hops,
    /// Nearer to the device that has the memory.
    Device,
    /// Nearer to the CPUs (beyond the range within which all count as equal).
    Numa,
    /// Preferred for this pair of interfaces.
    Preferred,
    /// More credits left.
    Credits,
    /// It was its turn.
    Turn,
}

/// Lower is better. [`rank`](crate::rank) defines the bits of an interface's `rank`. `turn` is
/// smaller the longer ago it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub rank: u64,
    pub turn: u32,
}

/// Where each field of a rank begins, from the top, and its meaning.
pub(super) type Fields = [(u32, Because)];

/// The fields of an interface's rank.
pub(super) const NI: &Fields = &[
    (63, Because::Fatal),
    (53, Because::Health),
    (37, Because::Policy),
    (29, Because::Device),
    (17, Because::Numa),
    (16, Because::Preferred),
    (0, Because::Credits),
];

impl Key {
    /// The key of an interface at turn `now`, by its own fields.
    #[inline]
    pub fn of(ni: &Ni, now: u32) -> Self {
        Self { rank: ni.rank, turn: turn(ni.turn, now) }
    }

    #[inline]
    pub fn device(mut self, distance: u8) -> Self {
        self.rank |= u64::from(distance) << 29;
        self
    }

    /// Distances below `range` all count as equal.
    #[inline]
    pub fn numa(mut self, distance: u16, range: u16) -> Self {
        let distance = if distance < range { 0 } else { distance.min(MAX_NUMA) };
        self.rank |= u64::from(distance) << 17;
        self
    }

    #[inline]
    pub fn preferred(mut self, preferred: bool) -> Self {
        self.rank |= u64::from(!preferred) << 16;
        self
    }
}

#[inline]
pub(super) const fn turn(last: u32, now: u32) -> u32 {
    !now.wrapping_sub(last)
}

/// The best of the candidates offered, and the runner-up's rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contest {
    best: Key,
    winner: u32,
    second: u64,
}

/// No candidate has this rank: no health is that low.
const NO_RANK: u64 = u64::MAX;

impl Contest {
    pub const EMPTY: Self =
        Self { best: Key { rank: NO_RANK, turn: u32::MAX }, winner: u32::MAX, second: NO_RANK };

    /// Ties go to the one offered first.
    #[inline]
    pub fn offer(&mut self, key: Key, candidate: u32) {
        let better =
            key.rank < self.best.rank || key.rank == self.best.rank && key.turn < self.best.turn;
        let loser = if better { self.best.rank } else { key.rank };
        self.second = self.second.min(loser);
        if better {
            (self.best, self.winner) = (key, candidate);
        }
    }

    /// The winner, if there was any candidate.
    #[inline]
    pub const fn winner(&self) -> Option<u32> {
        if self.best.rank == NO_RANK {
            None
        } else {
            Some(self.winner)
        }
    }

    /// The winner's rank.
    pub const fn rank(&self) -> u64 {
        self.best.rank
    }

    /// What made the winner better than the runner-up.
    pub fn because(&self, fields: &Fields) -> Because {
        if self.second == NO_RANK {
            return Because::Only;
        }
        let differ = self.best.rank ^ self.second;
        let highest = 63_u32.wrapping_sub(differ.leading_zeros());
        let field = fields.iter().find(|(from, _)| differ != 0 && highest >= *from);
        field.map_or(Because::Turn, |&(_, why)| why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::HealthValue;
    use lnd_core::id::Nid;

    fn ni() -> Ni {
        Ni::new(Nid::from_raw(1).unwrap(), 0)
    }

    /// A key after a change to a healthy interface.
    fn key(change: impl Fn(&mut Ni)) -> Key {
        let mut ni = ni();
        change(&mut ni);
        Key::of(&ni, 0)
    }

    #[test]
    fn each_field_outweighs_all_below_it() {
        // R52, A6. Each of these is worse than the one before only by its own field, and better by
        // all fields below it.
        let worst = |k: Key| k.device(255).numa(0xfff, 0).preferred(false);
        let poor = |ni: &mut Ni| {
            ni.set_credits(i32::MIN);
            ni.set_priority(u16::MAX);
        };
        let because = |a: Key, b: Key| {
            let mut contest = Contest::EMPTY;
            contest.offer(b, 0);
            contest.offer(a, 1);
            assert_eq!(contest.winner(), Some(1));
            contest.because(NI)
        };
        let thresholds = crate::standing::Thresholds { down: 0, up: 1000 };
        let plain = key(|_| {}).preferred(true);
        let ladder = [
            (Because::Credits, key(|ni| ni.set_credits(-1)).preferred(true)),
            (Because::Preferred, key(|_| {}).preferred(false)),
            (Because::Numa, plain.numa(9, 5)),
            (Because::Device, plain.device(1)),
            (Because::Policy, key(|ni| ni.set_priority(1)).preferred(true)),
            (
                Because::Health,
                key(|ni| {
                    ni.adjust(HealthValue::new(999), thresholds);
                }),
            ),
            (Because::Fatal, key(|ni| ni.set_fatal(true)).preferred(true)),
        ];
        for (why, other) in ladder {
            assert!(plain < other);
            assert_eq!(because(plain, other), why);
        }
        for pair in ladder.windows(2) {
            let ((_, better), (why, worse)) = (pair[0], pair[1]);
            assert!(better < worse, "{why:?}");
            assert_eq!(because(better, worse), why);
        }
        let very_poor = worst(key(poor));
        assert_eq!(because(very_poor, ladder[5].1), Because::Health);
        assert_eq!(plain.numa(4, 5), plain, "below the range all distances are equal");
        assert!(plain < plain.numa(5, 5));
        let with = |credits| key(|ni| ni.set_credits(credits)).rank;
        assert_eq!((with(i32::MAX), with(i32::MIN)), (with(0x7fff), with(-0x8000)));
        assert!(with(0x7fff) < with(0x7ffe) && with(-0x7fff) < with(-0x8000));
        let used = key(|ni| ni.turn = 7);
        assert!(key(|ni| ni.turn = 3) < used);
        assert_eq!(because(key(|ni| ni.turn = 3), used), Because::Turn);
    }

    #[test]
    fn turns_wrap() {
        assert!(turn(u32::MAX, 5) < turn(3, 5), "used longer ago");
        let mut contest = Contest::EMPTY;
        assert_eq!(contest.winner(), None);
        contest.offer(Key { rank: 1, turn: 1 }, 4);
        assert_eq!((contest.winner(), contest.because(NI)), (Some(4), Because::Only));
        contest.offer(Key { rank: 1, turn: 1 }, 5);
        assert_eq!((contest.winner(), contest.because(NI)), (Some(4), Because::Turn));
    }
}
