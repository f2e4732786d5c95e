// format.js: numbers for people, with their units.

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const none = '\u2013';

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/** A number in some significant digits, never as 1e-5. */
export function digits(value, significant = 4) {
  if (!isNumber(value)) return none;
  if (value === 0) return '0';
  const decimals = Math.max(0, Math.min(9, significant - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return new Intl.NumberFormat('en', {minimumFractionDigits: decimals, maximumFractionDigits: decimals}).format(value);
}

export const count = (value) => (isNumber(value) ? whole.format(value) : none);

/** 1.05 % */
export const percent = (share, decimals = 1) => (isNumber(share) ? `${(100 * share).toFixed(decimals)} %` : none);
export const share = (value) => (isNumber(value) ? value.toFixed(3) : none);
/** 1.159\u00d7: a time over another one. */
export const times = (ratio) => (isNumber(ratio) ? `${digits(ratio, 4)}\u00d7` : none);
/** 1.29\u00d7: a speed-up. */
export const factor = (value) => (isNumber(value) ? `${digits(value, 3)}\u00d7` : none);

/** The unit for times up to `most_ms`, for all of a table or chart. */
export function timeUnit(most_ms) {
  if (most_ms >= 2000) return {name: 's', scale: 1e-3};
  if (most_ms >= 2) return {name: 'ms', scale: 1};
  return {name: '\u00b5s', scale: 1e3};
}
export const time = (ms, unit, significant = 5) => (isNumber(ms) ? digits(ms * unit.scale, significant) : none);

/** 1.234 \u2013 1.236, of an interval; a single sample has none. */
export const timeRange = (low_ms, high_ms, unit) =>
  isNumber(low_ms) && isNumber(high_ms) ? `${time(low_ms, unit)} \u2013 ${time(high_ms, unit)}` : none;

export function bytes(value) {
  if (!isNumber(value)) return none;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) ((value /= 1024), at++);
  return `${at === 0 ? value : digits(value, 4).replace(/(\.\d*[1-9])0+$|\.0+$/, '$1')} ${units[at]}`;
}

/** 512 x 512 x 512: the axes that the stencil has. */
export function grid(problem, stencil) {
  const n = [problem.nx, problem.ny, problem.nz];
  const dims = Math.max(stencil?.dims ?? 1, problem.nz > 1 ? 3 : problem.ny > 1 ? 2 : 1);
  return n.slice(0, dims).join('\u00d7');
}

export const date = (text) => (text ? text.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC') : none);
export const day = (text) => (text ? text.slice(0, 10) : none);
export const parameters = (pairs) => pairs.map(([name, value]) => `${name}=${value}`).join(' ');
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;
