//! HOT PATH
//! The sorted_set.

crate::sketch::sketch!(SortedSet, "skiplist");
