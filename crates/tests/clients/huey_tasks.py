"""huey with its consumer in threads. Usage: huey_tasks.py PORT"""

import logging
import sys
import threading
import time

from huey import RedisHuey, crontab
from huey.exceptions import TaskException

PORT = int(sys.argv[1])
TIMEOUT = 120

logging.getLogger("huey").setLevel(logging.CRITICAL)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


huey = RedisHuey("smoke", host="127.0.0.1", port=PORT, notify_result=True)
attempts = []
succeeded = threading.Event()


@huey.task()
def add(x, y):
    return x + y


@huey.task(retries=2)
def flaky():
    attempts.append(1)
    if len(attempts) < 3:
        raise ValueError("on purpose")
    succeeded.set()


@huey.task()
def fail():
    raise ValueError("on purpose")


@huey.task()
@huey.lock_task("one-at-a-time")
def locked():
    return "alone"


@huey.task()
def stamped():
    return time.time()


@huey.periodic_task(crontab(minute="0", hour="0", day="30", month="2"))
def never():
    raise AssertionError("there is no such day")


def simple():
    results = [add(number, number) for number in range(50)]
    equal([result(blocking=True, timeout=TIMEOUT) for result in results], list(range(0, 100, 2)))
    pipeline = huey.enqueue(add.s(1, 2).then(add, 3).then(add, 4))
    equal(pipeline.get(blocking=True, timeout=TIMEOUT), [3, 6, 10])


def failing():
    # Each failure is a result of its own, so the third attempt is waited for by other means.
    flaky()
    assert succeeded.wait(TIMEOUT)
    equal(len(attempts), 3)
    try:
        fail()(blocking=True, timeout=TIMEOUT)
    except TaskException as error:
        assert "on purpose" in str(error)
    else:
        raise AssertionError("an error was expected")


def locks():
    equal(locked()(blocking=True, timeout=TIMEOUT), "alone")
    with huey.lock_task("one-at-a-time"):
        equal(huey.is_locked("one-at-a-time"), True)
    equal(huey.is_locked("one-at-a-time"), False)


def delayed():
    before = time.time()
    result = stamped.schedule(delay=1)
    revoked = add.schedule((1, 1), delay=1)
    revoked.revoke()
    # A schedule has whole seconds in huey's eyes.
    assert result(blocking=True, timeout=TIMEOUT) - before >= 0.9
    # The other one is a little later, which may be one round of the scheduler.
    deadline = time.monotonic() + TIMEOUT
    while huey.scheduled_count() > 0:
        assert time.monotonic() < deadline, "a revoked task stays"
        time.sleep(0.01)


def main():
    huey.storage.conn.flushdb()
    consumer = huey.create_consumer(workers=2, periodic=True, check_worker_health=False)
    consumer.start()
    try:
        for part in (simple, failing, locks, delayed):
            part()
    finally:
        consumer.stop(graceful=True)
    equal(huey.pending_count(), 0)
    print("huey: ok")


main()
