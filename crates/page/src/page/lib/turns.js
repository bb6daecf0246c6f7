// Turns: a limit on what runs at the same time.

/**
 * Returns `{ take, end }`: `take(signal)` waits for one of so many turns, and `end` gives it back.
 */
export function turns(most) {
  const waiting = [];
  let running = 0;

  /** Waits for a turn. The place is lost when the signal aborts. */
  async function take(signal) {
    signal.throwIfAborted();
    if (running < most) {
      running++;
      return;
    }

    await new Promise((resolve, reject) => {
      function start() {
        signal.removeEventListener('abort', leave);
        resolve();
      }
      function leave() {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason);
      }
      waiting.push(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  function end() {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return { take, end };
}
