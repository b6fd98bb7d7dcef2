// A queue: its messages by state, its settings and workers.

import { bytes, count, duration, time } from "../format.js";
import { button, facts, fill, h, notice, table } from "../dom.js";
import { confirm, confirmByName } from "../dialogs.js";
import { command } from "../client.js";
import { askFields, editor } from "../edit.js";
import { look } from "./collection.js";
import { show, toWord } from "../bytes.js";

const PART = 50;
const STATES = ["ready", "delayed", "leased", "dead"];
const BODY_MAX = 200;

export async function view(root, { db, key, isUnlocked, changed }) {
  const word = toWord(key);
  const [stat, settings, workers] = await Promise.all([["Q.STAT", word], ["Q.CONFIG", "GET", word], ["Q.WORKERS", word]].map((words) => command(words, { db })));
  const body = h("div", { role: "tabpanel", "aria-label": "Messages" });
  const tabs = STATES.map((state) => button(`${state} ${count(stat[state])}`, () => choose(state), { role: "tab" }));
  const list = h("div.tabs", { role: "tablist", "aria-label": "State of the messages", onkeydown: (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const at = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
    choose(STATES[at]);
    tabs[at].focus();
  } }, tabs);
  fill(root, h("div.title", {}, list, h("span.space"), isUnlocked ? button("Put a message", put, { kind: "small" }) : null), body,
    h("div.title", {}, h("h2", {}, "Totals and settings")), h("div.body", {}, h("div.columns", {}, totals(stat), facts(Object.entries(settings).map(([name, value]) => [name, show(value)])))),
    workers.length === 0 ? null : workerTable(workers));
  await choose(STATES.find((state) => stat[state] > 0) ?? "ready");

  async function choose(state) {
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(STATES[at] === state));
      tab.tabIndex = STATES[at] === state ? 0 : -1;
    });
    await messages(state);
  }
  async function messages(state) {
    const rows = [];
    const shown = h("div", {});
    const more = button("More", load);
    const tools = h("div.tools", {}, more, isUnlocked && stat[state] > 0 ? [
      state === "dead" ? button("Revive all", () => act("Revive all dead messages?", "They are ready again, as new ones.", "Revive", ["Q.REVIVE", word, "ALL"])) : null,
      state === "leased" ? null : button(`Purge ${state} ones`, () => purge(state), { kind: "danger" })] : null);
    fill(body, shown, h("div.body", {}, tools));
    await load();
    async function load() {
      try {
        // From the last one on: that is there again.
        const from = rows.length === 0 ? [] : ["FROM", rows.at(-1).id];
        const part = await command(["Q.PEEK", word, "STATE", state, ...from, "COUNT", String(PART + 1)], { db });
        const fresh = part.filter((message) => message.id !== rows.at(-1)?.id);
        rows.push(...fresh);
        more.hidden = part.length <= PART;
      } catch (error) {
        return fill(shown, notice(error.message, "bad"));
      }
      fill(shown, rows.length === 0 ? h("p.empty", {}, `No message is ${state}.`) : table(`Messages: ${state}`, columns(state), rows));
    }
  }
  function columns(state) {
    const until = { delayed: "Ready at", leased: "Lease ends" }[state];
    return [
      { name: "ID", kind: "nowrap mono", of: (message) => message.id },
      { name: "Priority", kind: "number optional", of: (message) => String(message.priority) },
      { name: "Put", kind: "nowrap optional", of: (message) => time(message.put) },
      { name: "Deliveries", kind: "number", of: (message) => String(message.deliveries) },
      ...(until ? [{ name: until, kind: "nowrap", of: (message) => time(message.until) }] : []),
      ...(state === "leased" ? [{ name: "Worker", kind: "optional", of: (message) => show(message.worker || "–") }] : []),
      { name: "Body", kind: "mono", of: (message) => show(message.body, BODY_MAX) },
      { label: "Actions", kind: "actions", of: (message) => [
        button("View", () => look(`Message ${message.id}`, message.body), { kind: "small", "aria-label": `View ${message.id}` }),
        isUnlocked && state === "dead" ? button("Revive", () => send(["Q.REVIVE", word, message.id]), { kind: "small", "aria-label": `Revive ${message.id}` }) : ""] },
    ];
  }
  async function put() {
    const message = editor("", 4);
    const isPut = await askFields("Put a message", [["Body", message]], "Put", async () => {
      const value = message.read();
      if (value === undefined) return "This is no value.";
      await command(["Q.PUT", word, toWord(value)], { db });
      return undefined;
    });
    if (isPut) changed("It was put.");
  }
  async function purge(state) {
    const text = `All messages that are ${state} are removed, and cannot be brought back.`;
    if (await confirmByName("Purge this queue?", text, show(key), "Purge")) await send(["Q.PURGE", word, "STATE", state]);
  }
  async function act(title, text, name, words) {
    if (await confirm(title, text, name, "primary")) await send(words);
  }
  async function send(words) {
    try {
      changed(`${count(await command(words, { db }))} messages.`);
    } catch (error) {
      changed(error.message);
    }
  }
}

function totals(stat) {
  const rest = Object.entries(stat).filter(([name]) => name.startsWith("total-"));
  return facts([
    ["bytes", bytes(stat.bytes)], ["oldest ready", stat.ready > 0 ? duration(stat["oldest-ready"] / 1000) : "–"],
    ...rest.map(([name, value]) => [name.slice(6), count(value)]),
  ]);
}

function workerTable(workers) {
  const names = Object.keys(workers[0]);
  return h("div", {}, h("div.title", {}, h("h2", {}, "Workers")),
    table("Workers", names.map((name) => ({ name, kind: "mono", of: (worker) => show(worker[name]) })), workers));
}
