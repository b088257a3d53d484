// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who plays in a run, by name.

use lnd_sim::rails::{NiSpec, Plan};

/// A driver: a node with one, or an interface of a node with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its node.
    pub host: u32,
    /// What it is called.
    pub name: String,
}

/// All drivers, by their numbers in the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cast {
    /// The drivers. Those that are missing are nodes with one driver.
    pub units: Vec<Unit>,
    /// Whether nodes have several interfaces, each of which is a driver with one link.
    pub rails: bool,
}

impl Cast {
    /// Nodes with one driver each.
    pub fn nodes() -> Self {
        Self::default()
    }

    /// Nodes with several interfaces.
    pub fn rails(plan: &Plan, specs: &[NiSpec]) -> Self {
        let unit = |spec: &NiSpec| {
            let net = plan.networks.get(spec.net).map_or("", |net| &net.name);
            Unit { host: spec.host, name: format!("node {}.{} on {net}", spec.host, spec.ni) }
        };
        Self { units: specs.iter().map(unit).collect(), rails: true }
    }

    /// What a driver is called.
    pub fn name(&self, unit: u32) -> String {
        let known = self.units.get(unit as usize);
        known.map_or_else(|| format!("node {unit}"), |unit| unit.name.clone())
    }

    /// The node of a driver.
    pub fn host(&self, unit: u32) -> u32 {
        self.units.get(unit as usize).map_or(unit, |it| it.host)
    }

    /// What a link of a driver is called.
    pub fn link_name(&self, unit: u32, link: usize) -> String {
        if self.rails {
            self.name(unit)
        } else {
            format!("{} link {link}", self.name(unit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_the_names_of_their_drivers() {
        assert_eq!(Cast::nodes().link_name(2, 1), "node 2 link 1");
        let units = vec![Unit { host: 0, name: "node 0.1 on a".into() }];
        let rails = Cast { units, rails: true };
        assert_eq!(rails.link_name(0, 0), "node 0.1 on a");
        assert_eq!((rails.host(0), Cast::nodes().host(3)), (0, 3));
    }
}
