// Changes that are only made if the value is still the one that was shown: a script compares and
// writes while nobody else can. If it is another one, both are shown, and the user decides.

import { button, field, h, notice } from "./dom.js";
import { command } from "./client.js";
import { ask, conflict } from "./dialogs.js";
import { fromBytes, fromHex, isBinary, same, toBytes, toHex, toWord } from "./bytes.js";

// ARGV: the expected value, whether nothing is expected instead, the new value, the element's name.
const head = (read) => `local now = ${read}
if (ARGV[2] == "1") ~= not now or (now and now ~= ARGV[1]) then return {0, now} end
`;
const SCRIPTS = {
  string: `${head("redis.call('GET', KEYS[1])")}redis.call('SET', KEYS[1], ARGV[3], 'KEEPTTL') return {1}`,
  hash: `${head("redis.call('HGET', KEYS[1], ARGV[4])")}redis.call('HSETEX', KEYS[1], 'KEEPTTL', 'FIELDS', 1, ARGV[4], ARGV[3]) return {1}`,
  list: `${head("redis.call('LINDEX', KEYS[1], ARGV[4])")}redis.call('LSET', KEYS[1], ARGV[4], ARGV[3]) return {1}`,
  zset: `${head("redis.call('ZSCORE', KEYS[1], ARGV[4])")}redis.call('ZADD', KEYS[1], ARGV[3], ARGV[4]) return {1}`,
  // The element is made one that nothing else is, and removed by that.
  "list remove": `${head("redis.call('LINDEX', KEYS[1], ARGV[4])")}redis.call('LSET', KEYS[1], ARGV[4], ARGV[3])
redis.call('LREM', KEYS[1], 1, ARGV[3]) return {1}`,
};

/**
 * Writes a value where `expected` was: "done", or "theirs" if the user keeps what somebody else has
 * written, or `undefined` if nothing was done.
 */
export async function replace(kind, { db, key, element = "" }, expected, value) {
  for (;;) {
    const isNothing = expected === null;
    const words = ["EVAL", SCRIPTS[kind], "1", toWord(key), isNothing ? "" : toWord(expected), isNothing ? "1" : "0", toWord(value), toWord(element)];
    const [isDone, now = null] = await command(words, { db });
    if (isDone === 1) return "done";
    const choice = await conflict(now, value);
    if (choice !== "mine") return choice;
    expected = now;
  }
}

/** A text area for bytes: as text, or as hexadecimal digits if they are none. */
export function editor(value, rows = 8) {
  let isHex = isBinary(value);
  const area = h("textarea", { rows: String(rows), spellcheck: "false", "aria-label": "Value" });
  area.value = isHex ? toHex(toBytes(value)) : value;
  const wrong = h("div", {});
  const form = button(isHex ? "As text" : "As hex", () => {
    const current = read();
    if (current === undefined || !isHex === isBinary(current) && isHex) return;
    if (isHex && isBinary(current)) return wrong.replaceChildren(notice("These bytes are no text (UTF-8).", "bad"));
    isHex = !isHex;
    area.value = isHex ? toHex(toBytes(current)) : current;
    form.textContent = isHex ? "As text" : "As hex";
  }, { kind: "small" });
  function read() {
    wrong.replaceChildren();
    if (!isHex) {
      // A text area has no carriage returns: those of a value that had them are put back.
      return typeof value === "string" && value.includes("\r\n") ? area.value.replace(/\r?\n/g, "\r\n") : area.value;
    }
    const bytes = fromHex(area.value);
    if (bytes === undefined) wrong.replaceChildren(notice("Write two hexadecimal digits for each byte.", "bad"));
    return bytes && fromBytes(bytes);
  }
  return { element: h("div.stack", {}, area, h("div.tools", {}, form), wrong), area, read };
}

/** Asks for the fields of an element: `[name, control]`. `send` returns an error's text if it fails. */
export async function askFields(title, fields, action, send) {
  const wrong = h("div", {});
  const body = h("div.stack", {}, fields.map(([name, control]) => (control.read ? h("div.stack", {}, h("span.soft", {}, name), control.element) : field(name, control))), wrong);
  const validate = async () => {
    try {
      const text = await send();
      if (text) wrong.replaceChildren(notice(text, "bad"));
      return !text;
    } catch (error) {
      wrong.replaceChildren(notice(error.message, "bad"));
      return false;
    }
  };
  return (await ask(title, body, [[action, true, "primary"]], { validate })) === true;
}

/** Has a value edited in a dialog, and written if it is still what it was. True if it may have changed. */
export async function editElement(kind, place, title, current) {
  const control = editor(current);
  let value;
  const isSent = await askFields(title, [["Value", control]], "Save", async () => {
    value = control.read();
    return value === undefined ? "This is no value." : undefined;
  });
  if (!isSent || same(value, current)) return false;
  return (await replace(kind, place, current, value)) !== undefined;
}
