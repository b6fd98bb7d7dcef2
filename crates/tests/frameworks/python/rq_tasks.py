"""What the workers of rq_jobs.py do."""

import os
import time

from rq import get_current_job
from server import client


def add(x, y):
    return x + y


def total():
    return sum(job.return_value() for job in get_current_job().fetch_dependencies())


def fail():
    raise ValueError("on purpose")


def flaky(key, failures):
    tries = client().incr(key)
    if tries <= failures:
        raise ValueError(f"try {tries}")
    return tries


def stamp():
    return time.time()


def tick(key):
    return client().rpush(key, time.time())


def die():
    os.kill(os.getpid(), 9)


def sleep(seconds):
    time.sleep(seconds)
    return "awake"


def note(job, connection, *_rest):
    connection.rpush("noted", f"{job.id}:{job.get_status()}")
