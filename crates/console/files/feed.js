// What happens, as it happens: server-sent events by fetch, since an EventSource sends no token.

import { open } from "./client.js";

/**
 * Calls `tell({id, name, data})` for each event until `signal` ends it or the server does. Returns
 * when it has ended; throws what the server has refused.
 */
export async function follow(path, tell, signal) {
  const response = await open(path, "text/event-stream", signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    events.map(read).filter(Boolean).forEach(tell);
  }
}

/** An event of its lines; nothing for a comment or a field that is not for us. */
function read(lines) {
  const event = { id: undefined, name: "message", data: undefined };
  for (const line of lines.split("\n")) {
    const [, field, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
  }
  return event.data === undefined ? undefined : event;
}
