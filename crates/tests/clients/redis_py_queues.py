"""What applications build from redis-py's locks, scripts, pipelines, lists, sorted sets and streams. Usage: redis_py_queues.py PORT"""

import sys
import threading
import time

import redis
from redis.exceptions import LockNotOwnedError, WatchError

PORT = int(sys.argv[1])


def client(**options):
    return redis.Redis(host="127.0.0.1", port=PORT, decode_responses=True, **options)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def in_threads(count, work):
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def locks():
    r = client()
    first = r.lock("lock", timeout=120)
    second = r.lock("lock", timeout=120)
    equal(first.acquire(blocking=False), True)
    equal(first.locked(), True)
    equal(first.owned(), True)
    equal(second.acquire(blocking=False), False)
    equal(second.acquire(blocking_timeout=0.05), False)
    assert 0 < r.pttl("lock") <= 120_000
    r.delete("lock")
    brief = r.lock("lock", timeout=0.03)
    equal(brief.acquire(blocking=False), True)
    # Its time is over, so the next one gets it.
    equal(second.acquire(blocking_timeout=120), True)
    equal(brief.owned(), False)
    r.delete("lock")


def locks_exclude():
    shared = client()
    shared.delete("lock", "total")

    def work(_):
        own = client()
        for _ in range(15):
            with own.lock("lock", timeout=30, sleep=0.001):
                # Not atomic on purpose: the lock has to make it so.
                own.set("total", int(own.get("total") or 0) + 1)
        own.close()

    in_threads(4, work)
    equal(shared.getdel("total"), "60")
    equal(shared.exists("lock"), 0)
    taken = shared.lock("lock", timeout=30)
    equal(taken.acquire(), True)
    equal(taken.extend(30), True)
    assert 30_000 < shared.pttl("lock") <= 60_000
    equal(taken.reacquire(), True)
    assert shared.pttl("lock") <= 30_000
    shared.set("lock", "another")
    try:
        taken.release()
    except LockNotOwnedError:
        pass
    else:
        raise AssertionError("a lock that another holds was given back")
    shared.delete("lock")


def scripts():
    r = client()
    take = r.register_script(
        "local taken = redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)\n"
        "redis.call('LTRIM', KEYS[1], ARGV[1], -1)\n"
        "return {#taken, taken}"
    )
    r.rpush("list", *range(5))
    equal(take(keys=["list"], args=[2]), [2, ["0", "1"]])
    # The server has forgotten it; the client sends it again.
    r.script_flush()
    equal(take(keys=["list"], args=[2]), [2, ["2", "3"]])
    pipe = r.pipeline()
    take(keys=["list"], args=[9], client=pipe)
    pipe.exists("list")
    equal(pipe.execute(), [[1, ["4"]], 0])
    equal(r.eval_ro("return ARGV[1]", 0, "x"), "x")
    waited = []
    waiting = threading.Thread(target=lambda: waited.append(client().blpop("awaited", timeout=20)))
    waiting.start()
    while r.info("clients")["blocked_clients"] == 0:
        time.sleep(0.001)
    # It is served when the script has ended.
    equal(r.eval("redis.call('RPUSH', KEYS[1], 'x', 'y') return redis.call('LLEN', KEYS[1])", 1, "awaited"), 2)
    waiting.join()
    equal([tuple(pair) for pair in waited], [("awaited", "x")])
    r.delete("awaited")
    try:
        r.eval("return redis.call('INCR', KEYS[1], 1)", 1, "list")
    except redis.ResponseError as error:
        assert "Wrong number of args" in str(error), error
    else:
        raise AssertionError("an error was expected")


def pipelines():
    r = client()
    for transaction in (False, True):
        pipe = r.pipeline(transaction=transaction)
        for number in range(500):
            pipe.rpush("list", number).sadd("set", number % 50).zincrby("scores", 1, number % 20)
            pipe.hset("hash", mapping={"last": number, f"field{number}": "v"}).lpop("list")
        replies = pipe.execute()
        equal(len(replies), 2500)
        equal(replies[4::5], [str(number) for number in range(500)])
        equal((r.scard("set"), r.hlen("hash"), r.exists("list")), (50, 501, 0))
        equal(sum(score for _, score in r.zrange("scores", 0, -1, withscores=True)), 500.0)
        pipe.lpush("set", "x").scard("set").hincrby("hash", "field1", 1).hget("hash", "last")
        replies = pipe.execute(raise_on_error=False)
        equal([isinstance(reply, redis.ResponseError) for reply in replies], [True, False] * 2)
        equal(replies[1::2], [50, "499"])
        equal(r.delete("set", "hash", "scores"), 3)


def handing_over():
    """Consumers that block take each element once, in order of arrival of the consumers' turn."""
    shared = client()
    taken = [[] for _ in range(4)]

    def consume(number):
        own = client()
        while True:
            element = own.blmove("queue", f"working:{number}", 120, "LEFT", "RIGHT")
            equal(own.lrem(f"working:{number}", 1, element), 1)
            if element == "end":
                own.close()
                return
            taken[number].append(element)

    def produce(_):
        for number in range(200):
            shared.rpush("queue", number)
        shared.rpush("queue", *["end"] * 4)

    in_threads(5, lambda number: consume(number) if number < 4 else produce(number))
    equal(sorted(int(element) for part in taken for element in part), list(range(200)))
    for part in taken:
        equal(part, sorted(part, key=int))
    equal(shared.keys("*"), [])


def delayed():
    """A queue by time: whoever removes an element may do it."""
    shared = client()
    now = time.time()
    shared.zadd("due", {f"task{number}": now - 100 + number for number in range(200)})
    taken = []

    def work(_):
        own = client()
        while tasks := own.zrange("due", "-inf", now, byscore=True, offset=0, num=1):
            if own.zrem("due", tasks[0]):
                taken.append(tasks[0])
        own.close()

    in_threads(3, work)
    equal(sorted(taken), sorted(f"task{number}" for number in range(101)))
    equal(shared.zcard("due"), 99)
    equal(shared.zpopmin("due"), [("task101", now + 1)])
    shared.delete("due")


def limited():
    """A sliding window in one transaction."""
    r = client()

    def is_admitted(at_ms):
        pipe = r.pipeline()
        pipe.zremrangebyscore("window", 0, at_ms - 1000)
        pipe.zadd("window", {f"{at_ms}": at_ms})
        pipe.zcard("window")
        pipe.pexpire("window", 60_000)
        return pipe.execute()[2] <= 10

    equal([is_admitted(at_ms) for at_ms in range(0, 1500, 50)].count(True), 10)
    r.delete("window")


def groups():
    shared = client()
    shared.xgroup_create("events", "workers", id="0", mkstream=True)
    for number in range(100):
        shared.xadd("events", {"number": number})
    seen = []

    def work(number):
        own = client()
        while True:
            found = own.xreadgroup("workers", f"worker{number}", {"events": ">"}, count=7, block=20)
            if not found:
                own.close()
                return
            for _, entries in found:
                # One worker never acknowledges.
                if number > 0:
                    seen.extend(int(fields["number"]) for _, fields in entries)
                    own.xack("events", "workers", *[identity for identity, _ in entries])

    in_threads(3, work)
    left = shared.xpending("events", "workers")["pending"]
    equal(len(seen) + left, 100)
    cursor = "0-0"
    while left:
        cursor, entries, _ = shared.xautoclaim("events", "workers", "heir", 0, cursor, count=10)
        seen.extend(int(fields["number"]) for _, fields in entries)
        shared.xack("events", "workers", *[identity for identity, _ in entries])
        if cursor == "0-0":
            break
    equal(sorted(seen), list(range(100)))
    equal(shared.xpending("events", "workers")["pending"], 0)
    equal(shared.xtrim("events", maxlen=10, approximate=False), 90)
    shared.delete("events")


def optimistic():
    """WATCH on collections: one of two writers has to begin again."""
    r = client()
    r.rpush("list", "a", "b")
    with r.pipeline() as pipe:
        pipe.watch("list")
        element = pipe.lindex("list", 0)
        r.lset("list", 0, "changed")
        pipe.multi()
        pipe.lrem("list", 1, element)
        try:
            pipe.execute()
        except WatchError:
            pass
        else:
            raise AssertionError("the watched list had changed")
    equal(r.lrange("list", 0, -1), ["changed", "b"])
    r.delete("list")


def main():
    client().flushdb()
    for part in (
        locks,
        locks_exclude,
        scripts,
        pipelines,
        handing_over,
        delayed,
        limited,
        groups,
        optimistic,
    ):
        part()
    print("redis-py, queues: ok")


main()
