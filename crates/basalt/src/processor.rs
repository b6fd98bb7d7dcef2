//! What the processor must have. The program is compiled for instructions that older ones lack
//! (`.cargo/config.toml`), which would end it with SIGILL somewhere, and without a word.

/// What is told to a user whose processor lacks something, and how to do without it.
pub(crate) const TOO_OLD: &str = "\
basalt: this processor is too old for this program, which needs x86-64-v2 (CX16, LAHF, POPCNT, \
SSE3, SSSE3, SSE4.1, SSE4.2) and PCLMULQDQ\n\
basalt: build it on this machine, without the flags in .cargo/config.toml: \
RUSTFLAGS=\"-C target-cpu=native\" cargo build --release\n";

/// Of leaf 1, register ECX: SSE3, PCLMULQDQ, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT.
const LEAF_1_ECX: u32 = 1 | 1 << 1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;
/// Of leaf 0x8000_0001, register ECX: LAHF and SAHF in 64-bit mode.
const LEAF_EXTENDED_1_ECX: u32 = 1;

/// Whether a processor has all that the program is compiled for, by what CPUID returns in ECX for
/// leaf 1 and for leaf 0x8000_0001.
const fn suffices(leaf_1_ecx: u32, extended_1_ecx: u32) -> bool {
    leaf_1_ecx & LEAF_1_ECX == LEAF_1_ECX
        && extended_1_ecx & LEAF_EXTENDED_1_ECX == LEAF_EXTENDED_1_ECX
}

/// Whether this processor has all that the program is compiled for. Asked with CPUID itself:
/// `is_x86_feature_detected!` is a constant where the compiler has been told to use the feature.
#[cfg(all(target_arch = "x86_64", target_feature = "sse4.2"))]
#[inline(never)]
pub(crate) fn is_new_enough() -> bool {
    use std::arch::x86_64::__cpuid;
    const EXTENDED: u32 = 0x8000_0000;
    let extended = if __cpuid(EXTENDED).eax > EXTENDED { __cpuid(EXTENDED + 1).ecx } else { 0 };
    suffices(__cpuid(1).ecx, extended)
}

/// Whether this processor has all that the program is compiled for, which is what all have.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse4.2")))]
pub(crate) fn is_new_enough() -> bool {
    suffices(u32::MAX, u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{LEAF_1_ECX, is_new_enough, suffices};

    #[test]
    fn a_processor_that_lacks_one_thing_is_too_old() {
        assert!(is_new_enough(), "this test is compiled for the same instructions");
        // What a Nehalem of 2008 and a Westmere of 2010 have: the second has PCLMULQDQ.
        let (nehalem, westmere) = (0x0098_e3bd, 0x029e_e3ff);
        assert!(!suffices(nehalem, 1));
        assert!(suffices(westmere, 1));
        assert!(!suffices(westmere, 0), "LAHF");
        for bit in (0..32).filter(|bit| LEAF_1_ECX & 1 << bit != 0) {
            assert!(!suffices(!(1 << bit), 1), "bit {bit}");
        }
        assert!(suffices(LEAF_1_ECX, 1));
        assert!(!suffices(0, 0));
    }
}
