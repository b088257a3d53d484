// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A small seeded generator. Jitter is an argument, so that a run replays exactly (R72).

/// Integer pseudo-random numbers (a Weyl sequence through a multiplicative hash). Not for secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter(u32);

impl Jitter {
    /// The generator of a seed. Give each node its own seed, or all of them have the same jitter.
    pub(crate) const fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// The next number, any 32 bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub(crate) const fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let mut x = self.0;
        x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        x = (x ^ (x >> 15)).wrapping_mul(0x735a_2d97);
        x ^ (x >> 15)
    }

    /// A number below `bound`, or 0 if `bound` is 0.
    pub(crate) const fn below(&mut self, bound: u32) -> u32 {
        ((self.next() as u64 * bound as u64) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_and_replays() {
        let (mut a, mut b) = (Jitter::new(7), Jitter::new(7));
        let mut seen = [0; 5];
        for _ in 0..5_000 {
            let n = a.below(5);
            assert_eq!(n, b.below(5));
            seen[n as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1_200).contains(&n)), "{seen:?}");
        assert_eq!(a.below(0), 0);
    }
}
