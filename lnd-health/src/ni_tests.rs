// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tests of an interface's values.

use super::*;

const LNET: Thresholds = Thresholds { down: 0, up: 1000 };

fn ni() -> Ni {
    Ni::new(Nid::from_raw(5).unwrap(), 0)
}

#[test]
fn down_at_zero_and_up_at_full_health_only() {
    // LU-19476, R47: an interface does not flap with each ping.
    let mut ni = ni();
    let mut health = HealthValue::FULL;
    for _ in 0..9 {
        health = health.decremented(100);
        ni.adjust(health, LNET);
        assert_eq!(ni.status(), NiStatus::Up);
    }
    health = health.decremented(100);
    assert!(ni.adjust(health, LNET));
    assert_eq!(ni.status(), NiStatus::Down);
    for _ in 0..9 {
        health = health.recovered(100);
        ni.adjust(health, LNET);
        assert_eq!(ni.status(), NiStatus::Down);
    }
    ni.adjust(health.recovered(100), LNET);
    assert_eq!(ni.status(), NiStatus::Up);
    assert!(!ni.adjust(HealthValue::FULL, LNET), "nothing changed");
}

#[test]
fn the_three_values_move_by_their_own_evidence() {
    // R48, LU-18444, LU-15595: low health does not make it dead, and a message from it does not
    // restore health.
    let mut ni = ni();
    ni.heard(Instant::from_nanos(9));
    ni.adjust(HealthValue::FULL.decremented(1000), LNET);
    assert_eq!(ni.aliveness(), (Aliveness::Alive, Instant::from_nanos(9)));
    ni.heard(Instant::from_nanos(10));
    assert_eq!((ni.health().get(), ni.status()), (0, NiStatus::Down));
    ni.adjust(HealthValue::FULL, LNET);
    ni.found_dead();
    assert_eq!((ni.health().get(), ni.status()), (1000, NiStatus::Up));
    assert_eq!(ni.aliveness(), (Aliveness::Dead, Instant::from_nanos(10)));
}
