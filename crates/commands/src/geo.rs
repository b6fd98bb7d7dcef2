//! Commands on places, which are members of sorted sets whose scores are cells of the globe.

mod add;
mod area;
mod distance;
mod hash;
mod lookup;
mod places;
mod reply;
mod search;

use basalt_call::entry::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    add::GEOADD,
    lookup::GEODIST,
    lookup::GEOHASH,
    lookup::GEOPOS,
    search::GEOSEARCH,
    search::GEOSEARCHSTORE,
    search::GEORADIUS,
    search::GEORADIUS_RO,
    search::GEORADIUSBYMEMBER,
    search::GEORADIUSBYMEMBER_RO,
];
