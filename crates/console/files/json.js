// JSON with its own numbers and escapes, indented: reading it into values would change both.

/** The text indented; `undefined` if it is not JSON. */
export function indented(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  let [result, depth] = ["", 0];
  const line = () => `\n${"  ".repeat(depth)}`;
  // Strings, punctuation, everything else: the text is known to be JSON.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/gs)) {
    if (token === "{" || token === "[") {
      depth += 1;
      result += token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      result = /[[{]\s*$/.test(result) && isOpen(result) ? result.trimEnd() + token : result + line() + token;
    } else if (token === ",") result += token + line();
    else result += token === ":" ? ": " : token;
  }
  return result;
}

// Whether the last thing written is an opening bracket with its new line, not one within a string.
function isOpen(result) {
  return /[[{]\n *$/.test(result);
}
