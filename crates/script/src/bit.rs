//! The library `bit`: operations on 32 bits, as in LuaJIT's BitOp, which Redis has.

use mlua::{Lua, MultiValue, Table, Value};

type Fold = fn(i32, i32) -> i32;
type Shift = fn(i32, u32) -> i32;

/// The functions, but for the checks of their arguments, which the prelude makes.
pub(crate) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    bit.set("tobit", lua.create_function(|_, x: f64| Ok(to_bits(x)))?)?;
    bit.set("bnot", lua.create_function(|_, x: f64| Ok(!to_bits(x)))?)?;
    bit.set("bswap", lua.create_function(|_, x: f64| Ok(to_bits(x).swap_bytes()))?)?;
    bit.set(
        "tohex",
        lua.create_function(|_, (x, digits): (f64, Option<f64>)| Ok(to_hex(x, digits)))?,
    )?;
    let folds: [(&str, Fold); 3] =
        [("band", |x, y| x & y), ("bor", |x, y| x | y), ("bxor", |x, y| x ^ y)];
    for (name, fold) in folds {
        let of = move |_: &Lua, numbers: MultiValue| {
            Ok(numbers.iter().filter_map(number).map(to_bits).reduce(fold).unwrap_or_default())
        };
        bit.set(name, lua.create_function(of)?)?;
    }
    let shifts: [(&str, Shift); 5] = [
        ("lshift", |x, by| x << by),
        ("rshift", |x, by| (x as u32 >> by) as i32),
        ("arshift", |x, by| x >> by),
        ("rol", |x, by| x.rotate_left(by)),
        ("ror", |x, by| x.rotate_right(by)),
    ];
    for (name, shift) in shifts {
        let of = move |_: &Lua, (x, by): (f64, f64)| Ok(shift(to_bits(x), to_bits(by) as u32 & 31));
        bit.set(name, lua.create_function(of)?)?;
    }
    Ok(bit)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::String(text) => text.to_str().ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// The low 32 bits of the nearest whole number.
fn to_bits(number: f64) -> i32 {
    const MODULUS: f64 = 4_294_967_296.0;
    number.round_ties_even().rem_euclid(MODULUS) as u32 as i32
}

fn to_hex(number: f64, digits: Option<f64>) -> String {
    let digits = digits.map_or(8, to_bits);
    let count = (digits.unsigned_abs() as usize).min(8);
    let all = format!("{:08x}", to_bits(number));
    let text = &all[8 - count..];
    if digits < 0 { text.to_uppercase() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_32_bits_as_in_bitop() {
        for (number, bits) in [
            (0.0, 0),
            (-1.0, -1),
            (4_294_967_295.0, -1),
            (2_147_483_648.0, i32::MIN),
            (1.5, 2),
            (2.5, 2),
            (1e10, 1_410_065_408),
        ] {
            assert_eq!(to_bits(number), bits, "{number}");
        }
        assert_eq!(to_hex(255.0, None), "000000ff");
        assert_eq!(to_hex(255.0, Some(-4.0)), "00FF");
    }
}
