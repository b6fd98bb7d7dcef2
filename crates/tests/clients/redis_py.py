"""Smoke test with redis-py: what an application does first. Usage: redis_py.py PORT [CA]

With the file of an authority it speaks TLS, by a URL with rediss.
"""

import sys
import threading
import time

import redis
from redis.cache import CacheConfig
from redis.connection import CacheProxyConnection

PORT = int(sys.argv[1])
CA = sys.argv[2] if len(sys.argv) > 2 else None
URL = f"rediss://127.0.0.1:{PORT}/?ssl_ca_certs={CA}" if CA else f"redis://127.0.0.1:{PORT}/"


def client(**options):
    return redis.from_url(URL, **options)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.005)


def strings(r):
    equal(r.set("k", "v"), True)
    equal(r.get("k"), "v")
    equal(r.set("k", "w", nx=True), None)
    equal(r.set("k", "w", xx=True, get=True), "v")
    equal(r.getdel("k"), "w")
    equal(r.get("k"), None)
    equal(r.mset({"a": 1, "b": 2}), True)
    equal(r.mget("a", "b", "none"), ["1", "2", None])
    equal(r.incrby("a", 41), 42)
    equal(r.incrbyfloat("f", 1.5), 1.5)
    equal(r.append("b", "xyz"), 4)
    equal(r.getrange("b", 1, -1), "xyz")
    equal(r.setrange("b", 1, "ABC"), 4)
    equal(r.strlen("b"), 4)
    equal(r.delete("a", "b", "f", "none"), 3)
    for wrong in (lambda: r.execute_command("SET", "k"), lambda: r.execute_command("NOSUCH")):
        try:
            wrong()
        except redis.ResponseError:
            continue
        raise AssertionError("an error was expected")


def binary():
    r = client()
    everything = bytes(range(256)) * 100
    r.set(b"\x00\xff", everything)
    equal(r.get(b"\x00\xff"), everything)
    equal(r.delete(b"\x00\xff"), 1)


def pipelines(r):
    pipe = r.pipeline(transaction=False)
    for number in range(1000):
        pipe.set(f"p:{number}", number)
        pipe.incr(f"p:{number}")
    results = pipe.execute()
    equal(results[1::2], list(range(1, 1001)))
    equal(r.unlink(*[f"p:{number}" for number in range(1000)]), 1000)


def transactions(r):
    pipe = r.pipeline(transaction=True)
    for number in range(500):
        pipe.set(f"p:{number}", number).incr(f"p:{number}")
    equal(pipe.execute()[1::2], list(range(1, 501)))
    pipe.set("t", "text").incr("t").get("t")
    results = pipe.execute(raise_on_error=False)
    equal(results[0::2], [True, "text"])
    assert isinstance(results[1], redis.ResponseError)
    equal(r.flushdb(), True)
    with r.pipeline() as pipe:
        pipe.watch("w")
        r.set("w", "changed")
        pipe.multi()
        pipe.set("w", "mine")
        try:
            pipe.execute()
        except redis.WatchError:
            pass
        else:
            raise AssertionError("the watched key had changed")
    equal(r.getdel("w"), "changed")


def watch_loops():
    def increment(pipe):
        value = int(pipe.get("n") or 0)
        pipe.multi()
        pipe.set("n", value + 1)

    def work():
        own = client()
        for _ in range(50):
            own.transaction(increment, "n")
        own.close()

    shared = client()
    shared.delete("n")
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(int(shared.getdel("n")), 200)
    shared.close()


def expiry(r):
    r.set("e", "v", px=30)
    wait_until(lambda: r.get("e") is None)
    r.set("e", "v", ex=100)
    assert 98 <= r.ttl("e") <= 100
    equal(r.persist("e"), True)
    equal(r.ttl("e"), -1)
    equal(r.expire("e", 100, gt=True), False)
    equal(r.pexpireat("e", int(time.time() * 1000) + 50_000), True)
    assert 48_000 <= r.pttl("e") <= 50_000
    equal(r.getex("e", persist=True), "v")
    r.delete("e")


def scanning(r):
    r.mset({f"scan:{number}": number for number in range(500)})
    found = set(r.scan_iter(match="scan:*", count=50))
    equal(found, {f"scan:{number}" for number in range(500)})
    equal(set(r.keys("scan:1?")), {f"scan:1{digit}" for digit in range(10)})
    equal(r.dbsize(), 500)
    equal(r.flushdb(), True)
    equal(r.dbsize(), 0)


def server(r):
    assert r.ping()
    assert "redis_version" in r.info()
    assert r.config_get("maxmemory")
    assert r.client_id() > 0
    r.client_setname("smoke")
    equal(r.client_getname(), "smoke")
    assert any(entry["name"] == "smoke" for entry in r.client_list())
    assert r.command_count() > 50
    assert len(r.time()) == 2


def pooled():
    pool = redis.ConnectionPool.from_url(URL, max_connections=8)
    shared = redis.Redis(connection_pool=pool)
    shared.delete("n")
    # redis-py's pool raises when it is exhausted, so there are as many threads as connections.
    threads = [
        threading.Thread(target=lambda: [shared.incr("n") for _ in range(200)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(int(shared.get("n")), 1600)
    shared.delete("n")


def pubsub(protocol):
    r = client(decode_responses=True, protocol=protocol)
    listener = r.pubsub(ignore_subscribe_messages=True)
    listener.subscribe("news")
    listener.psubscribe("new?")
    listener.ssubscribe("sharded")
    wait_until(lambda: r.pubsub_numpat() == 1 and r.pubsub_shardchannels() == ["sharded"])
    equal(r.publish("news", "hello"), 2)
    equal(r.spublish("sharded", "hi"), 1)
    found = []

    def more():
        message = listener.get_message(timeout=0.01)
        if message:
            found.append((message["type"], message["channel"], message["data"]))
        return len(found) == 3

    wait_until(more)
    equal(
        sorted(found),
        [("message", "news", "hello"), ("pmessage", "news", "hello"), ("smessage", "sharded", "hi")],
    )
    listener.ping()
    listener.close()
    wait_until(lambda: r.pubsub_channels() == [])
    r.close()


def cached():
    # redis-py asks for the version 7.4 before it caches, though all that it uses is in 6.0.
    CacheProxyConnection.MIN_ALLOWED_VERSION = "7.2.0"
    caching = client(decode_responses=True, protocol=3, cache_config=CacheConfig())
    other = client(decode_responses=True, protocol=3)
    cache = caching.get_cache()
    other.flushdb()
    for number in range(100):
        other.set("k", number)
        # What has been told is heeded before the next look into the cache.
        wait_until(lambda: caching.get("k") == str(number))
        equal(cache.size, 1)
    other.hset("h", "f", "v")
    equal(caching.hget("h", "f"), "v")
    equal(caching.mget("k", "none"), ["99", None])
    equal(cache.size, 3)
    other.set("none", "there")
    wait_until(lambda: caching.mget("k", "none") == ["99", "there"])
    other.set("k", "short", px=20)
    wait_until(lambda: caching.get("k") is None)
    other.hset("h", "f", "w")
    wait_until(lambda: caching.hget("h", "f") == "w")
    other.flushdb()
    wait_until(lambda: caching.hget("h", "f") is None)
    caching.close()
    other.close()


def main():
    for protocol in (2, 3):
        for database in (0, 3):
            r = client(decode_responses=True, protocol=protocol, db=database)
            r.flushdb()
            for part in (strings, pipelines, transactions, expiry, scanning, server):
                part(r)
            r.close()
    for protocol in (2, 3):
        pubsub(protocol)
    cached()
    binary()
    pooled()
    watch_loops()
    print("redis-py: ok")


main()
