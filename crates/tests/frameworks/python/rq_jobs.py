"""RQ with its scheduler and two workers that fork: results, retries, delays, repeats, dependencies, dead work."""

import datetime
import time

import rq_tasks
from rq import Callback, Queue, Repeat, Retry
from rq.command import send_stop_job_command
from rq.job import Job
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry
from rq.worker import Worker
from server import PATIENCE, client, equal, module, run, until, url

REDIS = client()
QUEUE = Queue("jobs", connection=REDIS)
URGENT = Queue("urgent", connection=REDIS)


def state(job):
    return job.get_status(refresh=True)


def outcome(job):
    until(f"{job.func_name} has ended", lambda: state(job) in ("finished", "failed", "stopped", "canceled"))
    return state(job)


def value(job):
    equal(outcome(job), "finished")
    return job.return_value(refresh=True)


def results():
    equal(value(QUEUE.enqueue(rq_tasks.add, 1, 2)), 3)
    with REDIS.pipeline() as pipe:
        many = [QUEUE.prepare_data(rq_tasks.add, (number, number)) for number in range(20)]
        jobs = QUEUE.enqueue_many(many, pipeline=pipe)
        pipe.execute()
    equal([value(job) for job in jobs], list(range(0, 40, 2)))
    blocking = QUEUE.enqueue(rq_tasks.add, 2, 2)
    equal(blocking.latest_result(timeout=PATIENCE).return_value, 4)
    brief = QUEUE.enqueue(rq_tasks.add, 1, 1, result_ttl=1)
    equal(value(brief), 2)
    until("it is forgotten", lambda: not Job.exists(brief.id, REDIS))
    assert jobs[0].id in FinishedJobRegistry(queue=QUEUE)
    jobs[0].delete()
    equal(REDIS.exists(f"rq:job:{jobs[0].id}"), 0)


def retries():
    job = QUEUE.enqueue(rq_tasks.flaky, "tries", 2, retry=Retry(max=3, interval=[0, 1]))
    equal(value(job), 3)
    beaten = QUEUE.enqueue(rq_tasks.fail, on_failure=Callback(rq_tasks.note), retry=Retry(max=1))
    equal(outcome(beaten), "failed")
    assert "on purpose" in beaten.latest_result().exc_string
    until("it is noted", lambda: REDIS.llen("noted") == 2)
    registry = FailedJobRegistry(queue=QUEUE)
    until("it is registered", lambda: beaten.id in registry)
    registry.requeue(beaten.id)
    until("it has failed again", lambda: REDIS.llen("noted") >= 3)


def delays():
    begun = time.time()
    late = QUEUE.enqueue_in(datetime.timedelta(seconds=2), rq_tasks.stamp)
    never = QUEUE.enqueue_in(datetime.timedelta(hours=1), rq_tasks.stamp)
    equal(state(late), "scheduled")
    equal(len(ScheduledJobRegistry(queue=QUEUE)), 2)
    # Its scheduler counts in whole seconds.
    assert value(late) - begun >= 1
    never.cancel()
    equal(state(never), "canceled")
    equal(len(ScheduledJobRegistry(queue=QUEUE)), 0)


def repeats():
    QUEUE.enqueue(rq_tasks.tick, "ticks", repeat=Repeat(times=2, interval=1))
    until("three ticks", lambda: REDIS.llen("ticks") == 3)
    first, *_, last = (float(stamp) for stamp in REDIS.lrange("ticks", 0, -1))
    assert last - first >= 1.5, last - first


def dependencies():
    parts = [QUEUE.enqueue(rq_tasks.add, number, number) for number in range(5)]
    whole = QUEUE.enqueue(rq_tasks.total, depends_on=parts)
    equal(value(whole), 20)
    broken = QUEUE.enqueue(rq_tasks.fail)
    waiting = QUEUE.enqueue(rq_tasks.stamp, depends_on=broken)
    equal(outcome(broken), "failed")
    equal(state(waiting), "deferred")
    waiting.cancel()
    # Several at once, found by one that waits for them all.
    group = [QUEUE.enqueue(rq_tasks.add, 1, number) for number in range(10)]
    equal(sum(value(job) for job in group), 55)


def dead_work():
    # Its process is killed; the worker lives and says so.
    killed = QUEUE.enqueue(rq_tasks.die)
    equal(outcome(killed), "failed")
    long = QUEUE.enqueue(rq_tasks.sleep, 600)
    until("it has begun", lambda: long.id in StartedJobRegistry(queue=QUEUE))
    until("its worker is known", lambda: Job.fetch(long.id, REDIS).worker_name)
    send_stop_job_command(REDIS, long.id)
    equal(outcome(long), "stopped")
    late = QUEUE.enqueue(rq_tasks.sleep, 600, job_timeout=1)
    equal(outcome(late), "failed")
    assert "JobTimeoutException" in late.latest_result().exc_string


def main():
    arguments = ("rq.cli", "worker", "--url", url(), "--with-scheduler", "--quiet", "urgent", "jobs")
    workers = [module(*arguments) for _ in range(2)]
    try:
        until("the workers are there", lambda: len(Worker.all(connection=REDIS)) == 2)
        run("rq", (results, retries, delays, repeats, dependencies, dead_work))
        equal(QUEUE.count + URGENT.count, 0)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()
    equal(Worker.all(connection=REDIS), [])


main()
