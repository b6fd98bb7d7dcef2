// The server, by POST /v1/command. Every request proves its own right: the password is kept in this
// module's memory only, and gone with the page.

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
    const response = await send(JSON.stringify(words), db);
    if (response.ok) return response.json();
    const problem = await response.json().catch(() => ({}));
    const isLogin = response.status === 401 && ["NOAUTH", "WRONGPASS"].includes(problem.code);
    if (!isLogin) {
      throw new Refused(response.status, problem.code ?? "ERR", problem.detail ?? `HTTP ${response.status}`);
    }
    await login(problem.code === "WRONGPASS");
  }
}

async function send(body, db) {
  const headers = { "Content-Type": "application/json", "X-Basalt": "1" };
  if (authorization) headers.Authorization = authorization;
  try {
    const options = { method: "POST", headers, body, cache: "no-store", credentials: "same-origin" };
    const response = await fetch(db === 0 ? "/v1/command" : `/v1/command?db=${db}`, options);
    tell(true);
    return response;
  } catch {
    tell(false);
    throw new Refused(0, "UNREACHABLE", "the server does not answer");
  }
}

// All requests that wait for the password wait for the same question.
async function login(isWrong) {
  asking ??= askPassword(isWrong).finally(() => { asking = undefined; });
  const password = await asking;
  if (password === undefined) throw new Refused(401, "NOAUTH", "the server needs a password");
  const bytes = new TextEncoder().encode(`default:${password}`);
  authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`;
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
