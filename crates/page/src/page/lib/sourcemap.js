// The compiler's source maps: which line of which file an instruction was made from.
//
// Maps and sources are sent by the client that verified a contract. Whatever is not understood
// stands for no place.

import { toBytes, utf8, utf8Text } from './bytes.js';
import { after } from './sorted.js';

const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/**
 * Code that the compiler adds, such as the decoding of arguments, has the range of a whole
 * contract.
 */
const WHOLE_CONTRACT = /^(abstract\s+contract|contract|library|interface)\b/;
/** Bytes of a source in which the words at the beginning of a range are looked for. */
const LONGEST_WORDS = 24;

/**
 * The number of the instruction at each position of code, -1 for the data of a push. The last
 * element is the number of instructions.
 */
export function instructionNumbers(code) {
  const bytes = toBytes(code);
  const numbers = new Int32Array(bytes.length + 1).fill(-1);
  let number = 0;
  for (let at = 0; at < bytes.length; number++) {
    numbers[at] = number;
    const op = bytes[at];
    at += op >= PUSH1 && op <= PUSH32 ? op - PUSH1 + 2 : 1;
  }
  numbers[bytes.length] = number;
  return numbers;
}

function numberIn(text) {
  return /^\d{1,9}$/.test(text) ? Number(text) : -1;
}

/**
 * Reads a source map for `count` instructions: the first byte of each one's range (`starts`), the
 * number of its file (`files`), both -1 without a place, and whether a jump enters (1) or leaves
 * (-1) a function (`jumps`). An entry is `start:length:file:jump:depth`; a field that is left out
 * is that of the entry before.
 */
export function readSourceMap(text, count) {
  const starts = new Int32Array(count).fill(-1);
  const files = new Int32Array(count).fill(-1);
  const jumps = new Int8Array(count);

  let start = -1;
  let file = -1;
  let jump = 0;
  let from = 0;
  for (let at = 0; at < count && from <= text.length && text !== ''; at++) {
    const semicolon = text.indexOf(';', from);
    const end = semicolon < 0 ? text.length : semicolon;
    const fields = text.slice(from, end).split(':', 4);
    if (fields[0]) start = numberIn(fields[0]);
    if (fields[2]) file = numberIn(fields[2]);
    if (fields[3]) jump = fields[3] === 'i' ? 1 : fields[3] === 'o' ? -1 : 0;

    starts[at] = start;
    files[at] = file;
    jumps[at] = jump;
    from = end + 1;
  }
  return { starts, files, jumps };
}

/** A source file in lines. Source maps count bytes. */
export class SourceFile {
  #bytes;
  /** The first byte of each line. */
  #offsets;

  constructor(path, text) {
    this.path = path;
    this.text = text;
    this.lines = text.split('\n');
    this.#bytes = utf8(text);
    const isAscii = this.#bytes.length === text.length;
    this.#offsets = new Int32Array(this.lines.length);
    let offset = 0;
    this.lines.forEach((line, at) => {
      this.#offsets[at] = offset;
      offset += 1 + (isAscii ? line.length : utf8(line).length);
    });
  }

  /** The number of the line with a byte, from 1 on; 0 if the file ends before. */
  lineAt(byte) {
    if (byte < 0 || byte >= this.#bytes.length) return 0;
    return after(this.#offsets, byte);
  }

  /** Whether a range that begins at a byte is that of a whole contract. */
  isWholeContract(byte) {
    const words = this.#bytes.subarray(byte, byte + LONGEST_WORDS);
    // A character may be cut in two at the end; these words have none of several bytes.
    return WHOLE_CONTRACT.test(utf8Text(words) ?? '');
  }
}

/** The lines of code whose compiler's output is known. */
export class CodeLines {
  #numbers;
  #map;
  #files;
  /** Lines by the number of the instruction; -1 until they are looked up. */
  #lines;

  /** `files` are source files by their numbers in the map. */
  constructor(code, map, files) {
    this.#numbers = instructionNumbers(code);
    const count = this.#numbers.at(-1);
    this.#map = readSourceMap(map, count);
    this.#files = files;
    this.#lines = new Int32Array(count).fill(-1);
  }

  /** The place of the instruction at a position of the code: `{ file, line }`, or null. */
  placeAt(position) {
    const number = this.#numberAt(position);
    if (number < 0) return null;
    const file = this.#files.get(this.#map.files[number]);
    if (!file) return null;
    if (this.#lines[number] < 0) {
      const start = this.#map.starts[number];
      this.#lines[number] = file.isWholeContract(start) ? 0 : file.lineAt(start);
    }
    const line = this.#lines[number];
    return line ? { file, line } : null;
  }

  /** Whether a jump at a position enters a function (1), leaves it (-1), or neither (0). */
  jumpAt(position) {
    const number = this.#numberAt(position);
    return number < 0 ? 0 : this.#map.jumps[number];
  }

  #numberAt(position) {
    return position < this.#numbers.length - 1 ? this.#numbers[position] : -1;
  }
}
