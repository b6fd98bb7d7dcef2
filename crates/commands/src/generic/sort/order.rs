//! In which order elements are: by themselves or by what BY finds, as numbers or as bytes.

use super::elements::Elements;
use super::keys::Keys;
use super::request::{Direction, Sorting};
use basalt_number::parse_weight;
use basalt_service::error::CommandError;
use std::borrow::Cow;
use std::cmp::Ordering;

const NOT_A_WEIGHT: CommandError =
    CommandError::fixed("ERR One or more scores can't be converted into double");

/// The indexes of all elements, in order. The keys that BY names are held.
pub(super) fn order(
    elements: &Elements,
    sorting: &Sorting<'_>,
    keys: Keys<'_, '_>,
) -> Result<Vec<usize>, CommandError> {
    let mut order: Vec<usize> = (0..elements.len()).collect();
    let mut sort = |compare: &dyn Fn(usize, usize) -> Ordering| match sorting.direction {
        Direction::Ascending => order.sort_by(|&one, &other| compare(one, other)),
        Direction::Descending => order.sort_by(|&one, &other| compare(one, other).reverse()),
    };
    let by_bytes = |one: usize, other: usize| elements.get(one).cmp(elements.get(other));
    let weight = |element| sorting.by.as_ref().map(|by| by.look_up(element, keys));
    if !sorting.by_bytes {
        let weights = elements.iter().map(|element| match weight(element) {
            None => parse_weight(element).ok_or(NOT_A_WEIGHT),
            Some(None) => Ok(0.0),
            Some(Some(found)) => parse_weight(&found).ok_or(NOT_A_WEIGHT),
        });
        let weights = weights.collect::<Result<Vec<f64>, CommandError>>()?;
        sort(&|one, other| {
            let by_weight = weights[one].partial_cmp(&weights[other]);
            by_weight.expect("weights are not NaN").then_with(|| by_bytes(one, other))
        });
    } else if sorting.by.is_none() {
        sort(&by_bytes);
    } else {
        // What is not there comes first.
        let weights: Vec<Option<Cow<'_, [u8]>>> =
            elements.iter().map(|element| weight(element).flatten()).collect();
        sort(&|one, other| weights[one].cmp(&weights[other]));
    }
    Ok(order)
}
