// A command line as words, split as redis-cli does: quotes, and \xHH and the like within double ones.

import { fromBytes } from "./bytes.js";

const ESCAPES = { n: 10, r: 13, t: 9, b: 8, a: 7 };

/** Returns `{words}`, each as a reply would have it, or `{error}`. */
export function split(line) {
  const encoder = new TextEncoder();
  const words = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line[at] ?? "")) at += 1;
    if (at >= line.length) return { words };
    const bytes = [];
    const quote = line[at] === '"' || line[at] === "'" ? line[at] : undefined;
    if (quote) at += 1;
    for (;;) {
      const character = at < line.length ? String.fromCodePoint(line.codePointAt(at)) : undefined;
      if (character === undefined) {
        if (quote) return { error: "a quote is open" };
        break;
      }
      if (quote ? character === quote : /\s/.test(character)) break;
      if (quote && character === "\\") {
        const [byte, length] = escape(line.slice(at + 1), quote);
        bytes.push(...(typeof byte === "number" ? [byte] : encoder.encode(byte)));
        at += 1 + length;
      } else {
        bytes.push(...encoder.encode(character));
        at += character.length;
      }
    }
    if (quote) {
      at += 1;
      if (at < line.length && !/\s/.test(line[at])) return { error: "a space must follow a closing quote" };
    }
    words.push(fromBytes(Uint8Array.from(bytes)));
  }
}

// What follows a backslash: the byte, or text, and how many characters it took.
function escape(rest, quote) {
  if (quote === "'") return rest[0] === "'" ? ["'", 1] : ["\\", 0];
  const hex = /^x([0-9a-fA-F]{2})/.exec(rest);
  if (hex) return [parseInt(hex[1], 16), 3];
  if (rest === "") return ["\\", 0];
  const character = String.fromCodePoint(rest.codePointAt(0));
  return [ESCAPES[character] ?? character, character.length];
}
