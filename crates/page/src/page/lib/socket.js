// A WebSocket that reconnects, with exponential backoff.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

export class Socket {
  #wait = FIRST_WAIT;

  /** `handlers`: opened(socket), message(text), closed(). */
  constructor(url, handlers) {
    this.url = url;
    this.handlers = handlers;
    this.#open();
    // Browsers throttle timers in hidden pages, so a page that becomes visible reconnects
    // immediately.
    document.addEventListener(
      'visibilitychange',
      () => document.visibilityState === 'visible' && this.#hurry(),
    );
    window.addEventListener('online', () => this.#hurry());
  }

  #open() {
    this.timer = null;
    const socket = new WebSocket(this.url);
    socket.addEventListener('open', async () => {
      this.#wait = FIRST_WAIT;
      try {
        await this.handlers.opened?.(socket);
      } catch {
        socket.close();
      }
    });
    socket.addEventListener('message', (event) => this.handlers.message(event.data));
    socket.addEventListener('close', () => {
      this.handlers.closed?.();
      this.timer = setTimeout(() => this.#open(), this.#wait * (0.75 + Math.random() / 2));
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    });
  }

  #hurry() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.#wait = FIRST_WAIT;
    this.#open();
  }
}
