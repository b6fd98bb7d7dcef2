//! `bench disk`: the most that a disk gives to random reads, which is the ceiling of a database
//! whose data is larger than its memory.
//!
//! ```text
//! a file of random bytes, written, synced and out of the cache ▸ for each block size and depth:
//! DEPTH threads, each reading a block at a random place, waiting for it, reading the next …
//! ```
//! A thread that waits is one read that the disk has in hand, so the number of threads is the depth
//! of its queue. That costs more CPU a read than one ring of io_uring, and is what a server pays
//! whose readers are threads. Reads are direct (`O_DIRECT`): the kernel's cache would answer most
//! of them, and none of a database's that is large.
//!
//! It does not flush the caches of the device, or of a host that this machine is a guest of: data
//! that is larger than those needs a larger `--bytes`.

mod file;
mod reads;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgAction, Parser};
use serde::Serialize;

use crate::cli::parse_seconds;
use crate::error::BenchError;
use crate::machine::{Machine, file_system};
use crate::report;
use crate::stats::Latency;
use file::{TestFile, Way};
use reads::{Load, Measured};

/// Most threads that read at a time.
const DEPTH_MAX: usize = 1_024;
/// Most bytes of one read.
const BLOCK_BYTES_MAX: usize = 1 << 20;
/// What disks can read at least, and a multiple of which they must be asked for.
const SECTOR_BYTES: usize = 512;

/// Measures a disk's random reads, at each block size and depth, with a file of its own.
///
/// The file has no name and goes when this program ends, however it ends.
#[derive(Debug, Parser)]
#[command(name = "bench disk", disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct DiskArgs {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Directory on the disk to measure
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Bytes of the file that is written and read, such as 512mb or 20gb
    #[arg(long, default_value = "1gb", value_parser = parse_bytes, value_name = "SIZE")]
    bytes: u64,
    /// Reads that are under way at a time, each a thread; 1024 at most
    #[arg(long, value_delimiter = ',', default_value = "1,8,32,64", value_name = "READS")]
    depth: Vec<usize>,
    /// Bytes of one read: a multiple of 512, 1 MiB at most
    #[arg(long, value_delimiter = ',', default_value = "4096,8192", value_name = "BYTES")]
    block: Vec<usize>,
    /// Seconds at each depth and block size
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Duration,
    /// Read through the kernel's cache
    #[arg(long)]
    buffered: bool,
    /// Seed of the places that are read
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the report as JSON to this file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What was measured, and on what.
#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    dir: PathBuf,
    file_system: String,
    file_bytes: u64,
    way: Way,
    rows: Vec<Row>,
}

/// The reads of one block size at one depth.
#[derive(Debug, Serialize)]
struct Row {
    block_bytes: usize,
    depth: usize,
    seconds: f64,
    reads: u64,
    reads_per_second: f64,
    /// Millions of bytes.
    mb_per_second: f64,
    /// Of the reading threads, their system calls included; what the kernel does in interrupts is
    /// not in it.
    cpu_us_per_read: f64,
    latency: Latency,
}

impl Row {
    fn of(load: &Load, measured: &Measured) -> Row {
        let seconds = measured.elapsed.as_secs_f64();
        let reads = measured.latencies.len();
        let reads_per_second = reads as f64 / seconds.max(f64::MIN_POSITIVE);
        Row {
            block_bytes: load.block_bytes,
            depth: load.depth,
            seconds,
            reads,
            reads_per_second,
            mb_per_second: reads_per_second * load.block_bytes as f64 / 1e6,
            cpu_us_per_read: measured.cpu_ns as f64 / 1e3 / reads.max(1) as f64,
            latency: Latency::of(&measured.latencies),
        }
    }

    fn text(&self) -> String {
        let Latency { p50_us, p99_us, p999_us, max_us, .. } = self.latency;
        format!(
            "{:8} {:6} {:9.0} {:9.1} {p50_us:9.1} {p99_us:9.1} {p999_us:9.1} {max_us:9.1} {:9.2}\n",
            self.block_bytes,
            self.depth,
            self.reads_per_second,
            self.mb_per_second,
            self.cpu_us_per_read
        )
    }
}

pub(crate) fn run(args: &DiskArgs) -> Result<(), BenchError> {
    let says = args.json.as_deref() != Some(Path::new("-"));
    let report = measure(args, &mut |text| if says { report::print(text) } else { Ok(()) })?;
    args.json.as_deref().map_or(Ok(()), |path| report::write_json(&report, path))
}

/// What a disk gives at a depth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ceiling {
    pub(crate) depth: usize,
    pub(crate) reads_per_second: f64,
    /// Of the reading threads.
    pub(crate) cpu_us_per_read: f64,
    pub(crate) p99_us: f64,
}

/// Reads of this size at some depths, of a file of 1 GiB in a directory.
pub(crate) fn ceiling(
    dir: &Path,
    block_bytes: usize,
    depths: &[usize],
) -> Result<Vec<Ceiling>, BenchError> {
    let args = DiskArgs {
        help: None,
        dir: dir.to_path_buf(),
        bytes: 1 << 30,
        depth: depths.to_vec(),
        block: vec![block_bytes],
        seconds: Duration::from_secs(3),
        buffered: false,
        seed: 1,
        json: None,
    };
    let rows = measure(&args, &mut |_| Ok(()))?.rows;
    Ok(rows
        .iter()
        .map(|row| Ceiling {
            depth: row.depth,
            reads_per_second: row.reads_per_second,
            cpu_us_per_read: row.cpu_us_per_read,
            p99_us: row.latency.p99_us,
        })
        .collect())
}

/// Writes the file and reads it in all ways that are asked for; says each result as it comes.
fn measure(
    args: &DiskArgs,
    say: &mut dyn FnMut(&str) -> Result<(), BenchError>,
) -> Result<Report, BenchError> {
    check(args)?;
    let machine = Machine::look();
    let file_bytes = args.bytes / BLOCK_BYTES_MAX as u64 * BLOCK_BYTES_MAX as u64;
    let file_system = file_system(&args.dir);
    say(&format!(
        "machine: {}\nwriting {} MiB in {} ({file_system})\n",
        machine.summary(),
        file_bytes >> 20,
        args.dir.display()
    ))?;
    let mut file = TestFile::write(&args.dir, file_bytes, args.seed)?;
    let way = if args.buffered { Way::Buffered } else { file.go_direct(&args.block)? };
    say(&heading(way, &file_system))?;
    let mut report =
        Report { machine, dir: args.dir.clone(), file_system, file_bytes, way, rows: Vec::new() };
    for &block_bytes in &args.block {
        for &depth in &args.depth {
            let load = Load { block_bytes, depth, duration: args.seconds, seed: args.seed };
            let measured = reads::measure(&file, &load)?;
            let row = Row::of(&load, &measured);
            say(&row.text())?;
            report.rows.push(row);
        }
    }
    Ok(report)
}

fn heading(way: Way, file_system: &str) -> String {
    let mut text = match way {
        Way::Direct => "direct reads, around the kernel's cache\n".to_owned(),
        Way::Buffered => "BUFFERED reads: the kernel's cache answers, this is no ceiling\n".into(),
        Way::NoDirect => format!(
            "BUFFERED reads: {file_system} cannot read such blocks directly, so the kernel's cache \
             answers, and this is no ceiling\n"
        ),
    };
    if file_system == "tmpfs" {
        text.push_str("tmpfs is memory: this measures no disk\n");
    }
    text.push('\n');
    let head = ["reads/s", "MB/s", "P50 µs", "P99 µs", "P99.9 µs", "max µs", "CPU µs"];
    text.push_str(&format!("{:>8} {:>6}", "block", "depth"));
    text.extend(head.map(|word| format!(" {word:>9}")));
    text.push('\n');
    text
}

fn check(args: &DiskArgs) -> Result<(), BenchError> {
    let is_block = |bytes: &usize| {
        (SECTOR_BYTES..=BLOCK_BYTES_MAX).contains(bytes) && bytes.is_multiple_of(SECTOR_BYTES)
    };
    let wrong = if !args.block.iter().all(is_block) {
        "a --block is a multiple of 512 bytes, at most 1048576"
    } else if !args.depth.iter().all(|depth| (1..=DEPTH_MAX).contains(depth)) {
        "a --depth is 1 to 1024"
    } else if args.bytes < BLOCK_BYTES_MAX as u64 {
        "--bytes must be 1mb at least"
    } else if args.seconds.is_zero() {
        "--seconds must be more than 0"
    } else {
        return Ok(());
    };
    Err(BenchError::Usage(wrong.into()))
}

/// A number of bytes, with the units of configuration files: `k`, `m` and `g` are thousands, `kb`,
/// `mb` and `gb` powers of 1,024.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &lower[digits.len()..] {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => 0,
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "give a size such as 512mb or 20gb".to_owned())
}

#[cfg(test)]
mod tests;
