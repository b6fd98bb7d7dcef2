"""huststore's own test clients, as they use its interface: requests in Python, by GET where they write, too, with the
value in the query or in the body. Through the paths of a node and of its front. Usage: huststore.py PORT"""

import json
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import requests

HOST = f"http://127.0.0.1:{sys.argv[1]}"
PATIENCE = 120
LOOPS = 20
SUBSCRIBERS = 20
ITEMS = 30
CALLS = 60
TEXT = {"content-type": "text/plain"}
# The paths of a node and of its front.
NODE = {"db": f"{HOST}/hustdb", "cache": f"{HOST}/hustcache", "mq": f"{HOST}/hustmq"}
FRONT = {"db": HOST, "cache": f"{HOST}/cache", "mq": HOST}


class Client:
    """A session; what is answered must be this."""

    def __init__(self):
        self.session = requests.Session()

    def ask(self, method, url, expected=200, **more):
        answer = self.session.request(method, url, timeout=PATIENCE, **more)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        assert answer.status_code in wanted, f"{method} {url}: {answer.status_code} {answer.headers}"
        fields = {name.lower() for name in answer.headers}
        assert not fields & {"sync", "fail"}, f"{method} {url}: {fields}"
        return answer

    def get(self, url, expected=200, **more):
        return self.ask("GET", url, expected, **more)

    def post(self, url, body=None, expected=200, **more):
        return self.ask("POST", url, expected, data=body, headers=TEXT, **more)


def equal(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def body_of(size):
    lines = ("".join(random.choice("0123456789") for _ in range(79)) for _ in range(size // 80 + 1))
    return "\n".join(lines)[:size].encode()


def items_and_tables(client, paths, path_of_get):
    """Put, get what was put, remove it, and find nothing: of each kind."""
    base, missing = paths["db"], 404
    for at in range(LOOPS):
        key, body = f"huststore_test_key_{at}%20%3F", body_of(1024 + at)
        put = client.post(f"{base}/put?key={key}", body)
        equal(put.headers["version"], "1")
        got = client.get(f"{base}/{path_of_get}?key={key}")
        equal((got.content, got.headers["version"]), (body, "1"))
        second = client.get(f"{base}/put?key={key}&val=second&ver=1")
        equal(second.headers["version"], "2")
        client.get(f"{base}/put?key={key}&val=third&ver=1", expected=(401, 404))
        equal(client.get(f"{base}/get?key={key}").content, b"second")
        client.get(f"{base}/del?key={key}")
        client.get(f"{base}/exist?key={key}", expected=missing)

        item = f"tb=hash_tb&key={key}"
        client.post(f"{base}/hset?{item}", body)
        equal(client.get(f"{base}/hget?{item}").content, body)
        client.get(f"{base}/hdel?{item}")
        client.get(f"{base}/hexist?{item}", expected=(404, 412))

        member = f"member {at}".encode()
        client.post(f"{base}/sadd?tb=set_tb", member)
        client.post(f"{base}/sismember?tb=set_tb", member)
        client.post(f"{base}/srem?tb=set_tb", member)
        client.post(f"{base}/sismember?tb=set_tb", member, expected=(404, 412))

        client.post(f"{base}/zadd?tb=zset_tb&score={at}", member)
        equal(client.post(f"{base}/zadd?tb=zset_tb&score=5&opt=1", member).content, b"%d" % (at + 5))
        equal(client.post(f"{base}/zscore?tb=zset_tb", member).content, b"%d" % (at + 5))
        listed = client.get(f"{base}/zrangebyrank?tb=zset_tb&offset=0&size=10&noval=false").json()
        equal([element["val"] for element in listed], [at + 5])
        client.post(f"{base}/zrem?tb=zset_tb", member)
        client.post(f"{base}/zismember?tb=zset_tb", member, expected=(404, 412))


def cache(client, paths):
    base = paths["cache"]
    for at in range(LOOPS):
        key, body = f"huststore_test_key_{at}", body_of(1024 + at)
        client.post(f"{base}/put?key={key}&ttl=60", body)
        equal(client.get(f"{base}/get?key={key}").content, body)
        assert 0 < int(client.get(f"{base}/ttl?key={key}").content) <= 60
        client.get(f"{base}/del?key={key}")
        client.get(f"{base}/exist?key={key}", expected=404)
        item = f"tb=cache_tb&key={key}"
        client.post(f"{base}/hset?{item}", body)
        equal(client.get(f"{base}/hget?{item}").content, body)
        client.get(f"{base}/hdel?{item}")
        client.get(f"{base}/hget?{item}", expected=404)


def queue(client):
    """A node's queue."""
    base = NODE["mq"]
    name = "queue=hustmqqueue"
    for at in range(10):
        client.get(f"{base}/put?{name}&item=item{at}")
        client.post(f"{base}/put?{name}&priori=2", body_of(1024 + at))
    equal(client.get(f"{base}/stat?{name}").json()["ready"], [10, 0, 10])
    for at in range(10):
        equal(len(client.get(f"{base}/get?{name}&worker=testworker").content), 1024 + at)
    for at in range(10):
        taken = client.get(f"{base}/get?{name}&worker=testworker{at}&ack=false")
        equal(taken.content, b"item%d" % at)
        client.get(f"{base}/ack?{name}&token={taken.headers['ack-token']}")
    client.get(f"{base}/get?{name}&worker=testworker", expected=404)
    workers = {worker["w"] for worker in client.get(f"{base}/worker?{name}").json()}
    assert {"testworker", "testworker9"} <= workers, workers
    for setting in ("timeout?minute=1", "max?num=1024", "lock?on=1", "lock?on=0", "purge?priori=0"):
        verb, parameter = setting.split("?")
        client.get(f"{base}/{verb}?{name}&{parameter}")
    assert any(one["queue"] == "hustmqqueue" for one in client.get(f"{base}/stat_all").json())


def queue_of_the_front(client):
    """Its test script's put, get, ack, evput, worker and purge."""
    name = "queue=hustmqhafront"
    client.ask("PUT", f"{HOST}/put?{name}", data="test_body", headers=TEXT)
    client.ask("PUT", f"{HOST}/put?{name}&item=hustmqteststr")
    client.get(f"{HOST}/autost")
    equal(client.get(f"{HOST}/get?{name}&worker=testworker").content, b"test_body")
    taken = client.get(f"{HOST}/get?{name}&worker=testworker&ack=false")
    equal(taken.content, b"hustmqteststr")
    client.get(f"{HOST}/ack?{name}&peer={taken.headers['ack-peer']}&token={taken.headers['ack-token']}")
    client.get(f"{HOST}/get?{name}&worker=testworker", expected=404)
    assert any(worker["w"] == "testworker" for worker in client.get(f"{HOST}/worker?{name}").json())
    for setting in ("timeout?minute=1", "max?num=1024", "lock?on=1", "lock?on=0", "purge?priori=0"):
        verb, parameter = setting.split("?")
        client.get(f"{HOST}/{verb}?{name}&{parameter}")
    equal(client.get(f"{HOST}/stat?{name}").json()["ready"], [0, 0, 0])


def waiting_worker(pool):
    """Its test script's evget and evput, as one, with all messages that are put before and after."""
    name = "queue=hustmqhaqueue"

    def take():
        client = Client()
        return [client.get(f"{HOST}/evget?{name}&worker=testworker").content for _ in range(ITEMS)]

    taken = [pool.submit(take) for _ in range(3)]
    client = Client()
    put = [b"hustmqteststr%d" % at for at in range(3 * ITEMS)]
    for item in put:
        client.get(f"{NODE['mq']}/put?{name}&item={item.decode()}")
    equal(sorted(item for one in taken for item in one.result(PATIENCE)), sorted(put))


def subscribers(pool, paths):
    """Its test script's evsub and evpub: each subscriber reads all, and goes on by `Index` where it is outside."""
    name = f"queue=hustpushqueue{len(paths['mq'])}"
    begun = threading.Barrier(SUBSCRIBERS + 1)

    def subscribe():
        client, index, read = Client(), 0, []
        begun.wait(PATIENCE)
        while len(read) < ITEMS:
            answer = client.get(f"{HOST}/evsub?{name}&idx={index}", expected=(200, 403))
            if answer.status_code == 403:
                index = int(answer.headers["index"].split("-")[0]) + 1
                continue
            read.append(answer.content)
            index += 1
        return read

    all_read = [pool.submit(subscribe) for _ in range(SUBSCRIBERS)]
    begun.wait(PATIENCE)
    client = Client()
    published = [b"jobstest%d" % at for at in range(ITEMS)]
    for item in published[: ITEMS // 2]:
        answer = client.get(f"{paths['mq']}/pub?{name}&item={item.decode()}")
        assert "count" not in answer.headers, answer.headers
    for item in published[ITEMS // 2 :]:
        client.post(f"{paths['mq']}/pub?{name}&ttl=7200", item)
    for read in all_read:
        equal(read.result(PATIENCE), published)
    # From anywhere, again.
    equal(client.get(f"{paths['mq']}/sub?{name}&idx={ITEMS}").content, published[-1])
    outside = client.get(f"{paths['mq']}/sub?{name}&idx={ITEMS + 1}", expected=(401, 404))
    if outside.status_code == 401:
        equal(outside.headers["index"], f"0-{ITEMS}")
    stat = client.get(f"{NODE['mq']}/stat?{name}").json()
    equal((stat["type"], stat["si"], stat["ci"]), (1, 0, ITEMS))
    # As its script realigns nodes.
    client.get(f"{paths['mq']}/pub?{name}&item=jobstest&idx={stat['ci'] + 2}")
    equal(client.get(f"{HOST}/evsub?{name}&idx={ITEMS}", expected=403).headers["index"], f"{ITEMS + 1}-{ITEMS + 2}")


def fibonacci(number):
    return 1 if number <= 2 else fibonacci(number - 1) + fibonacci(number - 2)


def calls(pool):
    """Its test scripts do_get and do_post."""

    def work():
        client, done = Client(), 0
        while True:
            call = client.post(f"{HOST}/do_post")
            if call.content == b"end":
                client.post(f"{HOST}/do_post?token={call.headers['token']}", "ended")
                return done
            equal(call.headers["queue"], "fibonacci")
            result = str(fibonacci(int(call.content)))
            client.post(f"{HOST}/do_post?token={call.headers['token']}", result)
            done += 1

    def ask(first):
        client = Client()
        for at in range(first, CALLS, 5):
            number = at % 10 + 1
            answer = client.post(f"{HOST}/do_get?queue=fibonacci", str(number))
            equal(answer.content, str(fibonacci(number)).encode())

    workers = [pool.submit(work) for _ in range(3)]
    for asked in [pool.submit(ask, first) for first in range(5)]:
        asked.result(PATIENCE)
    client = Client()
    for _ in workers:
        equal(client.post(f"{HOST}/do_get?queue=fibonacci", "end").content, b"ended")
    equal(sum(worker.result(PATIENCE) for worker in workers), CALLS)
    nothing = {"unassigned_tasks": 0, "assigned_tasks": 0, "free_tasks": 1024, "total": 1024}
    equal(client.get(f"{HOST}/do_get_status").json(), nothing)


def main():
    client = Client()
    for paths, path_of_get in ((NODE, "get"), (FRONT, "get"), (FRONT, "get2")):
        items_and_tables(client, paths, path_of_get)
        cache(client, paths)
    queue(client)
    queue_of_the_front(client)
    with ThreadPoolExecutor(SUBSCRIBERS + 5) as pool:
        waiting_worker(pool)
        for paths in (NODE, FRONT):
            subscribers(pool, paths)
        calls(pool)
    print(json.dumps({"loops": LOOPS, "subscribers": SUBSCRIBERS, "calls": CALLS}))


main()
