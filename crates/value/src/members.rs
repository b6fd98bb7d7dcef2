//! HOT PATH
//! A hash table that never pauses: what large sets, hashes and sorted sets find their members by.
//!
//! ```text
//! directory[hash >> (64 - depth)] ─▶ segment: a hash table of at most 224 members
//! ```
//! **Idea.** Extendible hashing over small tables: a full segment splits in two, and the directory
//! doubles when it must. No growth moves more than [`SEGMENT_MAX`] members (some 10 µs); the
//! directory of ten million members is 64 Ki addresses, whose doubling is a copy of half a
//! megabyte. One table of ten million would stand still for a second to double.
//!
//! Segments cover ranges of hashes in order, so a SCAN cursor is a hash, as for the keyspace: it
//! stays valid through splits, and every member that is there throughout is visited. A random
//! member is one of the segment at a random hash: segments are cut by hash, so each member is about
//! as likely as another.
//!
//! `T` is what is stored per member, usually a word. The caller knows how to hash it.

use crate::fetch::step::Step;
use basalt_stdx::prefetch::LINE_BYTES;
use hashbrown::HashTable;

/// A segment that would hold more splits: seven eighths of 256, when the table would double.
pub const SEGMENT_MAX: usize = 224;
/// A segment with fewer merges with its neighbour if both together …
const SPARSE: usize = 32;
/// … have fewer than this: far enough from splitting again.
const MERGED_MAX: usize = 64;
/// Tries to hit a bucket with a member before all are walked through.
const RANDOM_TRIES_MAX: usize = 32;
/// Bits of the hash that the directory may use at most.
const DEPTH_MAX: u32 = 40;

/// A table of members. See the head of this file.
#[derive(Debug)]
pub struct Members<T> {
    /// `1 << depth` places. Neighbours that have not been told apart share a segment: it stands at
    /// the first of its places, the others say how far back that is.
    directory: Box<[MemberPlace<T>]>,
    depth: u32,
    len: usize,
}

#[derive(Debug)]
enum MemberPlace<T> {
    Segment(Box<Segment<T>>),
    /// The segment of the place that is this number of places before this one.
    Before(u32),
}

#[derive(Debug)]
struct Segment<T> {
    table: HashTable<T>,
    /// Leading bits that all hashes in it share.
    depth: u32,
    /// Address of the table's tags when a member was last added: to be fetched, never read.
    tags: usize,
}

impl<T> Segment<T> {
    fn new(table: HashTable<T>, depth: u32) -> Segment<T> {
        Segment { table, depth, tags: 0 }
    }

    #[inline]
    fn insert(&mut self, hash: u64, member: T, hash_of: impl Fn(&T) -> u64) {
        let hash_within = |member: &T| within(hash_of(member));
        let entry = self.table.insert_unique(within(hash), member, hash_within);
        // Buckets stand before the tags, the first one next to them. Were it otherwise one day, the
        // wrong line would be fetched.
        let bucket = std::ptr::from_ref(entry.get()).wrapping_add(entry.bucket_index() + 1);
        self.tags = bucket.addr();
    }
}

impl<T> Default for Members<T> {
    fn default() -> Members<T> {
        Members::new()
    }
}

impl<T> Members<T> {
    /// An empty one.
    pub fn new() -> Members<T> {
        let segment = Segment::new(HashTable::new(), 0);
        let directory = Box::new([MemberPlace::Segment(Box::new(segment))]);
        Members { directory, depth: 0, len: 0 }
    }

    /// Members.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// None.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory of the table itself, about; not what its words point to.
    pub fn heap_bytes(&self) -> usize {
        // A segment is between half and wholly full.
        self.directory.len() * size_of::<MemberPlace<T>>() + self.len * (size_of::<T>() + 1) * 3 / 2
    }

    #[inline]
    fn first_place(&self, hash: u64) -> usize {
        let place = if self.depth == 0 { 0 } else { (hash >> (64 - self.depth)) as usize };
        match &self.directory[place] {
            MemberPlace::Segment(_) => place,
            MemberPlace::Before(distance) => place - *distance as usize,
        }
    }

    #[inline]
    fn segment(&self, hash: u64) -> &Segment<T> {
        match &self.directory[self.first_place(hash)] {
            MemberPlace::Segment(segment) => segment,
            MemberPlace::Before(_) => unreachable!("a distance leads to a segment"),
        }
    }

    #[inline]
    fn segment_mut(&mut self, hash: u64) -> &mut Segment<T> {
        let place = self.first_place(hash);
        match &mut self.directory[place] {
            MemberPlace::Segment(segment) => segment,
            MemberPlace::Before(_) => unreachable!("a distance leads to a segment"),
        }
    }

    /// The member with this hash that `is` recognises.
    #[inline]
    pub fn find(&self, hash: u64, is: impl FnMut(&T) -> bool) -> Option<&T> {
        self.segment(hash).table.find(within(hash), is)
    }

    /// The member that is found, to be changed without changing its hash.
    #[inline]
    pub fn find_mut(&mut self, hash: u64, is: impl FnMut(&T) -> bool) -> Option<&mut T> {
        self.segment_mut(hash).table.find_mut(within(hash), is)
    }

    /// What a step to the member with this hash fetches; `place_of` says where what a word says
    /// stands.
    #[inline]
    pub(crate) fn ahead(
        &self,
        hash: u64,
        step: Step,
        place_of: impl Fn(&T) -> Option<*const u8>,
    ) -> Option<*const u8> {
        let mut ahead = None;
        match step {
            Step::Order => return None,
            Step::Directory => {
                let place = if self.depth == 0 { 0 } else { (hash >> (64 - self.depth)) as usize };
                return Some((&raw const self.directory[place]).cast());
            }
            Step::Segment => return Some(std::ptr::from_ref(self.segment(hash)).cast()),
            Step::Tags => {
                let segment = self.segment(hash);
                let home = within(hash) as usize & (segment.table.num_buckets().max(1) - 1);
                return Some(std::ptr::without_provenance(segment.tags.wrapping_add(home)));
            }
            Step::Word => self.find(hash, |word| {
                ahead = Some(std::ptr::from_ref(word).cast());
                true
            }),
            Step::Element => self.find(hash, |word| {
                ahead = place_of(word);
                true
            }),
        };
        ahead
    }

    /// Passes what a step to the member that [`Members::random`] finds by this number fetches to
    /// `fetch`.
    #[inline]
    pub(crate) fn ahead_random(
        &self,
        random: u64,
        step: Step,
        place_of: impl Fn(&T) -> Option<*const u8>,
        fetch: &mut impl FnMut(*const u8),
    ) {
        let word = || {
            let table = &self.segment(random).table;
            random_bucket(table, mix(random)).and_then(|bucket| table.get_bucket(bucket))
        };
        match step {
            Step::Order => {}
            Step::Directory | Step::Segment => {
                self.ahead(random, step, place_of).into_iter().for_each(fetch);
            }
            // Which of them will be read depends on what they say.
            Step::Tags => {
                let segment = self.segment(random);
                for tag in (0..segment.table.num_buckets()).step_by(LINE_BYTES) {
                    fetch(std::ptr::without_provenance(segment.tags.wrapping_add(tag)));
                }
            }
            Step::Word => {
                word().map(|word| std::ptr::from_ref(word).cast()).into_iter().for_each(fetch);
            }
            Step::Element => word().and_then(place_of).into_iter().for_each(fetch),
        }
    }

    /// Adds a member that is not there.
    #[inline]
    pub fn insert(&mut self, hash: u64, member: T, hash_of: impl Fn(&T) -> u64) {
        self.len += 1;
        while self.segment(hash).table.len() >= SEGMENT_MAX && self.split(hash, &hash_of) {}
        self.segment_mut(hash).insert(hash, member, hash_of);
    }

    /// Takes the member out with this hash that `is` recognises.
    #[inline]
    pub fn remove(
        &mut self,
        hash: u64,
        is: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
    ) -> Option<T> {
        let segment = self.segment_mut(hash);
        let (member, _) = segment.table.find_entry(within(hash), is).ok()?.remove();
        let is_sparse = segment.table.len() < SPARSE && segment.depth > 0;
        self.len -= 1;
        if is_sparse {
            self.merge(hash, hash_of);
        }
        Some(member)
    }

    /// All members, by ranges of hashes.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.segments().flat_map(|(_, segment)| segment.table.iter())
    }

    /// Takes all members out.
    pub fn drain(self) -> impl Iterator<Item = T> {
        let segments = self.directory.into_iter().filter_map(|place| match place {
            MemberPlace::Segment(segment) => Some(segment.table),
            MemberPlace::Before(_) => None,
        });
        segments.flatten()
    }

    fn segments(&self) -> impl Iterator<Item = (usize, &Segment<T>)> {
        self.directory.iter().enumerate().filter_map(|(place, at)| match at {
            MemberPlace::Segment(segment) => Some((place, &**segment)),
            MemberPlace::Before(_) => None,
        })
    }

    /// Some member, by a random number: each about as likely as another. `None` if there is none.
    pub fn random(&self, random: u64) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let mut random = random;
        loop {
            let table = &self.segment(random).table;
            random = mix(random);
            // Nearly always the first try: sparse segments are merged.
            if !table.is_empty() {
                return table.get_bucket(random_bucket(table, random)?);
            }
        }
    }

    /// Takes some member out, by a random number as [`Members::random`] does.
    pub fn take_random(&mut self, random: u64, hash_of: impl Fn(&T) -> u64) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let mut random = random;
        let (member, is_sparse) = loop {
            // Any hash finds a segment, and this one's is the segment's that it is taken from.
            let segment = self.segment_mut(random);
            if segment.table.is_empty() {
                random = mix(random);
                continue;
            }
            let bucket = random_bucket(&segment.table, mix(random))?;
            let (member, _) = segment.table.get_bucket_entry(bucket).ok()?.remove();
            break (member, segment.table.len() < SPARSE && segment.depth > 0);
        };
        self.len -= 1;
        if is_sparse {
            self.merge(random, hash_of);
        }
        Some(member)
    }

    /// Visits at least `count` members from `cursor` on, in the order of their hashes; returns the
    /// cursor to go on with, 0 at the end.
    pub fn scan(
        &self,
        cursor: u64,
        count: usize,
        hash_of: impl Fn(&T) -> u64,
        mut visit: impl FnMut(&T),
    ) -> u64 {
        let mut left = count.max(1);
        let mut from = cursor;
        loop {
            let first = self.first_place(from);
            let segment = self.segment(from);
            let mut members: Vec<(u64, &T)> = segment
                .table
                .iter()
                .map(|member| (hash_of(member), member))
                .filter(|&(hash, _)| hash >= from)
                .collect();
            members.sort_unstable_by_key(|&(hash, _)| hash);
            // Members of one hash belong together: the cursor can stand only between hashes.
            let mut seen = 0;
            let mut last = None;
            for &(hash, member) in &members {
                if seen >= left && last != Some(hash) {
                    return hash;
                }
                visit(member);
                seen += 1;
                last = Some(hash);
            }
            left = left.saturating_sub(seen);
            let next = first + (1 << (self.depth - segment.depth));
            if next >= self.directory.len() {
                return 0;
            }
            from = (next as u64) << (64 - self.depth);
            if left == 0 {
                return from;
            }
        }
    }

    /// Splits the segment of a hash; false if its members cannot be told apart.
    #[cold]
    fn split(&mut self, hash: u64, hash_of: &impl Fn(&T) -> u64) -> bool {
        if self.segment(hash).depth == self.depth {
            if self.depth == DEPTH_MAX {
                return false;
            }
            self.double();
        }
        let depth = self.depth;
        let first = self.first_place(hash);
        let segment = self.segment_mut(hash);
        segment.depth += 1;
        let bit = 1u64 << (64 - segment.depth);
        let members: Vec<T> = std::mem::take(&mut segment.table).into_iter().collect();
        // All hashes first: what members point to is fetched side by side, while a branch on each
        // hash would wait for one after the other.
        let hashes: Vec<u64> = members.iter().map(hash_of).collect();
        let upper_len = hashes.iter().filter(|&hash| hash & bit != 0).count();
        segment.table = table_for(members.len() - upper_len);
        let mut upper = Segment::new(table_for(upper_len), segment.depth);
        for (member, hash) in members.into_iter().zip(hashes) {
            let half = if hash & bit != 0 { &mut upper } else { &mut *segment };
            half.insert(hash, member, hash_of);
        }
        let half = 1 << (depth - segment.depth);
        let middle = first + half;
        self.directory[middle] = MemberPlace::Segment(Box::new(upper));
        for distance in 1..half {
            self.directory[middle + distance] = MemberPlace::Before(distance as u32);
        }
        true
    }

    /// Merges a sparse segment with its other half, if that is sparse, too.
    #[cold]
    fn merge(&mut self, hash: u64, hash_of: impl Fn(&T) -> u64) {
        let first = self.first_place(hash);
        let width = 1usize << (self.depth - self.segment(hash).depth);
        let (lower, upper) = (first & !width, first | width);
        let (MemberPlace::Segment(one), MemberPlace::Segment(other)) =
            (&self.directory[lower], &self.directory[upper])
        else {
            return;
        };
        if one.depth != other.depth || one.table.len() + other.table.len() >= MERGED_MAX {
            return;
        }
        for place in 0..width {
            let distance = MemberPlace::Before((width + place) as u32);
            let old = std::mem::replace(&mut self.directory[upper + place], distance);
            let MemberPlace::Segment(other) = old else { continue };
            let MemberPlace::Segment(one) = &mut self.directory[lower] else { continue };
            one.depth -= 1;
            for member in other.table {
                one.insert(hash_of(&member), member, &hash_of);
            }
        }
    }

    /// Doubles the directory.
    fn double(&mut self) {
        let mut doubled = Vec::with_capacity(self.directory.len() * 2);
        for place in std::mem::take(&mut self.directory) {
            match place {
                MemberPlace::Segment(segment) => {
                    doubled.push(MemberPlace::Segment(segment));
                    doubled.push(MemberPlace::Before(1));
                }
                MemberPlace::Before(distance) => {
                    doubled.push(MemberPlace::Before(2 * distance));
                    doubled.push(MemberPlace::Before(2 * distance + 1));
                }
            }
        }
        self.directory = doubled.into_boxed_slice();
        self.depth += 1;
    }
}

/// A table for this number of members and some more. About half of a segment nearly fills a table
/// of half the size: it would be doubled, and all members hashed again, after a few more.
fn table_for<T>(len: usize) -> HashTable<T> {
    HashTable::with_capacity(if len >= SEGMENT_MAX * 3 / 8 { SEGMENT_MAX } else { len + 1 })
}

/// A hash as a segment's table takes it. The table tells members apart by seven bits from the top,
/// and the directory has chosen the segment by those: all members of a segment have them in common,
/// and each would have to be looked at. So the lowest bits go to the top, which the directory never
/// comes to.
#[inline]
fn within(hash: u64) -> u64 {
    const { assert!(DEPTH_MAX + 24 <= u64::BITS, "tags and buckets take 24 bits") };
    hash.rotate_right(16)
}

/// Some bucket with a member, by a random number. A full segment has 224 members in 256 buckets, a
/// sparse one 32: most of the time one of the first tries hits, each member as likely as another.
#[inline]
fn random_bucket<T>(table: &HashTable<T>, random: u64) -> Option<usize> {
    let buckets = table.num_buckets();
    let mut random = random;
    for _ in 0..RANDOM_TRIES_MAX {
        let bucket = (random >> 32) as usize & (buckets - 1);
        if table.get_bucket(bucket).is_some() {
            return Some(bucket);
        }
        random = mix(random);
    }
    table.iter_buckets().nth((random >> 32) as usize % table.len().max(1))
}

/// Another number from a random one.
#[inline]
fn mix(random: u64) -> u64 {
    let random = (random ^ (random >> 30)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let random = random.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (random ^ (random >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hash_of(member: &u64) -> u64 {
        member.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn filled(count: u64) -> Members<u64> {
        let mut members = Members::new();
        (0..count).for_each(|member| members.insert(hash_of(&member), member, hash_of));
        members
    }

    #[test]
    fn a_lookup_compares_with_hardly_any_other_member() {
        // Not `hash_of`, whose low bits put neighbours into buckets of their own.
        let scattered = |member: &u64| mix(*member);
        let count: u64 = if cfg!(miri) { 500 } else { 50_000 };
        let mut members = Members::new();
        (0..count).for_each(|member| members.insert(mix(member), member, scattered));
        let mut compared = 0;
        for member in 0..count {
            members.find(mix(member), |&it| {
                compared += 1;
                it == member
            });
        }
        assert!(compared < count / 10 * 11, "{compared}");
    }

    #[test]
    fn a_scan_sees_what_stays_through_splits() {
        let (there, each_time) = if cfg!(miri) { (50, 5) } else { (500, 100) };
        let mut members = filled(there);
        let mut seen = BTreeSet::new();
        let mut cursor = 0;
        let mut added = there;
        loop {
            cursor = members.scan(cursor, 10, hash_of, |&member| {
                seen.insert(member);
            });
            if cursor == 0 {
                break;
            }
            for member in added..added + each_time {
                members.insert(hash_of(&member), member, hash_of);
            }
            added += each_time;
        }
        assert!((0..there).all(|member| seen.contains(&member)));
    }

    #[test]
    fn random_members_are_about_equally_likely() {
        let count = if cfg!(miri) { 30 } else { 1000 };
        let members = filled(count);
        let mut counts = vec![0; count as usize];
        for draw in 0..count * 100 {
            counts[*members.random(mix(mix(draw))).unwrap() as usize] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least > 35 && *most < 220, "{least} to {most} of 100 expected");
    }

    #[test]
    fn what_is_fetched_ahead_is_what_is_taken() {
        let mut members = filled(1000);
        let mut random = 1;
        for _ in 0..900 {
            random = mix(random);
            let mut fetched = Vec::new();
            members.ahead_random(random, Step::Word, |_| None, &mut |word| fetched.push(word));
            let member = members.random(random).expect("some are left");
            assert_eq!(fetched, [std::ptr::from_ref(member).cast()]);
            let member = *member;
            assert_eq!(members.take_random(random, hash_of), Some(member));
        }
    }

    #[test]
    fn members_taken_at_random_are_all_members_once() {
        let count = if cfg!(miri) { 100 } else { 1000 };
        let mut members = filled(count as u64);
        let mut taken = BTreeSet::new();
        let mut random = 1;
        while let Some(member) = members.take_random(random, hash_of) {
            assert!(taken.insert(member));
            assert_eq!(members.len(), count - taken.len());
            assert!(members.find(hash_of(&member), |&it| it == member).is_none());
            random = mix(random);
        }
        assert_eq!(taken.len(), count);
        assert_eq!(members.iter().count(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 16 }))]
        #[test]
        fn behaves_as_a_set(
            steps in proptest::collection::vec(
                (any::<bool>(), 0..if cfg!(miri) { 60 } else { 600u64 }),
                0..if cfg!(miri) { 100 } else { 1500 },
            ),
        ) {
            let mut members = Members::new();
            let mut model = BTreeSet::new();
            for (add, member) in steps {
                let hash = hash_of(&member);
                if add {
                    if model.insert(member) {
                        members.insert(hash, member, hash_of);
                    }
                } else {
                    prop_assert_eq!(
                        members.remove(hash, |&it| it == member, hash_of).is_some(),
                        model.remove(&member)
                    );
                }
                prop_assert_eq!(members.len(), model.len());
            }
            for member in &model {
                prop_assert!(members.find(hash_of(member), |it| it == member).is_some());
            }
            let all: BTreeSet<u64> = members.iter().copied().collect();
            prop_assert_eq!(all, model.clone());
            let mut scanned = BTreeSet::new();
            let mut cursor = 0;
            loop {
                cursor = members.scan(cursor, 7, hash_of, |&member| { scanned.insert(member); });
                if cursor == 0 { break; }
            }
            prop_assert_eq!(scanned, model);
        }
    }
}
