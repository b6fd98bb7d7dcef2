"""A worker by redis-py: python worker_redis.py PORT"""
import sys

import redis

# A connection that waits for longer than the server does is never cut off by its own clock.
db = redis.Redis(port=int(sys.argv[1]), decode_responses=True, socket_timeout=30)

while True:
    taken = db.execute_command(
        "Q.GET", "LEASE", 60_000, "BLOCK", 20_000, "WORKER", "redis-py", "QUEUES", "{jobs}"
    )
    for queue, token, body, deliveries, _put_ms, _priority in taken or []:
        try:
            result = body.upper()
        except Exception as error:
            # Again in a second; with deliveries-max set, dead at last.
            print(f"{body!r} failed at delivery {deliveries}: {error}", file=sys.stderr)
            db.execute_command("Q.NACK", queue, token, "DELAY", 1_000)
            continue
        with db.pipeline(transaction=True) as transaction:
            # The result is there if and only if the message is gone.
            transaction.hset("{jobs}:results", body, result)
            transaction.execute_command("Q.ACK", queue, token)
            transaction.execute()
