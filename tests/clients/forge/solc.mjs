#!/usr/bin/env node
// The command line of solc as far as Forge uses it, over the compiler that npm installed.
import { readFileSync } from 'node:fs';
import solc from 'solc';

if (process.argv.includes('--version')) {
    console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version().replace('Emscripten.clang', 'Linux.g++')}`);
} else {
    process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
}
