//! Up to where collections stay packed, as the options say.

use basalt_config::TypeSettings;
use basalt_value::FormLimits;
use basalt_value::limits::PackedLimits;

/// The options as the engine takes them.
pub fn limits(settings: &TypeSettings) -> FormLimits {
    let packed = |entries_max, value_bytes_max| PackedLimits { entries_max, value_bytes_max };
    FormLimits {
        list_node: settings.list_node,
        intset_entries_max: settings.intset_entries_max,
        set: packed(settings.set_entries_max, settings.set_value_bytes_max),
        sorted_set: packed(settings.sorted_set_entries_max, settings.sorted_set_value_bytes_max),
        hash: packed(settings.hash_entries_max, settings.hash_value_bytes_max),
        hll_sparse_bytes_max: settings.hll_sparse_bytes_max,
        stream_node_bytes_max: settings.stream_node_bytes_max,
        stream_node_entries_max: settings.stream_node_entries_max,
    }
}
