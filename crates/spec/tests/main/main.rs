//! Tests of `basalt-spec` through its public interface.

mod calls;
mod derivation;
mod documents;
mod grammar;
mod lookup;
mod rename;
mod samples;
