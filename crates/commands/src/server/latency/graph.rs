//! The picture of LATENCY GRAPH: a bar for each of the latest durations, with their age below.

use basalt_observe::latency::Series;

/// Lines of the highest bar.
const HEIGHT: u64 = 4;
/// Durations that are drawn.
const BARS: usize = 80;

pub(super) fn draw(event: &str, series: &Series, now_s: u64) -> String {
    let skipped = series.samples().len().saturating_sub(BARS);
    let samples: Vec<_> = series.samples().skip(skipped).collect();
    let high = samples.iter().map(|sample| sample.ms).max().unwrap_or(0);
    let low = samples.iter().map(|sample| sample.ms).min().unwrap_or(0);
    let all_time = series.max_ms();
    let mut text =
        format!("{event} - high {high} ms, low {low} ms (all time high {all_time} ms)\n");
    text.push_str(&"-".repeat(80));
    text.push('\n');
    let range = (high - low).max(1);
    let heights: Vec<u64> =
        samples.iter().map(|sample| (sample.ms - low) * (HEIGHT - 1) / range + 1).collect();
    for line in (1..=HEIGHT).rev() {
        let row: String = heights.iter().map(|&height| bar(height, line)).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push('\n');
    let ages: Vec<String> =
        samples.iter().map(|sample| age(now_s.saturating_sub(sample.unix_s))).collect();
    let longest = ages.iter().map(String::len).max().unwrap_or(0);
    for line in 0..longest {
        let row: String = ages
            .iter()
            .map(|age| age.as_bytes().get(line).map_or(' ', |&byte| char::from(byte)))
            .collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

fn bar(height: u64, line: u64) -> char {
    match height.cmp(&line) {
        std::cmp::Ordering::Less => ' ',
        std::cmp::Ordering::Equal => '#',
        std::cmp::Ordering::Greater => '|',
    }
}

/// Seconds, minutes, hours or days, to be read from above.
fn age(seconds: u64) -> String {
    let units = [(86_400, 'd'), (3_600, 'h'), (60, 'm')];
    match units.into_iter().find(|(size, _)| seconds >= *size) {
        Some((size, unit)) => format!("{}{unit}", seconds / size),
        None => format!("{seconds}s"),
    }
}
