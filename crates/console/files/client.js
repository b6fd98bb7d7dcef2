// The server, by POST /v1/command. Every request proves its own right by a token that a password was
// exchanged for: it is kept in this module's memory only, and gone with the page.

let authorization;
let asking;
let askPassword = async () => undefined;
const listeners = new Set();

/** What the server has refused, in its own words. */
export class Refused extends Error {
  constructor(status, code, detail) {
    super(detail);
    Object.assign(this, { name: "Refused", status, code });
  }
}

/** Names what asks the user for a password. */
export function onLogin(ask) {
  askPassword = ask;
}

/** Is told whether the server answers. */
export function onReachable(listener) {
  listeners.add(listener);
}

const tell = (isReachable) => listeners.forEach((listener) => listener(isReachable));

/** Runs a command; words are text or `{b64}`. Returns its reply. */
export async function command(words, { db = 0 } = {}) {
  for (;;) {
    const used = authorization;
    const response = await send(db === 0 ? "/v1/command" : `/v1/command?db=${db}`, words);
    if (response.ok) return response.json();
    if (response.status !== 401) throw await refusal(response);
    // Meanwhile another request may have had the user asked.
    if (used === authorization) await login();
  }
}

/** Opens what does not end by itself. */
export async function open(path, accept, signal) {
  for (;;) {
    const used = authorization;
    const headers = { Accept: accept, "X-Basalt": "1", ...(used && { Authorization: used }) };
    const response = await fetch(path, { headers, signal, cache: "no-store", credentials: "same-origin" });
    if (response.ok) return response;
    if (response.status !== 401) throw await refusal(response);
    if (used === authorization) await login();
  }
}

async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refused(response.status, problem.code ?? "ERR", problem.detail ?? `HTTP ${response.status}`);
}

async function send(path, body) {
  const headers = { "Content-Type": "application/json", "X-Basalt": "1" };
  if (authorization) headers.Authorization = authorization;
  try {
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), cache: "no-store", credentials: "same-origin" });
    tell(true);
    return response;
  } catch {
    tell(false);
    throw new Refused(0, "UNREACHABLE", "the server does not answer");
  }
}

// All requests that wait for the password wait for the same question.
function login() {
  asking ??= signIn().finally(() => { asking = undefined; });
  return asking;
}

async function signIn() {
  authorization = undefined;
  for (let isWrong = false; ; isWrong = true) {
    const password = await askPassword(isWrong);
    if (password === undefined) throw new Refused(401, "NOAUTH", "the server needs a password");
    const response = await send("/v1/login", { password });
    if (response.ok) {
      authorization = `Bearer ${(await response.json()).token}`;
      return;
    }
    if (response.status !== 401) throw await refusal(response);
  }
}

/** Text of `field:value` lines as an object. */
export function parseInfo(text) {
  const info = {};
  for (const line of text.split("\r\n")) {
    const at = line.indexOf(":");
    if (at > 0 && !line.startsWith("#")) info[line.slice(0, at)] = line.slice(at + 1);
  }
  return info;
}

/** What `console` is set to: anything but `yes` changes nothing. */
export async function mode() {
  const reply = await command(["CONFIG", "GET", "console"]).catch((error) => {
    if (error.status === 0 || error.status === 401) throw error;
    return {};
  });
  return reply.console === "yes" ? "yes" : "read-only";
}

/** What the pages share. */
export const session = { isReadOnly: true };
