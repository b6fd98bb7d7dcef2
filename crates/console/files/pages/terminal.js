// Any command, with what COMMAND DOCS says of it, and its reply as a tree.

import { button, field, fill, h, notice } from "../dom.js";
import { command, session } from "../client.js";
import { commandOf, completions, danger, reference } from "../reference.js";
import { confirmCommand } from "../dialogs.js";
import { show, toWord } from "../bytes.js";
import { split } from "../words.js";
import { tree } from "../tree.js";

const CHOICES_MAX = 8;
const BLOCKS_MAX = 200;
const HISTORY_MAX = 500;

export const page = { title: "Command line", path: "commands", key: "t", render };

// In memory only: a line may have a password in it.
const history = [];
const blocks = [];

function render(root) {
  let commands = new Map();
  const log = h("div.panel.log", { role: "log", "aria-label": "Replies", tabindex: "0" }, blocks);
  const list = h("ul.choices", { id: "choices", role: "listbox", "aria-label": "Commands", hidden: true });
  const hint = h("p.soft.hint", { id: "hint" });
  const input = h("input", {
    type: "text", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "data-search": true,
    "aria-label": "Command", "aria-expanded": "false", "aria-controls": "choices", "aria-autocomplete": "list",
    "aria-describedby": "hint", placeholder: "HGETALL user:7",
  });
  const db = h("input", { type: "number", min: "0", value: "0" });
  const run = h("button.primary", { type: "submit" }, "Run");
  const form = h("form.line", { onsubmit }, list, input, run);
  root.append(
    h("div.head", {}, h("h1", {}, "Command line"), h("span.space"),
      h("label.check", {}, "Database", db), button("Clear", () => { blocks.length = 0; fill(log); })),
    h("div.stack", {}, log, h("div", {}, form, hint)));

  let choices = [];
  let chosen = -1;
  let place = history.length;

  function suggest() {
    choices = completions(commands, input.value, CHOICES_MAX);
    chosen = -1;
    fill(list, choices.map((one, at) => h("li", {
      id: `choice-${at}`, role: "option", "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); accept(at); },
    }, h("code", {}, one.name.toUpperCase()), h("span", {}, one.doc?.summary ?? ""))));
    mark();
    list.hidden = choices.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    const current = commandOf(commands, input.value);
    fill(hint, current ? [h("code", {}, current.usage), h("br"), current.doc?.summary ?? ""] : "Tab completes, ↑ and ↓ go through what was run before.");
  }
  function mark() {
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `choice-${chosen}`);
  }
  function accept(at) {
    input.value = `${choices[at].name.toUpperCase()} `;
    suggest();
  }
  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }
  function recall(step) {
    place = Math.min(Math.max(place + step, 0), history.length);
    input.value = history[place] ?? "";
    suggest();
    close();
  }
  input.addEventListener("input", suggest);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step && !list.hidden) {
      chosen = (chosen + step + choices.length) % choices.length;
      mark();
    } else if (step) recall(step);
    else if (event.key === "Tab" && !event.shiftKey && !list.hidden) accept(Math.max(chosen, 0));
    else if (event.key === "Enter" && !list.hidden && chosen >= 0) accept(chosen);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });

  async function onsubmit(event) {
    event.preventDefault();
    const line = input.value.trim();
    if (line === "") return;
    if (history.at(-1) !== line) history.push(line);
    if (history.length > HISTORY_MAX) history.shift();
    place = history.length;
    const { words, error } = split(line);
    if (error) return append(line, notice(error, "bad"));
    const refusal = await mayRun(words);
    if (refusal === false) return input.focus();
    input.value = "";
    suggest();
    if (refusal) return append(line, notice(refusal, "bad"));
    const start = performance.now();
    try {
      const reply = await command(words.map(toWord), { db: Number(db.value) || 0 });
      append(line, h("div.tree", {}, tree(reply)), performance.now() - start);
    } catch (problem) {
      append(line, h("div.tree", {}, h("span.bad", {}, problem.message)), performance.now() - start);
    }
  }
  // False if the user does not want it after all, text if it may not be, else undefined.
  async function mayRun(words) {
    const named = commandOf(commands, `${show(words[0])} ${show(words[1] ?? "")}`);
    if (!named) return session.isReadOnly ? "The console is read-only, and this command is not known." : undefined;
    const why = danger(named);
    const mayChange = named.flags.includes("write") || named.groups.includes("@scripting");
    if (session.isReadOnly && (mayChange || why && !/^(client list|config get|info|keys|slowlog (get|len))$/.test(named.name))) {
      return "The console is read-only (option console).";
    }
    return why && !(await confirmCommand(named.name.toUpperCase(), why)) ? false : undefined;
  }
  function append(line, answer, ms) {
    const took = ms === undefined ? null : h("time", {}, `${ms.toFixed(1)} ms`);
    const block = h("article", {}, h("div.asked", {}, h("span", {}, line), took), answer);
    blocks.push(block);
    log.append(block);
    if (blocks.length > BLOCKS_MAX) blocks.shift().remove();
    log.scrollTop = log.scrollHeight;
  }

  reference().then((loaded) => { commands = loaded; suggest(); }, (error) => fill(hint, error.message));
  suggest();
  log.scrollTop = log.scrollHeight;
  input.focus();
}
