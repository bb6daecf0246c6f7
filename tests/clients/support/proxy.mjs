// Starts reverse proxies with the configurations of config/, on free ports, in front of a node.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';

const config = (file) =>
  readFileSync(path.resolve(import.meta.dirname, '../../../config', file), 'utf8');

/** Replaces the parts of a configuration that differ in a test. Throws if one is missing. */
function replaced(text, pairs) {
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Creates a certificate for localhost in three files: certificate, key, and both. */
function certificate(folder) {
  const [cert, key, both] = ['cert.pem', 'key.pem', 'both.pem'].map((name) =>
    path.join(folder, name),
  );
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  return { cert, key, both };
}

const kinds = {
  nginx({ folder, port, upstream, files }) {
    const site = replaced(config('nginx.conf'), [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['server_name testnet.example.org', 'server_name localhost'],
      ['/etc/ssl/testnet.example.org/fullchain.pem', files.cert],
      ['/etc/ssl/testnet.example.org/privkey.pem', files.key],
      ['127.0.0.1:8545', upstream],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join('\n');
    writeFileSync(
      path.join(folder, 'main.conf'),
      `daemon off; pid ${folder}/pid; error_log stderr;
            worker_processes 1; events {} http { access_log off; ${temporary} ${site} }`,
    );
    // As root, nginx would switch to another user, which cannot read the folder.
    const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : [];
    return { arguments: ['-p', folder, '-c', 'main.conf', ...user] };
  },
  caddy({ folder, port, upstream }) {
    const site = replaced(config('Caddyfile'), [
      ['{$TETRAD_DOMAIN:localhost}', `https://localhost:${port}`],
    ]);
    // Keeps all files in the folder, and the system's trust store unchanged.
    const options = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
    writeFileSync(path.join(folder, 'Caddyfile'), options + site);
    const environment = {
      TETRAD_UPSTREAM: upstream,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    };
    return {
      arguments: ['run', '--config', path.join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
      environment,
    };
  },
  haproxy({ folder, port, upstream, files }) {
    const text = replaced(config('haproxy.cfg'), [
      ['bind :443', `bind 127.0.0.1:${port}`],
      ['/etc/haproxy/testnet.example.org.pem', files.both],
      ['127.0.0.1:8545', upstream],
    ]);
    writeFileSync(path.join(folder, 'haproxy.cfg'), text);
    return { arguments: ['-db', '-f', path.join(folder, 'haproxy.cfg')] };
  },
  /** HAProxy in front of a cluster: `upstream` has the addresses of three nodes. */
  cluster({ folder, port, upstream, files }) {
    const text = replaced(config('cluster/haproxy.cfg'), [
      ['bind :80', `bind 127.0.0.1:${port} ssl crt ${files.both}`],
      ...upstream.map((address, index) => [`10.126.0.2${index + 1}:8545`, address]),
    ]);
    writeFileSync(path.join(folder, 'haproxy.cfg'), text);
    return { program: 'haproxy', arguments: ['-db', '-f', path.join(folder, 'haproxy.cfg')] };
  },
};

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Forwards connections to a target, and counts them. */
export async function counter(target) {
  const [host, port] = target.split(':');
  const counted = { connections: 0 };
  const server = net
    .createServer((socket) => {
      counted.connections += 1;
      const onward = net.connect(Number(port), host);
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ]) {
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    })
    .listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  counted.address = `127.0.0.1:${server.address().port}`;
  counted.stop = () => server.close();
  return counted;
}

/** Starts a proxy in front of `upstream`. Resolves once the proxy accepts TLS connections. */
export async function proxy(kind, upstream) {
  const folder = mkdtempSync(path.join(tmpdir(), `tetrad-${kind}-`));
  mkdirSync(path.join(folder, 'logs'), { recursive: true });
  const port = await freePort();
  const made = kinds[kind]({ folder, port, upstream, files: certificate(folder) });
  const child = spawn(made.program ?? kind, made.arguments, {
    env: { ...process.env, ...made.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

  const started = { port, output: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (started.output += text));
  let failed;
  child.once('error', (error) => (failed = error));
  const ended = new Promise((resolve) => child.once('close', resolve));
  started.stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };

  while (!(await answers(port))) {
    if (failed || child.exitCode !== null)
      throw new Error(`${kind} exited: ${failed ?? started.output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return started;
}

/** Whether a TLS handshake succeeds: a proxy may listen before it has its certificate. */
function answers(port) {
  return new Promise((resolve) => {
    const where = { port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false };
    const socket = tls.connect(where, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Whether a program is installed. */
export const has = (program) => spawnSync(program, ['-v']).error === undefined;
