//! Which cells a search looks at, and which places are within its shape.

use super::distance::{arc_degrees, distance_m, meridian_distance_m, parallel_arc_degrees};
use super::hash::{Cell, Point, STEP_MAX};
use basalt_value::sorted_set::{Bounds, ScoreBound};

/// Half of the length of the equator on the map.
const MERCATOR_MAX_M: f64 = 20_037_726.37;

/// What a search looks for around a point, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shape {
    Circle { radius_m: f64 },
    Rectangle { width_m: f64, height_m: f64 },
}

/// Where a search looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SearchArea {
    pub(super) center: Point,
    pub(super) shape: Shape,
}

struct CoordinateLimits {
    west: f64,
    south: f64,
    east: f64,
    north: f64,
}

impl SearchArea {
    /// How far from its center a place is, in metres, if it is within the shape.
    pub(super) fn distance_m(&self, place: Point) -> Option<f64> {
        match self.shape {
            Shape::Circle { radius_m } => {
                Some(distance_m(self.center, place)).filter(|&distance| distance <= radius_m)
            }
            Shape::Rectangle { width_m, height_m } => {
                let beside = Point { longitude: self.center.longitude, ..place };
                let north_m = meridian_distance_m(place.latitude, self.center.latitude);
                let is_within =
                    north_m <= height_m / 2.0 && distance_m(place, beside) <= width_m / 2.0;
                is_within.then(|| distance_m(self.center, place))
            }
        }
    }

    /// How far its edge is from its center at most.
    fn reach_m(&self) -> f64 {
        match self.shape {
            Shape::Circle { radius_m } => radius_m,
            Shape::Rectangle { width_m, height_m } => {
                let (x, y) = (width_m / 2.0, height_m / 2.0);
                (x * x + y * y).sqrt()
            }
        }
    }

    fn limits(&self) -> CoordinateLimits {
        let (width_m, height_m) = match self.shape {
            Shape::Circle { radius_m } => (radius_m, radius_m),
            Shape::Rectangle { width_m, height_m } => (width_m / 2.0, height_m / 2.0),
        };
        let Point { longitude, latitude } = self.center;
        let lat_delta = arc_degrees(height_m);
        // Meridians are nearest to each other at the edge that is nearest to a pole.
        let widest = if latitude < 0.0 { latitude - lat_delta } else { latitude + lat_delta };
        let lon_delta = parallel_arc_degrees(width_m, widest);
        CoordinateLimits {
            west: longitude - lon_delta,
            south: latitude - lat_delta,
            east: longitude + lon_delta,
            north: latitude + lat_delta,
        }
    }

    /// How often to halve the globe so that a cell and its neighbours hold the shape.
    fn step(&self) -> u32 {
        let mut range_m = self.reach_m();
        if range_m == 0.0 {
            return STEP_MAX;
        }
        let mut step = 1i32;
        while range_m < MERCATOR_MAX_M {
            range_m *= 2.0;
            step += 1;
        }
        // One that is certain to hold it, wider ones towards the poles.
        step -= 2;
        let latitude = self.center.latitude.abs();
        step -= i32::from(latitude > 66.0) + i32::from(latitude > 80.0);
        step.clamp(1, STEP_MAX as i32) as u32
    }

    /// The ranges of scores in which the shape is, in the order in which Redis looks at them.
    pub(super) fn ranges(&self) -> Vec<Bounds<'static>> {
        let limits = self.limits();
        let mut cell = Cell::of(self.center, self.step());
        let is_enough = cell.neighbor(0, 1).area().latitude.max >= limits.north
            && cell.neighbor(0, -1).area().latitude.min <= limits.south
            && cell.neighbor(1, 0).area().longitude.max >= limits.east
            && cell.neighbor(-1, 0).area().longitude.min <= limits.west;
        if !is_enough && cell.step > 1 {
            cell = Cell::of(self.center, cell.step - 1);
        }
        let area = cell.area();
        let is_useless = |(east, north): (i8, i8)| {
            cell.step >= 2
                && (north < 0 && area.latitude.min < limits.south
                    || north > 0 && area.latitude.max > limits.north
                    || east < 0 && area.longitude.min < limits.west
                    || east > 0 && area.longitude.max > limits.east)
        };
        const AROUND: [(i8, i8); 9] =
            [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];
        let mut cells: Vec<Cell> = Vec::with_capacity(AROUND.len());
        for (east, north) in AROUND {
            let neighbor = cell.neighbor(east, north);
            // Around a small globe a neighbour may be the one before.
            if !is_useless((east, north)) && cells.last() != Some(&neighbor) {
                cells.push(neighbor);
            }
        }
        let range = |cell: Cell| Bounds::Score {
            min: ScoreBound::Inclusive(cell.score()),
            max: ScoreBound::Exclusive(cell.next().score()),
        };
        cells.into_iter().map(range).collect()
    }
}
