// HAProxy in front of a cluster, with config/cluster/haproxy.cfg. Servers that answer with their
// names replace the nodes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import http from 'node:http';
import https from 'node:https';
import { has, proxy } from './support/proxy.mjs';

/** A server that answers with its name, and answers probes with the statuses in `probes`. */
async function standIn(name) {
  const node = { name, probes: { '/ready': 200, '/health': 200 } };
  const server = http.createServer((request, response) => {
    response.statusCode = node.probes[request.url] ?? 200;
    response.end(name);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  node.address = `127.0.0.1:${server.address().port}`;
  node.stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return node;
}

const NAMES = ['node-1', 'node-2', 'node-3'];
// In CI a missing proxy is a failure.
const skip = !process.env.CI && !has('haproxy') && 'haproxy is not installed';
describe('HAProxy in front of a cluster', { skip, timeout: 60_000 }, () => {
  let nodes, front;
  before(async () => {
    nodes = await Promise.all(NAMES.map(standIn));
    front = await proxy(
      'cluster',
      nodes.map((node) => node.address),
    );
  });
  after(async () => {
    await front?.stop();
    for (const node of nodes ?? []) node.stop();
  });

  /** Sends a request on a new connection: the status, the name of the node and the set cookie. */
  const ask = (path = '/rpc', cookie) =>
    new Promise((resolve, reject) => {
      const headers = cookie ? { cookie: `TETRAD_NODE=${cookie}` } : {};
      const options = {
        host: '127.0.0.1',
        port: front.port,
        path,
        headers,
        agent: false,
        rejectUnauthorized: false,
      };
      https
        .get(options, (answer) => {
          let name = '';
          answer.setEncoding('utf8').on('data', (more) => (name += more));
          const [set] = answer.headers['set-cookie'] ?? [];
          answer.once('end', () => resolve({ status: answer.statusCode, name, set }));
        })
        .once('error', reject);
    });
  /** Repeats a request until the response is as expected. HAProxy probes nodes once a second. */
  const eventually = async (expected, ...request) => {
    for (;;) {
      const answer = await ask(...request);
      if (expected(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const other = (name) => NAMES[(NAMES.indexOf(name) + 1) % 3];

  test('keeps a client without cookies on one node', async () => {
    const { name } = await ask();
    assert.ok(NAMES.includes(name));
    for (let round = 0; round < 6; round += 1) assert.equal((await ask()).name, name);
  });

  test('keeps a browser on the node of its cookie, whatever other clients of its address do', async () => {
    const { name, set } = await ask();
    assert.match(set, new RegExp(`^TETRAD_NODE=${name}; Path=/; HttpOnly$`));
    const answer = await ask('/rpc', other(name));
    assert.deepEqual([answer.name, answer.set], [other(name), undefined]);
    assert.equal((await ask()).name, name);
  });

  test('moves clients away from a node that is not ready, and keeps them on the other', async () => {
    const { name } = await ask();
    const node = nodes[NAMES.indexOf(name)];
    node.probes['/ready'] = 503;
    const moved = await eventually((answer) => answer.name !== name);
    assert.equal(moved.status, 200);
    const browser = await ask('/rpc', name);
    assert.ok(browser.name !== name && browser.set.startsWith(`TETRAD_NODE=${browser.name};`));
    node.probes['/ready'] = 200;
    await eventually((answer) => answer.name === name, '/rpc', name);
    assert.equal((await ask()).name, moved.name);
  });

  test('passes reads on while no node is ready', async () => {
    for (const node of nodes) node.probes['/ready'] = 503;
    // The probe itself reaches a node only once none is ready.
    const { name } = await eventually(
      (answer) => answer.status === 503 && NAMES.includes(answer.name),
      '/ready',
    );
    assert.deepEqual(await ask().then(({ status, name }) => ({ status, name })), {
      status: 200,
      name,
    });
    for (const node of nodes) node.probes['/ready'] = 200;
  });

  test('serves no metrics', async () => {
    assert.equal((await ask('/metrics')).status, 404);
  });
});
