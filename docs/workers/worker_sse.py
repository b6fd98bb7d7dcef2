"""A worker by server-sent events, with sseclient: python worker_sse.py PORT"""
import json
import sys

import requests
import sseclient

api = f"http://127.0.0.1:{sys.argv[1]}/v1"
http = requests.Session()
wanted = {"lease_ms": 60_000, "worker": "sseclient"}

# It connects again by itself, and gets once more what it held.
for event in sseclient.SSEClient(f"{api}/queues/{{jobs}}", params=wanted):
    if event.event == "problem":
        raise SystemExit(event.data)
    if event.event != "json":
        continue
    message = json.loads(event.data)
    token, body = message["token"], message["body"]
    try:
        result = body.upper()
    except Exception as error:
        print(f"{body!r} failed: {error}", file=sys.stderr)
        again = {"op": "nack", "delay_ms": 1_000}
        http.post(f"{api}/queues/{{jobs}}/messages/{token}", params=again, timeout=30)
        continue
    # The result is there if and only if the message is gone; the next one comes then.
    done = [["HSET", "{jobs}:results", body, result], ["Q.ACK", "{jobs}", token]]
    http.post(f"{api}/batch", params={"atomic": 1}, json=done, timeout=30).raise_for_status()
