// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Kinds of probe by capability, and the trial that one kind has to pass (R56, R58).

use crate::prober::ProbeEnd;

/// A kind of probe. Only the NOOP uses a receive buffer of the peer (S2-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A read of no bytes, where the transport still sends it to the far end.
    ZeroRead,
    /// A read of an illegal address: "access error" is the good answer (S2-10).
    IllegalRead,
    /// A read of a word that the peer has published for this. It needs set-up, so it is optional
    /// (S2-9).
    PublishedWord,
    /// An empty message on the control lane, which has its own slots. It needs both sides, so it is
    /// used only after an operator has turned it on.
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
    /// It was not tried yet: the illegal read is off until then (S2-12).
    NotTried,
    /// The read ended otherwise than with an access error.
    WrongEnd,
    /// After it, the local end was not usable.
    NearEndBroken,
    /// After it, the far end was not usable.
    FarEndBroken,
    /// It needs the far end's cooperation and one of its receive buffers: off until it is turned
    /// on.
    TwoSided,
    /// The operator has turned it off.
    Operator,
}

lnd_core::sentences! { WhyOff {
    Self::NotOffered => "the transport does not offer it",
    Self::NotTried => "its trial has not ended",
    Self::WrongEnd => "the read of its trial did not end with an access error",
    Self::NearEndBroken => "after its trial the local end was not usable",
    Self::FarEndBroken => "after its trial the far end was not usable",
    Self::TwoSided => "it needs one of the peer's receive buffers: an operator turns it on",
    Self::Operator => "the operator has turned it off",
}}

/// The kinds that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeKinds([Result<(), WhyOff>; 4]);

impl ProbeKinds {
    /// No kind is offered.
    pub const NONE: Self = Self([Err(WhyOff::NotOffered); 4]);

    /// The kinds that a transport offers. The illegal read stays off until a [`Trial`]. The NOOP, a
    /// heart-beat with two sides, stays off until [`turn_on`](Self::turn_on).
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

    /// Turns on a kind that an operator has turned off, or the NOOP. Returns whether the kind is
    /// on: a kind that is not offered, or has not passed its trial, is not.
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

    /// Applies the result of the illegal read's trial.
    pub fn tried(&mut self, result: Result<(), WhyOff>) {
        if let Some(state) = self.0.get_mut(ProbeKind::IllegalRead as usize) {
            if *state == Err(WhyOff::NotTried) {
                *state = result;
            }
        }
    }

    /// The kind for an endpoint; `published`: its peer has published a word.
    pub fn choose(&self, published: bool) -> Option<ProbeKind> {
        ProbeKind::ALL.into_iter().find(|&kind| {
            let needs_word = kind == ProbeKind::PublishedWord;
            self.state(kind).is_ok() && (published || !needs_word)
        })
    }
}

/// The next step of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrialStep {
    /// Read the illegal address.
    ReadIllegal,
    /// Send from the local end, and check that it succeeds.
    UseNear,
    /// Have the far end send, and check that it succeeds.
    UseFar,
}

/// The trial of the illegal read at the start, over an endpoint made for it (S2-12). The illegal
/// read must end with an access error and leave both ends usable. Any other end of any step turns
/// the kind off, with a reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Trial(Result<TrialStep, Result<(), WhyOff>>);

impl Trial {
    /// A trial not yet begun.
    pub const fn new() -> Self {
        Self(Ok(TrialStep::ReadIllegal))
    }

    /// The next step.
    ///
    /// # Errors
    /// The trial is over: the result for [`ProbeKinds::tried`].
    pub const fn next(&self) -> Result<TrialStep, Result<(), WhyOff>> {
        self.0
    }

    /// Reports the end of the step.
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
        // R56, S2-9: the published word only where there is one. S2-4: no kind with two sides.
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
        // Turning a kind on replaces neither the transport's support nor the trial.
        let mut none = ProbeKinds::NONE;
        assert!(ProbeKind::ALL.into_iter().all(|kind| !none.turn_on(kind)));
        assert!(!ProbeKinds::offered(true, true, true, true).turn_on(ProbeKind::IllegalRead));
    }
}
