use super::*;
use crate::memory::pages::PagePool;
use crate::memory::slab::Slab;
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use std::sync::Arc;

/// Entries with and without an expiry and a value that stands apart, and keys of every length
/// that is compared in another way.
#[test]
fn an_entry_knows_its_key_whatever_stands_in_front_of_it() {
    let mut slab = Slab::new(Arc::new(PagePool::default()));
    let large = vec![b'v'; SHARED_BYTES_MIN];
    for key_bytes in (0..20).chain([32, 255, 256, 300]) {
        let key: Vec<u8> = (0..key_bytes).map(|byte| byte as u8).collect();
        for (expire_ms, value) in [(0, &b"v"[..]), (7, b"v"), (0, &large), (7, &large)] {
            let value = NewValue::string(value, StringForm::Whole);
            let (access, version) = (Access::default(), Version::NONE);
            let content = Content { key: &key, value, expire_ms, access, version };
            let entry = EntryPtr::create(&mut slab, content);
            // SAFETY: the entry lives until it is destroyed, once, and nobody changes it.
            unsafe {
                assert!(entry.entry().has_key(&key));
                for at in 0..key.len() {
                    let mut other = key.clone();
                    other[at] ^= 1;
                    assert!(!entry.entry().has_key(&other), "byte {at} of {key_bytes}");
                }
                assert!(!entry.entry().has_key(&[&key[..], b"x"].concat()));
                entry.destroy(&mut slab);
            }
        }
    }
}

#[test]
fn a_version_takes_eight_bytes_and_disturbs_nothing() {
    let mut slab = Slab::new(Arc::new(PagePool::default()));
    let large = vec![b'v'; SHARED_BYTES_MIN];
    for key in [&b""[..], b"key", &[b'k'; 300]] {
        for (expire_ms, bytes) in [(0, &b"value"[..]), (7, b""), (0, &large), (7, &large)] {
            let content = |version| Content {
                key,
                value: NewValue::string(bytes, StringForm::Whole),
                expire_ms,
                access: Access::default(),
                version,
            };
            let plain = EntryPtr::create(&mut slab, content(Version::NONE));
            let versioned = EntryPtr::create(&mut slab, content(Version::new(1 << 60)));
            // SAFETY: the entries live until they are destroyed, once; nobody else uses them.
            unsafe {
                let entry = versioned.entry();
                assert_eq!(entry.bytes(), plain.entry().bytes() + 8);
                assert_eq!(entry.key(), key);
                assert_eq!(entry.string().expect("it is one").bytes(), bytes);
                assert_eq!(entry.expire_ms(), expire_ms);
                assert_eq!(entry.version(), Version::new(1 << 60));
                assert_eq!(plain.entry().version(), Version::NONE);
                assert_eq!(versioned.overwrite(bytes, StringForm::Whole), None);
                assert!(!plain.overwrite_version(Version::new(1)));
                assert!(!versioned.overwrite_version(Version::NONE));
                assert!(versioned.overwrite_version(Version::new(9)));
                assert_eq!(versioned.entry().version(), Version::new(9));
                assert_eq!(versioned.entry().string().expect("it is one").bytes(), bytes);
                plain.destroy(&mut slab);
                versioned.destroy(&mut slab);
            }
        }
    }
}
