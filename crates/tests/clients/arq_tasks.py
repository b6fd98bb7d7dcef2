"""arq with a worker in the same event loop. Usage: arq_tasks.py PORT"""

import asyncio
import logging
import sys
from datetime import timedelta

from arq import Retry, Worker, create_pool
from arq.connections import RedisSettings
from arq.jobs import Job, JobStatus, ResultNotFound

PORT = int(sys.argv[1])
TIMEOUT = 120

logging.getLogger("arq").setLevel(logging.CRITICAL)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


async def add(ctx, x, y):
    return x + y


async def flaky(ctx):
    if ctx["job_try"] < 3:
        raise Retry(defer=0)
    return ctx["job_try"]


async def fail(ctx):
    raise ValueError("on purpose")


async def outcome(job):
    try:
        return await job.result(timeout=TIMEOUT, poll_delay=0.01)
    except ResultNotFound:
        # It came to its end between arq's look for the result and the one at the queue.
        return await job.result(timeout=TIMEOUT, poll_delay=0.01)


async def results(pool):
    jobs = [await pool.enqueue_job("add", number, number) for number in range(40)]
    values = [await outcome(job) for job in jobs]
    equal(values, list(range(0, 80, 2)))
    equal(await jobs[0].status(), JobStatus.complete)
    info = await jobs[0].result_info()
    equal((info.function, info.args, info.success), ("add", (0, 0), True))


async def named_once(pool):
    # As long as asking for its state may take on a busy machine.
    first = await pool.enqueue_job("add", 1, 1, _job_id="once", _defer_by=3)
    equal(await pool.enqueue_job("add", 2, 2, _job_id="once"), None)
    equal(await first.status(), JobStatus.deferred)
    equal(await outcome(first), 2)
    equal(await Job("unheard", pool).status(), JobStatus.not_found)


async def deferred(pool):
    loop = asyncio.get_running_loop()
    before = loop.time()
    job = await pool.enqueue_job("add", 1, 2, _defer_by=timedelta(seconds=0.5))
    equal(await outcome(job), 3)
    assert loop.time() - before >= 0.5


async def failing(pool):
    job = await pool.enqueue_job("flaky")
    equal(await outcome(job), 3)
    job = await pool.enqueue_job("fail")
    try:
        await outcome(job)
    except ValueError as error:
        equal(str(error), "on purpose")
    else:
        raise AssertionError("an error was expected")


async def main():
    pool = await create_pool(RedisSettings(host="127.0.0.1", port=PORT))
    await pool.flushdb()
    workers = [
        Worker(
            functions=[add, flaky, fail],
            redis_pool=pool,
            handle_signals=False,
            poll_delay=0.02,
            max_jobs=8,
        )
        for _ in range(2)
    ]
    running = [asyncio.create_task(worker.async_run()) for worker in workers]
    for part in (results, named_once, deferred, failing):
        await part(pool)
    equal(await pool.zcard("arq:queue"), 0)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await pool.aclose()
    print("arq: ok")


asyncio.run(main())
