//! Places: the same random calls go to a real Redis 7 and to Basalt, and coordinates, distances,
//! hashes and the order of places must be the same to the last digit.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;
use basalt_resp::Protocol;

const PLACES: usize = 600;
const SEARCHES: usize = 1500;

#[test]
fn places_are_the_same_as_in_redis() {
    for (seed, protocol) in [(1, Protocol::Resp2), (2, Protocol::Resp2), (3, Protocol::Resp3)] {
        compare(seed, protocol);
    }
}

struct Calls {
    random: Random,
    /// Places crowd in a part of the globe, and near its edges.
    focus: (f64, f64),
}

impl Calls {
    fn pick(&mut self, words: &[&str]) -> String {
        words[self.random.below(words.len() as u64) as usize].to_owned()
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + self.random.below(1 << 40) as f64 / (1u64 << 40) as f64 * (to - from)
    }

    fn point(&mut self) -> [String; 2] {
        let (longitude, latitude) = match self.random.below(8) {
            0 => (self.between(-180.0, 180.0), self.between(-85.05, 85.05)),
            1 => (self.between(179.0, 180.0), self.between(-1.0, 1.0)),
            2 => (self.between(-180.0, -179.0), self.between(-1.0, 1.0)),
            3 => (self.between(-180.0, 180.0), self.between(80.0, 85.05)),
            4 => (self.focus.0, self.focus.1 + self.between(-0.5, 0.5)),
            _ => (self.focus.0 + self.between(-1.0, 1.0), self.focus.1 + self.between(-1.0, 1.0)),
        };
        [longitude, latitude].map(|degrees| degrees.to_string())
    }

    fn member(&mut self) -> String {
        format!("p{}", self.random.below(PLACES as u64 + 5))
    }

    fn options(&mut self, options: &[&str], most: u64) -> Vec<String> {
        (0..self.random.below(most + 1))
            .flat_map(|_| {
                let option = self.pick(options);
                let count = 1 + self.random.below(20);
                match option.as_str() {
                    "COUNT" => vec![option, count.to_string()],
                    "ANY" => vec!["COUNT".to_owned(), count.to_string(), option],
                    _ => vec![option],
                }
            })
            .collect()
    }

    fn size(&mut self) -> String {
        let size = self.between(0.0, 5.0);
        let tens = self.random.below(7) as i32;
        (size * 10f64.powi(tens)).to_string()
    }

    fn unit(&mut self) -> String {
        self.pick(&["m", "km", "ft", "mi", "KM"])
    }

    fn search(&mut self) -> Vec<String> {
        const DETAILS: [&str; 7] =
            ["WITHDIST", "WITHCOORD", "WITHHASH", "ASC", "DESC", "COUNT", "ANY"];
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (size, unit, member) = (self.size(), self.unit(), self.member());
        let point = self.point().join(" ");
        let from = if self.random.chance(1, 2) {
            format!("FROMMEMBER {member}")
        } else {
            format!("FROMLONLAT {point}")
        };
        let by = if self.random.chance(1, 2) {
            format!("BYRADIUS {size} {unit}")
        } else {
            format!("BYBOX {size} {} {unit}", self.size())
        };
        match self.random.below(10) {
            0 => words(&format!("GEODIST g {member} {} {unit}", self.member())),
            1 => words(&format!("GEOPOS g {member} {}", self.member())),
            2 => words(&format!("GEOHASH g {member} {}", self.member())),
            3 => {
                let options = self.options(&["STOREDIST", "ASC", "COUNT", "ANY"], 2);
                [words(&format!("GEOSEARCHSTORE d g {from} {by}")), options].concat()
            }
            4 => words(&format!("GEORADIUS g {point} {size} {unit} STOREDIST d")),
            5 => words(&format!("GEORADIUSBYMEMBER g {member} {size} {unit} STORE d")),
            6 => {
                let options = self.options(&DETAILS, 3);
                [words(&format!("GEORADIUS_RO g {point} {size} {unit}")), options].concat()
            }
            7 => {
                let options = self.options(&DETAILS, 3);
                [words(&format!("GEORADIUSBYMEMBER_RO g {member} {size} {unit}")), options].concat()
            }
            _ => [words(&format!("GEOSEARCH g {from} {by}")), self.options(&DETAILS, 3)].concat(),
        }
    }
}

fn compare(seed: u64, protocol: Protocol) {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    if protocol == Protocol::Resp3 {
        redis.run_for_bytes(&["HELLO", "3"]);
        server.session.protocol = protocol;
    }
    let mut random = Random::new(seed);
    let focus = (random.below(340) as f64 - 170.0, random.below(160) as f64 - 80.0);
    let mut calls = Calls { random, focus };
    let mut both = |words: &[String]| {
        let expected = redis.run_for_bytes(words);
        let actual = server.run_for_bytes(words);
        assert!(
            actual == expected,
            "seed {seed}: {}\nredis:  {}\nbasalt: {}",
            words.join(" "),
            expected.escape_ascii(),
            actual.escape_ascii(),
        );
    };
    for number in 0..PLACES {
        let [longitude, latitude] = calls.point();
        both(&["GEOADD".to_owned(), "g".to_owned(), longitude, latitude, format!("p{number}")]);
    }
    both(&["ZRANGE", "g", "0", "-1", "WITHSCORES"].map(str::to_owned));
    for _ in 0..SEARCHES {
        let words = calls.search();
        both(&words);
        if words.iter().any(|word| word == "d") {
            both(&["ZRANGE", "d", "0", "-1"].map(str::to_owned));
        }
    }
}
