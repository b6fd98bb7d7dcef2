//! What to tell the operator about options that Basalt keeps without acting on them.

use crate::option::{Effect, OptionId};
use crate::parse::{Previous, parse_argument};
use crate::values::Values;

/// Says that an option has no effect, unless it holds its default: a stock redis.conf names most
/// options with their defaults, and nobody needs to hear about those.
pub(crate) fn on_change(id: OptionId, values: &Values) -> Option<String> {
    let spec = id.spec();
    let Effect::Accepted(reason) = spec.effect else { return None };
    let default =
        parse_argument(spec, spec.default.as_bytes(), Previous::Replace(values.get(id))).ok()?;
    (*values.get(id) != default)
        .then(|| format!("option '{}' is accepted but has no effect: {reason}", spec.name))
}
