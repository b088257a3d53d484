// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The bounds that an NI has in effect, and where each comes from.

use core::mem::size_of;

use lnd_core::observe::{effective_bounds, BoundOrigin, BOUNDS};

use crate::abi::{lnd_bound, lnd_bound_origin, lnd_error};
use crate::errors::outcome;
use crate::input::{given, output};
use crate::metrics::field;
use crate::ni::lnd_ni;

/// lnd_bound_count() - Number of bounds that an NI has.
///
/// Context: any.
/// Return: the number.
#[no_mangle]
pub extern "C" fn lnd_bound_count() -> u32 {
    BOUNDS as u32
}

/// lnd_bound_get() - A bound in effect, and where it comes from.
/// @ni: the NI.
/// @bound: its number, from 0.
/// @info: filled in; the caller sets its size.
///
/// The deadline of a message is none of them: it comes with the message.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY,
/// LND_E_BUSY, LND_E_ARGUMENT (no such bound).
#[no_mangle]
pub unsafe extern "C" fn lnd_bound_get(
    ni: *const lnd_ni,
    bound: u32,
    info: *mut lnd_bound,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let place = given!(output(info))?;
        let bounds = effective_bounds(ni.enter()?.thread().driver.config());
        let it = bounds.get(bound as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
        let origin = match it.origin {
            BoundOrigin::Default => lnd_bound_origin::LND_BOUND_DEFAULT,
            BoundOrigin::Given => lnd_bound_origin::LND_BOUND_GIVEN,
            BoundOrigin::Derived => lnd_bound_origin::LND_BOUND_DERIVED,
        };
        *place = lnd_bound {
            size: size_of::<lnd_bound>() as u32,
            origin: origin as u32,
            ns: it.span.as_nanos(),
            name: field(it.name),
            help: field(it.help),
        };
        Ok(())
    }))
}
