//! How long the host of a virtual machine kept the cpus from it: a pause that no server in it can
//! help.
//!
//! On the machine that the documented numbers are from, a loop that does nothing but look at the
//! clock, alone on the machine, misses up to 27 ms at a stretch.

use std::fs;

/// Milliseconds since the start of the machine, all cpus together; 0 where nothing is stolen or
/// nobody counts.
pub(crate) fn stolen_ms() -> f64 {
    let ticks = fs::read_to_string("/proc/stat").ok().and_then(|stat| ticks(&stat));
    ticks.unwrap_or(0) as f64 * 1e3 / rustix::param::clock_ticks_per_second() as f64
}

/// `cpu user nice system idle iowait irq softirq steal …`
fn ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn the_eighth_number_of_all_cpus_is_read() {
        let stat = "cpu  2381989 2855433 964599 1478017 68035 0 120327 21914 0 0\ncpu0 1 2 3";
        assert_eq!(ticks(stat), Some(21914));
        assert_eq!(ticks("cpu 1 2 3"), None);
        assert_eq!(ticks(""), None);
    }
}
