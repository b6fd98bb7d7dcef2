"""Celery with Redis as broker and as result backend, and a worker in a thread. Usage: celery_tasks.py PORT"""

import sys
import time

from celery import Celery, chain, chord, group
from celery.contrib.testing.worker import start_worker

PORT = int(sys.argv[1])
URL = f"redis://127.0.0.1:{PORT}"
TIMEOUT = 120

app = Celery("smoke", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.update(
    broker_connection_retry_on_startup=True,
    task_default_queue="smoke",
    result_expires=600,
    # Fetched one by one and acknowledged late, so that the broker's bookkeeping is at work.
    worker_prefetch_multiplier=1,
    task_acks_late=True,
)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


@app.task
def add(x, y):
    return x + y


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def fail():
    raise ValueError("on purpose")


@app.task(bind=True, max_retries=3)
def retried(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task
def stamped():
    return time.time()


def simple():
    equal(add.delay(2, 3).get(timeout=TIMEOUT), 5)
    results = [add.delay(number, number) for number in range(30)]
    equal([result.get(timeout=TIMEOUT) for result in results], list(range(0, 60, 2)))
    assert 0 < app.backend.client.ttl(app.backend.get_key_for_task(results[0].id)) <= 600
    results[0].forget()
    equal(app.backend.client.exists(app.backend.get_key_for_task(results[0].id)), 0)


def failing():
    result = fail.delay()
    try:
        result.get(timeout=TIMEOUT)
    except ValueError as error:
        equal(str(error), "on purpose")
    else:
        raise AssertionError("an error was expected")
    equal(result.state, "FAILURE")
    equal(retried.delay().get(timeout=TIMEOUT), 2)


def composed():
    equal(chain(add.s(1, 2), add.s(3), add.s(4)).delay().get(timeout=TIMEOUT), 10)
    numbers = group(add.s(number, 1) for number in range(10)).delay()
    equal(numbers.get(timeout=TIMEOUT), list(range(1, 11)))
    for size in (1, 2, 25):
        result = chord((add.s(number, 1) for number in range(size)), total.s()).delay()
        equal(result.get(timeout=TIMEOUT), sum(range(1, size + 1)))


def delayed():
    before = time.time()
    # As long as the next one may take on a busy machine.
    result = stamped.apply_async(countdown=3)
    at_once = stamped.delay()
    assert at_once.get(timeout=TIMEOUT) - before < result.get(timeout=TIMEOUT) - before
    assert result.get() - before >= 3


def main():
    app.backend.client.flushall()
    with start_worker(app, pool="solo", loglevel="CRITICAL", perform_ping_check=False):
        for part in (simple, failing, composed, delayed):
            part()
    # Everything has been acknowledged.
    with app.connection_for_read() as connection:
        broker = connection.default_channel.client
        equal(broker.llen("smoke"), 0)
        equal(broker.hlen("unacked"), 0)
        equal(broker.zcard("unacked_index"), 0)
    print("celery: ok")


main()
