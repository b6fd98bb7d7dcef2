//! HOT PATH
//! The hash.

crate::sketch::sketch!(Hash, "hashtable");
