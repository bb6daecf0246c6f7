// A folder for a suite, processes in it, and a registry of the packed packages.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PLATFORMS, mainManifest, platformManifest, version } from '../../packages/build.mjs';

export const root = path.resolve(import.meta.dirname, '../..');
export const packages = path.join(root, 'target/packages');
export const platform = `${process.platform}-${process.arch}`;

/** Makes an empty folder, which is removed at the end of this process. */
export function folder() {
  const made = mkdtempSync(path.join(tmpdir(), 'tetrad-packages-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/**
 * Runs a program: its exit code, standard output and standard error. Variables of this process that
 * configure a node are unset.
 */
export function run(program, args, { env = {}, ...options } = {}) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TETRAD|NODE_TEST)_?/.test(name),
  );
  options = { timeout: 120_000, ...options, env: { ...Object.fromEntries(inherited), ...env } };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'string' ? error.message : child.exitCode;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs a program that must succeed, and returns its standard output. */
export async function succeed(program, args, options) {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
  return stdout;
}

/** The examples in a language in the documents of a package. */
export async function examples(language, ...documents) {
  const found = [];
  for (const document of documents) {
    const text = await readFile(path.join(root, document), 'utf8');
    for (const [, block] of text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms')))
      found.push(block);
  }
  return found;
}

/** Waits until nothing listens at a URL. */
export async function closed(url) {
  const { hostname: host, port } = new URL(url);
  const accepts = () =>
    new Promise((resolve) => {
      const socket = net.connect({ host, port }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  while (await accepts()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Serves the packed packages like an npm registry. The packages of other platforms have a manifest
 * but no content, so that a client that downloads them fails.
 */
export async function registry() {
  const packed = {};
  for (const manifest of [mainManifest(), ...PLATFORMS.map(platformManifest)]) {
    const file = path.join(packages, `${manifest.name}-${version}.tgz`);
    const content = await readFile(file).catch(() => undefined);
    packed[manifest.name] = { manifest, content };
  }
  const server = http.createServer((request, response) => {
    const [, name, archive] = request.url.split('/');
    const { manifest, content } = packed[name] ?? {};
    if (!manifest || (archive && !content)) return response.writeHead(404).end('{}');
    if (archive) return response.end(content);
    const dist = { tarball: `${url}/${name}/archive.tgz` };
    if (content) dist.integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    const versions = { [version]: { ...manifest, dist } };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  server.unref();
  return url;
}
