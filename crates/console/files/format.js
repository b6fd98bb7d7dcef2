// Numbers for people.

export function count(number) {
  return Number(number).toLocaleString("en-US");
}

export function rate(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(2)} M`;
  if (number >= 1e5) return `${(number / 1e3).toFixed(0)} k`;
  return count(Math.round(number));
}

export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [size, at] = [Number(number), 0];
  while (size >= 1024 && at < units.length - 1) [size, at] = [size / 1024, at + 1];
  return `${at === 0 || size >= 100 ? size.toFixed(0) : size.toFixed(1)} ${units[at]}`;
}

/** How many bytes the unit has that a number of bytes is written in. */
export function unitOfBytes(number) {
  return 1024 ** Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(number, 1)) / 10)));
}

/** `1 key`, `2 keys`. */
export function of(number, name) {
  return `${count(number)} ${name}${Number(number) === 1 ? "" : "s"}`;
}

export function percent(ratio) {
  return Number.isFinite(ratio) ? `${(ratio * 100).toFixed(1)} %` : "–";
}

export function duration(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function micros(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1e3).toFixed(us < 1e4 ? 2 : 1)} ms`;
  return `${(us / 1e6).toFixed(2)} s`;
}

/** The time that a key has left: what PTTL says. */
export function expiry(ms) {
  if (ms === -1) return "never";
  if (ms < 0) return "gone";
  return ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms / 1000);
}

export function time(unixMs) {
  const at = new Date(unixMs);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function clock(unixMs) {
  return time(unixMs).slice(11);
}
