//! Random values through `cmsgpack`, `struct` and `cjson`, by Basalt and by a real Redis.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;

const ROUNDS: usize = 2000;

/// Shows any value, binary strings and nested tables included, with the keys in order.
const SHOW: &str = r#"
local function show(x)
  if type(x) == 'string' then
    return '"' .. x:gsub('[^%w ]', function(c) return '\\' .. string.byte(c) end) .. '"'
  elseif type(x) == 'table' then
    local parts = {}
    for k, v in pairs(x) do parts[#parts + 1] = show(k) .. '=' .. show(v) end
    table.sort(parts)
    return '{' .. table.concat(parts, ',') .. '}'
  elseif type(x) == 'number' then
    if x ~= x then return 'nan' end
    return string.format('%.17g', x)
  elseif type(x) == 'userdata' then
    return x == cjson.null and 'null' or 'userdata'
  elseif type(x) == 'function' then
    return 'function'
  end
  return tostring(x)
end
local function all(...)
  local shown = {}
  for i = 1, select('#', ...) do shown[i] = show((select(i, ...))) end
  return table.concat(shown, ' ')
end
"#;

/// Has both run what `make` makes, as an expression.
fn compare(seed: u64, rounds: usize, make: impl Fn(&mut Random) -> String) {
    // Where there is no Redis there is nothing to compare with.
    let Some(mut redis) = Redis::start() else { return };
    let (mut server, mut random) = (TestServer::new(), Random::new(seed));
    for _ in 0..rounds {
        let expression = make(&mut random);
        let script = format!("{SHOW} return all({expression})");
        let words = ["EVAL", &script, "0"];
        let (ours, theirs) = (server.run_for_bytes(&words), redis.run_for_bytes(&words));
        assert_eq!(
            String::from_utf8_lossy(&ours),
            String::from_utf8_lossy(&theirs),
            "{expression}"
        );
    }
}

fn pick<'a>(random: &mut Random, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len() as u64) as usize]
}

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "-32",
    "-33",
    "-128",
    "-129",
    "-32768",
    "-32769",
    "2^31",
    "2^32",
    "2^53",
    "-2^31",
    "-2^31-1",
    "2^63",
    "-2^63",
    "2^64",
    "1.5",
    "-2.25",
    "0.1",
    "1e300",
    "1e-300",
    "1/0",
    "-1/0",
    "3.4e38",
    "1e15",
    "123456789012345",
];

fn string(random: &mut Random) -> String {
    let len = match random.below(12) {
        0 => return pick(random, &["('a'):rep(300)", "('b'):rep(70000)", "'x y'"]).to_owned(),
        1 => 31 + random.below(3),
        _ => random.below(6),
    };
    let mut text = "'".to_owned();
    (0..len).for_each(|_| text.push_str(&format!("\\{:03}", random.below(256))));
    text + "'"
}

fn value(random: &mut Random, depth: u32) -> String {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 | 1 => pick(random, NUMBERS).to_owned(),
        2 | 3 => string(random),
        4 => pick(random, &["true", "false"]).to_owned(),
        5 => "nil".to_owned(),
        6 => {
            let count = random.below(5);
            let values: Vec<String> = (0..count).map(|_| value(random, depth - 1)).collect();
            format!("{{{}}}", values.join(","))
        }
        // One key only: with more, the order in which a table is walked shows.
        7 => format!("{{[{}]={}}}", key(random), value(random, depth - 1)),
        _ => format!("{{{{}},{}}}", value(random, depth - 1)),
    }
}

fn key(random: &mut Random) -> String {
    match random.below(3) {
        0 => string(random),
        1 => pick(random, &["1", "2", "30", "-1", "1.5", "true"]).to_owned(),
        _ => "'k'".to_owned(),
    }
}

fn bytes(random: &mut Random) -> String {
    // Types and lengths of MessagePack, and what is none.
    let firsts = [
        0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC7, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2,
        0xD3, 0xD4, 0xD9, 0xDA, 0xDC, 0xDE, 0x81, 0x82, 0x91, 0x92, 0xA1, 0xA2, 0x05, 0xFF,
    ];
    let mut text = "'".to_owned();
    for _ in 0..random.below(14) {
        let byte = match random.below(3) {
            0 => firsts[random.below(firsts.len() as u64) as usize],
            1 => random.below(4),
            _ => random.below(256),
        };
        text.push_str(&format!("\\{byte:03}"));
    }
    text + "'"
}

#[test]
fn message_pack_is_that_of_redis() {
    compare(11, ROUNDS, |random| match random.below(8) {
        0 => format!("pcall(cmsgpack.unpack, {})", bytes(random)),
        1 => format!("pcall(cmsgpack.unpack_one, {}, {})", bytes(random), random.below(4)),
        2 => {
            let (limit, offset) = (random.below(4) as i64 - 1, random.below(4) as i64 - 1);
            format!("pcall(cmsgpack.unpack_limit, {}, {limit}, {offset})", bytes(random))
        }
        3 => format!(
            "pcall(cmsgpack.{}, {})",
            pick(random, &["pack", "unpack", "unpack_one", "unpack_limit"]),
            pick(
                random,
                &["", "nil", "{}", "true", "5", "'\\1', 'x'", "'a', {}", "'ab', '1', '1'"]
            )
        ),
        4 => format!("cmsgpack.unpack(cmsgpack.pack({}))", value(random, 4)),
        _ => format!("cmsgpack.pack({}, {})", value(random, 4), value(random, 2)),
    });
}

fn format(random: &mut Random) -> String {
    let options = [
        "b",
        "B",
        "h",
        "H",
        "l",
        "L",
        "T",
        "f",
        "d",
        "s",
        "c0",
        "c1",
        "c3",
        "c",
        "i",
        "I",
        "i1",
        "i3",
        "I5",
        "i8",
        "i9",
        "I16",
        "i33",
        "i0",
        ">",
        "<",
        "!",
        "!2",
        "!4",
        "!3",
        "!16",
        " ",
        "x",
        "z",
        "?",
        "c99999999999",
        "i8i8",
    ];
    (0..random.below(6)).map(|_| pick(random, &options)).collect()
}

#[test]
fn structures_are_those_of_redis() {
    compare(12, ROUNDS, |random| {
        let format = format(random);
        let arguments: Vec<String> = (0..random.below(7))
            .map(|_| match random.below(4) {
                0 => string(random),
                1 => "'12'".to_owned(),
                _ => pick(random, NUMBERS).to_owned(),
            })
            .collect();
        let arguments: String = arguments.iter().map(|word| format!(", {word}")).collect();
        match random.below(4) {
            0 => format!("pcall(struct.size, '{format}')"),
            1 => format!("pcall(struct.pack, '{format}'{arguments})"),
            2 => {
                let from = random.below(5) as i64 - 1;
                format!("pcall(struct.unpack, '{format}', {}, {from})", bytes(random))
            }
            _ => format!("pcall(struct.unpack, '{format}', {}..{0}..{0})", bytes(random)),
        }
    });
}

fn json(random: &mut Random, depth: u32) -> String {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 | 1 => pick(
            random,
            &[
                "1",
                "-1.5e3",
                "0x1F",
                "01",
                "-0",
                "1.",
                ".5",
                "inf",
                "NaN",
                "-Infinity",
                "nanx",
                "+1",
                "1e",
                "-",
                "1e400",
                "0x",
                "0x1p4",
                "true",
                "false",
                "null",
                "nul",
                "True",
            ],
        )
        .to_owned(),
        2 | 3 => pick(
            random,
            &[
                r#""""#,
                r#""a\nb""#,
                r#""\u0041""#,
                r#""\ud83d\ude00""#,
                r#""\ud83d""#,
                r#""\x""#,
                r#""open"#,
                r#""\u00e9\/""#,
            ],
        )
        .to_owned(),
        4 => {
            let values: Vec<String> =
                (0..random.below(4)).map(|_| json(random, depth - 1)).collect();
            format!("[{}]", values.join(pick(random, &[",", ", ", " ", ",,"])))
        }
        5 => {
            let separator = pick(random, &[":", " : ", " "]);
            let pairs: Vec<String> = (0..random.below(4))
                .map(|number| format!("\"k{number}\"{separator}{}", json(random, depth - 1)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        _ => format!("{}{}", json(random, depth - 1), pick(random, &["", " ", "]", ",", "}"])),
    }
}

fn setting(random: &mut Random) -> String {
    let name = pick(
        random,
        &[
            "encode_sparse_array",
            "encode_max_depth",
            "decode_max_depth",
            "encode_number_precision",
            "encode_keep_buffer",
            "encode_invalid_numbers",
            "decode_invalid_numbers",
        ],
    );
    let words = ["", "true", "false", "'on'", "'off'", "'null'", "1", "2", "0", "14", "nil", "{}"];
    let (first, second) = (pick(random, &words), pick(random, &["", ", 2", ", 0, 3", ", -1"]));
    let second = if first.is_empty() { "" } else { second };
    format!("pcall(json.{name}{}{first}{second})", if first.is_empty() { "" } else { ", " })
}

#[test]
fn json_is_that_of_redis_with_all_its_settings() {
    compare(13, ROUNDS, |random| {
        let settings: Vec<String> = (0..random.below(3)).map(|_| setting(random)).collect();
        let settings: String = settings.iter().map(|call| format!("all({call}), ")).collect();
        let last = match random.below(3) {
            0 => format!("pcall(json.encode, {})", value(random, 3)),
            1 => format!("pcall(json.encode, {{[{}]={}}})", key(random), value(random, 2)),
            _ => format!("pcall(json.decode, [==[{}]==])", json(random, 3)),
        };
        // A library of its own, for in Redis the settings of the common one stay for ever.
        format!("(function() local json = cjson.new() return {settings}{last} end)()")
    });
}

#[test]
fn errors_name_the_function_and_the_line() {
    compare(14, 1, |_| "1".to_owned());
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    for script in [
        "return cjson.decode('{')",
        "local x = cjson.encode({[{}] = 1}) return x",
        "\nreturn cmsgpack.unpack('\\193')",
        "return cmsgpack.pack()",
        "local unpack = struct.unpack return (unpack('I8', 'x'))",
        "return struct.pack('q', 1)",
        "return struct.pack('b', {})",
        "return cjson.encode_max_depth(0)",
        "return cjson.encode_invalid_numbers('x')",
        "return cjson.encode(1, 2)",
        "return cmsgpack.unpack('\\129\\192\\1')",
        "return redis.acl_check_cmd()",
        "return redis.acl_check_cmd('nosuch')",
        "return redis.acl_check_cmd('config', 'nosuch')",
        "return redis.acl_check_cmd({})",
        "return redis.acl_check_cmd('set', 'a')",
        "return redis.setresp(4)",
        "return redis.setresp()",
        "return redis.log(5, 'x')",
        "return redis.log('x')",
        "return redis.set_repl(9)",
        "return redis.set_repl()",
        "return redis.replicate_commands()",
        "return {redis.breakpoint(), redis.debug('x')}",
        "return {cmsgpack._NAME, cmsgpack._VERSION, cmsgpack._COPYRIGHT, cmsgpack._DESCRIPTION}",
        "return {cjson._NAME, cjson._VERSION, type(cjson.new().decode)}",
        "return type(cmsgpack_safe)",
    ] {
        let words = ["EVAL", script, "0"];
        let (ours, theirs) = (server.run_for_bytes(&words), redis.run_for_bytes(&words));
        assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs), "{script}");
    }
}
