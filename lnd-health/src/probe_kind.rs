// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How to probe: kinds by capability, and the trial that a kind has to pass (R56, R58).

use crate::prober::ProbeEnd;

/// A kind of probe. None but the NOOP uses a receive buffer of the peer (S2-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A read of no bytes: where the transport still asks the far end for it.
    ZeroRead,
    /// A read of an address that is surely illegal: "access error" is the good answer (S2-10).
    IllegalRead,
    /// A read of a word that the peer has published for this. Needs set-up, so it is optional
    /// (S2-9).
    PublishedWord,
    /// A message without content on the control lane, which has its own slots. It has two sides, so
    /// it is used only where an operator has turned it on.
    Noop,
}

impl ProbeKind {
    /// Every kind, in the order of preference.
    pub const ALL: [Self; 4] = [Self::ZeroRead, Self::IllegalRead, Self::PublishedWord, Self::Noop];
}

/// Why a kind is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyOff {
    /// The transport does not offer it.
    NotOffered,
    /// It was not tried out yet: the illegal read is off until then (S2-12).
    NotTried,
    /// The read ended otherwise than with an access error.
    WrongEnd,
    /// After it, our end could not be used any more.
    NearEndBroken,
    /// After it, the far end could not be used any more.
    FarEndBroken,
    /// It takes the far end's part too, and one of its receive buffers: off until it is turned on.
    TwoSided,
    /// The operator has turned it off.
    Operator,
}

/// Which kinds are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeKinds([Result<(), WhyOff>; 4]);

impl ProbeKinds {
    /// Nothing is offered.
    pub const NONE: Self = Self([Err(WhyOff::NotOffered); 4]);

    /// What a transport offers. Offering the illegal read does not turn it on: a [`Trial`] does. Nor
    /// does it turn on the NOOP, a heart-beat with two sides: [`turn_on`](Self::turn_on) does.
    pub const fn offered(zero_read: bool, illegal: bool, published: bool, noop: bool) -> Self {
        const fn on(offered: bool) -> Result<(), WhyOff> {
            if offered {
                Ok(())
            } else {
                Err(WhyOff::NotOffered)
            }
        }
        let illegal = if illegal { WhyOff::NotTried } else { WhyOff::NotOffered };
        let noop = if noop { WhyOff::TwoSided } else { WhyOff::NotOffered };
        Self([on(zero_read), Err(illegal), on(published), Err(noop)])
    }

    /// Whether a kind is on.
    ///
    /// # Errors
    /// Why it is not.
    pub fn state(&self, kind: ProbeKind) -> Result<(), WhyOff> {
        self.0.get(kind as usize).copied().unwrap_or(Err(WhyOff::NotOffered))
    }

    /// Turns on, at the operator's word, what the operator has turned off, or the NOOP. Returns whether
    /// the kind is on: what is not offered, or has not stood its trial, is not.
    pub fn turn_on(&mut self, kind: ProbeKind) -> bool {
        let Some(state) = self.0.get_mut(kind as usize) else { return false };
        if matches!(state, Err(WhyOff::Operator | WhyOff::TwoSided)) {
            *state = Ok(());
        }
        state.is_ok()
    }

    /// Turns a kind off.
    pub fn turn_off(&mut self, kind: ProbeKind, why: WhyOff) {
        if let Some(state) = self.0.get_mut(kind as usize) {
            *state = Err(why);
        }
    }

    /// Takes over the result of the illegal read's trial.
    pub fn tried(&mut self, result: Result<(), WhyOff>) {
        if let Some(state) = self.0.get_mut(ProbeKind::IllegalRead as usize) {
            if *state == Err(WhyOff::NotTried) {
                *state = result;
            }
        }
    }

    /// The kind to use for an endpoint; `published`: its peer has published a word.
    pub fn choose(&self, published: bool) -> Option<ProbeKind> {
        ProbeKind::ALL.into_iter().find(|&kind| {
            let needs_word = kind == ProbeKind::PublishedWord;
            self.state(kind).is_ok() && (published || !needs_word)
        })
    }
}

/// What a trial asks to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrialStep {
    /// Read the illegal address.
    ReadIllegal,
    /// Send something good from our end, and see it succeed.
    UseNear,
    /// Have the far end send something good, and see it succeed.
    UseFar,
}

/// The trial of the illegal read at the start, over an endpoint made for it (S2-12): the bad read
/// must end with an access error, and leave both ends usable. Any other end in any step turns the
/// kind off, with a reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Trial(Result<TrialStep, Result<(), WhyOff>>);

impl Trial {
    /// A trial not yet begun.
    pub const fn new() -> Self {
        Self(Ok(TrialStep::ReadIllegal))
    }

    /// What to do next.
    ///
    /// # Errors
    /// It is over: the result for [`ProbeKinds::tried`].
    pub const fn next(&self) -> Result<TrialStep, Result<(), WhyOff>> {
        self.0
    }

    /// How the step ended.
    pub fn end(&mut self, end: ProbeEnd) {
        use ProbeEnd::{AccessError, Success};
        let Ok(step) = self.0 else { return };
        self.0 = match (step, end) {
            (TrialStep::ReadIllegal, AccessError) => Ok(TrialStep::UseNear),
            (TrialStep::ReadIllegal, _) => Err(Err(WhyOff::WrongEnd)),
            (TrialStep::UseNear, Success) => Ok(TrialStep::UseFar),
            (TrialStep::UseNear, _) => Err(Err(WhyOff::NearEndBroken)),
            (TrialStep::UseFar, Success) => Err(Ok(())),
            (TrialStep::UseFar, _) => Err(Err(WhyOff::FarEndBroken)),
        };
    }
}

impl Default for Trial {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [ProbeEnd; 4] =
        [ProbeEnd::Success, ProbeEnd::AccessError, ProbeEnd::RetryExceeded, ProbeEnd::Other];

    #[test]
    fn the_illegal_read_is_on_only_after_its_trial() {
        // S2-12, R58: every end in every step.
        for first in ENDS {
            for second in ENDS {
                for third in ENDS {
                    let mut kinds = ProbeKinds::offered(false, true, false, false);
                    assert_eq!(kinds.choose(false), None, "off by default");
                    let mut trial = Trial::new();
                    let mut done = 0;
                    for end in [first, second, third] {
                        if trial.next().is_ok() {
                            trial.end(end);
                            done += 1;
                        }
                    }
                    let result = trial.next().unwrap_err();
                    kinds.tried(result);
                    let expected = if first != ProbeEnd::AccessError {
                        (1, Err(WhyOff::WrongEnd))
                    } else if second != ProbeEnd::Success {
                        (2, Err(WhyOff::NearEndBroken))
                    } else if third != ProbeEnd::Success {
                        (3, Err(WhyOff::FarEndBroken))
                    } else {
                        (3, Ok(()))
                    };
                    assert_eq!((done, kinds.state(ProbeKind::IllegalRead)), expected);
                    trial.end(ProbeEnd::Other);
                    assert_eq!(trial.next(), Err(result), "a result does not change");
                }
            }
        }
    }

    #[test]
    fn kinds_by_capability_and_preference() {
        // R56, S2-9: the published word only where there is one. S2-4: nothing with two sides.
        let mut kinds = ProbeKinds::offered(true, true, true, true);
        assert_eq!(kinds.choose(true), Some(ProbeKind::ZeroRead));
        kinds.turn_off(ProbeKind::ZeroRead, WhyOff::Operator);
        assert_eq!(kinds.choose(true), Some(ProbeKind::PublishedWord));
        assert_eq!(kinds.choose(false), None, "not the NOOP");
        assert_eq!(kinds.state(ProbeKind::Noop), Err(WhyOff::TwoSided));
        assert!(kinds.turn_on(ProbeKind::Noop));
        assert_eq!(kinds.choose(false), Some(ProbeKind::Noop));
        kinds.tried(Ok(()));
        assert_eq!(kinds.choose(false), Some(ProbeKind::IllegalRead));
        kinds.turn_off(ProbeKind::IllegalRead, WhyOff::Operator);
        kinds.tried(Ok(()));
        assert_eq!(kinds.state(ProbeKind::IllegalRead), Err(WhyOff::Operator));
        assert!(kinds.turn_on(ProbeKind::IllegalRead) && kinds.turn_on(ProbeKind::ZeroRead));
        assert_eq!(kinds.choose(true), Some(ProbeKind::ZeroRead));
        assert_eq!(ProbeKinds::NONE.choose(true), None);
        // An operator's word makes up neither for the transport nor for the trial.
        let mut none = ProbeKinds::NONE;
        assert!(ProbeKind::ALL.into_iter().all(|kind| !none.turn_on(kind)));
        assert!(!ProbeKinds::offered(true, true, true, true).turn_on(ProbeKind::IllegalRead));
    }
}
