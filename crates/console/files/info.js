// What INFO says, once a second while somebody looks, and what it has said in the last five minutes.

import { command, parseInfo } from "./client.js";
import { renew } from "./renew.js";

const PERIOD_MS = 1000;
const SAMPLES_MAX = 300;
const SECTIONS = ["server", "clients", "memory", "persistence", "stats", "keyspace"];

export const history = [];
const watchers = new Set();
const renewing = renew(PERIOD_MS, ask, () => watchers.size > 0);
let last;

/** Calls `watcher(info, history)` with each new state; returns what ends that. */
export function watch(watcher) {
  watchers.add(watcher);
  if (last) watcher(last, history);
  renewing.now();
  return () => watchers.delete(watcher);
}

async function ask() {
  try {
    take(parseInfo(await command(["INFO", ...SECTIONS])), performance.now());
  } catch (error) {
    watchers.forEach((watcher) => watcher(undefined, history, error));
    throw error;
  }
}

function take(info, now) {
  const before = last;
  last = Object.assign(info, { now });
  if (before && before.run_id === info.run_id) history.push(sample(before, info));
  else history.length = 0;
  if (history.length > SAMPLES_MAX) history.shift();
  watchers.forEach((watcher) => watcher(info, history));
}

function sample(before, info) {
  const seconds = (info.now - before.now) / 1000;
  const grown = (name) => Math.max(0, Number(info[name]) - Number(before[name]));
  const [hits, misses] = [grown("keyspace_hits"), grown("keyspace_misses")];
  return {
    at: Date.now(),
    commands: grown("total_commands_processed") / seconds,
    // Nobody has asked for a key: there is no ratio.
    hits: hits + misses > 0 ? hits / (hits + misses) : undefined,
    memory: Number(info.used_memory),
    resident: Number(info.used_memory_rss),
    received: grown("total_net_input_bytes") / seconds,
    sent: grown("total_net_output_bytes") / seconds,
  };
}

/** The databases that have keys: `{db, keys, expires}`. */
export function databases(info) {
  return Object.entries(info).filter(([name]) => /^db\d+$/.test(name)).map(([name, text]) => {
    const parts = Object.fromEntries(text.split(",").map((part) => part.split("=")));
    return { db: Number(name.slice(2)), keys: Number(parts.keys), expires: Number(parts.expires) };
  });
}
