// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every message comes back from its bytes, and bytes that are none are refused without a panic.

use super::*;

fn calls() -> Vec<Call> {
    let name = "d/ü".to_owned();
    vec![
        Call::OpenWrite { name: name.clone(), size: u64::MAX, chunk: u32::MAX },
        Call::Commit { id: u32::MAX, checksum: u64::MAX },
        Call::OpenRead { name: name.clone(), offset: u64::MAX },
        Call::Close { id: 7 },
        Call::Ping { echo: (0..=255).collect() },
        Call::List { after: String::new() },
    ]
}

fn answers() -> Vec<Answer> {
    let window = Window { id: 1, length: 2, size: 3, version: 4, checksum: 5 };
    let mut answers = vec![
        Answer::Writing { id: 1, incarnation: u64::MAX },
        Answer::Committed,
        Answer::Reading(window),
        Answer::Closed,
        Answer::Pong { echo: vec![0; 100] },
        Answer::Names { names: vec!["a".to_owned(), "b/c".to_owned()], more: true },
        Answer::Names { names: Vec::new(), more: false },
        Answer::Lost { id: 9 },
    ];
    answers.extend(Refusal::ALL.map(Answer::Refused));
    answers.extend(Refusal::ALL.map(|why| Answer::Broken { id: 3, why }));
    answers
}

/// Puts the right checksum into a message that has been changed.
fn seal(bytes: &mut [u8]) {
    bytes[8..16].fill(0);
    let check = hash(bytes).to_le_bytes();
    bytes[8..16].copy_from_slice(&check);
}

#[test]
fn messages_come_back_from_their_bytes() {
    for (xid, call) in calls().into_iter().enumerate() {
        let bytes = call.encode(xid as u64);
        assert_eq!(Call::decode(&bytes), Ok((xid as u64, call)));
        assert_eq!(Answer::decode(&bytes), Err(RpcError::Code), "the other direction");
    }
    for answer in answers() {
        let bytes = answer.encode(u64::MAX);
        assert_eq!(Answer::decode(&bytes), Ok((u64::MAX, answer)));
        assert_eq!(Call::decode(&bytes), Err(RpcError::Code), "the other direction");
    }
}

#[test]
fn offsets_are_as_written_down() {
    let bytes = Call::OpenWrite { name: "n".to_owned(), size: 2, chunk: 3 }.encode(4);
    assert_eq!(bytes.len(), FIXED_BYTES + 1);
    assert_eq!(&bytes[..8], [0x4c, 0x46, 0x49, 0x4c, VERSION, 1, 0, 0]);
    assert_eq!(&bytes[16..], {
        let mut expected = vec![0; 49];
        expected[0] = 4; // xid
        expected[12] = 3; // chunk
        expected[16] = 2; // size
        expected[40] = 1; // length of the name
        expected[48] = b'n';
        expected
    });
}

#[test]
fn no_changed_bit_passes() {
    let calls = calls().into_iter().map(|call| call.encode(1));
    for bytes in calls.chain(answers().into_iter().map(|answer| answer.encode(1))) {
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Call::decode(&changed).is_err() && Answer::decode(&changed).is_err());
        }
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            assert!(Call::decode(cut).is_err() && Answer::decode(cut).is_err());
        }
    }
}

#[test]
fn well_sealed_nonsense_is_refused() {
    let of = |call: Call, offset: usize, byte: u8| {
        let mut bytes = call.encode(1);
        bytes[offset] = byte;
        seal(&mut bytes);
        Call::decode(&bytes).unwrap_err()
    };
    let close = || Call::Close { id: 1 };
    assert_eq!(of(close(), 0, 0), RpcError::Magic);
    assert_eq!(of(close(), 4, VERSION - 1), RpcError::Version);
    assert_eq!(of(close(), 4, VERSION + 1), RpcError::Version);
    assert_eq!(of(close(), 5, 0), RpcError::Code);
    assert_eq!(of(close(), 5, 7), RpcError::Code);
    assert_eq!(of(close(), 6, 1), RpcError::Reserved, "a refusal in a call");
    assert_eq!(of(close(), 7, 1), RpcError::Reserved);
    assert_eq!(of(close(), 32, 1), RpcError::Reserved, "a size in a close");
    assert_eq!(of(close(), 56, 1), RpcError::Length);
    assert_eq!(of(close(), 60, 1), RpcError::Reserved);
    let list = Call::List { after: "ab".to_owned() };
    assert_eq!(of(list, FIXED_BYTES, 0xff), RpcError::Content, "not UTF-8");
    let long = Call::List { after: "x".repeat(MAX_NAME + 1) }.encode(1);
    assert_eq!(Call::decode(&long), Err(RpcError::Content));
    let longer = Call::Ping { echo: vec![0; MAX_MESSAGE - FIXED_BYTES + 1] }.encode(1);
    assert_eq!(Call::decode(&longer), Err(RpcError::Length));

    let of = |answer: Answer, offset: usize, byte: u8| {
        let mut bytes = answer.encode(1);
        bytes[offset] = byte;
        seal(&mut bytes);
        Answer::decode(&bytes).unwrap_err()
    };
    assert_eq!(of(Answer::Refused(Refusal::Busy), 6, 0), RpcError::Content);
    let unknown = Refusal::ALL.len() as u8 + 1;
    assert_eq!(of(Answer::Refused(Refusal::Busy), 6, unknown), RpcError::Content);
    let names = || Answer::Names { names: vec!["a".to_owned()], more: false };
    assert_eq!(of(names(), FIXED_BYTES + 1, b'b'), RpcError::Content, "no end of the name");
    assert_eq!(of(names(), 32, 2), RpcError::Reserved, "neither more nor not");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Rng::new(1);
    let (mut calls, mut answers) = (0, 0);
    for _ in 0..20_000 {
        // A message whose frame is right, with random fields and bytes behind.
        let tail = random.below(40) as usize;
        let mut bytes: Vec<u8> = (0..FIXED_BYTES + tail).map(|_| random.next() as u8).collect();
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4] = VERSION;
        bytes[5] = [random.below(8) as u8, 0x80 | random.below(0x48) as u8][tail % 2];
        bytes[6] = random.below(2) as u8 * random.below(10) as u8;
        bytes[7] = 0;
        bytes[56..64].copy_from_slice(&(tail as u64).to_le_bytes());
        for at in [24, 28, 32, 40, 48] {
            if random.chance(850_000) {
                bytes[at..at + 4].fill(0);
                bytes[at + 4..at + 8].fill(0);
            }
        }
        seal(&mut bytes);
        calls += u32::from(Call::decode(&bytes).is_ok());
        answers += u32::from(Answer::decode(&bytes).is_ok());
    }
    assert!(calls > 10 && answers > 10, "some of it was well-formed: {calls} {answers}");
}
