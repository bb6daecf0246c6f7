// Starts anvil, and the node in its place.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { DIFFERENCES } from './differences.mjs';
import { binary } from './node.mjs';
import { tool } from './tool.mjs';

/** Starts anvil, for comparison and forks. */
export const startAnvil = (...args) => started(tool('anvil'), args);

/** Starts the node in the place of anvil. */
export const startInPlace = (...args) => started(binary, ['anvil', ...args]);

/**
 * A case that must pass on anvil and on the node in its place, each started with these arguments.
 * The case gets the node, whose standard output so far is `output()`.
 */
export function both(name, args, check) {
  each(name, async (start) => {
    const node = await start(...args);
    try {
      await check(node);
    } finally {
      await node.stop();
    }
  });
}

/**
 * A case that starts anvil or the node in its place itself: it gets the function to do so.
 */
export function each(name, check) {
  test(`${name} (anvil)`, () => check(startAnvil));
  const difference = DIFFERENCES[name];
  if (difference) {
    const gone = 'the case holds: take it off the list of differences';
    test(`${name} (tetrad differs: ${difference})`, () =>
      assert.rejects(check(startInPlace), undefined, gone));
  } else {
    test(`${name} (tetrad)`, () => check(startInPlace));
  }
}

async function started(file, args) {
  const child = spawn(file, [...args, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let text = '';
  const rpc = await new Promise((resolve, reject) => {
    child.once('error', reject);
    ended.then(() => reject(new Error(`${file} exited: ${text}`)));
    child.stdout.on('data', (more) => {
      text += more;
      const found = text.match(/Listening on ([\d.:]+)/);
      if (found) resolve(`http://${found[1]}`);
    });
  });
  const stop = () => {
    child.kill();
    return ended;
  };
  return { rpc, output: () => text, stop };
}
