"""Celery with a worker that forks and its beat, both processes of their own: results, retries, delays, schedules,
canvases, rate limits, revocations, and a process that dies in its task."""

import tempfile
import time

from celery import chain, chord, group
from celery.exceptions import TaskRevokedError
from celery_app import add, app, die_once, flaky, limited, sleep, stamp, total
from server import PATIENCE, client, equal, module, raises, run, until

REDIS = client(2)


def value(result):
    return result.get(timeout=PATIENCE)


def results():
    equal(value(add.delay(1, 2)), 3)
    many = [add.delay(number, number) for number in range(50)]
    equal([value(result) for result in many], list(range(0, 100, 2)))
    equal(value(flaky.delay(2)), 2)
    equal(str(raises(ValueError, value, flaky.delay(9))), "retry 3")
    equal(many[0].name, "celery_app.add")
    assert 0 < app.backend.client.ttl(app.backend.get_key_for_task(many[0].id)) <= 86_400


def delays():
    begun = time.time()
    late = stamp.apply_async(countdown=2)
    at_once = value(stamp.delay())
    assert value(late) - begun >= 2
    assert at_once < value(late)


def schedules():
    # Two seconds of ticks; a busy worker runs the first ones late.
    until("nine ticks", lambda: REDIS.llen("ticks") >= 9)
    stamps = [float(at) for at in REDIS.lrange("ticks", 0, 8)]
    assert stamps[8] - stamps[0] >= 1, stamps


def canvases():
    equal(value(chain(add.s(1, 2), add.s(3), add.s(4)).delay()), 10)
    equal(value(group(add.s(number, 1) for number in range(20)).delay()), list(range(1, 21)))
    nested = chord([chain(add.s(number, 1), add.s(1)) for number in range(10)], total.s())
    equal(value(nested.delay()), 65)
    equal(value(chain(group(add.s(1, 1), add.s(2, 2)), total.s(), add.s(10)).delay()), 16)


def limits():
    stamps = sorted(value(result) for result in [limited.delay() for _ in range(8)])
    assert stamps[-1] - stamps[0] >= 1, stamps


def revocations():
    never = add.apply_async((1, 1), countdown=5)
    never.revoke()
    raises(TaskRevokedError, value, never)
    long = sleep.delay(600)
    until("it sleeps", lambda: REDIS.get("sleeping") == b"1")
    long.revoke(terminate=True)
    raises(TaskRevokedError, value, long)
    # It answers over pub/sub of its own.
    pongs = app.control.inspect(timeout=2, limit=1).ping()
    equal([pong["ok"] for pong in pongs.values()], ["pong"])


def dead_work():
    equal(value(die_once.delay()), 2)


def settled():
    broker = client(0)
    until("all is acknowledged", lambda: broker.hlen("unacked") == 0 and broker.zcard("unacked_index") == 0)
    equal(broker.llen("celery"), 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        common = ("celery", "-A", "celery_app")
        worker = module(*common, "worker", "--concurrency", "2", "--loglevel", "CRITICAL", "--without-mingle")
        schedule = ("--schedule", f"{folder}/schedule", "--pidfile", "")
        beat = module(*common, "beat", "--loglevel", "CRITICAL", *schedule)
        try:
            run("celery", (results, delays, schedules, canvases, limits, revocations, dead_work, settled))
        finally:
            for process in (beat, worker):
                process.terminate()
            for process in (beat, worker):
                process.wait()


main()
