// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of the numbers that cross the C ABI, for logs and dumps.

pub mod engine;
pub mod health;
pub mod probe;
pub mod state;
pub mod transfer;

/// What a number without a name has, with the zero byte at its end.
const NONE: &str = "LND_?\0";

/// The name of a number, with its zero byte: of the names, one after the other, that whose number
/// stands at the same place. One text, because a pointer to each name takes a relocation in a
/// kernel module.
pub(crate) fn find(values: &[u32], names: &'static str, value: u32) -> &'static str {
    let mut all = values.iter().zip(names.split_inclusive('\0'));
    all.find(|(number, _)| **number == value).map_or(NONE, |(_, name)| name)
}

/// The name of a value of a C enum, with its zero byte. A constant of the enum that is neither
/// listed nor said to be no value does not compile.
macro_rules! text_of {
    ($value:expr, $enum:ident: $($name:ident)* $(; not $none:ident)?) => {{
        const VALUES: &[u32] = &[$($enum::$name as u32),*];
        const NAMES: &str = concat!($(stringify!($name), "\0"),*);
        const _: fn($enum) = |it| match it {
            $($enum::$name => (),)*
            $($enum::$none => (),)?
        };
        $crate::names::find(VALUES, NAMES, $value)
    }};
}
pub(crate) use text_of;

/// The same for C.
macro_rules! name_of {
    ($($what:tt)*) => { $crate::names::text_of!($($what)*).as_ptr().cast() };
}
pub(crate) use name_of;
