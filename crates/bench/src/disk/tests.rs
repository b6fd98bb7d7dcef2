use super::file::{ALIGNMENT, Buffer};
use super::*;

/// Parses and runs a command line; returns the report and what was said.
fn run_with(dir: &Path, further: &[&str]) -> Result<(Report, String), BenchError> {
    let dir = dir.to_str().expect("a temporary directory has a plain name");
    let words = ["bench disk", "--dir", dir, "--bytes", "2mb", "--seconds", "0.05"];
    let args = DiskArgs::try_parse_from(words.iter().chain(further)).expect("it parses");
    let mut said = String::new();
    let report = measure(&args, &mut |text| {
        said.push_str(text);
        Ok(())
    })?;
    Ok((report, said))
}

#[test]
fn each_depth_and_block_has_a_row_and_the_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (report, said) = run_with(dir.path(), &["--depth", "1,3", "--block", "4096,8192"]).unwrap();
    let rows: Vec<_> = report.rows.iter().map(|row| (row.block_bytes, row.depth)).collect();
    assert_eq!(rows, [(4096, 1), (4096, 3), (8192, 1), (8192, 3)]);
    assert_eq!(report.file_bytes, 2 << 20);
    for row in &report.rows {
        assert!(row.reads > 0 && row.seconds >= 0.05 && row.cpu_us_per_read > 0.0, "{row:?}");
        let by_seconds = row.reads as f64 / row.seconds;
        assert!((row.reads_per_second - by_seconds).abs() < 1.0, "{row:?}");
        assert!((row.mb_per_second - by_seconds * row.block_bytes as f64 / 1e6).abs() < 0.1);
        assert!(row.latency.p50_us <= row.latency.p99_us, "{row:?}");
        assert!(row.latency.p99_us <= row.latency.p999_us, "{row:?}");
    }
    assert_eq!(said.contains("BUFFERED"), report.way != Way::Direct, "{said}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn buffered_reads_are_marked() {
    let dir = tempfile::tempdir().unwrap();
    let (report, said) =
        run_with(dir.path(), &["--buffered", "--depth", "1", "--block", "512"]).unwrap();
    assert_eq!(report.way, Way::Buffered);
    assert!(said.contains("BUFFERED reads"), "{said}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["way"], "buffered");
    assert_eq!(json["rows"][0]["depth"], 1);
}

#[test]
fn blocks_that_are_refused_make_reads_buffered() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = TestFile::write(dir.path(), 1 << 20, 1).unwrap();
    // No file system reads a hundred bytes directly, unless it does not know the difference.
    if file.go_direct(&[100]).unwrap() == Way::NoDirect {
        let mut buffer = Buffer::new(100);
        file.read(&mut buffer, 100).expect("reads are buffered again");
    }
    let text = heading(Way::NoDirect, "ext9");
    assert!(text.contains("BUFFERED reads: ext9 cannot"), "{text}");
    assert!(heading(Way::Direct, "tmpfs").contains("tmpfs is memory"));
}

#[test]
fn a_block_reads_what_was_written_into_aligned_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = TestFile::write(dir.path(), 2 << 20, 7).unwrap();
    let mut written = vec![0; 1 << 20];
    let mut random = crate::random::Random::new(7, u64::MAX);
    random.fill(&mut written);
    file.go_direct(&[8192]).unwrap();
    let mut buffer = Buffer::new(8192);
    file.read(&mut buffer, 3 * 8192).unwrap();
    assert_eq!(buffer.window().as_ptr().align_offset(ALIGNMENT), 0);
    assert!(buffer.window() == &written[3 * 8192..4 * 8192]);
    assert_eq!(file.blocks(8192), 256);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (words, text) in [
        (["--block", "1000"], "multiple of 512"),
        (["--block", "2097152"], "1048576"),
        (["--depth", "0"], "1 to 1024"),
        (["--depth", "1025"], "1 to 1024"),
        (["--bytes", "100kb"], "1mb at least"),
        (["--seconds", "0"], "more than 0"),
        (["--bytes", "100000000gb"], "MiB free"),
    ] {
        let args = ["bench disk", "--dir", dir.path().to_str().unwrap(), words[0], words[1]];
        let args = DiskArgs::try_parse_from(args).unwrap();
        let error = measure(&args, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(text), "{words:?}: {error}");
    }
    let absent = dir.path().join("absent");
    assert!(run_with(&absent, &[]).unwrap_err().to_string().contains("directory"));
}

#[test]
fn sizes_have_the_units_of_configuration_files() {
    assert_eq!(parse_bytes("4096"), Ok(4096));
    assert_eq!(parse_bytes("3k"), Ok(3_000));
    assert_eq!(parse_bytes("3Kb"), Ok(3 << 10));
    assert_eq!(parse_bytes("2GB"), Ok(2 << 30));
    for wrong in ["", "gb", "1tb", "-1", "1.5gb", "0", "99999999999gb"] {
        assert!(parse_bytes(wrong).is_err(), "{wrong}");
    }
}
