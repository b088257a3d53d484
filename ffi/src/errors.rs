// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names and errnos of errors.

use core::ffi::{c_char, CStr};

use lnd_core::config::ConfigError;
use lnd_core::driver::Why;
use lnd_core::transfer::HealthClass;

use crate::abi::lnd_error;
use crate::names::name_of;

/// The positive Linux errno that is nearest to an error.
const fn errno_of(error: lnd_error) -> i32 {
    use lnd_error as E;

    match error {
        E::LND_OK | E::LND_DONE | E::LND_REQUEST => 0,
        E::LND_E_NULL | E::LND_E_ADDRESS => 14, // EFAULT
        E::LND_E_WIDTH
        | E::LND_E_SIZE
        | E::LND_E_ALIGN
        | E::LND_E_CONFIG
        | E::LND_E_ARGUMENT
        | E::LND_E_FRAGMENTS
        | E::LND_E_HEADER
        | E::LND_E_WRONG_KIND => 22, // EINVAL
        E::LND_E_VERSION => 93,                 // EPROTONOSUPPORT
        E::LND_E_OPS => 38,                     // ENOSYS
        E::LND_E_MEMORY => 12,                  // ENOMEM
        E::LND_E_NI => 19,                      // ENODEV
        E::LND_E_CONTEXT => 1,                  // EPERM
        E::LND_E_REENTRY => 35,                 // EDEADLK
        E::LND_E_BUSY | E::LND_E_RUNNING => 16, // EBUSY
        E::LND_E_FOREIGN => 18,                 // EXDEV
        E::LND_E_STALE => 116,                  // ESTALE
        E::LND_E_LINK => 6,                     // ENXIO
        E::LND_E_NO_ROUTE => 113,               // EHOSTUNREACH
        E::LND_E_PEER_DOWN => 112,              // EHOSTDOWN
        E::LND_E_PEERS_FULL => 105,             // ENOBUFS
        E::LND_E_NO_SLOTS | E::LND_E_NO_LISTS | E::LND_E_WAIT => 11, // EAGAIN
        E::LND_E_SHUTTING_DOWN => 108,          // ESHUTDOWN
        E::LND_E_TOO_LONG => 90,                // EMSGSIZE
        E::LND_E_DEADLINE => 110,               // ETIMEDOUT
        E::LND_E_GONE | E::LND_E_NO_PEER => 2,  // ENOENT
        E::LND_E_FRAME => 74,                   // EBADMSG
        E::LND_E_END => 61,                     // ENODATA
        E::LND_E_RING => 5,                     // EIO
        E::LND_E_ROOM => 75,                    // EOVERFLOW
        E::LND_E_UNSUPPORTED => 95,             // EOPNOTSUPP
        E::LND_E_BOOKS => 117,                  // EUCLEAN
        E::LND_E_KNOWN => 17,                   // EEXIST
        E::LND_E_LINK_DOWN => 100,              // ENETDOWN
    }
}

/// The errnos by error. A table takes a byte each, where the match takes instructions.
static ERRNOS: [u8; lnd_error::ALL.len()] = {
    let mut errnos = [0; lnd_error::ALL.len()];
    let mut error = 0;
    while error < errnos.len() {
        errnos[error] = errno_of(lnd_error::ALL[error]) as u8;
        error += 1;
    }
    errnos
};

/// lnd_error_errno() - The errno that is nearest to an error.
/// @error: enum lnd_error, or any number.
///
/// Context: any.
/// Return: 0 for LND_OK, LND_DONE and LND_REQUEST, else a negative Linux errno; -EINVAL for a
/// number that is no error.
#[no_mangle]
pub extern "C" fn lnd_error_errno(error: u32) -> i32 {
    ERRNOS.get(error as usize).map_or(-22, |errno| -i32::from(*errno))
}

/// lnd_error_health() - The health class of an error of a call that was to begin a transfer.
/// @error: enum lnd_error, or any number.
///
/// An upper layer that has accepted a message already ends it with this class. Nothing was
/// delivered.
///
/// Context: any.
/// Return: enum lnd_health_class: LND_HEALTH_OK for LND_OK, LND_DONE and LND_REQUEST;
/// LND_HEALTH_REMOTE_DROPPED for LND_E_GONE: the peer's request has ended with its peer, or by its
/// peer; LND_HEALTH_LOCAL_ERROR for what is the caller's, and for a number that is no error.
#[no_mangle]
pub extern "C" fn lnd_error_health(error: u32) -> u32 {
    const OK: u32 = lnd_error::LND_OK as u32;
    const DONE: u32 = lnd_error::LND_DONE as u32;
    const REQUEST: u32 = lnd_error::LND_REQUEST as u32;
    const GONE: u32 = lnd_error::LND_E_GONE as u32;
    match error {
        OK | DONE | REQUEST => HealthClass::Ok as u32,
        // A request ends before its decision when its peer is down or has taken it back. That must
        // not cost our own interface's health.
        GONE => HealthClass::RemoteDropped as u32,
        _ => why_of(error).map_or(HealthClass::LocalError, Why::health) as u32,
    }
}

/// The refusal that an error stands for. Errors that are not listed are the caller's.
pub(crate) const fn why_of(error: u32) -> Option<Why> {
    const PEER_DOWN: u32 = lnd_error::LND_E_PEER_DOWN as u32;
    const NO_ROUTE: u32 = lnd_error::LND_E_NO_ROUTE as u32;
    const DEADLINE: u32 = lnd_error::LND_E_DEADLINE as u32;
    const PEERS_FULL: u32 = lnd_error::LND_E_PEERS_FULL as u32;
    const NO_SLOTS: u32 = lnd_error::LND_E_NO_SLOTS as u32;
    const NO_LISTS: u32 = lnd_error::LND_E_NO_LISTS as u32;
    const STALE: u32 = lnd_error::LND_E_STALE as u32;
    const SHUTTING_DOWN: u32 = lnd_error::LND_E_SHUTTING_DOWN as u32;
    match error {
        PEER_DOWN => Some(Why::PeerDown),
        NO_ROUTE => Some(Why::NoRoute),
        DEADLINE => Some(Why::DeadlinePassed),
        PEERS_FULL => Some(Why::PeersFull),
        NO_SLOTS => Some(Why::NoSlots),
        NO_LISTS => Some(Why::NoLists),
        STALE => Some(Why::StalePeer),
        SHUTTING_DOWN => Some(Why::ShuttingDown),
        _ => None,
    }
}

/// lnd_error_name() - The name of an error, as in the header.
/// @error: enum lnd_error, or any number.
///
/// Context: any.
/// Return: text such as "LND_E_NULL"; never NULL.
#[no_mangle]
pub extern "C" fn lnd_error_name(error: u32) -> *const c_char {
    name_of!(error, lnd_error: LND_OK LND_E_NULL LND_E_SIZE LND_E_ALIGN LND_E_VERSION
        LND_E_CONFIG LND_E_OPS LND_E_MEMORY LND_E_NI LND_E_CONTEXT LND_E_REENTRY LND_E_BUSY
        LND_E_FOREIGN LND_E_STALE LND_E_ARGUMENT LND_E_LINK LND_E_NO_ROUTE LND_E_PEER_DOWN
        LND_E_PEERS_FULL LND_E_NO_SLOTS LND_E_NO_LISTS LND_E_SHUTTING_DOWN LND_E_FRAGMENTS
        LND_E_ADDRESS LND_E_HEADER LND_E_TOO_LONG LND_E_DEADLINE LND_E_WRONG_KIND LND_E_GONE
        LND_E_WAIT LND_E_FRAME LND_E_RUNNING LND_E_END LND_E_RING LND_E_ROOM LND_E_NO_PEER
        LND_E_UNSUPPORTED LND_E_BOOKS LND_E_KNOWN LND_DONE LND_REQUEST LND_E_LINK_DOWN;
        not LND_E_WIDTH)
}

/// Converts the core's refusal for C.
pub(crate) const fn of_why(why: Why) -> lnd_error {
    match why {
        Why::Fragments(_) => lnd_error::LND_E_FRAGMENTS,
        Why::BadAddress => lnd_error::LND_E_ADDRESS,
        Why::HeaderTooLong => lnd_error::LND_E_HEADER,
        Why::TooLong => lnd_error::LND_E_TOO_LONG,
        Why::WrongKind => lnd_error::LND_E_WRONG_KIND,
        Why::DeadlinePassed => lnd_error::LND_E_DEADLINE,
        Why::BadLink => lnd_error::LND_E_LINK,
        Why::NoRoute => lnd_error::LND_E_NO_ROUTE,
        Why::PeerDown => lnd_error::LND_E_PEER_DOWN,
        Why::PeersFull => lnd_error::LND_E_PEERS_FULL,
        Why::NoSlots => lnd_error::LND_E_NO_SLOTS,
        Why::NoLists => lnd_error::LND_E_NO_LISTS,
        Why::ShuttingDown => lnd_error::LND_E_SHUTTING_DOWN,
        Why::StalePeer => lnd_error::LND_E_STALE,
    }
}

/// Why a configuration is not valid.
pub(crate) struct Unfit {
    pub error: lnd_error,
    /// The wrong field, as the header spells it.
    pub field: &'static CStr,
}

impl From<Unfit> for lnd_error {
    fn from(unfit: Unfit) -> Self {
        unfit.error
    }
}

/// The field of a configuration error, as the header spells it.
pub(crate) const fn field_of(error: ConfigError) -> &'static CStr {
    match error {
        ConfigError::Slots => c"slots",
        ConfigError::PassiveSlots => c"passive_slots",
        ConfigError::Peers => c"peers",
        ConfigError::Links | ConfigError::Engines => c"links",
        ConfigError::Lists => c"lists",
        ConfigError::ImmediateMax => c"immediate_max",
        ConfigError::Depth => c"depth",
        ConfigError::Pulls => c"pulls",
        ConfigError::HelloTries => c"hello_tries",
        ConfigError::DrainBound => c"drain_bound",
        ConfigError::HelloTimeout => c"hello_timeout",
        ConfigError::CreditStall => c"credit_stall",
        ConfigError::LinkPoll => c"link_poll",
        ConfigError::DecisionBound => c"decision_bound",
        ConfigError::Batch => c"batch",
        ConfigError::Memory => c"size",
    }
}

/// Converts a result to a return value.
pub(crate) const fn outcome(result: Result<(), lnd_error>) -> lnd_error {
    match result {
        Ok(()) => lnd_error::LND_OK,
        Err(error) => error,
    }
}

/// Converts the result of a call with more than one good end.
pub(crate) const fn outcome_of(result: Result<lnd_error, lnd_error>) -> lnd_error {
    match result {
        Ok(end) | Err(end) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_core::fragment::FragmentError;
    use std::collections::HashSet;
    use std::format;

    #[test]
    fn every_error_has_its_own_name_and_an_errno() {
        let mut names = HashSet::new();
        for (number, error) in lnd_error::ALL.into_iter().enumerate() {
            assert_eq!(error as usize, number);
            // SAFETY: the library's own text.
            let name = unsafe { CStr::from_ptr(lnd_error_name(error as u32)) };
            assert_eq!(name.to_str().unwrap(), format!("{error:?}"));
            assert!(names.insert(name));
            let errno = lnd_error_errno(error as u32);
            let good = [lnd_error::LND_OK, lnd_error::LND_DONE, lnd_error::LND_REQUEST];
            assert_eq!(errno == 0, good.contains(&error));
            assert!((-133..=0).contains(&errno));
        }
        for nonsense in [lnd_error::ALL.len() as u32, 127, lnd_error::LND_E_WIDTH as u32, u32::MAX]
        {
            assert_eq!(lnd_error_errno(nonsense), -22);
            assert!(!lnd_error_name(nonsense).is_null());
        }
    }

    #[test]
    fn refusals_of_the_core_keep_their_errno() {
        for why in [
            Why::Fragments(FragmentError::Empty),
            Why::BadAddress,
            Why::HeaderTooLong,
            Why::TooLong,
            Why::WrongKind,
            Why::DeadlinePassed,
            Why::NoRoute,
            Why::PeerDown,
            Why::PeersFull,
            Why::NoSlots,
            Why::NoLists,
            Why::ShuttingDown,
            Why::StalePeer,
        ] {
            assert_eq!(lnd_error_errno(of_why(why) as u32), why.errno(), "{why:?}");
            assert_eq!(lnd_error_health(of_why(why) as u32), why.health() as u32, "{why:?}");
        }
    }

    #[test]
    fn only_what_is_no_error_is_healthy() {
        for error in lnd_error::ALL {
            let errno = lnd_error_errno(error as u32);
            assert_eq!(lnd_error_health(error as u32) == 0, errno == 0, "{error:?}");
        }
        assert_eq!(lnd_error_health(lnd_error::LND_E_PEER_DOWN as u32), 8);
        assert_eq!(lnd_error_health(lnd_error::LND_E_NO_SLOTS as u32), 2);
        assert_eq!(lnd_error_health(u32::MAX), 5);
    }

    /// A peer that dies while its requests wait for a decision costs its own health, not ours.
    #[test]
    fn a_request_that_is_gone_is_not_the_fault_of_our_interface() {
        let down = lnd_error_health(lnd_error::LND_E_PEER_DOWN as u32);
        assert_eq!(lnd_error_health(lnd_error::LND_E_GONE as u32), down);
    }
}
