// The proxy configurations of config/, each in its proxy.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import http2 from 'node:http2';
import https from 'node:https';
import WebSocket from 'ws';
import { start } from './support/node.mjs';
import { counter, has, proxy } from './support/proxy.mjs';

const LIMIT = 5;
const LARGE = 4 << 20;
const TOO_LARGE = 6 << 20;

for (const kind of ['nginx', 'caddy', 'haproxy']) {
  // In CI a missing proxy is a failure.
  const skip = !process.env.CI && !has(kind) && `${kind} is not installed`;
  describe(kind, { skip, timeout: 60_000 }, () => {
    let node, counted, front;
    before(async () => {
      node = await start(
        '--exchange-trusted-proxies',
        '127.0.0.1',
        '--exchange-rate-limit',
        String(LIMIT),
      );
      counted = await counter(new URL(node.rest).host);
      front = await proxy(kind, counted.address);
    });
    after(async () => {
      await front?.stop();
      counted?.stop();
      await node?.stop();
    });

    /** A request through the proxy: status, headers, text and the socket used. */
    const ask = (path, { method = 'GET', body, headers = {}, ...options } = {}) =>
      new Promise((resolve, reject) => {
        const target = {
          host: '127.0.0.1',
          servername: 'localhost',
          port: front.port,
          path,
          method,
        };
        const all = { host: `localhost:${front.port}`, ...headers };
        const request = https.request(
          { ...target, headers: all, rejectUnauthorized: false, ...options },
          (answer) => {
            const { socket } = answer;
            let text = '';
            answer.setEncoding('utf8').on('data', (more) => (text += more));
            answer.once('end', () =>
              resolve({ status: answer.statusCode, headers: answer.headers, text, socket }),
            );
            answer.once('error', reject);
          },
        );
        request.once('error', reject);
        request.end(body);
      });
    const post = (body, options) =>
      ask('/rpc', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
        ...options,
      });
    const chainId = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' });

    test('makes wallets connect to the proxy', async () => {
      const { keplr } = JSON.parse((await ask('/api/network')).text);
      const own = `https://localhost:${front.port}`;
      assert.ok([own, 'https://localhost'].includes(keplr.rpc), keplr.rpc);
      assert.deepEqual([keplr.rest, keplr.evm.rpc], [keplr.rpc, `${keplr.rpc}/rpc`]);
    });

    test('keeps connections to clients and to the node open', async () => {
      const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set();
      const before = counted.connections;
      for (let round = 0; round < 20; round += 1) {
        const { text, socket } = await post(chainId, { agent });
        assert.equal(JSON.parse(text).result, '0x7d');
        sockets.add(socket);
      }
      agent.destroy();
      assert.equal(sockets.size, 1);
      assert.ok(
        counted.connections - before <= 3,
        `${counted.connections - before} connections for 20 requests`,
      );
    });

    test('speaks HTTP/2 with clients', async () => {
      const session = http2.connect(`https://localhost:${front.port}`, {
        rejectUnauthorized: false,
      });
      const stream = session.request({ ':path': '/health' });
      const status = await new Promise((resolve, reject) => {
        session.once('error', reject);
        stream.once('error', reject).once('response', (headers) => resolve(headers[':status']));
      });
      assert.equal(status, 200);
      stream.resume();
      await new Promise((resolve) => session.close(resolve));
    });

    test('proxies WebSockets, in both directions and without a timeout', async () => {
      const options = { rejectUnauthorized: false };
      const rpc = new WebSocket(`wss://localhost:${front.port}/rpc`, options);
      const prices = new WebSocket(`wss://localhost:${front.port}/ws`, options);
      const message = (socket) =>
        new Promise((resolve, reject) => {
          socket.once('message', (data) => resolve(JSON.parse(data)));
          socket.once('error', reject);
        });
      const first = message(prices);
      const answer = message(rpc);
      rpc.once('open', () => rpc.send(chainId));
      assert.ok((await first).type);
      assert.equal((await answer).result, '0x7d');
      const pong = new Promise((resolve) => prices.once('pong', resolve));
      prices.ping();
      await pong;
      rpc.terminate();
      prices.terminate();
    });

    test('proxies large bodies, and answers 413 to one that is too large', async () => {
      const padded = (size) => chainId.padEnd(size, ' ');
      assert.equal(JSON.parse((await post(padded(LARGE))).text).result, '0x7d');
      // A proxy that rejects a body before it has received all of it may close the connection.
      const refused = await post(padded(TOO_LARGE)).catch((error) => ({ status: error.code }));
      assert.ok([413, 'EPIPE', 'ECONNRESET'].includes(refused.status), `${refused.status}`);
      // A separate connection, because the announced body is never sent.
      const announced = await ask('/rpc', {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'content-length': TOO_LARGE,
          expect: '100-continue',
        },
      });
      assert.equal(announced.status, 413);
    });

    test('forwards client addresses that clients cannot forge', async () => {
      const from = (localAddress) =>
        ask('/api/prices', { localAddress, headers: { 'x-forwarded-for': '9.9.9.9' } });
      for (let round = 0; round < LIMIT; round += 1)
        assert.equal((await from('127.0.0.2')).status, 200);
      const refused = await from('127.0.0.2');
      assert.equal(refused.status, 429);
      assert.ok(
        Number(refused.headers['retry-after']) > 0,
        'the headers of the rate limit are forwarded',
      );
      assert.equal(refused.headers['x-ratelimit-limit'], String(LIMIT));
      assert.equal((await from('127.0.0.3')).status, 200);
    });

    test('serves the page unchanged, and no metrics', async () => {
      const page = await ask('/');
      assert.equal(page.status, 200);
      assert.match(page.headers['content-security-policy'], /default-src 'none'/);
      const again = await ask('/', { headers: { 'if-none-match': page.headers.etag } });
      assert.equal(again.status, 304);
      assert.equal((await ask('/metrics')).status, 404);
      assert.equal((await ask('/rpc')).status, 405);
    });
  });
}
