//! `basalt-bench policy`: what policies of eviction miss, as models on traces, without a server.
//!
//! ```text
//! trace (generated, or keys from a file) ▸ each policy at each size ▸ miss ratios ▸ means ▸ bound
//! ```
//! All keys count as one, whatever their size, and a miss installs its key at once. The models are
//! pure: a seed makes the same numbers on each machine. A model that is new gets a file of its own,
//! a plain second version in `naive.rs` that it is compared with, and a line in `models.rs`.
//! `docs/benchmarks.md` says what the traces are, and `docs/decisions/0029-eviction-policy.md` what
//! was concluded.

mod cache;
mod ghosts;
mod lru;
mod models;
#[cfg(test)]
mod naive;
mod newcomers;
mod queue;
mod recorded;
mod results;
mod s3_fifo;
mod sampled;
mod sieve;
mod sketch;
mod tiny_lfu;
mod traces;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser};
use serde::Serialize;

use crate::error::BenchError;
use crate::report;
use cache::Request;
use models::Model;
use results::{Cell, Verdict};
use traces::{Extent, Shape};

/// Percent of a trace that warms the caches and is not counted.
const WARM_UP_PERCENT: usize = 20;

/// Compares policies of eviction by the share of requests that miss.
#[derive(Debug, Parser)]
#[command(name = "policy", disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct PolicyArgs {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// A recorded trace as well: a file of keys, one a line, in the order of the requests
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,
    /// Recorded traces alone
    #[arg(long, requires = "traces")]
    recorded_only: bool,
    /// Sizes of the cache in percent of a trace's keys
    #[arg(long, value_delimiter = ',', default_value = "1,10,30", value_name = "PERCENT",
          value_parser = clap::value_parser!(u64).range(1..=100))]
    sizes: Vec<u64>,
    /// Keys of the generated traces
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..1 << 32))]
    keys: u64,
    /// Requests of a generated trace, and most that are read of a recorded one
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    requests: u64,
    /// Requests a second, for policies that see time in seconds
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    rate: u64,
    /// Also compare our policy with other choices
    #[arg(long)]
    variants: bool,
    /// Seed of the traces and of what policies draw
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the report as JSON to this file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// All that was counted.
#[derive(Debug, Serialize)]
struct Report {
    keys: u64,
    requests: u64,
    requests_per_second: u64,
    seed: u64,
    policies: Vec<&'static str>,
    cells: Vec<Cell>,
    /// By policy.
    means: Vec<f64>,
    verdict: Option<Verdict>,
}

pub(crate) fn run(args: &PolicyArgs) -> Result<(), BenchError> {
    let says = args.json.as_deref() != Some(Path::new("-"));
    let report = compare(args, &mut |text| if says { report::print(text) } else { Ok(()) })?;
    args.json.as_deref().map_or(Ok(()), |path| report::write_json(&report, path))
}

/// Replays all traces; says each row as it comes.
fn compare(
    args: &PolicyArgs,
    say: &mut dyn FnMut(&str) -> Result<(), BenchError>,
) -> Result<Report, BenchError> {
    let mut models = Model::COMPARED.to_vec();
    let compared = models.len();
    if args.variants {
        models.extend(Model::variants());
    }
    say(&format!(
        "{} keys, {} requests, {} a second, seed {}; misses in % of the last {}% of the requests\n\n",
        args.keys,
        args.requests,
        args.rate,
        args.seed,
        100 - WARM_UP_PERCENT
    ))?;
    say(&row("trace", "size", models[..compared].iter().map(|(name, _)| (*name).to_owned())))?;
    let mut cells = Vec::new();
    let mut count = |trace: &str, size_percent, capacity, requests: &[Request]| {
        let cell = replay(trace, size_percent, capacity, requests, &models, args.seed);
        let ratios = cell.miss_ratios[..compared].iter().map(percent);
        let text = row(&cell.trace, &format!("{size_percent}%"), ratios);
        cells.push(cell);
        say(&text)
    };
    for &size in &args.sizes {
        let extent = Extent {
            keys: args.keys,
            requests: args.requests,
            requests_per_second: args.rate,
            seed: args.seed,
        };
        let capacity = capacity(args.keys, size);
        let shapes = if args.recorded_only { &[][..] } else { &Shape::ALL[..] };
        for (name, shape) in shapes {
            let requests = traces::generate(*shape, &extent, capacity as u64);
            count(name, size, capacity, &requests)?;
        }
    }
    for path in &args.traces {
        let file = File::open(path).map(BufReader::new);
        let recorded = file.and_then(|file| {
            recorded::read(file, usize::try_from(args.requests).unwrap_or(usize::MAX), args.rate)
        });
        let recorded =
            recorded.map_err(|source| BenchError::Trace { path: path.clone(), source })?;
        let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if recorded.is_cut {
            name.push_str(" (cut)");
        }
        for &size in &args.sizes {
            count(&name, size, capacity(recorded.keys as u64, size), &recorded.requests)?;
        }
    }
    let report = summarise(args, &models, cells);
    say(&conclusion(&report, compared))?;
    Ok(report)
}

/// Keys that a cache of so much of all keys holds.
fn capacity(keys: u64, percent: u64) -> usize {
    usize::try_from(keys * percent / 100).unwrap_or(usize::MAX).max(1)
}

fn replay(
    trace: &str,
    size_percent: u64,
    capacity: usize,
    requests: &[Request],
    models: &[(&'static str, Model)],
    seed: u64,
) -> Cell {
    let (warming, counted) = requests.split_at(requests.len() * WARM_UP_PERCENT / 100);
    let miss_ratio = |&(name, model): &(&str, Model)| {
        let mut cache = model.build(capacity, seed);
        for &request in warming {
            cache.request(request);
        }
        let misses = counted.iter().filter(|&&request| !cache.request(request)).count();
        assert!(cache.len() <= capacity, "{name} holds more than it may");
        misses as f64 / counted.len().max(1) as f64
    };
    let miss_ratios = models.iter().map(miss_ratio).collect();
    Cell { trace: trace.to_owned(), size_percent, capacity, counted: counted.len(), miss_ratios }
}

fn summarise(args: &PolicyArgs, models: &[(&'static str, Model)], cells: Vec<Cell>) -> Report {
    let means = results::means(&cells, models.len());
    let compared = models.iter().map(|(name, _)| *name).zip(means.iter().copied());
    let verdict = results::judge(compared.take(Model::COMPARED.len()));
    Report {
        keys: args.keys,
        requests: args.requests,
        requests_per_second: args.rate,
        seed: args.seed,
        policies: models.iter().map(|(name, _)| *name).collect(),
        cells,
        means,
        verdict,
    }
}

/// The means, those of variants one a line, and the verdict.
fn conclusion(report: &Report, compared: usize) -> String {
    let mut text = row("mean", "", report.means[..compared].iter().map(percent));
    text.push('\n');
    let named = report.policies.iter().zip(&report.means);
    for (name, mean) in named.skip(compared) {
        text.push_str(&format!("{:34} {:>9}\n", format!("basalt, {name}"), percent(mean)));
    }
    text.extend(report.verdict.as_ref().map(Verdict::text));
    text
}

fn row(trace: &str, size: &str, columns: impl Iterator<Item = String>) -> String {
    let mut text = format!("{trace:20} {size:>4}");
    text.extend(columns.map(|column| format!(" {column:>9}")));
    text.push('\n');
    text
}

fn percent(ratio: &f64) -> String {
    format!("{:.2}", ratio * 100.0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn run_with(requests: &str, words: &[&str]) -> Result<(Report, String), BenchError> {
        let small = ["policy", "--keys", "1000", "--requests", requests, "--rate", "1000"];
        let args = PolicyArgs::try_parse_from(small.iter().chain(words)).expect("it parses");
        let mut said = String::new();
        let report = compare(&args, &mut |text| {
            said.push_str(text);
            Ok(())
        })?;
        Ok((report, said))
    }

    #[test]
    fn every_trace_has_a_row_and_a_seed_makes_the_same_report() {
        let (report, said) = run_with("5000", &["--variants", "--sizes", "1,30"]).unwrap();
        assert_eq!(report.cells.len(), 2 * Shape::ALL.len());
        for cell in &report.cells {
            assert_eq!((cell.miss_ratios.len(), cell.counted), (report.policies.len(), 4_000));
            assert!(cell.miss_ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio)), "{cell:?}");
        }
        assert!(said.contains("the bound "), "{said}");
        let (again, _) = run_with("5000", &["--variants", "--sizes", "1,30"]).unwrap();
        assert_eq!(serde_json::to_string(&report).unwrap(), serde_json::to_string(&again).unwrap());
    }

    #[test]
    fn a_loop_larger_than_the_cache_never_hits_in_lru() {
        let (report, _) = run_with("5000", &["--sizes", "10"]).unwrap();
        let cell = report.cells.iter().find(|cell| cell.trace == "loop-1.2x").unwrap();
        assert_eq!((report.policies[0], cell.miss_ratios[0]), (models::LRU, 1.0));
        assert_eq!(cell.capacity, 100);
    }

    #[test]
    fn recorded_traces_have_rows_of_their_own() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 0..1_000 {
            writeln!(file, "user:{}", number % 50).unwrap();
        }
        let path = file.path().to_str().unwrap();
        let (report, _) =
            run_with("5000", &["--trace", path, "--recorded-only", "--sizes", "10,100"]).unwrap();
        let sizes: Vec<_> = report.cells.iter().map(|cell| cell.capacity).collect();
        assert_eq!(sizes, [5, 50]);
        assert!(report.cells[1].miss_ratios.iter().all(|&ratio| ratio == 0.0));
        let (cut, said) = run_with("100", &["--trace", path, "--recorded-only"]).unwrap();
        assert_eq!(cut.cells[0].counted, 80);
        assert!(said.contains(" (cut)"), "{said}");
        let error = run_with("10", &["--trace", "/nonexistent", "--recorded-only"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("/nonexistent"), "{error}");
    }
}
