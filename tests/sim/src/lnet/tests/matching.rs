// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which memory a request finds, how much of it, and when an entry ends.

use lnd_core::message::NakReason;

use super::*;

/// A node with the given entries, and a way to ask it directly.
struct Asked {
    lnet: Lnet,
    entries: Vec<MeHandle>,
}

impl Asked {
    fn new(entries: impl IntoIterator<Item = (Match, Md)>) -> Self {
        let mut lnet = Lnet::new(Config::new(nid(2))).unwrap();
        let attached = entries.into_iter().map(|(c, md)| lnet.attach(c, md).unwrap()).collect();
        Self { lnet, entries: attached }
    }

    /// A PUT from `from`: the result, with the id finalized. Which entry, at which offset, how
    /// much.
    fn put(
        &mut self,
        from: Nid,
        target: Target,
        length: u32,
    ) -> Result<(usize, u32, u32), NakReason> {
        let body = Body::Put { target, length, ack: None };
        let header = LnetHeader { hops: 0, source: from, destination: nid(2), body };
        match self.lnet.on_request(from, &header.encode(), length, false) {
            Decision::Recv { id, sink, length } => {
                assert_eq!(sink.iter().map(|f| f.length).sum::<u32>(), length);
                self.lnet.on_finalized(id, Status::OK, None).unwrap();
                let Some(Event::PutReceived { me, offset, .. }) = self.lnet.next_event() else {
                    panic!("no event")
                };
                let which = self.entries.iter().position(|e| *e == me).unwrap();
                Ok((which, offset, length))
            }
            Decision::Refuse(why) => {
                assert!(matches!(self.lnet.next_event(), Some(Event::Dropped { .. })));
                Err(why)
            }
            Decision::Reply { .. } => panic!("a PUT gives nothing"),
        }
    }

    fn bits(&mut self, portal: u32, match_bits: u64) -> Result<usize, NakReason> {
        let target = Target { portal, match_bits, ..Target::default() };
        self.put(nid(1), target, 1).map(|(which, _, _)| which)
    }
}

fn sink(base: u64, length: u32) -> Md {
    Md { memory: span(base, length), put: true, manage_remote: true, ..Md::default() }
}

#[test]
fn bits_portal_and_order_decide() {
    let on = |portal, bits, ignore| Match { portal, bits, ignore, from: None };
    let mut node = Asked::new([
        (on(1, 0b1000, 0b0011), sink(0, 8)),
        (on(1, 0b1001, 0), sink(8, 8)),
        (on(1, 0b0100, 0), sink(16, 8)),
        (on(2, 0, u64::MAX), sink(24, 8)),
    ]);
    assert_eq!(node.bits(1, 0b1001), Ok(0), "the first that matches, not the best");
    assert_eq!(node.bits(1, 0b1011), Ok(0));
    assert_eq!(node.bits(1, 0b0100), Ok(2));
    assert_eq!(node.bits(1, 0b0101), Err(NakReason::NoMatch));
    assert_eq!(node.bits(2, 0xdead_beef_0000_0001), Ok(3));
    assert_eq!(node.bits(3, 0), Err(NakReason::NoMatch));
    assert_eq!(node.lnet.ledger().dropped(DropReason::NoMatch), 2);
    assert!(node.lnet.unlink(node.entries[0]));
    assert!(matches!(node.lnet.next_event(), Some(Event::Unlinked { .. })));
    assert_eq!(node.bits(1, 0b1001), Ok(1), "the next in order");
}

#[test]
fn an_entry_can_be_for_one_node() {
    let only = Match { from: Some(nid(5)), ..Match::default() };
    let mut node = Asked::new([(only, sink(0, 8))]);
    assert_eq!(node.put(nid(1), Target::default(), 1), Err(NakReason::NoMatch));
    assert_eq!(node.put(nid(5), Target::default(), 1), Ok((0, 0, 1)));
}

#[test]
fn what_is_not_allowed_does_not_match() {
    let neither = Md { put: false, ..sink(0, 8) };
    let get_only = Md { put: false, get: true, ..sink(8, 8) };
    let entries = [neither, get_only, sink(16, 8)].map(|md| (Match::default(), md));
    let mut node = Asked::new(entries);
    assert_eq!(node.put(nid(1), Target::default(), 1), Ok((2, 0, 1)));

    let body = Body::Get {
        target: Target::default(),
        length: 4,
        request: lnd_core::id::Tag { index: 0, generation: 1 },
    };
    let header = LnetHeader { hops: 0, source: nid(1), destination: nid(2), body };
    let decision = node.lnet.on_request(nid(1), &header.encode(), 4, true);
    assert!(matches!(decision, Decision::Reply { source, .. } if source == span(8, 4)));
}

#[test]
fn the_sender_chooses_the_offset_only_where_it_may() {
    let at = |offset| Target { offset, ..Target::default() };
    let mut remote = Asked::new([(Match::default(), sink(0, 10))]);
    assert_eq!(remote.put(nid(1), at(6), 4), Ok((0, 6, 4)));
    assert_eq!(remote.put(nid(1), at(2), 4), Ok((0, 2, 4)));
    assert_eq!(remote.put(nid(1), at(7), 4), Err(NakReason::NoMatch));
    assert_eq!(remote.put(nid(1), at(u32::MAX), 1), Err(NakReason::NoMatch));
    assert_eq!(remote.lnet.ledger().dropped(DropReason::TooLong), 2);

    let md = Md { manage_remote: false, ..sink(0, 10) };
    let mut local = Asked::new([(Match::default(), md)]);
    assert_eq!(local.put(nid(1), at(6), 4), Ok((0, 0, 4)));
    assert_eq!(local.put(nid(1), at(6), 5), Ok((0, 4, 5)));
    assert_eq!(local.put(nid(1), at(0), 2), Err(NakReason::NoMatch));
    assert_eq!(local.put(nid(1), at(0), 1), Ok((0, 9, 1)));
}

#[test]
fn a_long_message_is_cut_where_that_is_allowed() {
    let at = |offset| Target { offset, ..Target::default() };
    let mut node = Asked::new([(Match::default(), Md { truncate: true, ..sink(0, 10) })]);
    assert_eq!(node.put(nid(1), at(0), 10), Ok((0, 0, 10)));
    assert_eq!(node.put(nid(1), at(0), 11), Ok((0, 0, 10)));
    assert_eq!(node.put(nid(1), at(8), 11), Ok((0, 8, 2)));
    assert_eq!(node.put(nid(1), at(u32::MAX), 11), Ok((0, u32::MAX, 0)), "nothing is left");
}

#[test]
fn the_bytes_of_a_cut_put_are_the_first_ones() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 3);
    world.at(b).attach(criteria, Md { truncate: true, ..md }).unwrap();
    world.write(a, 0, b"abcdef");
    let request = world.at(a).put(put_of(b, 0, 6, true)).unwrap();
    world.run();
    assert_eq!(world.read(b, 512, 4), b"abc\0");
    assert!(world.events(a).contains(&Event::Ack { request, user: 1, length: 3 }));
    let event = world.events(b).remove(0);
    assert!(matches!(event, Event::PutReceived { length: 3, sent: 6, .. }), "{event:?}");
    world.assert_idle();
}

#[test]
fn a_threshold_counts_matches_and_then_the_next_entry_is_tried() {
    let twice = Md { threshold: Some(2), ..sink(0, 8) };
    let mut node = Asked::new([(Match::default(), twice), (Match::default(), sink(8, 8))]);
    let mut put = || node.put(nid(1), Target::default(), 1).unwrap().0;
    assert_eq!([put(), put(), put()], [0, 0, 1]);
    assert!(node.lnet.unlink(node.entries[0]), "exhausted, but still there");
}

#[test]
fn an_exhausted_entry_unlinks_itself_behind_its_last_event() {
    let once = Md { threshold: Some(1), unlink: true, user: 9, ..sink(0, 8) };
    let mut node = Asked::new([(Match::default(), once)]);
    let me = node.entries[0];
    assert_eq!(node.put(nid(1), Target::default(), 1), Ok((0, 0, 1)));
    assert_eq!(node.lnet.next_event(), Some(Event::Unlinked { me, user: 9 }));
    assert!(!node.lnet.unlink(me), "stale");
    assert_eq!(node.put(nid(1), Target::default(), 1), Err(NakReason::NoMatch));
}

#[test]
fn an_entry_with_a_longest_message_ends_when_less_is_left() {
    let log = Md { manage_remote: false, max_size: Some(4), unlink: true, ..sink(0, 11) };
    let mut node = Asked::new([(Match::default(), log)]);
    let me = node.entries[0];
    assert_eq!(node.put(nid(1), Target::default(), 5), Err(NakReason::NoMatch));
    assert_eq!(node.put(nid(1), Target::default(), 4), Ok((0, 0, 4)));
    assert_eq!(node.lnet.next_event(), None);
    assert_eq!(node.put(nid(1), Target::default(), 3), Ok((0, 4, 3)));
    assert_eq!(node.lnet.next_event(), None, "as much is left as one message may have");
    assert_eq!(node.put(nid(1), Target::default(), 1), Ok((0, 7, 1)));
    assert_eq!(node.lnet.next_event(), Some(Event::Unlinked { me, user: 0 }));
}

#[test]
fn where_the_sender_chooses_the_offset_nothing_fills_up() {
    let limited = Md { max_size: Some(4), unlink: true, ..sink(0, 10) };
    let mut node = Asked::new([(Match::default(), limited)]);
    let end = Target { offset: 9, ..Target::default() };
    assert_eq!(node.put(nid(1), end, 1), Ok((0, 9, 1)));
    assert_eq!(node.put(nid(1), end, 1), Ok((0, 9, 1)));
    assert_eq!(node.put(nid(1), Target::default(), 5), Err(NakReason::NoMatch), "too long");
}

#[test]
fn an_entry_in_use_is_unlinked_when_its_memory_is_free() {
    // INV-2.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    let me = world.at(b).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 0, 8, false)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    assert!(world.at(b).unlink(me));
    assert_eq!(world.events(b), []);
    world.pay(debts[0]);
    let events = world.events(b);
    assert!(matches!(
        events[..],
        [Event::PutReceived { .. }, Event::Unlinked { me: gone, user: 50 }] if gone == me
    ));
    assert!(!world.at(b).unlink(me));
}

#[test]
fn memory_that_the_driver_could_not_use_is_refused() {
    use lnd_core::fragment::FragmentError;
    let mut lnet = Lnet::new(Config::new(nid(2))).unwrap();
    let wraps = Md { memory: vec![Fragment::new(u64::MAX, 2)], ..Md::default() };
    assert_eq!(lnet.attach(Match::default(), wraps), Err(FragmentError::Wraps));
    let empty = vec![Fragment::new(0, 0)];
    let put = Put { memory: empty, ..put_of(nid(1), 0, 0, false) };
    assert_eq!(lnet.put(put), Err(SendError::BadMemory(FragmentError::Empty)));
    let router = RouterConfig { buffers: vec![vec![Fragment::new(0, 0)]], tiny: 1, max_hops: 1 };
    let config = Config { router: Some(router), ..Config::new(nid(2)) };
    assert_eq!(Lnet::new(config).unwrap_err(), FragmentError::Empty);
}
