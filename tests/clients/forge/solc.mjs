#!/usr/bin/env node
// The part of solc's command line that Forge uses, on top of the compiler from npm.
import { readFileSync } from 'node:fs';
import solc from 'solc';

if (process.argv.includes('--version')) {
  console.log(
    `solc, the solidity compiler commandline interface\nVersion: ${solc.version().replace('Emscripten.clang', 'Linux.g++')}`,
  );
} else {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
}
