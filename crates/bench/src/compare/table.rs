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

/// A quantity: its name, and how many decimals its numbers have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    pub(crate) decimals: usize,
}

/// One line for each quantity, one column for each side and, if there are two, their ratio (first
/// by second). Each side brings its summaries in the order of the quantities.
pub(crate) fn render(quantities: &[Quantity], sides: &[(&str, Vec<Summary>)]) -> String {
    let mut text = format!("  {:20}", "");
    for (name, _) in sides {
        text.push_str(&format!(" {name:>18}"));
    }
    if sides.len() == 2 {
        text.push_str(&format!(" {:>9}", "ratio"));
    }
    text.push('\n');
    for (index, quantity) in quantities.iter().enumerate() {
        text.push_str(&format!("  {:20}", quantity.name));
        for (_, summaries) in sides {
            let (summary, decimals) = (summaries[index], quantity.decimals);
            let number = format!("{:.decimals$} ±{:2.0}%", summary.median, summary.spread * 100.0);
            text.push_str(&format!(" {number:>18}"));
        }
        if let [(_, first), (_, second)] = sides {
            text.push_str(&format!(" {:>9}", ratio(first[index].median, second[index].median)));
        }
        text.push('\n');
    }
    text
}

fn ratio(first: f64, second: f64) -> String {
    if second == 0.0 { "-".into() } else { format!("{:.2}x", first / second) }
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
        let quantities = [Quantity { name: "ops/s", decimals: 0 }];
        let row = |value: f64| vec![summarise([value].into_iter())];
        let text = render(&quantities, &[("basalt", row(30.0)), ("redis", row(20.0))]);
        assert!(text.contains("1.50x"), "{text}");
    }
}
