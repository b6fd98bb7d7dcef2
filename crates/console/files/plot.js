// A plot of the last minutes on a canvas, with its numbers as a table.

import { clock } from "./format.js";
import { h, table } from "./dom.js";

const WINDOW_MS = 300_000;
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 12, 8, 20];
const ROWS_OF_TABLE = 30;

/** Makes a plot. `series` are `{name, of}`; `format` writes a value; `most` fixes the top of the axis, `unit` counts it. */
export function plot(title, series, format, { most, unit = () => 1 } = {}) {
  const canvas = h("canvas", { role: "img", "aria-label": title });
  const legend = h("span.legend", {}, series.map((one, at) => h("span", {}, h(`i.s${at + 1}`), one.name)));
  const under = h("div", {});
  const details = h("details", {}, h("summary", {}, "Numbers as a table"), under);
  const element = h("figure.panel", {}, h("figcaption", {}, h("h2", {}, title), series.length > 1 ? legend : null), canvas, details);
  let samples = [];
  let pointer;

  function update(given) {
    samples = given;
    draw(canvas, samples, series, { format, most, unit, pointer });
    const latest = samples.at(-1);
    const words = latest && series.map((one) => `${one.name} ${written(one.of(latest), format)}`).join(", ");
    canvas.setAttribute("aria-label", latest ? `${title}, last five minutes; now ${words}` : `${title}: no numbers yet`);
    if (details.open) fillTable();
  }
  function fillTable() {
    const columns = [{ name: "Time", of: (row) => clock(row.at) },
      ...series.map((one) => ({ name: one.name, kind: "number", of: (row) => written(one.of(row), format) }))];
    under.replaceChildren(table(`${title}, the last seconds`, columns, samples.slice(-ROWS_OF_TABLE).reverse()));
  }
  details.addEventListener("toggle", () => details.open && fillTable());
  canvas.addEventListener("pointermove", (event) => { pointer = event.offsetX; update(samples); });
  canvas.addEventListener("pointerleave", () => { pointer = undefined; update(samples); });
  return { element, update };
}

const written = (value, format) => (value === undefined ? "–" : format(value));

function draw(canvas, samples, series, { format, most, unit, pointer }) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0) return;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${style.fontFamily}`;

  const end = samples.at(-1)?.at ?? Date.now();
  const highest = Math.max(...samples.flatMap((row) => series.map((one) => one.of(row) ?? 0)), 0);
  const top = most ?? niceTop(highest / unit(highest)) * unit(highest);
  const x = (at) => LEFT + (width - LEFT - RIGHT) * (1 - (end - at) / WINDOW_MS);
  const y = (value) => TOP + (height - TOP - BOTTOM) * (1 - value / top);

  context.textBaseline = "middle";
  for (const part of [0, 0.5, 1]) {
    line(context, colour("--grid"), [[LEFT, y(top * part)], [width - RIGHT, y(top * part)]], 1);
    context.fillStyle = colour("--soft");
    context.textAlign = "right";
    context.fillText(format(top * part), LEFT - 8, y(top * part));
  }
  for (const minutes of width < 420 ? [4, 2, 0] : [5, 4, 3, 2, 1, 0]) {
    context.textAlign = minutes === 5 ? "left" : minutes === 0 ? "right" : "center";
    context.fillText(minutes === 0 ? "now" : `−${minutes} min`, x(end - minutes * 60_000), height - 8);
  }
  series.forEach((one, at) => {
    context.setLineDash(at === 0 ? [] : [5, 3]);
    let part = [];
    for (const row of samples) {
      const value = one.of(row);
      if (value !== undefined && x(row.at) >= LEFT - 1) part.push([x(row.at), y(Math.min(value, top))]);
      else if (part.length > 0) { line(context, colour(`--series-${at + 1}`), part, 1.5); part = []; }
    }
    line(context, colour(`--series-${at + 1}`), part, 1.5);
  });
  context.setLineDash([]);
  if (pointer !== undefined) note(context, samples, series, { format, pointer, x, width, height, colour });
}

// What was at the time that the pointer is on.
function note(context, samples, series, { format, pointer, x, width, height, colour }) {
  const near = samples.reduce((best, row) => (Math.abs(x(row.at) - pointer) < Math.abs(x(best?.at ?? 0) - pointer) ? row : best), undefined);
  if (!near || Math.abs(x(near.at) - pointer) > 20) return;
  line(context, colour("--line-strong"), [[x(near.at), TOP], [x(near.at), height - BOTTOM]], 1);
  const text = `${clock(near.at)}  ${series.map((one) => written(one.of(near), format)).join("  ")}`;
  const wide = context.measureText(text).width + 12;
  const at = Math.min(Math.max(x(near.at) - wide / 2, LEFT), width - wide - 2);
  context.fillStyle = colour("--raised");
  context.fillRect(at, TOP, wide, 18);
  context.fillStyle = colour("--text");
  context.textAlign = "left";
  context.fillText(text, at + 6, TOP + 9);
}

function line(context, colour, points, width) {
  if (points.length === 0) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  points.forEach(([px, py], at) => (at === 0 ? context.moveTo(px, py) : context.lineTo(px, py)));
  if (points.length === 1) context.lineTo(points[0][0] + 1, points[0][1]);
  context.stroke();
}

/** The least of 1, 2, 4, 6, 8, 10, 20 … that is not less. */
function niceTop(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((top) => top >= value);
}
