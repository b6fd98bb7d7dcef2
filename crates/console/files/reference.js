// The commands: what COMMAND and COMMAND DOCS say of them, asked once.

import { command } from "./client.js";

let known;

/** Resolves to a map: name in lower case, `config get` for one ▸ `{name, flags, groups, doc, usage}`. */
export function reference() {
  known ??= load().catch((error) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function load() {
  const [infos, docs] = await Promise.all([command(["COMMAND"]), command(["COMMAND", "DOCS"])]);
  const commands = new Map();
  for (const info of infos) {
    const doc = docs[info[0]];
    const inner = info[9] ?? [];
    if (inner.length === 0) add(commands, info, doc);
    for (const sub of inner) add(commands, sub, doc?.subcommands?.[sub[0]]);
  }
  return new Map([...commands].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function add(commands, info, doc) {
  const name = info[0].replace("|", " ");
  const usage = [name.toUpperCase(), ...(doc?.arguments ?? []).map(written)].join(" ");
  commands.set(name, { name, flags: info[2], groups: info[6], doc, usage });
}

/** An argument as a synopsis has it. */
function written(argument) {
  const flags = argument.flags ?? [];
  const inner = (argument.arguments ?? []).map(written);
  let text = argument.type === "pure-token" ? argument.token
    : argument.type === "oneof" ? inner.join(" | ")
      : argument.type === "block" ? inner.join(" ")
        : argument.name.replaceAll("_", "-");
  if (argument.type !== "pure-token" && argument.token) text = `${argument.token} ${text}`;
  if (flags.includes("multiple")) text += ` [${text} …]`;
  if (flags.includes("optional")) return `[${text}]`;
  return argument.type === "oneof" ? `<${text}>` : text;
}

/** The command that a line begins with. */
export function commandOf(commands, line) {
  const [first = "", second = ""] = line.trim().toLowerCase().split(/\s+/);
  return commands.get(`${first} ${second}`) ?? commands.get(first);
}

/** The names that begin as a line does. */
export function completions(commands, line, most) {
  const start = line.trimStart().toLowerCase().replace(/\s+/g, " ");
  if (start === "") return [];
  return [...commands.values()].filter((one) => one.name.startsWith(start) && one.name !== start).slice(0, most);
}

/** Why somebody should think before running it; `undefined` if there is no reason. */
export function danger(one) {
  if (one.flags.includes("admin")) return `${one.name.toUpperCase()} is an administrator's command.`;
  if (one.groups.includes("@dangerous")) return `${one.name.toUpperCase()} is marked as dangerous: it may touch all data, or take long.`;
  return undefined;
}
