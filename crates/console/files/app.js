// The page around the pages: navigation, theme, keys, sign-in.

import * as dialogs from "./dialogs.js";
import { button, fill, h, notice } from "./dom.js";
import { mode, onLogin, onReachable, session } from "./client.js";
import { pages } from "./pages.js";

const THEMES = ["auto", "light", "dark"];
const LEADER_MS = 1500;
const byId = (id) => document.getElementById(id);
const main = byId("main");
let leave;
let shownPath;

function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const page = pages.find((one) => one.path === path) ?? pages[0];
  leave?.();
  leave = undefined;
  document.title = `${page.title} · Basalt`;
  for (const link of byId("nav").querySelectorAll("a")) {
    if (link.dataset.path === page.path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  openMenu(false);
  main.replaceChildren();
  leave = page.render(main, new URLSearchParams(query));
  // A page that has a line to write on has taken the focus to it.
  if (shownPath !== undefined && shownPath !== page.path && !main.contains(document.activeElement)) main.focus();
  shownPath = page.path;
}

function openMenu(isOpen) {
  byId("nav").classList.toggle("open", isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
}

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = `Theme: ${name}`;
  localStorage.setItem("basalt-theme", name);
}

function storedTheme() {
  const name = localStorage.getItem("basalt-theme");
  return THEMES.includes(name) ? name : "auto";
}

let leader = 0;

function onKey(event) {
  const isTyping = event.target.closest("input, textarea, select, dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") {
    event.preventDefault();
    dialogs.help(pages);
  } else if (event.key === "/") {
    event.preventDefault();
    main.querySelector("[data-search]")?.focus();
  } else if (event.key === "g") {
    leader = event.timeStamp;
  } else if (event.timeStamp - leader < LEADER_MS) {
    const page = pages.find((one) => one.key === event.key);
    leader = 0;
    if (page) location.hash = `#/${page.path}`;
  }
}

function state(isReachable) {
  const text = isReachable ? `${location.host}${session.isReadOnly ? " · read-only" : ""}` : "The server does not answer";
  if (byId("state").textContent !== text) byId("state").textContent = text;
  byId("state").classList.toggle("bad", !isReachable);
}

async function start() {
  fill(byId("nav"), pages.map((page) => h("a", { href: `#/${page.path}`, "data-path": page.path, "aria-keyshortcuts": `g ${page.key}` },
    page.title, h("kbd", { "aria-hidden": "true" }, `g ${page.key}`))));
  byId("menu").addEventListener("click", () => openMenu(byId("menu").getAttribute("aria-expanded") !== "true"));
  byId("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length]));
  byId("help").addEventListener("click", () => dialogs.help(pages));
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  document.addEventListener("keydown", onKey);
  theme(storedTheme());
  onLogin(dialogs.password);
  onReachable(state);
  try {
    session.isReadOnly = (await mode()) !== "yes";
  } catch (error) {
    fill(main, h("div.stack", {}, notice(error.message, "bad"), h("div", {}, button("Try again", () => location.reload()))));
    return;
  }
  state(true);
  window.addEventListener("hashchange", route);
  route();
}

start();
