// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file gives each error a sentence for its reader.

/// Implements [`Display`](core::fmt::Display) and [`Error`](core::error::Error) for an error, with
/// one sentence for each of its values.
#[doc(hidden)]
#[macro_export]
macro_rules! sentences {
    ($name:ty { $($value:pat => $sentence:expr),+ $(,)? }) => {
        impl $name {
            /// What is wrong, in words.
            pub const fn sentence(&self) -> &'static str {
                match self { $($value => $sentence),+ }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.sentence())
            }
        }

        impl core::error::Error for $name {}
    };
}
