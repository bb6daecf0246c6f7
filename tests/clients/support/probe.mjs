// The test contract, compiled with the compiler of the network's own contracts.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import solc from 'solc';

const file = path.join(import.meta.dirname, '../hardhat/contracts/Probe.sol');
const input = {
  language: 'Solidity',
  sources: { 'Probe.sol': { content: readFileSync(file, 'utf8') } },
  settings: { outputSelection: { '*': { Probe: ['abi', 'evm.bytecode.object'] } } },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
if (!output.contracts) throw new Error(JSON.stringify(output.errors));
const compiled = output.contracts['Probe.sol'].Probe;

export const abi = compiled.abi;
export const bytecode = `0x${compiled.evm.bytecode.object}`;
