"""A worker by a WebSocket, with websockets: python worker_websocket.py PORT"""
import json
import sys

import requests
from websockets.sync.client import connect

host = f"127.0.0.1:{sys.argv[1]}"
http = requests.Session()

for_a_minute = f"ws://{host}/v1/queues/%7Bjobs%7D?lease_ms=60000&worker=websockets"
with connect(for_a_minute) as socket:
    for text in socket:
        message = json.loads(text)
        if message["op"] != "message":
            continue  # The answer to a nack.
        token, body = message["token"], message["body"]
        try:
            result = body.upper()
        except Exception as error:
            print(f"{body!r} failed: {error}", file=sys.stderr)
            socket.send(json.dumps({"op": "nack", "token": token, "delay_ms": 1_000}))
            continue
        # The result is there if and only if the message is gone; the next one comes then. What
        # needs no result is acknowledged here: {"op": "ack", "token": token}.
        done = [["HSET", "{jobs}:results", body, result], ["Q.ACK", "{jobs}", token]]
        answer = http.post(f"http://{host}/v1/batch", params={"atomic": 1}, json=done, timeout=30)
        answer.raise_for_status()
