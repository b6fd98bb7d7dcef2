//! HOT PATH
//! From a collection of one kind to a value of any, and back.

use super::{Value, ValueMut, ValueRef};
use crate::collection::Collection;
use crate::hash::Hash;
use crate::list::List;
use crate::queue::Queue;
use crate::set::Set;
use crate::sorted_set::SortedSet;
use crate::stream::Stream;

/// A collection that is one of the kinds of a [`Value`].
pub trait Variant: Collection {
    /// It, if the value is of this kind.
    fn of(value: ValueRef<'_>) -> Option<&Self>;

    /// It, as a value of its kind.
    fn as_value_ref(&self) -> ValueRef<'_>;

    /// It, to be changed, if the value is of this kind.
    fn of_mut(value: ValueMut<'_>) -> Option<&mut Self>;

    /// It as a value.
    fn into_value(self) -> Value;
}

macro_rules! variant {
    ($type:ident) => {
        impl Variant for $type {
            #[inline]
            fn of(value: ValueRef<'_>) -> Option<&Self> {
                match value {
                    ValueRef::$type(it) => Some(it),
                    _ => None,
                }
            }

            #[inline]
            fn as_value_ref(&self) -> ValueRef<'_> {
                ValueRef::$type(self)
            }

            #[inline]
            fn of_mut(value: ValueMut<'_>) -> Option<&mut Self> {
                match value {
                    ValueMut::$type(it) => Some(it),
                    _ => None,
                }
            }

            #[inline]
            fn into_value(self) -> Value {
                Value::$type(self)
            }
        }
    };
}

variant!(List);
variant!(Set);
variant!(SortedSet);
variant!(Hash);
variant!(Stream);
variant!(Queue);
