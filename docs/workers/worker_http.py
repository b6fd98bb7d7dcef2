"""A worker by HTTP, with requests: python worker_http.py PORT"""
import sys

import requests

api = f"http://127.0.0.1:{sys.argv[1]}/v1"
http = requests.Session()

while True:
    take = {"op": "get", "lease_ms": 60_000, "wait": 20, "worker": "requests"}
    answer = http.post(f"{api}/queues/{{jobs}}", params=take, timeout=30)
    answer.raise_for_status()
    for message in answer.json()["messages"] if answer.status_code == 200 else []:
        token, body = message["token"], message["body"]
        try:
            result = body.upper()
        except Exception as error:
            print(f"{body!r} failed: {error}", file=sys.stderr)
            again = {"op": "nack", "delay_ms": 1_000}
            http.post(f"{api}/queues/{{jobs}}/messages/{token}", params=again, timeout=30)
            continue
        # The result is there if and only if the message is gone.
        done = [["HSET", "{jobs}:results", body, result], ["Q.ACK", "{jobs}", token]]
        answer = http.post(f"{api}/batch", params={"atomic": 1}, json=done, timeout=30)
        answer.raise_for_status()
