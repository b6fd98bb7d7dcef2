// A string: as text, as JSON, as bytes.

import { button, fill, h, notice } from "../dom.js";
import { bytes as size } from "../format.js";
import { command } from "../client.js";
import { editor, replace } from "../edit.js";
import { hexDump, isBinary, showText, toBytes, toWord } from "../bytes.js";
import { indented } from "../json.js";

const WHOLE_MAX = 1024 * 1024;
const PART = 64 * 1024;
const HEX_MAX = 64 * 1024;

export async function view(root, { db, key, length, isUnlocked, changed }) {
  const isWhole = length <= WHOLE_MAX;
  const word = toWord(key);
  const value = await command(isWhole ? ["GET", word] : ["GETRANGE", word, "0", String(PART - 1)], { db });
  if (value === null) return fill(root, notice("The key has gone.", "warn"));
  const part = isWhole ? null : notice(`The value has ${size(length)}: the first ${size(PART)} are shown, and it cannot be edited here.`);
  if (isUnlocked && isWhole) return edit(root, { db, key, value, changed });

  const bytes = toBytes(value);
  const json = isBinary(value) ? undefined : indented(value);
  const forms = [
    !isBinary(value) && ["Text", () => h("pre.value", { tabindex: "0", "aria-label": "Value as text" }, showText(value))],
    json !== undefined && ["JSON", () => h("pre.value", { tabindex: "0", "aria-label": "Value as JSON" }, showText(json))],
    ["Hex", () => h("pre.value.hex", { tabindex: "0", "aria-label": "Value as bytes" }, hexDump(bytes.subarray(0, HEX_MAX)),
      bytes.length > HEX_MAX ? `\n… of ${size(bytes.length)}` : "")],
  ].filter(Boolean);
  const body = h("div", { role: "tabpanel", "aria-label": "Value" });
  const tabs = forms.map(([name], at) => button(name, () => choose(at), { role: "tab" }));
  const list = h("div.tabs", { role: "tablist", "aria-label": "Form of the value", onkeydown: (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) choose((tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length).focus();
  } }, tabs);
  function choose(at) {
    tabs.forEach((tab, other) => {
      tab.setAttribute("aria-selected", String(other === at));
      tab.tabIndex = other === at ? 0 : -1;
    });
    fill(body, forms[at][1]());
    return tabs[at];
  }
  choose(json === undefined ? 0 : 1);
  fill(root, part, h("div.title", {}, list), length === 0 ? h("p.empty", {}, "The string is empty.") : body);
}

function edit(root, { db, key, value, changed }) {
  const control = editor(value, 16);
  const status = h("div", {});
  const save = button("Save", async () => {
    const mine = control.read();
    if (mine === undefined) return;
    try {
      const outcome = await replace("string", { db, key }, value, mine);
      if (outcome) changed(outcome === "done" ? "Saved." : "The server's value was kept.");
    } catch (error) {
      fill(status, notice(error.message, "bad"));
    }
  }, { kind: "primary" });
  control.area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save.click();
  });
  fill(root, h("div.body", {}, h("div.stack", {}, control.element, h("div.tools", {}, save,
    h("span.soft", {}, "Ctrl+Enter saves. When the key expires stays as it is.")), status)));
}
