//! SORT: against a real Redis, and where the keys are that it makes names of.

mod differential;
mod keys;
