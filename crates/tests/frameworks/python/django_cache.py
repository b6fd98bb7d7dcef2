"""Django's own cache on Redis and django-redis, and sessions in both, asked through Django's test client."""

import threading
import time

import django
from django.conf import settings
from django.core.cache import caches
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.cache import cache_page
from server import client, equal, raises, run, until, url

PLURAL = {"KEY_PREFIX": "site", "VERSION": 1}
settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="tests",
    CACHES={
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url(), **PLURAL},
        "other": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": url(1),
            "OPTIONS": {"COMPRESSOR": "django_redis.compressors.zlib.ZlibCompressor"},
            **PLURAL,
        },
    },
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware"],
)
django.setup()

RENDERED = []


def count(request):
    request.session["count"] = request.session.get("count", 0) + 1
    request.session["seen"] = {"paths": [request.path], "bytes": "ä" * 1_000}
    return HttpResponse(str(request.session["count"]))


def leave(request):
    request.session.flush()
    return HttpResponse("gone")


def renew(request):
    request.session.cycle_key()
    return HttpResponse(request.session.session_key)


@cache_page(60)
def page(request):
    RENDERED.append(request.path)
    return HttpResponse(f"rendered {len(RENDERED)}")


urlpatterns = [path("count", count), path("leave", leave), path("renew", renew), path("page", page)]


def values(cache):
    everything = {"text": "ä", "number": 7, "float": 1.5, "none": None, "list": [1, {"a": (2, 3)}], "bytes": b"\0\xff"}
    assert not cache.set_many(everything, timeout=60)
    equal(cache.get_many([*everything, "unknown"]), everything)
    missing = object()
    assert cache.get("none", missing) is None and cache.get("unknown", missing) is missing
    equal(cache.add("text", "other"), False)
    equal(cache.add("new", 1, timeout=60), True)
    equal([cache.incr("number"), cache.incr("number", 10), cache.decr("number", 3)], [8, 18, 15])
    raises(ValueError, cache.incr, "unknown")
    equal(cache.has_key("text"), True)
    equal(cache.get_or_set("made", lambda: "once", 60), "once")
    equal(cache.get_or_set("made", lambda: "twice", 60), "once")
    equal([cache.delete("text"), cache.delete("text")], [True, False])
    cache.delete_many(["float", "list"])
    equal(cache.get("float"), None)
    cache.set("versioned", "one", version=1)
    cache.set("versioned", "two", version=2)
    equal([cache.get("versioned"), cache.get("versioned", version=2)], ["one", "two"])
    cache.incr_version("number")
    equal([cache.get("number"), cache.get("number", version=2)], [None, 15])
    large = "x" * 3_000_000
    cache.set("large", large)
    equal(cache.get("large"), large)


def expiry(cache):
    cache.set("brief", "value", timeout=0.2 if cache is caches["other"] else 1)
    equal(cache.get("brief"), "value")
    cache.set("touched", "value", timeout=1)
    equal(cache.touch("touched", 60), True)
    equal(cache.touch("unknown", 60), False)
    until("it is gone", lambda: cache.get("brief") is None)
    time.sleep(0.2)
    equal(cache.get("touched"), "value")
    cache.set("never", "value", timeout=None)
    cache.set("at_once", "value", timeout=0)
    equal([cache.get("never"), cache.get("at_once")], ["value", None])


def threads(cache):
    cache.set("counter", 0)
    won = []

    def work(number):
        if cache.add("race", number):
            won.append(number)
        for _ in range(100):
            cache.incr("counter")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    equal(cache.get("counter"), 800)
    equal([cache.get("race")], won)


def own():
    for part in (values, expiry, threads):
        caches["default"].clear()
        part(caches["default"])
    equal(client().dbsize() > 0, True)
    caches["default"].clear()
    equal(client().dbsize(), 0)


def django_redis():
    cache = caches["other"]
    for part in (values, expiry, threads, more_of_django_redis):
        cache.clear()
        part(cache)
    cache.clear()
    equal(client(1).dbsize(), 0)


def more_of_django_redis(cache):
    cache.set_many({f"item:{number}": number for number in range(300)}, timeout=60)
    cache.set("another", 1, timeout=None)
    equal(len(cache.keys("item:*")), 300)
    equal(sorted(cache.iter_keys("item:1?")), sorted(f"item:1{digit}" for digit in range(10)))
    assert 58 <= cache.ttl("item:7") <= 60
    equal([cache.ttl("another"), cache.ttl("unknown")], [None, 0])
    equal(cache.expire("another", 100), True)
    assert 98_000 <= cache.pttl("another") <= 100_000
    equal(cache.persist("another"), True)
    equal(cache.delete_pattern("item:*"), 300)
    equal(cache.set("nx", 1, nx=True), True)
    assert not cache.set("nx", 2, nx=True)
    with cache.lock("lock", timeout=5):
        equal(cache.lock("lock", timeout=5).acquire(blocking=False), False)
    brief = cache.lock("lock", timeout=0.2)
    equal(brief.acquire(blocking=False), True)
    equal(brief.extend(60), True)
    brief.release()


def sessions():
    for alias in ("default", "other"):
        settings.SESSION_CACHE_ALIAS = alias
        caches[alias].clear()
        one, two = Client(), Client()
        equal([one.get("/count").content for _ in range(3)], [b"1", b"2", b"3"])
        equal(two.get("/count").content, b"1")
        equal(client({"default": 0, "other": 1}[alias]).dbsize(), 2)
        before = one.cookies["sessionid"].value
        equal(one.get("/renew").status_code, 200)
        assert one.cookies["sessionid"].value != before
        equal(one.get("/count").content, b"4")
        one.get("/leave")
        equal(one.get("/count").content, b"1")
        stranger = Client()
        stranger.cookies["sessionid"] = before
        equal(stranger.get("/count").content, b"1")


def pages():
    caches["default"].clear()
    RENDERED.clear()
    equal([Client().get("/page").content for _ in range(3)], [b"rendered 1"] * 3)
    caches["default"].clear()
    equal(Client().get("/page").content, b"rendered 2")


def main():
    for database in (0, 1):
        client(database).flushdb()
    run("django", (own, django_redis, sessions, pages))


main()
