// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory that an upper layer has lent to the driver, by message.

use std::collections::BTreeMap;

use lnd_core::fragment::Fragment;
use lnd_core::id::Nid;

use crate::fabric::{Lease, Oracle};

#[derive(Debug)]
struct Loan {
    /// Whose transfer it is for.
    peer: Nid,
    fragments: Vec<Fragment>,
    lease: Lease,
}

/// What one node has lent. The memory oracle knows it too.
pub(super) struct Loans<'m> {
    oracle: Oracle<'m>,
    node: u32,
    by_id: BTreeMap<u64, Loan>,
}

impl<'m> Loans<'m> {
    pub(super) const fn new(oracle: Oracle<'m>, node: u32) -> Self {
        Self { oracle, node, by_id: BTreeMap::new() }
    }

    /// Lends memory for a message; the rule that is broken, if the message has some already.
    pub(super) fn lend(
        &mut self,
        id: u64,
        peer: Nid,
        fragments: &[Fragment],
        lease: Lease,
    ) -> Option<String> {
        self.oracle.lend(self.node, fragments, lease);
        let loan = Loan { peer, fragments: fragments.to_vec(), lease };
        let former = self.by_id.insert(id, loan);
        former.map(|_| format!("message {id} was lent twice"))
    }

    /// Takes memory back; a second time for the same message is a broken rule (INV-1).
    pub(super) fn take_back(&mut self, id: u64) -> Option<String> {
        match self.by_id.remove(&id) {
            Some(loan) => {
                self.oracle.take_back(self.node, &loan.fragments, loan.lease);
                None
            }
            None => Some(format!("message {id} ended twice or never began")),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether these bytes are lent, for a transfer with `peer`.
    pub(super) fn to(&self, peer: Nid, address: u64, length: u32) -> bool {
        let within = |f: &Fragment| {
            let end = address.checked_add(u64::from(length));
            f.address <= address && end.is_some_and(|end| end <= f.address + u64::from(f.length))
        };
        let mut loans = self.by_id.values().filter(|loan| loan.peer == peer);
        loans.any(|loan| loan.fragments.iter().any(within))
    }

    /// Whether nothing is lent but to `peer`.
    pub(super) fn only_to(&self, peer: Nid) -> bool {
        self.by_id.values().all(|loan| loan.peer == peer)
    }
}
