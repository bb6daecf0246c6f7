// Formatting of numbers, amounts and times.

const grouped = new Intl.NumberFormat('en');
const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const compactNumber = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 2,
});

/** An integer with thousands separators. */
export function count(number) {
  return grouped.format(number);
}

/** A number with what it counts, such as `1 key` or `2 keys`. */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A number such as 1.2M. */
export function compact(number) {
  return compactNumber.format(number);
}

/** The exact decimal of an amount in smallest units. */
export function toUnits(amount, decimals) {
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals ? digits.slice(-decimals).replace(/0+$/, '') : '';
  return `${negative ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
}

/** The refusal of a decimal comma. */
const DECIMAL_COMMA = 'Use a point for decimals';

/**
 * Parses a decimal amount into smallest units. A comma separates groups of three digits of the
 * whole part, and nothing else.
 */
export function fromUnits(text, decimals) {
  const bare = text.replace(/[_' ]/g, '');
  if (bare.includes(',') && !/^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(bare))
    throw new Error(/\d,|,\d/.test(bare) ? DECIMAL_COMMA : 'expected a number');
  const match = /^\s*(\d*)(?:\.(\d*))?\s*$/.exec(bare.replaceAll(',', ''));
  if (!match || !(match[1] || match[2])) throw new Error('expected a number');
  const fraction = match[2] ?? '';
  if (fraction.length > decimals) throw new Error(`at most ${decimals} decimal places`);
  return BigInt(match[1] + fraction.padEnd(decimals, '0'));
}

/**
 * What is wrong with an amount that was typed, as a sentence, by the error that `fromUnits` threw.
 */
export function amountProblem({ message }, { symbol, decimals }) {
  if (message === DECIMAL_COMMA) return `${message}, such as 1.5.`;
  return /decimal places/.test(message)
    ? `${symbol} has at most ${decimals} decimal places.`
    : 'Enter a number, such as 1.5.';
}

/**
 * An amount with separators and about `digits` significant digits, truncated rather than rounded.
 */
export function amount(value, decimals, digits = 6) {
  const exact = toUnits(value, decimals);
  const [whole, fraction = ''] = exact.split('.');
  const separated = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  const zeros = /^0*/.exec(fraction)[0].length;
  const keep = /^-?0$/.test(whole) ? zeros + digits - 2 : Math.max(2, digits - whole.length);
  const cut = fraction.slice(0, keep).replace(/0+$/, '');
  return cut ? `${separated}.${cut}` : separated;
}

/** A price in dollars, with four significant digits if it is small. */
export function usd(number) {
  const short = Number(number.toPrecision(4));
  if (short === 0 || Math.abs(short) >= 1) return dollars.format(number);
  return `$${short.toFixed(Math.max(2, (String(short).split('.')[1] ?? '').length))}`;
}

/** A gas price in gwei, or in wei below a million. */
export function fee(wei) {
  const number = Number(wei);
  if (number < 1e6) return `${grouped.format(number)} wei`;
  return `${number >= 1e11 ? grouped.format(Math.round(number / 1e9)) : Number((number / 1e9).toPrecision(4))} gwei`;
}

/** A fraction as a percentage. */
export function percent(share, digits = 2) {
  return `${(share * 100).toFixed(digits)}%`;
}

/** A hash or address with its middle elided. */
export function shorten(text, head = 8, tail = 6) {
  return text.length > head + tail + 1 ? `${text.slice(0, head)}…${text.slice(-tail)}` : text;
}

/** A message as a sentence: with a capital and a full stop. */
export function sentence(message) {
  const text = String(message).trim();
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!…]$/.test(whole) ? whole : `${whole}.`;
}

/** A duration in seconds. */
export function span(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${count(Math.round(seconds / 86_400))} days`;
}

/** A Unix time in seconds as date and time. */
export function date(time) {
  return new Date(time * 1_000).toLocaleString('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
}
