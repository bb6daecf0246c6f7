// The node's API descriptions, checked with redocly for OpenAPI and the meta schema of OpenRPC.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openrpcDocument } from '@open-rpc/meta-schema';
import Ajv from 'ajv';
import { start } from './support/node.mjs';

const redocly = path.join(import.meta.dirname, 'node_modules/@redocly/cli/bin/cli.js');
let node;
before(async () => {
  node = await start('--quiet');
});
after(() => node?.stop());

test('redocly reports no problem in the OpenAPI document', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tetrad-openapi-'));
  try {
    const file = path.join(folder, 'openapi.json');
    await writeFile(file, await (await fetch(`${node.rest}/openapi.json`)).text());
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    };
    const args = [
      redocly,
      'lint',
      file,
      '--extends=recommended',
      '--format=json',
      '--max-problems=1000',
    ];
    const output = await new Promise((resolve) => {
      execFile(
        process.execPath,
        args,
        { cwd: folder, env, maxBuffer: 64 << 20, timeout: 60_000 },
        (_, stdout) => resolve(stdout),
      );
    });
    const { problems } = JSON.parse(output);
    assert.deepEqual(
      problems.map(
        ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
      ),
      [],
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('rpc.discover is a valid OpenRPC document whose references resolve', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] });
  const response = await fetch(`${node.rest}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result: document } = await response.json();
  // Schemas in the document are not validated: their meta schema is another document, of which one
  // part is needed.
  const { $schema, ...schema } = openrpcDocument;
  const definitions = { ...schema.definitions, JSONSchema: { type: ['object', 'boolean'] } };
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({
    $id: 'https://meta.json-schema.tools/',
    definitions: { JSONSchemaObject: { properties: { $ref: { type: 'string' } } } },
  });
  const validate = ajv.compile({ ...schema, definitions });
  assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 5)));
  for (const method of document.methods) {
    assert.ok(method.tags.length === 1 && method.errors.length >= 3 && method.summary, method.name);
    for (const { $ref } of [...method.tags, ...method.errors]) {
      const [kind, name] = $ref.replace('#/components/', '').split('/');
      assert.ok(document.components[kind][name], `${method.name}: ${$ref}`);
    }
  }
});
