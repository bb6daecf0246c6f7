#!/usr/bin/env node
// Runs the binary in the place of this process: with its arguments, standard streams, signals and
// exit code.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { binary } = require('./index.js');

let program;
try {
  program = binary();
} catch (error) {
  console.error(`tetrad: ${error.message}`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends SIGINT to both processes; the node ignores a second one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('error', (error) => {
  console.error(`tetrad: ${error.message}`);
  process.exit(1);
});
child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
