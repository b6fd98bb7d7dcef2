// Where the server is, and what all programs share.
//
// BASALT_URL is redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT, BASALT_CA a file with the authority that a
// server with TLS is known by.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const url = new URL(process.env.BASALT_URL);
const PATIENCE_MS = 120_000;

/** What ioredis, and what is built on it, wants. */
export const options = {
  host: url.hostname,
  port: Number(url.port),
  ...(url.username && { username: url.username, password: url.password }),
  ...(url.protocol === 'rediss:' && { tls: authority() }),
};

/** What node-redis wants. */
export const nodeRedisOptions = {
  username: options.username,
  password: options.password,
  socket: { host: options.host, port: options.port, ...(options.tls && { tls: true, ...options.tls }) },
};

function authority() {
  return { ca: readFileSync(process.env.BASALT_CA) };
}

/** Waits until a condition holds. */
export async function until(what, condition) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen in time: ${what}`);
    await sleep(10);
  }
}

/** Runs the parts of a program one after the other, and ends it. */
export async function run(name, parts) {
  const limit = setTimeout(() => fail(new Error(`${name} does not end`)), 2 * PATIENCE_MS);
  process.on('unhandledRejection', fail);
  try {
    for (const part of parts) {
      const begun = Date.now();
      await part();
      console.log(`${name}: ${part.name} ${Date.now() - begun} ms`);
    }
  } catch (error) {
    fail(error);
  }
  clearTimeout(limit);
  console.log(`${name}: ok`);
  process.exit(0);
}

/** Ends the program: an error that nobody waits for. */
export function fail(error) {
  console.error(error);
  process.exit(1);
}

export { sleep };
