// Starts nodes from tests. A CommonJS module, because both `import` and `require` accept it, also
// in jest.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
// Not the global functions, which test runners replace by fake ones.
const { clearTimeout, setTimeout } = require('node:timers');
const { setTimeout: sleep } = require('node:timers/promises');
const { optionalDependencies } = require('./package.json');

/** Settings of a node for tests. Flags override environment variables. */
const DEFAULTS = {
  TETRAD_LISTEN: '127.0.0.1:0',
  TETRAD_WS_LISTEN: '127.0.0.1:0',
  TETRAD_EXCHANGE_PRICE_TICK: '0',
};

/**
 * Replaces the shell by the node, after starting a process that stops the node when standard input
 * ends without a line: the operating system closes that pipe when the test process ends, even if it
 * is killed.
 */
const GUARD =
  'exec 3<&0 </dev/null; (read -r _ <&3 || kill -TERM $$) >/dev/null 2>&1 & exec 3<&-; exec "$@"';

/** The node takes ten seconds at most to finish requests. */
const STOP_TIMEOUT_MS = 15_000;

function binary() {
  const name = `tetrad-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/tetrad`);
  } catch {
    const names = Object.keys(optionalDependencies);
    throw new Error(
      names.includes(name)
        ? `the package ${name} is not installed: install tetrad on the platform that runs it, with optional dependencies`
        : `there is no binary for ${process.platform}-${process.arch}, only ${names.join(', ')}: build tetrad from source`,
    );
  }
}

async function start({
  args = [],
  binary: program = binary(),
  timeout = 30_000,
  verbose = false,
} = {}) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tetrad-'));
  let node;
  try {
    node = new NodeProcess(program, args, folder, verbose);
    const urls = await node.ready(timeout);
    node.unref();
    let stopped;
    const stop = () => (stopped ??= node.stop());
    return {
      ...urls,
      request: (method, params) => request(urls.rpc, method, params),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await node?.end();
    throw error;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The process of a node. */
class NodeProcess {
  #child;
  #ended;
  /** Whether the process ended with code 0, and a description with its last output. */
  #exit;
  #output;
  #readyFile;

  constructor(program, args, folder, verbose) {
    this.#readyFile = path.join(folder, 'ready.json');
    // A file, since a pipe that nobody reads would fill up and block the node.
    this.#output = verbose ? 'inherit' : fs.openSync(path.join(folder, 'output'), 'w+');
    const env = { ...process.env, ...DEFAULTS, TETRAD_READY_FILE: this.#readyFile };
    if (!verbose) env.TETRAD_QUIET = 'true';

    // In a session of its own, so that Ctrl-C reaches the test process alone, which may still need
    // the node.
    const options = { env, stdio: ['pipe', this.#output, this.#output], detached: true };
    const child = spawn('/bin/sh', ['-c', GUARD, 'tetrad', program, ...args], options);
    this.#child = child;

    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const reason = signal ? `was ended by ${signal}` : `exited with code ${code}`;
        this.#exit = { clean: code === 0, reason: `${reason}${this.#readOutput()}` };
        // Releases the guard: the process id may be another process' from now on.
        child.stdin.end('\n');
        resolve();
      });
      child.once('error', (error) => {
        this.#exit ??= { clean: false, reason: `did not start: ${error.message}` };
        resolve();
      });
    });
    // The guard has gone if it was killed.
    child.stdin?.on('error', () => {});
  }

  /** Waits for the ready file and returns the URLs in it. */
  async ready(timeout) {
    const deadline = Date.now() + timeout;
    while (!fs.existsSync(this.#readyFile)) {
      if (this.#exit) throw new Error(`the node ${this.#exit.reason}`);
      if (Date.now() > deadline) throw new Error(`the node was not ready within ${timeout} ms`);
      await sleep(10);
    }

    const { exchange_ws: exchangeWs, ...urls } = JSON.parse(
      fs.readFileSync(this.#readyFile, 'utf8'),
    );
    return { ...urls, exchangeWs };
  }

  /** Lets the test process end when its other work is done, and the node with it. */
  unref() {
    this.#child.unref();
    this.#child.stdin.unref();
  }

  async stop() {
    await this.end();
    if (!this.#exit.clean) throw new Error(`the node ${this.#exit.reason}`);
  }

  async end() {
    this.#child.ref();
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
    if (this.#output !== 'inherit') fs.closeSync(this.#output);
  }

  /** Returns the last output, on lines of its own. */
  #readOutput() {
    if (this.#output === 'inherit') return '';
    const { size } = fs.fstatSync(this.#output);
    const length = Math.min(size, 16_384);
    const bytes = Buffer.alloc(length);
    fs.readSync(this.#output, bytes, 0, length, size - length);
    return length > 0 ? `:\n${bytes.toString().trim()}\n` : '';
  }
}

async function request(url, method, params = []) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result, error } = await response.json();
  if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
  return result;
}

exports.binary = binary;
exports.start = start;
