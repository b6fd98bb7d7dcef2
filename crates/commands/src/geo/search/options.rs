//! The words of a search.

use super::super::area::{SearchArea, Shape};
use super::super::distance::unit_m;
use super::super::hash::Point;
use super::super::places::{place, point};
use crate::number::integer;
use basalt_number::parse_f64;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::SortedSet;

/// How a command is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// GEOSEARCH.
    Search,
    /// GEOSEARCHSTORE.
    SearchStore,
    /// GEORADIUS.
    Radius,
    /// GEORADIUS_RO.
    RadiusRead,
    /// GEORADIUSBYMEMBER.
    Member,
    /// GEORADIUSBYMEMBER_RO.
    MemberRead,
}

/// In which order places come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AsFound,
    NearestFirst,
    FarthestFirst,
}

/// What becomes the score of what is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Hashes,
    Distances,
}

/// What is asked for.
pub(super) struct Request<'a> {
    /// Where to look; unknown if it is around a member and there is no sorted set.
    pub(super) area: Option<SearchArea>,
    pub(super) unit_m: f64,
    pub(super) with_distance: bool,
    pub(super) with_hash: bool,
    pub(super) with_point: bool,
    pub(super) count: Option<usize>,
    pub(super) is_any: bool,
    pub(super) order: Order,
    /// What to store, and the word that is the key.
    pub(super) stored: Option<(Stored, &'a [u8])>,
}

/// What the options have said so far.
struct Parsing<'a, 's> {
    call: Call,
    set: Option<&'s SortedSet>,
    center: Option<Point>,
    is_around_member: bool,
    is_around_point: bool,
    shape: Option<Shape>,
    request: Request<'a>,
}

impl Call {
    /// Which of the keys is searched.
    pub(super) fn source_key(self) -> usize {
        usize::from(self == Call::SearchStore)
    }

    fn is_search(self) -> bool {
        matches!(self, Call::Search | Call::SearchStore)
    }

    /// Reads the whole call; `set` is what is searched.
    pub(super) fn parse<'a>(
        self,
        args: &Args<'a>,
        set: Option<&SortedSet>,
    ) -> Result<Request<'a>, CommandError> {
        let request = Request {
            area: None,
            unit_m: 1.0,
            with_distance: false,
            with_hash: false,
            with_point: false,
            count: None,
            is_any: false,
            order: Order::AsFound,
            stored: (self == Call::SearchStore).then(|| (Stored::Hashes, args.word(1))),
        };
        let mut parsing = Parsing {
            call: self,
            set,
            center: None,
            is_around_member: false,
            is_around_point: false,
            shape: None,
            request,
        };
        let mut at = parsing.fixed_words(args)?;
        while at < args.len() {
            at += parsing.option(args, at)?;
        }
        parsing.finish(args)
    }
}

impl<'a> Parsing<'a, '_> {
    /// Reads what stands at fixed places; returns where options begin.
    fn fixed_words(&mut self, args: &Args<'a>) -> Result<usize, CommandError> {
        match self.call {
            Call::Search => Ok(2),
            Call::SearchStore => Ok(3),
            Call::Radius | Call::RadiusRead => {
                self.center = Some(point(args, 2)?);
                self.radius(args, 4)?;
                Ok(6)
            }
            Call::Member | Call::MemberRead => {
                if self.set.is_some() {
                    self.center = Some(self.place(args.word(2))?);
                    self.radius(args, 3)?;
                }
                Ok(5)
            }
        }
    }

    fn place(&self, member: &[u8]) -> Result<Point, CommandError> {
        place(self.set, member)
            .ok_or(CommandError::fixed("ERR could not decode requested zset member"))
    }

    fn radius(&mut self, args: &Args<'_>, at: usize) -> Result<(), CommandError> {
        let radius =
            parse_f64(args.word(at)).ok_or(CommandError::fixed("ERR need numeric radius"))?;
        if radius < 0.0 {
            return Err(CommandError::fixed("ERR radius cannot be negative"));
        }
        self.request.unit_m = unit_m(args, at + 1)?;
        self.shape = Some(Shape::Circle { radius_m: radius * self.request.unit_m });
        Ok(())
    }

    fn rectangle(&mut self, args: &Args<'_>, at: usize) -> Result<(), CommandError> {
        let width =
            parse_f64(args.word(at)).ok_or(CommandError::fixed("ERR need numeric width"))?;
        let height =
            parse_f64(args.word(at + 1)).ok_or(CommandError::fixed("ERR need numeric height"))?;
        if width < 0.0 || height < 0.0 {
            return Err(CommandError::fixed("ERR height or width cannot be negative"));
        }
        let unit_m = unit_m(args, at + 2)?;
        self.request.unit_m = unit_m;
        self.shape = Some(Shape::Rectangle { width_m: width * unit_m, height_m: height * unit_m });
        Ok(())
    }

    /// Takes one option; returns its words.
    fn option(&mut self, args: &Args<'a>, at: usize) -> Result<usize, CommandError> {
        let is = |name| args.is(at, name);
        let request = &mut self.request;
        match () {
            () if is("WITHDIST") => request.with_distance = true,
            () if is("WITHHASH") => request.with_hash = true,
            () if is("WITHCOORD") => request.with_point = true,
            () if is("ANY") => request.is_any = true,
            () if is("ASC") => request.order = Order::NearestFirst,
            () if is("DESC") => request.order = Order::FarthestFirst,
            () if is("COUNT") && at + 1 < args.len() => {
                let count = usize::try_from(integer(args.word(at + 1))?).ok();
                let count = count.filter(|&count| count > 0);
                request.count = Some(count.ok_or(CommandError::fixed("ERR COUNT must be > 0"))?);
                return Ok(2);
            }
            () if self.call.is_search() => return self.search_option(args, at),
            () if matches!(self.call, Call::Radius | Call::Member) && at + 1 < args.len() => {
                let stored = match () {
                    () if is("STORE") => Stored::Hashes,
                    () if is("STOREDIST") => Stored::Distances,
                    () => return Err(CommandError::SYNTAX),
                };
                request.stored = Some((stored, args.word(at + 1)));
                return Ok(2);
            }
            () => return Err(CommandError::SYNTAX),
        }
        Ok(1)
    }

    /// Takes an option of GEOSEARCH or GEOSEARCHSTORE.
    fn search_option(&mut self, args: &Args<'a>, at: usize) -> Result<usize, CommandError> {
        let has = |name, words: usize| args.is(at, name) && at + words < args.len();
        let is_circle = matches!(self.shape, Some(Shape::Circle { .. }));
        let is_rectangle = matches!(self.shape, Some(Shape::Rectangle { .. }));
        if has("FROMMEMBER", 1) && !self.is_around_point {
            self.is_around_member = true;
            if self.set.is_some() {
                self.center = Some(self.place(args.word(at + 1))?);
            }
            return Ok(2);
        }
        if has("FROMLONLAT", 2) && !self.is_around_member {
            self.is_around_point = true;
            self.center = Some(point(args, at + 1)?);
            return Ok(3);
        }
        if has("BYRADIUS", 2) && !is_rectangle {
            self.radius(args, at + 1)?;
            return Ok(3);
        }
        if has("BYBOX", 3) && !is_circle {
            self.rectangle(args, at + 1)?;
            return Ok(4);
        }
        if self.call == Call::SearchStore && args.is(at, "STOREDIST") {
            self.request.stored = Some((Stored::Distances, args.word(1)));
            return Ok(1);
        }
        Err(CommandError::SYNTAX)
    }

    fn finish(self, args: &Args<'_>) -> Result<Request<'a>, CommandError> {
        let mut request = self.request;
        let has_details = request.with_distance || request.with_hash || request.with_point;
        if request.stored.is_some() && has_details {
            let what = match self.call {
                Call::SearchStore => "GEOSEARCHSTORE",
                _ => "STORE option in GEORADIUS",
            };
            return Err(CommandError::new(format!(
                "ERR {what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            )));
        }
        let name = String::from_utf8_lossy(args.word(0));
        if self.call.is_search() && !self.is_around_member && !self.is_around_point {
            return Err(CommandError::new(format!(
                "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for {name}"
            )));
        }
        if self.call.is_search() && self.shape.is_none() {
            return Err(CommandError::new(format!(
                "ERR exactly one of BYRADIUS and BYBOX can be specified for {name}"
            )));
        }
        if request.is_any && request.count.is_none() {
            return Err(CommandError::fixed("ERR the ANY argument requires COUNT argument"));
        }
        if request.count.is_some() && request.order == Order::AsFound && !request.is_any {
            request.order = Order::NearestFirst;
        }
        let area = self.center.zip(self.shape);
        request.area = area.map(|(center, shape)| SearchArea { center, shape });
        Ok(request)
    }
}
