// Variables of a contract by name, decoded from its storage by the layout that the compiler wrote.
//
// A layout is sent by the client that verified the contract: the numbers of rows, elements and
// levels are limited, and whatever is not understood is left out.

import { keccak256 } from '../vendor/ethers.js';
import { toBytes, toWord, utf8Text } from './bytes.js';

const MOST_ROWS = 400;
/**
 * Elements of an array and keys of a mapping that are shown, and levels of structs, arrays and
 * mappings.
 */
const MOST_ELEMENTS = 32;
const MOST_LEVELS = 10;
/**
 * Parts of variables that are visited: a layout may have structs of structs without a value in
 * them.
 */
const MOST_VISITS = 4_000;
/** Slots that the execution used which are looked for in arrays and mappings. */
const MOST_USED = 2_000;
/** Slots of a struct that are looked up one by one. */
const FEW_SLOTS = 64n;
/** Slots of a string that are read. */
const MOST_TEXT_SLOTS = 32;
const LONGEST_NAME = 200;
const LONGEST_KEY = 66;

const WORD = 32;

/** The slot at which the elements of a dynamic array begin, or the text of a long string. */
const dataSlot = (slot) => BigInt(keccak256(toWord(slot)));

function integerIn(text) {
  return typeof text === 'string' && /^\d{1,78}$/.test(text) ? BigInt(text) : null;
}

/** The type with an id: `{ encoding, label, size, … }` with the size in bytes, or null. */
function typeIn(layout, id) {
  const types = layout.types;
  if (
    typeof id !== 'string' ||
    !types ||
    typeof types !== 'object' ||
    !Object.hasOwn(types, id) ||
    !types[id]
  )
    return null;

  const { encoding, label, numberOfBytes, base, key, value, members } = types[id];
  return {
    id,
    encoding,
    label: String(label ?? id).slice(0, LONGEST_NAME),
    size: integerIn(numberOfBytes) ?? 32n,
    base,
    key,
    value,
    members: Array.isArray(members) ? members : null,
  };
}

/** A value of up to a word, from a number: `{ kind, text }`. */
function valueText(id, raw, size) {
  const digits = raw.toString(16).padStart(2 * size, '0');
  if (/^t_uint\d+$/.test(id) || id.startsWith('t_enum('))
    return { kind: 'number', text: raw.toString() };
  if (/^t_int\d+$/.test(id))
    return { kind: 'number', text: BigInt.asIntN(8 * size, raw).toString() };
  if (id === 't_bool' && raw <= 1n) return { kind: 'word', text: raw === 1n ? 'true' : 'false' };
  if (
    (id === 't_address' || id === 't_address_payable' || id.startsWith('t_contract(')) &&
    size === 20
  )
    return { kind: 'address', text: `0x${digits}` };
  return { kind: 'bytes', text: `0x${digits}` };
}

/**
 * What was hashed, by the slot of the mapping that it may be of: the last word of the data. `[{
 * key, slot }]` by slot.
 */
export function keysBySlot(preimages) {
  const found = new Map();
  for (const [hash, data] of Object.entries(preimages ?? {})) {
    if (data.length < 2 + 2 * WORD) continue;
    const slot = `0x${data.slice(-2 * WORD)}`;
    const list = found.get(slot) ?? [];
    list.push({ key: `0x${data.slice(2, -2 * WORD)}`, slot: BigInt(hash) });
    found.set(slot, list);
  }
  return found;
}

/**
 * A key of a mapping as it is written between brackets, or null if the data is no key of this type.
 */
function keyText(layout, id, key) {
  const type = typeIn(layout, id);
  if (!type) return null;
  if (type.encoding === 'bytes') {
    const text = /^t_string/.test(id) ? utf8Text(toBytes(key)) : null;
    return text !== null && text.length <= LONGEST_KEY
      ? JSON.stringify(text)
      : key.slice(0, LONGEST_KEY);
  }
  if (key.length !== 2 + 2 * WORD || type.size > 32n) return null;
  const size = Number(type.size);
  // Bytes of a fixed length are at the beginning of their word, other values at its end.
  const digits = /^t_bytes\d+$/.test(id)
    ? key.slice(2, 2 + 2 * size)
    : key.slice(2 + 2 * (WORD - size));
  return digits ? valueText(id, BigInt(`0x${digits}`), size).text : null;
}

/** Reads the variables of a layout. */
class Variables {
  rows = [];
  isComplete = true;
  #layout;
  #read;
  #keys;
  #used;
  #visits = 0;

  constructor(layout, { read, keys, used }) {
    this.#layout = layout;
    this.#read = read;
    this.#keys = keys;
    this.#used = new Set([...used].slice(0, MOST_USED).map(BigInt));
  }

  /** Whether no further variable is shown. */
  get isFull() {
    return this.rows.length >= MOST_ROWS || this.#visits > MOST_VISITS;
  }

  /** Whether the execution used one of these slots. */
  #isUsed(slot, count) {
    if (count > FEW_SLOTS) return [...this.#used].some((one) => one >= slot && one < slot + count);
    for (let at = slot; at < slot + count; at++) if (this.#used.has(at)) return true;
    return false;
  }

  #row(name, type, slot, value) {
    if (this.rows.length >= MOST_ROWS) {
      this.isComplete = false;
      return;
    }
    this.rows.push({
      name: name.slice(0, LONGEST_NAME),
      type: type.label,
      slot: toWord(slot),
      ...value,
    });
  }

  /** Adds the rows of a variable, or of a part of one. */
  add(name, id, slot, offset, level = 0) {
    this.#visits++;
    const type = this.isFull || level > MOST_LEVELS ? null : typeIn(this.#layout, id);
    if (!type) {
      this.isComplete = false;
      return;
    }
    if (type.members) this.#struct(name, type, slot, level);
    else if (type.encoding === 'mapping') this.#mapping(name, type, slot, level);
    else if (type.encoding === 'dynamic_array') this.#dynamicArray(name, type, slot, level);
    else if (type.encoding === 'bytes') this.#text(name, type, slot);
    else if (type.base) this.#fixedArray(name, type, slot, level);
    else if (type.encoding === 'inplace') this.#value(name, type, slot, offset);
  }

  #value(name, type, slot, offset) {
    const size = type.size > 0n && type.size <= 32n ? Number(type.size) : WORD;
    const word = this.#read(toWord(slot));
    const fits = Number.isInteger(offset) && offset >= 0 && offset + size <= WORD;
    if (word === null || !fits) return this.#row(name, type, slot, { kind: 'unknown', text: null });
    const raw = (BigInt(word) >> BigInt(8 * offset)) & ((1n << BigInt(8 * size)) - 1n);
    this.#row(name, type, slot, valueText(type.id, raw, size));
  }

  #struct(name, type, slot, level) {
    for (const member of type.members.slice(0, MOST_ROWS)) {
      if (this.isFull) return;
      const own = integerIn(member?.slot);
      if (own !== null)
        this.add(
          `${name}.${member.label}`,
          member.type,
          slot + own,
          Number(member.offset) || 0,
          level + 1,
        );
    }
  }

  /** Elements of a mapping whose slots the execution computed and used. */
  #mapping(name, type, slot, level) {
    const value = typeIn(this.#layout, type.value);
    if (!value) return;
    const isNested = value.encoding === 'mapping';
    let shown = 0;
    for (const { key, slot: element } of this.#keys.get(toWord(slot)) ?? []) {
      // Also those that are not shown: a layout may have many mappings with the same keys.
      if (++this.#visits > MOST_VISITS) return;
      const text = keyText(this.#layout, type.key, key);
      if (text === null || !(isNested || this.#isUsed(element, (value.size + 31n) / 32n))) continue;
      if (shown++ >= MOST_ELEMENTS) {
        this.isComplete = false;
        return;
      }
      this.add(`${name}[${text}]`, type.value, element, 0, level + 1);
    }
  }

  #dynamicArray(name, type, slot, level) {
    const word = this.#read(toWord(slot));
    this.#row(
      `${name}.length`,
      { label: 'uint256' },
      slot,
      word === null
        ? { kind: 'unknown', text: null }
        : { kind: 'number', text: BigInt(word).toString() },
    );
    if (word !== null) this.#elements(name, type, dataSlot(slot), BigInt(word), level);
  }

  #fixedArray(name, type, slot, level) {
    const count = /\[(\d{1,78})\]$/.exec(type.label)?.[1];
    if (count) this.#elements(name, type, slot, BigInt(count), level);
  }

  /**
   * The first elements of an array, and those further on that the execution used. Small ones share
   * a slot.
   */
  #elements(name, type, first, count, level) {
    const size = typeIn(this.#layout, type.base)?.size ?? 0n;
    if (size <= 0n) return;
    const inSlot = size <= 16n ? 32n / size : 1n;
    const slots = (size + 31n) / 32n;

    const wanted = new Set();
    for (let at = 0n; at < count && at < BigInt(MOST_ELEMENTS); at++) wanted.add(at);
    for (const slot of this.#used) {
      const at = ((slot - first) / slots) * inSlot;
      if (slot >= first && at < count && wanted.size < 2 * MOST_ELEMENTS) wanted.add(at);
    }
    if (count > BigInt(wanted.size)) this.isComplete = false;

    for (const at of wanted) {
      if (this.isFull) return;
      this.add(
        `${name}[${at}]`,
        type.base,
        first + (at / inSlot) * slots,
        Number((at % inSlot) * size) % WORD,
        level + 1,
      );
    }
  }

  /**
   * Bytes or a string: up to 31 bytes are in the slot itself, with twice their number; of longer
   * ones, twice their number and 1.
   */
  #text(name, type, slot) {
    const word = this.#read(toWord(slot));
    if (word === null) return this.#row(name, type, slot, { kind: 'unknown', text: null });
    const number = BigInt(word);
    const isShort = (number & 1n) === 0n;
    const length = isShort ? (number & 0xffn) / 2n : number / 2n;
    if (isShort && length > 31n) return this.#row(name, type, slot, { kind: 'bytes', text: word });

    const slots = isShort ? 0n : (length + 31n) / 32n;
    const digits = isShort ? word.slice(2) : this.#longText(slot, slots);
    if (digits === null) return this.#row(name, type, slot, { kind: 'unknown', text: null });

    const isCut = slots > BigInt(MOST_TEXT_SLOTS);
    const hex = isCut ? `0x${digits}` : `0x${digits.slice(0, 2 * Number(length))}`;
    const text = /^t_string/.test(type.id) && !isCut ? utf8Text(toBytes(hex)) : null;
    this.#row(
      name,
      type,
      slot,
      text === null
        ? { kind: 'bytes', text: `${hex}${isCut ? `… (${length} bytes)` : ''}` }
        : { kind: 'text', text: JSON.stringify(text) },
    );
  }

  /** The hex digits in the first slots of a long text; null while one of them is unknown. */
  #longText(slot, slots) {
    let digits = '';
    for (let at = 0n; at < slots && at < BigInt(MOST_TEXT_SLOTS); at++) {
      const part = this.#read(toWord(dataSlot(slot) + at));
      if (part === null) return null;
      digits += part.slice(2);
    }
    return digits;
  }
}

/**
 * The variables of a contract: `{ rows, isComplete }` with `{ name, type, slot, kind, text }`.
 * `read(slot)` gives the word in a slot, or null while it is unknown; `keys` are those of
 * `keysBySlot`, and `used` the slots that the execution read or wrote, which decide the elements of
 * mappings that are shown.
 */
export function variables(layout, { read, keys, used }) {
  const found = new Variables(layout, { read, keys, used });
  const listed = Array.isArray(layout?.storage) ? layout.storage : [];
  for (const one of listed.slice(0, MOST_ROWS)) {
    const slot = integerIn(one?.slot);
    if (slot !== null) found.add(String(one.label), one.type, slot, Number(one.offset) || 0);
  }
  return {
    rows: found.rows,
    isComplete: found.isComplete && !found.isFull && listed.length <= MOST_ROWS,
  };
}
