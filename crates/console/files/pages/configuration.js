// The options and their values. Secrets are not shown.

import { field, fill, h, notice, table } from "../dom.js";
import { command } from "../client.js";
import { show } from "../bytes.js";

const SECRET = /pass$|^requirepass$|^masterauth$|secret/;

export const page = { title: "Configuration", path: "configuration", key: "f", render };

function render(root) {
  let options = [];
  const filter = h("input", { type: "search", "data-search": true, placeholder: "name or value", oninput: draw });
  const status = h("span.soft", { role: "status" });
  const body = h("div.panel");
  root.append(h("div.head", {}, h("h1", {}, "Configuration"), status),
    h("div.stack", {}, h("div.tools", {}, field("Filter", filter, true)),
      h("p.soft", {}, "Options are changed by CONFIG SET on the command line, or in the file that the server starts with."), body));

  function draw() {
    const wanted = filter.value.toLowerCase();
    const rows = options.filter((one) => `${one.name} ${one.value}`.toLowerCase().includes(wanted));
    status.textContent = `${rows.length} of ${options.length} options`;
    fill(body, rows.length === 0 ? h("p.empty", {}, "No option fits.") : table("Options", [
      { name: "Option", kind: "mono", of: (one) => one.name },
      { name: "Value", kind: "mono", of: (one) => one.value },
    ], rows));
  }
  command(["CONFIG", "GET", "*"]).then((reply) => {
    options = Object.entries(reply).sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) =>
      ({ name, value: SECRET.test(name) && value !== "" ? "(set, not shown)" : value === "" ? "" : show(value) }));
    draw();
  }, (error) => fill(body, notice(error.message, "bad")));
}
