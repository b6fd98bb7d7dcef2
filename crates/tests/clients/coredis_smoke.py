"""Smoke test with coredis (asynchronous, its own parser). Usage: coredis_smoke.py PORT"""

import asyncio
import sys

import coredis

PORT = int(sys.argv[1])


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


async def strings(r):
    equal(await r.set("k", "v"), True)
    equal(await r.get("k"), "v")
    equal(await r.mset({"a": "1", "b": "2"}), True)
    equal(await r.mget(["a", "b", "none"]), ("1", "2", None))
    equal(await r.incrby("a", 41), 42)
    equal(await r.append("b", "xyz"), 4)
    equal(await r.exists(["a", "b", "none"]), 2)
    equal(await r.type("a"), "string")
    equal(await r.delete(["a", "b", "k"]), 3)


async def expiry(r):
    await r.set("e", "v", px=30)
    for _ in range(20_000):
        if await r.get("e") is None:
            break
        await asyncio.sleep(0.005)
    equal(await r.get("e"), None)
    await r.set("e", "v")
    equal(await r.expire("e", 100), True)
    assert 60 <= await r.ttl("e") <= 100
    equal(await r.rename("e", "e2"), True)
    equal(await r.delete(["e2"]), 1)


async def concurrent(r):
    await asyncio.gather(*[r.set(f"c:{number}", str(number)) for number in range(300)])
    found = {key async for key in r.scan_iter(match="c:*", count=50)}
    equal(found, {f"c:{number}" for number in range(300)})
    values = await asyncio.gather(*[r.get(f"c:{number}") for number in range(300)])
    equal(values, [str(number) for number in range(300)])
    equal(await r.dbsize(), 300)
    equal(await r.flushdb(), True)


async def main():
    # coredis speaks RESP3 only.
    r = coredis.Redis(host="127.0.0.1", port=PORT, decode_responses=True)
    async with r:
        await r.flushdb()
        for part in (strings, expiry, concurrent):
            await part(r)
    print("coredis: ok")


asyncio.run(main())
