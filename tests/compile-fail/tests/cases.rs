// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every case is refused by the compiler, for the reason that is committed beside it.
//!
//! After a change of compiler: `TRYBUILD=overwrite cargo test -p lnd-compile-fail`, then look at
//! what changed.

#[test]
fn mistakes_do_not_compile() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}
