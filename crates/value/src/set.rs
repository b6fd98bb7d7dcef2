//! HOT PATH
//! The set.

crate::sketch::sketch!(Set, "hashtable");
