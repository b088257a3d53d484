// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which library and which ABI this is.

use core::ffi::{c_char, CStr};

/// The version of this ABI; in lnd_config.abi_version.
pub const LND_ABI_VERSION: u32 = 1;
/// The oldest ABI that the library supports.
pub const LND_ABI_OLDEST: u32 = 1;
/// The library's version, first number.
pub const LND_VERSION_MAJOR: u32 = 0;
/// The library's version, second number.
pub const LND_VERSION_MINOR: u32 = 1;
/// The library's version, third number.
pub const LND_VERSION_PATCH: u32 = 0;

const TEXT: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// lnd_abi_version() - The version of the ABI that the library was built with.
///
/// Context: any.
/// Return: LND_ABI_VERSION of the library's own header.
#[no_mangle]
pub extern "C" fn lnd_abi_version() -> u32 {
    LND_ABI_VERSION
}

/// lnd_version() - The library's version.
///
/// Context: any.
/// Return: text such as "1.2.3"; never NULL.
#[no_mangle]
pub extern "C" fn lnd_version() -> *const c_char {
    match CStr::from_bytes_with_nul(TEXT.as_bytes()) {
        Ok(text) => text.as_ptr(),
        Err(_) => c"".as_ptr(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn the_three_numbers_are_the_package_s() {
        let numbers = format!("{LND_VERSION_MAJOR}.{LND_VERSION_MINOR}.{LND_VERSION_PATCH}");
        assert_eq!(numbers, env!("CARGO_PKG_VERSION"));
        // SAFETY: the library's own text, which ends with a zero.
        let text = unsafe { CStr::from_ptr(lnd_version()) };
        assert_eq!(text.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    }
}
