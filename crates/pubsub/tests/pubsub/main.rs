//! Tests of pub/sub without a network: sinks that note what they are given.

mod delivery;
mod subscribing;
mod support;
