// Amounts of money in US dollars, with two decimals.

/** The oracle's prices and the pool's values are dollars × 10^8. */
export const USD_DECIMALS = 8;
const CENT = 10n ** 6n;

const grouped = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const short = new Intl.NumberFormat('en', {
  notation: 'compact',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

/** A number of dollars, such as $1,234.50; "<$0.01" if it is less than a cent. */
export function dollars(number) {
  if (!Number.isFinite(number)) return '–';
  const size = Math.abs(number);
  if (size > 0 && size < 0.01) return '<$0.01';
  return `${number < 0 ? '−' : ''}$${grouped.format(size)}`;
}

/** An exact value × 10^8 in dollars; `up` rounds to the next cent, as for debts. */
export function money(value, up = false) {
  const size = value < 0n ? -value : value;
  if (size > 0n && size < CENT && !up) return '<$0.01';
  const cents = (size + (up ? CENT - 1n : 0n)) / CENT;
  const digits = cents.toString().padStart(3, '0');
  return `${value < 0n ? '−' : ''}$${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',')}.${digits.slice(-2)}`;
}

/** A large number of dollars, such as $1.20M. */
export function compactDollars(number) {
  return Math.abs(number) < 10_000 ? dollars(number) : `$${short.format(number)}`;
}

/** A value × 10^8 as such a short number. */
export function compactMoney(value) {
  return compactDollars(Number(value) / 10 ** USD_DECIMALS);
}

/** The value × 10^8 of an amount of a token, at a price × 10^8; debts are rounded up. */
export function valueUsd(amount, price, decimals, up = false) {
  const unit = 10n ** BigInt(decimals);
  return (amount * price + (up ? unit - 1n : 0n)) / unit;
}
