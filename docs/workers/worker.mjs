// A worker by node-redis: node worker.mjs PORT
import { createClient } from "redis";

const db = createClient({ socket: { host: "127.0.0.1", port: Number(process.argv[2]) } });
db.on("error", (error) => console.error(error.message));
await db.connect();

const take = "Q.GET LEASE 60000 BLOCK 20000 WORKER node QUEUES {jobs}".split(" ");
for (;;) {
  const taken = (await db.sendCommand(take)) ?? [];
  for (const [queue, token, body, deliveries] of taken) {
    try {
      const result = body.toUpperCase();
      // The result is there if and only if the message is gone.
      await db
        .multi()
        .hSet("{jobs}:results", body, result)
        .addCommand(["Q.ACK", queue, token])
        .exec();
    } catch (error) {
      console.error(`${body} failed at delivery ${deliveries}: ${error.message}`);
      await db.sendCommand(["Q.NACK", queue, token, "DELAY", "1000"]);
    }
  }
}
