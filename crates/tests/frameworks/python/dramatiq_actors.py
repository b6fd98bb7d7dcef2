"""dramatiq with a worker of several threads: results, retries, delays, pipelines, groups, limits, dead letters."""

import threading
import time

import dramatiq
from dramatiq import Worker, group, pipeline
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import GroupCallbacks
from dramatiq.rate_limits import Barrier, BucketRateLimiter, ConcurrentRateLimiter, RateLimitExceeded, WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend as LimitBackend
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend as ResultBackend
from dramatiq.results.errors import ResultFailure, ResultMissing
from server import PATIENCE, client, equal, raises, run, until, url

BROKER = RedisBroker(url=url(), heartbeat_timeout=5_000, maintenance_chance=200_000)
BROKER.add_middleware(Results(backend=ResultBackend(url=url(1))))
LIMITS = LimitBackend(client=client(2))
BROKER.add_middleware(GroupCallbacks(LIMITS))
dramatiq.set_broker(BROKER)
REDIS = client()
TIMEOUT = PATIENCE * 1_000


@dramatiq.actor(store_results=True)
def add(x, y):
    return x + y


@dramatiq.actor(store_results=True)
def total(numbers):
    return sum(numbers)


@dramatiq.actor(store_results=True, max_retries=3, min_backoff=50, max_backoff=200)
def flaky(key, failures):
    tries = REDIS.incr(key)
    if tries <= failures:
        raise ValueError(f"try {tries}")
    return tries


@dramatiq.actor(store_results=True, max_retries=0, throws=ValueError)
def fail():
    raise ValueError("on purpose")


@dramatiq.actor(store_results=True)
def stamp():
    return time.time()


@dramatiq.actor
def note(key, value):
    REDIS.rpush(key, value)


def value(message):
    return message.get_result(block=True, timeout=TIMEOUT)


def results():
    message = add.send(1, 2)
    equal(value(message), 3)
    messages = [add.send(number, number) for number in range(200)]
    equal([value(message) for message in messages], list(range(0, 400, 2)))
    raises(ResultMissing, add.message(1, 1).get_result)
    large = add.send("a" * 200_000, "b")
    equal(len(value(large)), 200_001)


def retries():
    equal(value(flaky.send("tries", 3)), 4)
    error = raises(ResultFailure, value, fail.send())
    assert "on purpose" in str(error), error
    BROKER.join(fail.queue_name)
    dead = REDIS.zcard("dramatiq:default.XQ")
    flaky.send("hopeless", 1_000)
    until("it is given up", lambda: REDIS.zcard("dramatiq:default.XQ") == dead + 1)
    equal(REDIS.get("hopeless"), b"4")


def delays():
    begun = time.time()
    late = stamp.send_with_options(delay=700)
    at_once = value(stamp.send())
    assert value(late) - begun >= 0.7
    assert at_once < value(late)
    equal(REDIS.zcard("dramatiq:default.DQ"), 0)


def composed():
    equal(value((add.message(1, 2) | add.message(3) | add.message(4)).run()), 10)
    together = group(add.message(number, 1) for number in range(20)).run()
    equal(list(together.get_results(block=True, timeout=TIMEOUT)), list(range(1, 21)))
    summed = group(add.message(number, number) for number in range(10))
    summed.add_completion_callback(note.message("called back", "yes"))
    summed.run()
    until("it is called back", lambda: REDIS.lrange("called back", 0, -1) == [b"yes"])
    equal(pipeline([add.message(2, 3), add.message(4)]).run().get_result(block=True, timeout=TIMEOUT), 9)


def limits():
    mutex = ConcurrentRateLimiter(LIMITS, "mutex", limit=1, ttl=60_000)
    with mutex.acquire():
        raises(RateLimitExceeded, mutex.acquire().__enter__)
    with mutex.acquire():
        pass
    bucket = BucketRateLimiter(LIMITS, "bucket", limit=5, bucket=3_600_000)
    equal(passed(bucket, 20), 5)
    window = WindowRateLimiter(LIMITS, "window", limit=5, window=1)
    assert 5 <= passed(window, 20) <= 10
    time.sleep(2)
    assert 1 <= passed(window, 20) <= 10
    # Several threads, of which few are let in.
    several = ConcurrentRateLimiter(LIMITS, "several", limit=3, ttl=60_000)
    inside, most = [], []

    def work():
        with several.acquire(raise_on_failure=False) as acquired:
            if acquired:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.05)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= max(most) <= 3, most
    barrier = Barrier(LIMITS, "barrier")
    barrier.create(3)
    equal(barrier.wait(block=False), False)
    waiting = threading.Thread(target=lambda: barrier.wait(block=True, timeout=TIMEOUT))
    waiting.start()
    until("two are there", lambda: client(2).get("barrier") == b"1")
    equal(barrier.wait(block=False), True)
    waiting.join()


def passed(limiter, count):
    outcomes = []
    for _ in range(count):
        with limiter.acquire(raise_on_failure=False) as acquired:
            outcomes.append(bool(acquired))
    return sum(outcomes)


def dead_workers():
    """A consumer that has fetched and dies: its messages go to another one after its last sign of life."""
    BROKER.declare_queue("orphans")
    other = RedisBroker(url=url(), heartbeat_timeout=500, maintenance_chance=0)
    other.declare_queue("orphans")
    for number in range(2):
        other.enqueue(dramatiq.Message("orphans", "note", ("found", number), {}, {}))
    consumer = other.consume("orphans", prefetch=2)
    equal([next(consumer).args[1] for _ in range(2)], [0, 1])
    fetched = f"dramatiq:__acks__.{other.broker_id}.orphans"
    equal(REDIS.scard(fetched), 2)
    watcher = Worker(BROKER, queues={"orphans"}, worker_threads=1, worker_timeout=100)
    watcher.start()
    try:
        until("somebody else did it", lambda: sorted(REDIS.lrange("found", 0, -1)) == [b"0", b"1"])
        until("nothing is held", lambda: REDIS.exists(fetched) == 0)
    finally:
        watcher.stop()


def main():
    worker = Worker(BROKER, queues={"default"}, worker_threads=4, worker_timeout=100)
    worker.start()
    try:
        run("dramatiq", (results, retries, delays, composed, limits, dead_workers))
        BROKER.join("default")
        equal(REDIS.llen("dramatiq:default"), 0)
        equal(REDIS.keys("dramatiq:__acks__*"), [])
    finally:
        worker.stop()


main()
