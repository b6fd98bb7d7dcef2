// A reply as a tree. Large ones are shown by parts.

import { button, h } from "./dom.js";
import { isBinary, show } from "./bytes.js";

const OPEN_MAX = 20;
const PART = 200;
const TEXT_MAX = 4000;

export function tree(reply, depth = 0) {
  if (reply === null) return h("span.other", {}, "(nil)");
  if (typeof reply === "string" || isBinary(reply)) return text(reply);
  if (typeof reply !== "object") return h("span.number", {}, String(reply));
  if (typeof reply.$error === "string") return h("span.bad", {}, reply.$error);
  const isArray = Array.isArray(reply);
  const entries = isArray ? reply.map((value, at) => [at, value]) : Object.entries(reply);
  const kind = isArray ? "array" : "map";
  if (entries.length === 0) return h("span.other", {}, `(empty ${kind})`);
  const list = h("ol");
  const details = h("details", {}, h("summary", {}, `${kind} of ${entries.length}`), list);
  let shown = 0;
  const more = () => {
    const next = entries.slice(shown, shown + PART);
    shown += next.length;
    list.append(...next.map(([name, value]) => item(isArray ? `${name + 1})` : `${show(name, 500)}:`, value, depth)));
    if (shown < entries.length) {
      const rest = h("li", {}, button(`${entries.length - shown} more`, () => { rest.remove(); more(); }, { kind: "small" }));
      list.append(rest);
    }
  };
  details.addEventListener("toggle", () => { if (details.open && shown === 0) more(); });
  details.open = depth < 2 && entries.length <= OPEN_MAX || depth === 0;
  if (details.open) more();
  return details;
}

function item(name, value, depth) {
  return h("li", {}, h("span.other", {}, name), " ", tree(value, depth + 1));
}

// Text of several lines, INFO for one, is shown as such.
function text(reply) {
  if (typeof reply === "string" && reply.includes("\n")) {
    const lines = reply.slice(0, 100_000).split(/\r?\n/).map((line) => (line === "" ? "" : show(line, TEXT_MAX)));
    return h("span.text", {}, lines.join("\n"));
  }
  return h("span.text", {}, `"${show(reply, TEXT_MAX).replace(/^""$/, "")}"`);
}
