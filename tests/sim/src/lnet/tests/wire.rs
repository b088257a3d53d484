// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The header's bytes: golden, round trip, and anything at all.

use lnd_core::fragment::MAX_TRANSFER;
use lnd_core::id::Tag;

use super::*;

const REQUEST: Tag = Tag { index: 0x0102_0304, generation: 0x0506_0708 };

fn samples() -> Vec<LnetHeader> {
    let target = Target { portal: 4, match_bits: 0x1122_3344_5566_7788, offset: 9, data: 0xabcd };
    let bodies = [
        Body::Put { target, length: 5, ack: None },
        Body::Put { target, length: MAX_TRANSFER, ack: Some(REQUEST) },
        Body::Ack { request: REQUEST, length: 5 },
        Body::Get { target, length: 6, request: REQUEST },
        Body::Reply { request: REQUEST, length: 0 },
    ];
    let wrap = |body| LnetHeader { hops: 3, source: nid(1), destination: nid(2), body };
    bodies.map(wrap).to_vec()
}

#[test]
fn the_layout_is_the_documented_one() {
    // R32: fixed for ever; a change is a new version.
    let mut expected = Vec::new();
    expected.extend(*b"LNPU");
    expected.extend([1, 1, 1, 3]);
    expected.extend([1, 0, 0, 0, 7, 0, 0, 0]);
    expected.extend([2, 0, 0, 0, 7, 0, 0, 0]);
    expected.extend([4, 3, 2, 1, 8, 7, 6, 5]);
    expected.extend([0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    expected.extend([0xcd, 0xab, 0, 0, 0, 0, 0, 0]);
    expected.extend([4, 0, 0, 0, 9, 0, 0, 0]);
    expected.extend([0, 0, 0, 0x10]);
    expected.extend([0; 12]);
    assert_eq!(samples()[1].encode()[..], expected);
}

#[test]
fn every_header_survives_the_wire() {
    for header in samples() {
        assert_eq!(LnetHeader::decode(&header.encode()), Ok(header));
    }
    let kinds: Vec<Kind> = samples().iter().map(|header| header.body.kind()).collect();
    assert!(Kind::ALL.iter().all(|kind| kinds.contains(kind)));
}

#[test]
fn each_rule_has_its_error() {
    let damage = |sample: usize, at: usize, bytes: &[u8]| {
        let mut header = samples()[sample].encode();
        header[at..at + bytes.len()].copy_from_slice(bytes);
        LnetHeader::decode(&header).unwrap_err()
    };
    assert_eq!(damage(0, 0, b"l"), HeaderError::Magic);
    assert_eq!(damage(0, 4, &[2]), HeaderError::Version);
    assert_eq!(damage(0, 5, &[0]), HeaderError::Kind);
    assert_eq!(damage(0, 5, &[5]), HeaderError::Kind);
    assert_eq!(damage(0, 6, &[2]), HeaderError::Flags);
    assert_eq!(damage(3, 6, &[1]), HeaderError::Flags, "a GET has no ACK");
    assert_eq!(damage(0, 8, &[0; 8]), HeaderError::Nid);
    assert_eq!(damage(0, 16, &[0; 8]), HeaderError::Nid);
    assert_eq!(damage(0, 24, &[1]), HeaderError::Reserved, "no ACK, no request");
    assert_eq!(damage(2, 48, &[1]), HeaderError::Reserved, "an ACK has no portal");
    assert_eq!(damage(1, 56, &[1]), HeaderError::TooLong);
    assert_eq!(damage(0, 71, &[1]), HeaderError::Reserved);
    let short = &samples()[0].encode()[..71];
    assert_eq!(LnetHeader::decode(short), Err(HeaderError::Length));
    assert_eq!(LnetHeader::decode(&[]), Err(HeaderError::Length));
    assert_eq!(LnetHeader::decode(&[0; 73]), Err(HeaderError::Length));
}

/// Bytes of a header that has gone through anything.
fn mangled(random: &mut Random) -> Vec<u8> {
    let sample = samples()[random.below(5) as usize];
    let ends = [nid(1), nid(2), nid(9), nid(77)];
    let source = ends[random.below(4) as usize];
    let destination = ends[random.below(4) as usize];
    let mut bytes = LnetHeader { source, destination, ..sample }.encode().to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(HEADER_BYTES as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
    }
    match random.below(8) {
        0 => (0..random.below(100)).map(|_| random.next() as u8).collect(),
        1 => bytes[..random.below(73) as usize].to_vec(),
        _ => bytes,
    }
}

#[test]
fn no_bytes_panic_and_all_that_decode_encode_to_themselves() {
    // R77; H16: external input gives a result or a counter, never an assertion.
    let mut random = Random::new(16);
    let router = RouterConfig { buffers: vec![span(0, 64); 4], tiny: 4, max_hops: 3 };
    let config = Config { router: Some(router), max_messages: 12, ..Config::new(nid(2)) };
    let mut lnet = Lnet::new(config).unwrap();
    let (criteria, md) = open_md(512, 4096);
    let criteria = Match { ignore: u64::MAX, ..criteria };
    lnet.attach(criteria, Md { truncate: true, ..md }).unwrap();
    let (mut decoded, mut accepted, mut under_way) = (0, 0, Vec::new());
    for _ in 0..30_000 {
        let bytes = mangled(&mut random);
        let header = LnetHeader::decode(&bytes);
        if let Ok(header) = header {
            decoded += 1;
            assert_eq!(header.encode()[..], bytes[..]);
        }
        let rdma = random.one_in(3);
        let honest = header.map_or(0, |h| if rdma { h.body.length() } else { h.body.payload() });
        let length = if random.one_in(4) { random.next() as u32 } else { honest };
        match lnet.on_request(nid(1), &bytes, length, rdma) {
            Decision::Recv { id, .. } | Decision::Reply { id, .. } => {
                accepted += 1;
                under_way.push(id);
            }
            Decision::Refuse(_) => {}
        }
        if random.one_in(30) {
            if let Some(id) = under_way.pop() {
                lnet.on_finalized(id, Status::OK, None).unwrap();
            }
            while let Some(out) = lnet.next_send() {
                lnet.on_finalized(out.id, Status::OK, None).unwrap();
            }
            while lnet.next_event().is_some() {}
        }
        lnet.audit().unwrap();
    }
    assert!(decoded > 1000 && accepted > 300, "the fuzz reaches the inside: {decoded} {accepted}");
    for reason in [
        DropReason::BadHeader,
        DropReason::BadLength,
        DropReason::OwnSource,
        DropReason::RoutedRdma,
        DropReason::NoBuffer,
        DropReason::NoRoom,
        DropReason::NoMatch,
        DropReason::Stale,
    ] {
        assert!(lnet.ledger().dropped(reason) > 0, "{reason:?}");
    }
}
