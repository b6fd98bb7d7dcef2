//! Damaged payloads: what is read all the same, Redis reads, too, and as the same value. So nothing
//! is read that Redis refuses.

use basalt_rdb::{crc64, decode};
use basalt_resp::Value;
use basalt_tests::random::Random;

use super::{LIMITS, PLAIN_OPTIONS, dump, restore, run, set, sorted, start, values};

/// Version and checksum.
const FOOTER_BYTES: usize = 10;
/// Larger payloads would take long to hit where it matters.
const PAYLOAD_BYTES_MAX: usize = 2_000;
const ROUNDS: usize = 10_000;

/// Payloads of encodings that Redis 7.0 reads and does not write, without their footers.
const OLD: [&[u8]; 9] = [
    b"\x01\x03\x01a\xc0\x0c\x01a",
    b"\x03\x04\x01c\xfe\x01a\x041e-1\x01b\xff\x01d\x020.",
    b"\x09\x10\x02\x02k1\x02\x01v1.\x02k2\x01\x00v\xff",
    b"\x0a\x18\x18\0\0\0\x15\0\0\0\x04\0\x00\x01b\x03\x031.5\x05\x01a\x03\xf1\xff",
    b"\x0c\x18\x18\0\0\0\x15\0\0\0\x04\0\x00\x01b\x03\x031.5\x05\x01a\x03\xf1\xff",
    b"\x0d\x18\x18\0\0\0\x15\0\0\0\x04\0\x00\x01b\x03\x031.5\x05\x01a\x03\xf1\xff",
    b"\x0e\x01\x18\x18\0\0\0\x15\0\0\0\x04\0\x00\x01b\x03\x031.5\x05\x01a\x03\xf1\xff",
    b"\x0d\x1d\x1d\0\0\0\x17\0\0\0\x04\0\x00\xc0\xd4\xfe\x04\xd0\x70\x11\x01\x00\x06\xfe\xff\x03\xf0\x90\xee\xfe\xff",
    b"\x0f\x00\x00\x05\x05\x01\x01g\x03\x04\x00\x01\x01c\0\0\0\0\0\0\0\0\x00",
];

fn with_footer(mut body: Vec<u8>) -> Vec<u8> {
    body.extend_from_slice(&10u16.to_le_bytes());
    let checksum = crc64(0, &body);
    body.extend_from_slice(&checksum.to_le_bytes());
    body
}

/// Changes, removes, repeats or inserts some bytes.
fn damage(body: &[u8], random: &mut Random) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..=random.below(2) {
        // The type byte is left alone: other types have other tests.
        let at = 1 + random.below(body.len() as u64 - 1) as usize;
        let interesting = [0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xc3, 0xf0, 0xf4, 0xfe, 0xff];
        match random.below(6) {
            0 => body[at] = random.next_u64() as u8,
            1 => body[at] = interesting[random.below(interesting.len() as u64) as usize],
            2 => body[at] ^= 1 << random.below(8),
            3 => body[at] = body[at].wrapping_add(1),
            4 => body.truncate(at.max(2)),
            _ => {
                let from = 1 + random.below(body.len() as u64 - 1) as usize;
                body[at] = body[from];
            }
        }
    }
    body
}

#[test]
fn what_redis_refuses_is_refused() {
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let Some(server) = start() else { return };
    let mut redis = server.connect();
    run(&mut redis, "CONFIG SET rdbcompression no");
    let mut bodies: Vec<Vec<u8>> = OLD.iter().map(|body| body.to_vec()).collect();
    for options in [&[][..], &PLAIN_OPTIONS] {
        run(&mut redis, "FLUSHALL");
        options.iter().for_each(|(name, value)| drop(set(&mut redis, name, value)));
        for key in values::create(&mut redis) {
            // One string is like another here.
            let payload = dump(&mut redis, &key);
            if !key.starts_with("string") || key == "string:7" {
                bodies.push(payload[..payload.len() - FOOTER_BYTES].to_vec());
            }
        }
    }
    for body in &bodies[..OLD.len()] {
        let reply = restore(&mut redis, "copy", &with_footer(body.clone()));
        assert_eq!(reply, Value::Simple(b"OK".to_vec()), "{body:?}");
    }
    bodies.retain(|body| body.len() < PAYLOAD_BYTES_MAX);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        let body = &bodies[random.below(bodies.len() as u64) as usize];
        let payload = with_footer(damage(body, &mut random));
        // What we refuse is not offered to Redis: damaged counts can make it allocate for minutes.
        let Ok(ours) = decode(&payload, &LIMITS) else {
            refused += 1;
            continue;
        };
        let reply = restore(&mut redis, "copy", &payload);
        assert_eq!(reply, Value::Simple(b"OK".to_vec()), "we read {payload:?} as {ours:?}");
        let dumped = dump(&mut redis, "copy");
        let again = decode(&dumped, &LIMITS).expect("a dump of Redis");
        assert_eq!(sorted(again), sorted(ours), "{payload:?}");
        read += 1;
    }
    eprintln!("{read} read, {refused} refused");
    assert!(refused > ROUNDS / 10 && read > ROUNDS / 10, "damage of one kind only");
}
