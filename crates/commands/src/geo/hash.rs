//! Cells of the globe.
//!
//! ```text
//! bits = … lon lat lon lat          `step` bits of each, the longitude's at the odd places
//! ```
//! Idea: halve the longitudes and the latitudes in turn, and write down which half a place is in
//! each time. With 26 halvings of each the 52 bits are a whole number that a double holds exactly:
//! the score. Places that are near each other share leading bits, but for those on either side of a
//! line; so a search looks at a cell and at its eight neighbours, each of which is one range of
//! scores.
//!
//! The limits of latitude are those of Web Mercator, as in Redis, whose scores these are. The order
//! of operations is Redis', too: coordinates agree to the last digit.

/// A point: degrees, east and north.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) longitude: f64,
    pub(super) latitude: f64,
}

/// From and to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Span {
    pub(super) min: f64,
    pub(super) max: f64,
}

/// Longitudes that have cells.
pub(super) const LONGITUDES: Span = Span { min: -180.0, max: 180.0 };
/// Latitudes that have cells.
pub(super) const LATITUDES: Span = Span { min: -85.051_128_78, max: 85.051_128_78 };
/// The latitudes of the globe, which the public notation of cells divides.
const ALL_LATITUDES: Span = Span { min: -90.0, max: 90.0 };
/// Halvings of each direction in a score.
pub(super) const STEP_MAX: u32 = 26;
const EVEN: u64 = 0x5555_5555_5555_5555;
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// A cell: the halves taken, and how many times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub(super) bits: u64,
    pub(super) step: u32,
}

/// Where a cell is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Area {
    pub(super) longitude: Span,
    pub(super) latitude: Span,
}

impl Cell {
    /// The cell of a point that is on the map.
    pub(super) fn of(point: Point, step: u32) -> Cell {
        Cell::within(LATITUDES, point, step)
    }

    fn within(latitudes: Span, point: Point, step: u32) -> Cell {
        let place = |span: Span, at: f64| {
            let offset = (at - span.min) / (span.max - span.min);
            (offset * (1u64 << step) as f64) as u32
        };
        let bits = spread(place(latitudes, point.latitude))
            | spread(place(LONGITUDES, point.longitude)) << 1;
        Cell { bits, step }
    }

    /// The cell that a score is.
    pub(super) fn of_score(score: f64) -> Cell {
        Cell { bits: score as u64, step: STEP_MAX }
    }

    /// Its smallest score, with which also the cells behind it begin. Exact: 52 bits.
    pub(super) fn score(self) -> f64 {
        (self.bits << (2 * (STEP_MAX - self.step))) as f64
    }

    /// The cell whose number follows.
    pub(super) fn next(self) -> Cell {
        Cell { bits: self.bits + 1, ..self }
    }

    /// Where it is.
    pub(super) fn area(self) -> Area {
        let span = |limits: Span, place: u32| {
            let width = limits.max - limits.min;
            let cells = (1u64 << self.step) as f64;
            let edge = |place: f64| limits.min + (place / cells) * width;
            Span { min: edge(f64::from(place)), max: edge(f64::from(place) + 1.0) }
        };
        Area {
            longitude: span(LONGITUDES, gather(self.bits >> 1)),
            latitude: span(LATITUDES, gather(self.bits)),
        }
    }

    /// The middle of it.
    pub(super) fn center(self) -> Point {
        let middle =
            |span: Span, limits: Span| ((span.min + span.max) / 2.0).clamp(limits.min, limits.max);
        let Area { longitude, latitude } = self.area();
        Point { longitude: middle(longitude, LONGITUDES), latitude: middle(latitude, LATITUDES) }
    }

    /// The cell that is this number of cells to the east and to the north, around the globe; each
    /// is -1, 0 or 1.
    pub(super) fn neighbor(self, east: i8, north: i8) -> Cell {
        let unused = 64 - 2 * self.step;
        let (even, odd) = (EVEN >> unused, ODD >> unused);
        let longitudes = move_by(self.bits & ODD, odd, even, east);
        let latitudes = move_by(self.bits & EVEN, even, odd, north);
        Cell { bits: longitudes | latitudes, ..self }
    }

    /// The eleven letters of public notation.
    pub(super) fn text(self) -> [u8; 11] {
        const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
        let cell = Cell::within(ALL_LATITUDES, self.center(), STEP_MAX);
        // 52 bits are ten letters and two bits: the last one is always 0.
        std::array::from_fn(|letter| match letter {
            10 => LETTERS[0],
            _ => LETTERS[(cell.bits >> (52 - (letter + 1) * 5)) as usize & 31],
        })
    }
}

/// A place, whose bits are those of `own`, moved by one in either direction. The bits between,
/// `others`, carry.
fn move_by(place: u64, own: u64, others: u64, by: i8) -> u64 {
    match by {
        1 => place.wrapping_add(others + 1) & own,
        -1 => (place | others).wrapping_sub(others + 1) & own,
        _ => place,
    }
}

/// Puts a zero in front of every bit.
fn spread(value: u32) -> u64 {
    const STEPS: [(u32, u64); 5] = [
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, EVEN),
    ];
    STEPS.iter().fold(u64::from(value), |bits, (shift, mask)| (bits | bits << shift) & mask)
}

/// Takes every other bit.
fn gather(value: u64) -> u32 {
    const STEPS: [(u32, u64); 5] = [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0F0F_0F0F_0F0F_0F0F),
        (4, 0x00FF_00FF_00FF_00FF),
        (8, 0x0000_FFFF_0000_FFFF),
        (16, 0x0000_0000_FFFF_FFFF),
    ];
    STEPS.iter().fold(value & EVEN, |bits, (shift, mask)| (bits | bits >> shift) & mask) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PALERMO: Point = Point { longitude: 13.361_389, latitude: 38.115_556 };

    #[test]
    fn a_place_has_the_score_and_the_letters_that_redis_gives_it() {
        let cell = Cell::of(PALERMO, STEP_MAX);
        assert_eq!(cell.score(), 3_479_099_956_230_698.0);
        assert_eq!(&cell.text(), b"sqc8b49rny0");
        assert_eq!(Cell::of_score(cell.score()), cell);
        let center = cell.center();
        assert!((center.longitude - PALERMO.longitude).abs() < 1e-5);
        assert!((center.latitude - PALERMO.latitude).abs() < 1e-5);
    }

    #[test]
    fn neighbors_touch_and_go_around_the_globe() {
        for step in 1..=STEP_MAX {
            let cell = Cell::of(PALERMO, step);
            for (east, north) in [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, -1)] {
                assert_eq!(cell.neighbor(east, north).neighbor(-east, -north), cell);
            }
            if step > 3 {
                assert_eq!(cell.neighbor(1, 0).area().longitude.min, cell.area().longitude.max);
                assert_eq!(cell.neighbor(0, -1).area().latitude.max, cell.area().latitude.min);
            }
        }
        let west = Cell::of(Point { longitude: -180.0, latitude: 0.0 }, 8);
        assert_eq!(west.neighbor(-1, 0).area().longitude.max, 180.0);
    }
}
