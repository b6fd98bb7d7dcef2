// Keys and values are bytes. A reply is text, or {"$b64": …} if it is no UTF-8; a word of a command
// is text, or {"b64": …}.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

// What would be invisible, break the line, or turn the direction of what stands beside it.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\\/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

export const isBinary = (reply) => typeof reply === "object" && reply !== null && typeof reply.$b64 === "string";

/** The bytes of a reply. */
export function toBytes(reply) {
  if (!isBinary(reply)) return encoder.encode(String(reply));
  return Uint8Array.from(atob(reply.$b64), (character) => character.charCodeAt(0));
}

/** A word of a command, from a reply. */
export function toWord(reply) {
  return isBinary(reply) ? { b64: reply.$b64 } : String(reply);
}

/** A reply, from bytes: text if they are text. */
export function fromBytes(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return { $b64: btoa(text) };
  }
}

export function same(one, other) {
  return isBinary(one) === isBinary(other) && (isBinary(one) ? one.$b64 === other.$b64 : one === other);
}

/** Shows bytes on one line, each as itself or escaped. */
export function show(reply, most = 2000) {
  if (isBinary(reply)) return escapeBytes(toBytes(reply), most);
  const text = String(reply);
  const shown = text.slice(0, most).replace(UNSEEN, (character) => SHORT[character] ?? escapeOf(character));
  return text.length > most ? `${shown}…` : shown === "" ? '""' : shown;
}

/** Shows text with its lines. */
export function showText(text) {
  return text.replace(UNSEEN, (character) => ("\n\t\\".includes(character) ? character : escapeOf(character)));
}

function escapeOf(character) {
  const code = character.codePointAt(0);
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

function escapeBytes(bytes, most) {
  let text = "";
  for (const byte of bytes.subarray(0, most)) {
    text += byte >= 32 && byte < 127 && byte !== 92 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return bytes.length > most ? `${text}…` : text;
}

/** Offset, sixteen bytes, and what is readable of them. */
export function hexDump(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    const halves = `${hex.slice(0, 8).join(" ").padEnd(23)}  ${hex.slice(8).join(" ").padEnd(23)}`;
    lines.push(`${at.toString(16).padStart(8, "0")}  ${halves}  ${text}`);
  }
  return lines.join("\n");
}

export function toHex(bytes) {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  return pairs.map((pair, at) => pair + (at % 16 === 15 ? "\n" : " ")).join("").trimEnd();
}

/** Bytes of hexadecimal digits; `undefined` if they are none. */
export function fromHex(text) {
  const digits = text.replace(/\s+/g, "");
  if (digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** A key as a part of this page's address, and back. */
export function toAddress(reply) {
  return isBinary(reply) ? `b:${reply.$b64}` : `t:${reply}`;
}

export function fromAddress(text) {
  return text.startsWith("b:") ? { $b64: text.slice(2) } : text.slice(2);
}
