// Asking again and again, while somebody looks.

const LONGEST_MS = 30_000;

/**
 * What `ask` does, each `periodMs` while `isOn()` and the page is seen: once at a time, and ever more
 * seldom while it fails. `now()` begins, and asks at once, or again when what is asked has been
 * answered; `stop()` ends it.
 */
export function renew(periodMs, ask, isOn = () => true) {
  let timer;
  let [isAsking, isWanted, isOver] = [false, false, false];
  let failures = 0;

  async function now() {
    clearTimeout(timer);
    isWanted = true;
    if (isAsking) return;
    isAsking = true;
    while (isWanted && !isOver) {
      isWanted = false;
      failures = await ask().then(() => 0, () => failures + 1);
    }
    isAsking = false;
    wait();
  }

  function wait() {
    clearTimeout(timer);
    if (isOver || isAsking || document.hidden || !isOn()) return;
    timer = setTimeout(now, Math.min(periodMs * 2 ** failures, LONGEST_MS));
  }

  function turn() {
    if (document.hidden) clearTimeout(timer);
    else if (isOn() && !isAsking && !isOver) now();
  }

  document.addEventListener("visibilitychange", turn);
  return {
    now,
    stop() {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", turn);
    },
  };
}
