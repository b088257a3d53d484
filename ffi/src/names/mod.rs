// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of the numbers that cross the C ABI, for logs and dumps.

use core::ffi::{c_char, CStr};

pub mod engine;
pub mod health;
pub mod probe;
pub mod state;
pub mod transfer;

/// A number and its name.
pub(crate) type Named = (u32, &'static CStr);

/// The name of a number, or `LND_?`.
pub(crate) fn find(names: &[Named], value: u32) -> *const c_char {
    names.iter().find(|(number, _)| *number == value).map_or(c"LND_?", |(_, name)| name).as_ptr()
}

/// The text of an identifier, which has a zero byte at its end.
pub(crate) const fn text(bytes: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"LND_?",
    }
}

/// The name of a value of a C enum. A constant of the enum that is neither listed nor said to be no
/// value does not compile.
macro_rules! name_of {
    ($value:expr, $enum:ident: $($name:ident)* $(; not $none:ident)?) => {{
        const NAMES: &[$crate::names::Named] =
            &[$(($enum::$name as u32, $crate::names::text(concat!(stringify!($name), "\0")))),*];
        const _: fn($enum) = |it| match it {
            $($enum::$name => (),)*
            $($enum::$none => (),)?
        };
        $crate::names::find(NAMES, $value)
    }};
}
pub(crate) use name_of;
