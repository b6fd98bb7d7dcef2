//! The seeds of random tests: fixed ones, which `BASALT_SEED` moves on.

/// A test's fixed seed, plus `BASALT_SEED` if that is set; a failure is reproduced with the same
/// `BASALT_SEED`.
pub fn from_base(fixed: u64) -> u64 {
    let base = std::env::var("BASALT_SEED").map_or(0, |text| text.parse().expect("a number"));
    fixed.wrapping_add(base)
}
