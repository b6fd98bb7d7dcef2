"""Where the server is, and what all programs share.

BASALT_URL is redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT, BASALT_CA a file with the authority that a server
with TLS is known by.
"""

import os
import subprocess
import sys
import time

import redis

BASE = os.environ["BASALT_URL"]
AUTHORITY = os.environ.get("BASALT_CA")
PATIENCE = 120


def url(database=0):
    options = f"?ssl_cert_reqs=required&ssl_ca_certs={AUTHORITY}" if AUTHORITY else ""
    return f"{BASE}/{database}{options}"


def client(database=0, **options):
    return redis.Redis.from_url(url(database), **options)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def until(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"did not happen in time: {what}"
        time.sleep(0.01)


def raises(kind, function, *args, **options):
    try:
        function(*args, **options)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


def module(*words):
    """Starts a module of Python as a process of its own, which finds the programs of this folder."""
    folder = os.path.dirname(os.path.abspath(__file__))
    return subprocess.Popen([sys.executable, "-B", "-m", *words], cwd=folder, env=os.environ | {"PYTHONPATH": folder})


def run(name, parts):
    for part in parts:
        begun = time.monotonic()
        part()
        print(f"{name}: {part.__name__} {time.monotonic() - begun:.2f} s", flush=True)
    print(f"{name}: ok")
