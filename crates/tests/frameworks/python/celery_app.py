"""The application of celery_jobs.py, which its worker and its beat load."""

import os
import ssl
import time

from celery import Celery
from server import AUTHORITY, BASE, client

app = Celery("jobs", broker=f"{BASE}/0", backend=f"{BASE}/1")
app.conf.update(
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": 3_600, "priority_steps": [0, 5, 9], "queue_order_strategy": "priority"},
    worker_prefetch_multiplier=1,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    result_extended=True,
    beat_schedule={"often": {"task": "celery_app.tick", "schedule": 0.5}},
    beat_max_loop_interval=1,
)
if AUTHORITY:
    encrypted = {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_ca_certs": AUTHORITY}
    app.conf.update(broker_use_ssl=encrypted, redis_backend_use_ssl=encrypted)


@app.task
def add(x, y):
    return x + y


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, autoretry_for=(ValueError,), max_retries=3, default_retry_delay=0)
def flaky(self, failures):
    if self.request.retries < failures:
        raise ValueError(f"retry {self.request.retries}")
    return self.request.retries


@app.task
def stamp():
    return time.time()


@app.task(rate_limit="5/s")
def limited():
    return time.time()


@app.task
def tick():
    client(2).rpush("ticks", time.time())


@app.task
def sleep(seconds):
    client(2).incr("sleeping")
    time.sleep(seconds)
    return "awake"


@app.task
def die_once():
    """Kills its process the first time; it is delivered again."""
    if client(2).incr("deaths") == 1:
        os.kill(os.getpid(), 9)
    return int(client(2).get("deaths"))
