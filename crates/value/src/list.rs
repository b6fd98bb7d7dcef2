//! HOT PATH
//! The list.

crate::sketch::sketch!(List, "quicklist");
