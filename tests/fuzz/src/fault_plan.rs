// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fault plans: text that a person has written.

use lnd_sim::simulator::FaultPlan;
use lnd_sim::world::Plan;

/// Whatever the text is, it is a plan that can be asked, or is refused with a reason.
pub fn fault_plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Plan::parse(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(plan) => {
            for (nodes, links, routed) in [(2, 1, false), (8, 4, false), (3, 1, true)] {
                let _ = plan.check(nodes, links, routed);
            }
            for edge in plan.edges().take(64) {
                let (messages, engine) = plan.rates_at(u64::from(edge));
                assert!(messages.drop <= 1_000_000 && engine.lose <= 1_000_000);
            }
            let _ = plan.returns_everything();
            let again = Plan::parse(&plan.to_toml()).expect("what was written can be read");
            assert_eq!(again, plan, "written and read again");
        }
    }
}
