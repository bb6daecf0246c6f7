// The ticks of axes: round values and round times.

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** Distances of ticks on the axis of time, in milliseconds. */
const STEPS = [1, 2, 5, 10, 15, 30]
  .map((n) => n * SECOND)
  .concat(
    [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
    [1, 2, 3, 4, 6, 12].map((n) => n * HOUR),
    [1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365].map((n) => n * DAY),
  );

/** Round values within bounds, `count` at most. */
export function valueTicks(least, most, count) {
  const rough = (most - least) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999) * power;
  const first = Math.ceil(least / step);
  const last = Math.floor(most / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}

/** Round local times within bounds, `count` at most, and their distance. */
export function timeTicks(from, to, count) {
  const step = STEPS.find((one) => (to - from) / one <= count) ?? STEPS.at(-1);
  const shift = new Date(from).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - shift) / step) * step + shift;
  const ticks = [];
  for (let time = first; time <= to; time += step) ticks.push(time);
  return { ticks, step };
}

/**
 * The label of a tick: the time of day, or the date at midnight and if the ticks are days apart.
 */
export function timeLabel(time, step) {
  const date = new Date(time);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0;
  return step >= DAY || midnight
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', {
        hour: '2-digit',
        minute: '2-digit',
        ...(step < MINUTE && { second: '2-digit' }),
      });
}
