//! HOT PATH
//! A collection of any kind, and its word.

use crate::collection::Collection;
use crate::dirty::Keeping;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::hash::Hash;
use crate::kind::Kind;
use crate::limits::FormLimits;
use crate::list::List;
use crate::queue::Queue;
use crate::set::Set;
use crate::sorted_set::SortedSet;
use crate::spread::elements::Spread;
use crate::spread::elements::{Visit, WalkPlace};
use crate::stream::Stream;
use std::ptr::NonNull;

mod variant;

pub use variant::Variant;

/// A collection of any kind.
pub enum Value {
    /// A list.
    List(List),
    /// A set.
    Set(Set),
    /// A sorted set.
    SortedSet(SortedSet),
    /// A hash.
    Hash(Hash),
    /// A stream.
    Stream(Stream),
    /// A queue.
    Queue(Queue),
}

/// A collection of any kind, to be read.
#[derive(Clone, Copy)]
pub enum ValueRef<'a> {
    /// A list.
    List(&'a List),
    /// A set.
    Set(&'a Set),
    /// A sorted set.
    SortedSet(&'a SortedSet),
    /// A hash.
    Hash(&'a Hash),
    /// A stream.
    Stream(&'a Stream),
    /// A queue.
    Queue(&'a Queue),
}

/// A collection of any kind, to be changed.
pub enum ValueMut<'a> {
    /// A list.
    List(&'a mut List),
    /// A set.
    Set(&'a mut Set),
    /// A sorted set.
    SortedSet(&'a mut SortedSet),
    /// A hash.
    Hash(&'a mut Hash),
    /// A stream.
    Stream(&'a mut Stream),
    /// A queue.
    Queue(&'a mut Queue),
}

/// Does the same with whatever kind it is.
macro_rules! each {
    ($enum:ident, $value:expr, $it:ident => $body:expr) => {
        match $value {
            $enum::List($it) => $body,
            $enum::Set($it) => $body,
            $enum::SortedSet($it) => $body,
            $enum::Hash($it) => $body,
            $enum::Stream($it) => $body,
            $enum::Queue($it) => $body,
        }
    };
}

/// Runs the body with the type of a kind.
macro_rules! of_kind {
    ($kind:expr, $type:ident => $body:expr) => {
        match $kind {
            Kind::List => {
                type $type = List;
                $body
            }
            Kind::Set => {
                type $type = Set;
                $body
            }
            Kind::SortedSet => {
                type $type = SortedSet;
                $body
            }
            Kind::Hash => {
                type $type = Hash;
                $body
            }
            Kind::Stream => {
                type $type = Stream;
                $body
            }
            Kind::Queue => {
                type $type = Queue;
                $body
            }
        }
    };
}

impl Value {
    /// An empty collection. Allocates nothing.
    pub fn new(kind: Kind) -> Value {
        of_kind!(kind, Type => Type::new().into_value())
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.as_ref().kind()
    }

    /// It is empty, and no key holds such an empty one.
    pub fn is_gone(&self) -> bool {
        of_kind!(self.kind(), Type => !Type::STAYS_WHEN_EMPTY) && self.as_ref().is_empty()
    }

    /// To be read.
    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::List(it) => ValueRef::List(it),
            Value::Set(it) => ValueRef::Set(it),
            Value::SortedSet(it) => ValueRef::SortedSet(it),
            Value::Hash(it) => ValueRef::Hash(it),
            Value::Stream(it) => ValueRef::Stream(it),
            Value::Queue(it) => ValueRef::Queue(it),
        }
    }

    /// To be changed.
    #[inline]
    pub fn as_mut(&mut self) -> ValueMut<'_> {
        match self {
            Value::List(it) => ValueMut::List(it),
            Value::Set(it) => ValueMut::Set(it),
            Value::SortedSet(it) => ValueMut::SortedSet(it),
            Value::Hash(it) => ValueMut::Hash(it),
            Value::Stream(it) => ValueMut::Stream(it),
            Value::Queue(it) => ValueMut::Queue(it),
        }
    }

    /// Reads what [`ValueRef::encode`] wrote.
    pub fn decode(kind: Kind, bytes: &[u8], limits: &FormLimits) -> Result<Value, DecodeError> {
        of_kind!(kind, Type => Type::decode(bytes, limits).map(Type::into_value))
    }

    /// A collection with this head and no elements yet: [`Spread::from_head`].
    pub fn from_head(kind: Kind, head: &[u8]) -> Result<Value, DecodeError> {
        of_kind!(kind, Type => Type::from_head(head).map(Type::into_value))
    }

    /// Takes an element in: [`Spread::adopt`].
    pub fn adopt(
        &mut self,
        name: &[u8],
        content: &[u8],
        limits: &FormLimits,
    ) -> Result<(), DecodeError> {
        each!(Value, self, it => it.adopt(name, content, limits))
    }

    /// Becomes the collection's word.
    #[inline]
    pub fn into_word(self) -> NonNull<u8> {
        each!(Value, self, it => it.0.into_word())
    }

    /// Takes a collection back from its word.
    ///
    /// # Safety
    /// The word is from [`Value::into_word`] of a value of this kind, and nobody else takes it.
    #[inline]
    pub unsafe fn from_word(kind: Kind, word: NonNull<u8>) -> Value {
        // SAFETY: says the caller: the word is of this kind's form.
        unsafe {
            match kind {
                Kind::List => Value::List(List(crate::form::Form::from_word(word))),
                Kind::Set => Value::Set(Set(crate::form::Form::from_word(word))),
                Kind::SortedSet => Value::SortedSet(SortedSet(crate::form::Form::from_word(word))),
                Kind::Hash => Value::Hash(Hash(crate::form::Form::from_word(word))),
                Kind::Stream => Value::Stream(Stream(crate::form::Form::from_word(word))),
                Kind::Queue => Value::Queue(Queue(crate::form::Form::from_word(word))),
            }
        }
    }
}

impl<'a> ValueRef<'a> {
    /// Reads the collection whose word stands at `word`.
    ///
    /// # Safety
    /// A word from [`Value::into_word`] of a value of this kind stands there, aligned, and stays
    /// unchanged during `'a`.
    #[inline]
    pub unsafe fn at(kind: Kind, word: NonNull<u8>) -> ValueRef<'a> {
        // SAFETY: every collection is a transparent wrapper of its form, which is its word.
        unsafe {
            match kind {
                Kind::List => ValueRef::List(word.cast().as_ref()),
                Kind::Set => ValueRef::Set(word.cast().as_ref()),
                Kind::SortedSet => ValueRef::SortedSet(word.cast().as_ref()),
                Kind::Hash => ValueRef::Hash(word.cast().as_ref()),
                Kind::Stream => ValueRef::Stream(word.cast().as_ref()),
                Kind::Queue => ValueRef::Queue(word.cast().as_ref()),
            }
        }
    }

    /// Its kind.
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            ValueRef::List(_) => Kind::List,
            ValueRef::Set(_) => Kind::Set,
            ValueRef::SortedSet(_) => Kind::SortedSet,
            ValueRef::Hash(_) => Kind::Hash,
            ValueRef::Stream(_) => Kind::Stream,
            ValueRef::Queue(_) => Kind::Queue,
        }
    }

    /// Elements, fields, members or entries.
    pub fn len(self) -> usize {
        each!(ValueRef, self, it => it.len())
    }

    /// Nothing is in it.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory outside of its word, about.
    #[inline]
    pub fn heap_bytes(self) -> usize {
        each!(ValueRef, self, it => it.heap_bytes())
    }

    /// Unix time in milliseconds when the first of its elements expires, all ones for never.
    #[inline]
    pub fn next_expiry_ms(self) -> u64 {
        each!(ValueRef, self, it => it.next_expiry_ms())
    }

    /// Unix time in milliseconds when the last of its elements will have expired, all ones for
    /// never.
    pub fn gone_ms(self) -> u64 {
        match self {
            ValueRef::Hash(hash) => hash.gone_ms(),
            _ => u64::MAX,
        }
    }

    /// It has elements, and all of them have expired.
    #[inline]
    pub fn is_gone_at(self, now_ms: u64) -> bool {
        matches!(self, ValueRef::Hash(hash) if hash.is_gone_at(now_ms))
    }

    /// The greatest version of an element, 0 if none has one.
    pub fn newest_version(self) -> u64 {
        match self {
            ValueRef::Hash(hash) => hash.newest_version(),
            ValueRef::Set(set) => set.newest_version(),
            ValueRef::SortedSet(set) => set.newest_version(),
            ValueRef::List(_) | ValueRef::Stream(_) | ValueRef::Queue(_) => 0,
        }
    }

    /// What OBJECT ENCODING answers.
    pub fn encoding(self) -> &'static str {
        each!(ValueRef, self, it => it.encoding())
    }

    /// Appends all of it.
    pub fn encode(self, out: &mut Vec<u8>) {
        each!(ValueRef, self, it => it.encode(out));
    }

    /// Writes edits that make an empty collection equal to it.
    pub fn write_as_edits(self, edits: &mut Edits<'_>) {
        each!(ValueRef, self, it => it.write_as_edits(edits));
    }

    /// Where its word stands.
    pub fn address(self) -> *const u8 {
        each!(ValueRef, self, it => (&raw const *it).cast())
    }

    /// Visits bytes that say what is in it, in any order.
    pub fn visit_parts(self, visit: &mut dyn FnMut(&[u8])) {
        each!(ValueRef, self, it => it.visit_parts(visit));
    }

    /// What has to be kept of its elements when they change.
    pub fn keeping(self) -> Keeping {
        of_kind!(self.kind(), Type => Type::KEEPING)
    }

    /// Its elements can have rows of their own.
    pub fn can_spread(self) -> bool {
        each!(ValueRef, self, it => it.can_spread())
    }

    /// Appends what is in none of its elements: [`Spread::put_head`].
    pub fn put_head(self, out: &mut Vec<u8>) {
        each!(ValueRef, self, it => it.put_head(out));
    }

    /// Visits elements: [`Spread::visit_elements`].
    pub fn visit_elements(self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        each!(ValueRef, self, it => it.visit_elements(from, count, visit))
    }

    /// Appends the content of the element with this name; false if there is none.
    pub fn put_content(self, name: &[u8], out: &mut Vec<u8>) -> bool {
        each!(ValueRef, self, it => it.put_content(name, out))
    }

    /// An equal value.
    pub fn duplicate(self, limits: &FormLimits) -> Value {
        each!(ValueRef, self, it => it.duplicate(limits).into_value())
    }
}

impl<'a> ValueMut<'a> {
    /// Changes the collection whose word stands at `word`.
    ///
    /// # Safety
    /// A word from [`Value::into_word`] of a value of this kind stands there, aligned, and nobody
    /// else uses it during `'a`.
    #[inline]
    pub unsafe fn at(kind: Kind, word: NonNull<u8>) -> ValueMut<'a> {
        // SAFETY: every collection is a transparent wrapper of its form, which is its word.
        unsafe {
            match kind {
                Kind::List => ValueMut::List(word.cast().as_mut()),
                Kind::Set => ValueMut::Set(word.cast().as_mut()),
                Kind::SortedSet => ValueMut::SortedSet(word.cast().as_mut()),
                Kind::Hash => ValueMut::Hash(word.cast().as_mut()),
                Kind::Stream => ValueMut::Stream(word.cast().as_mut()),
                Kind::Queue => ValueMut::Queue(word.cast().as_mut()),
            }
        }
    }

    /// Does what edits say.
    pub fn apply(self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
        each!(ValueMut, self, it => it.apply(edits, limits))
    }
}
