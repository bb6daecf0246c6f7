// Replaces the list of solc's releases, which forge downloads to find the compiler's commit.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';

const HOST = 'binaries.soliditylang.org';

/** Creates an authority in `ca.pem`, and a certificate for the host in `host.pem` and `host.key`. */
function createCertificates(folder) {
  const openssl = (command) =>
    execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' });
  openssl(
    'req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test -addext basicConstraints=critical,CA:TRUE',
  );
  openssl(`req -newkey rsa:2048 -nodes -keyout host.key -out host.csr -subj /CN=${HOST}`);
  writeFileSync(path.join(folder, 'names'), `subjectAltName=DNS:${HOST}\n`);
  openssl(
    'x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out host.pem -days 2 -extfile names',
  );
}

/** A proxy that connects to `target()`, a port, in place of the host, and to nothing else. */
function proxyTo(target) {
  const proxy = http.createServer();
  proxy.on('connect', (request, client, head) => {
    client.on('error', () => {});
    if (request.url !== `${HOST}:443`) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');

    const server = net.connect(target(), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      server.write(head);
      server.pipe(client).pipe(server);
    });
    server.on('error', () => client.destroy());
  });
  return proxy;
}

/**
 * Starts a proxy that serves the list; returns the environment with which forge uses it, and a
 * function that ends it.
 */
export async function releases(folder, version) {
  const file = (name) => path.join(folder, name);
  createCertificates(folder);
  const list = https.createServer(
    { key: readFileSync(file('host.key')), cert: readFileSync(file('host.pem')) },
    (_, response) => response.end(`soljson-v${version}.js\n`),
  );
  const proxy = proxyTo(() => list.address().port);
  for (const server of [list, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');

  const env = {
    HTTPS_PROXY: `http://127.0.0.1:${proxy.address().port}`,
    NO_PROXY: '127.0.0.1',
    SSL_CERT_FILE: file('ca.pem'),
  };
  function stop() {
    for (const server of [list, proxy]) {
      server.close();
      server.closeAllConnections?.();
    }
  }
  return { env, stop };
}
