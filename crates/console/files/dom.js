// Elements from words. Text of users only ever becomes text: nothing here takes markup.

/** Makes an element: `h("button.small", {type: "button", onclick}, "Kill")`. */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return element;
}

/** Replaces what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return element;
}

export function button(text, onclick, attributes = {}) {
  const { kind, ...rest } = attributes;
  return h(kind ? `button.${kind}` : "button", { type: "button", onclick, ...rest }, text);
}

/** A control under its name. */
export function field(label, control, grows = false) {
  return h(grows ? "label.field.grow" : "label.field", {}, label, control);
}

export function check(label, checked, onchange) {
  const box = h("input", { type: "checkbox", onchange: () => onchange?.(box.checked) });
  box.checked = checked;
  return Object.assign(h("label.check", {}, box, label), { box });
}

export function notice(text, kind = "") {
  return h(kind ? `p.notice.${kind}` : "p.notice", { role: kind ? "alert" : "status" }, text);
}

export function panel(title, ...body) {
  return h("section.panel", {}, h("h2", {}, title), ...body);
}

/** Names and values, one below the other. */
export function facts(pairs) {
  const list = h("dl.facts");
  for (const [name, value, kind] of pairs) {
    list.append(h("dt", {}, name), h(kind ? `dd.${kind}` : "dd", {}, value));
  }
  return list;
}

/**
 * A table. A column is `{name, kind, of}`: `kind` is a class, `of` makes the cell's content of a row;
 * a column without a visible name has `label`.
 */
export function table(caption, columns, rows) {
  const heads = columns.map((column) => {
    const element = h("th", { scope: "col", "aria-label": column.label }, column.name ?? "");
    if (column.kind) element.className = column.kind;
    return element;
  });
  const body = rows.map((row) => h("tr", {}, columns.map((column) => {
    const cell = h("td", {}, column.of(row));
    if (column.kind) cell.className = column.kind;
    return cell;
  })));
  return h("div.scroll", { tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)));
}
