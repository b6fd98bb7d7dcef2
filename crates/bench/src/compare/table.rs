//! Medians, spreads and ratios.

/// One quantity over all rounds of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    /// Half the distance between the smallest and the largest, as a share of the median.
    pub(crate) spread: f64,
}

/// Summarises; zeroes if there is nothing.
pub(crate) fn summarise(values: impl Iterator<Item = f64>) -> Summary {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return Summary { median: 0.0, spread: 0.0 };
    };
    let middle = values.len() / 2;
    let median = match values.len() % 2 {
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    };
    let spread = if median == 0.0 { 0.0 } else { (last - first) / 2.0 / median };
    Summary { median, spread }
}

/// A column: its heading, and how many decimals its numbers have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    pub(crate) decimals: usize,
}

/// Rows of medians under headings and, if there are two, their ratio.
pub(crate) fn render(columns: &[Column], rows: &[(&str, Vec<Summary>)]) -> String {
    let mut text = format!("  {:8}", "");
    for column in columns {
        text.push_str(&format!(" {:>18}", column.heading));
    }
    for (name, cells) in rows {
        text.push_str(&format!("\n  {name:8}"));
        for (column, cell) in columns.iter().zip(cells) {
            let decimals = column.decimals;
            let number = format!("{:.decimals$} ±{:.0}%", cell.median, cell.spread * 100.0);
            text.push_str(&format!(" {number:>18}"));
        }
    }
    if let [(_, first), (_, second)] = rows {
        text.push_str(&format!("\n  {:8}", "ratio"));
        for (a, b) in first.iter().zip(second) {
            let ratio = if b.median == 0.0 {
                "-".to_owned()
            } else {
                format!("{:.2}x", a.median / b.median)
            };
            text.push_str(&format!(" {ratio:>18}"));
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spreads() {
        let summary = summarise([30.0, 10.0, 20.0].into_iter());
        assert_eq!(summary, Summary { median: 20.0, spread: 0.5 });
        assert_eq!(summarise([1.0, 2.0].into_iter()).median, 1.5);
        assert_eq!(summarise(std::iter::empty()).median, 0.0);
    }

    #[test]
    fn ratios_are_first_by_second() {
        let columns = [Column { heading: "ops/s", decimals: 0 }];
        let row = |value: f64| vec![summarise([value].into_iter())];
        let text = render(&columns, &[("basalt", row(30.0)), ("redis", row(20.0))]);
        assert!(text.contains("1.50x"), "{text}");
    }
}
