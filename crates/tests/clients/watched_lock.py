"""redis-py's lock, given back with WATCH instead of a script."""

from redis.exceptions import LockNotOwnedError
from redis.lock import Lock


class WatchedLock(Lock):
    def do_release(self, expected_token):
        def release(pipe):
            held = pipe.get(self.name)
            if (held.encode() if isinstance(held, str) else held) != expected_token:
                raise LockNotOwnedError("another holds it")
            pipe.multi()
            pipe.delete(self.name)

        self.redis.transaction(release, self.name)
