// What is asked in a dialog. Each returns a promise, and gives the focus back.

import { button, check, field, h, notice } from "./dom.js";
import { show } from "./bytes.js";

let numbers = 0;

/**
 * Shows a dialog: `body` is what it has, `actions` are `[name, value, kind]`. Returns the value of the
 * action chosen, `undefined` for none. `validate` may refuse one by returning false.
 */
export function ask(title, body, actions, { wide = false, validate } = {}) {
  return new Promise((resolve) => {
    const id = `dialog-${(numbers += 1)}`;
    const buttons = actions.map(([name, value, kind]) =>
      h(kind ? `button.${kind}` : "button", { type: kind === "primary" ? "submit" : "button", onclick: (event) => choose(event, value) }, name));
    const form = h("form", { method: "dialog" }, h("h1", { id }, title), body,
      h("div.buttons", {}, button("Cancel", () => dialog.close()), buttons));
    const dialog = h(wide ? "dialog.wide" : "dialog", { "aria-labelledby": id }, form);
    let chosen;
    async function choose(event, value) {
      event.preventDefault();
      if (validate && !(await validate(value))) return;
      chosen = value;
      dialog.close();
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      buttons.find((element) => element.type === "submit")?.click();
    });
    dialog.addEventListener("close", () => { dialog.remove(); resolve(chosen); });
    document.body.append(dialog);
    dialog.showModal();
    form.querySelector("input, textarea, select")?.focus();
  });
}

export function confirm(title, text, name, kind = "danger") {
  return ask(title, h("p", {}, text), [[name, true, kind]]);
}

/** Has a name typed before something is deleted. */
export async function confirmByName(title, text, name, action = "Delete") {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const wrong = h("div", {});
  const body = h("div.stack", {}, h("p", {}, text), h("p.keyname", {}, name), field("Type the name to confirm", input), wrong);
  const validate = () => {
    if (input.value === name) return true;
    wrong.replaceChildren(notice("This is not the name.", "bad"));
    input.focus();
    return false;
  };
  return (await ask(title, body, [[action, true, "danger"]], { validate })) === true;
}

export async function password(isWrong) {
  const input = h("input", { type: "password", autocomplete: "current-password" });
  const body = h("div.stack", {}, isWrong ? notice("This is not the password.", "bad") : null,
    h("p", {}, "The server needs a password (option requirepass). The page keeps a token for it, until you close or reload it."),
    field("Password", input));
  return (await ask("Sign in", body, [["Sign in", true, "primary"]])) ? input.value : undefined;
}

/** A value was changed by somebody else while it was edited. Returns "theirs", "mine" or nothing. */
export function conflict(theirs, mine) {
  const of = (title, value) => h("div.stack", {}, h("h2", {}, title),
    h("pre", { tabindex: "0", "aria-label": title }, value === null ? "(it is gone)" : show(value, 20000)));
  const body = h("div.stack", {},
    notice("Somebody has changed this value since it was shown here. Nothing was written.", "warn"),
    h("div.both", {}, of("Now on the server", theirs), of("Yours", mine)));
  return ask("The value has changed", body, [["Keep the server's", "theirs"], ["Overwrite with mine", "mine", "danger"]], { wide: true });
}

const trusted = new Set();

/** Asks before a command that may do harm. */
export async function confirmCommand(name, why) {
  if (trusted.has(name)) return true;
  const again = check(`Do not ask again for ${name} until the page is reloaded`, false);
  const body = h("div.stack", {}, h("p", {}, why), again);
  const isSure = (await ask(`Run ${name}?`, body, [["Run", true, "danger"]])) === true;
  if (isSure && again.box.checked) trusted.add(name);
  return isSure;
}

export function help(pages) {
  const rows = [...pages.map((page) => [`g ${page.key}`, page.title]),
    ["/", "Filter, pattern or command of the page"], ["?", "This help"], ["Esc", "Close a dialog or a list"]];
  const list = h("dl.facts", {}, rows.map(([keys, text]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, text)]));
  return ask("Keys", list, []);
}
