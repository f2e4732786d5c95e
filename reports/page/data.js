// data.js: the document, and what follows from it for each problem.
import {isNumber} from './format.js';

export const report = JSON.parse(document.getElementById('document').textContent);

const byId = (list) => new Map(list.map((item) => [item.id, item]));
export const devices = byId(report.devices);
export const stencils = byId(report.stencils);
export const runs = byId(report.runs);
export const problems = byId(report.problems);
export const outcomes = report.outcomes;

/** A GPU's name, with the end of its UUID if the database has several GPUs of that name. */
export function deviceName(id) {
  const device = devices.get(id),
    isAlone = report.devices.every((d) => d === device || d.name !== device.name);
  return isAlone ? device.name : `${device.name} (\u2026${device.uuid.slice(-6)})`;
}

export const isEmulated = (problem) => devices.get(problem.device).is_emulation;

/** The figures of a problem's result; null if it has no result yet. */
export function resultOf(problem) {
  const winner = problem.winner;
  if (!winner) return null;
  const seconds = winner.time_ms * 1e-3;
  return {
    time_ms: winner.time_ms,
    low_ms: winner.low_ms,
    high_ms: winner.high_ms,
    gstencil: ((problem.points * winner.steps) / seconds) * 1e-9,
    gbps: (winner.bytes / seconds) * 1e-9,
    roof: winner.roof_ratio,
    roof_low: winner.roof_ratio_low,
    roof_high: winner.roof_ratio_high,
    roof_gbps: isNumber(winner.roof_ms) ? (winner.bytes / winner.roof_ms) * 1e-6 : null,
    speedup: isNumber(winner.default_ms) ? winner.default_ms / winner.time_ms : null,
  };
}

/** The number of variants that have one of these outcomes; null if the database does not say. */
function countOutcomes(problem, accepts) {
  if (!problem.outcomes) return null;
  return outcomes.filter(accepts).reduce((sum, outcome) => sum + problem.outcomes[outcome.name], 0);
}

/** The numbers of variants that were tried, have a time, were pruned, or failed; null if the database does not say. */
export const triedCount = (problem) => countOutcomes(problem, () => true);
export const timedCount = (problem) => countOutcomes(problem, (outcome) => outcome.has_time);
export const prunedCount = (problem) => countOutcomes(problem, (outcome) => outcome.name === 'pruned');
export const failedCount = (problem) =>
  countOutcomes(problem, (outcome) => !outcome.has_time && outcome.name !== 'pruned');

/** Finalists that are neither ties nor shown to be slower than the winner. */
export const undecided = (problem) => problem.finalists.filter((f) => f.rank > 1 && !f.is_tie && (f.ratio_low ?? f.ratio) <= 1);

export const ties = (problem) => problem.finalists.filter((f) => f.is_tie && f.rank > 1);

/** The time of a copy of the same bytes, in ms: from the winner's rounds, else from the newest run. An emulation has none. */
export const roofMs = (problem) =>
  isEmulated(problem) ? null : (problem.winner?.roof_ms ?? problem.roof?.roof_ms ?? null);

/** The row of a variant in the problem's columns; -1 if it has no row. */
export const rowOf = (problem, variant) => problem.variants.variant.indexOf(variant);

/** The parameters of a row, such as [["block_x", "32"], ...]. */
export function rowParameters(problem, row) {
  const template = problem.templates[problem.variants.template[row]];
  return template.parameters
    .map((parameter, i) => [parameter.name, parameter.values[problem.variants.values[row][i]]])
    .filter(([, value]) => value !== undefined);
}

export const templateName = (problem, row) => problem.templates[problem.variants.template[row]].name;

/** The least and the greatest number of a list of any length. Math.min(...list) fails in browsers that take no 100,000 arguments. */
export const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
export const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);

/** Rows that have a time. */
export function timedRows(problem) {
  const rows = [];
  problem.variants.median_ms.forEach((ms, row) => {
    if (isNumber(ms)) rows.push(row);
  });
  return rows;
}

/** The fastest row of the search; -1 if no row has a time. */
export function fastestRow(problem, accepts = () => true) {
  const times = problem.variants.median_ms;
  let best = -1;
  for (let row = 0; row < times.length; row++) {
    if (isNumber(times[row]) && accepts(row) && (best < 0 || times[row] < times[best])) best = row;
  }
  return best;
}

/** Who comes first: the winner, or while there is none the fastest variant of the search. */
export const leaderName = (problem) => (problem.winner ? 'winner' : 'fastest');

/** The time of a variant over the leader's time, both from the search; null if one of them has no time. */
export function searchRatio(problem, row) {
  const winner = problem.winner ? rowOf(problem, problem.winner.variant) : fastestRow(problem);
  const [ms, winner_ms] = [row, winner].map((r) => problem.variants.median_ms[r]);
  return isNumber(ms) && isNumber(winner_ms) ? ms / winner_ms : null;
}

export const isSampled = (problem) => problem.shown_count < problem.variant_count;

/** Values as people order them: numbers by size, words by the alphabet. */
export function orderValues(values) {
  const order = values.map((_, i) => i);
  if (values.every((v) => v.trim() !== '' && Number.isFinite(Number(v)))) order.sort((a, b) => values[a] - values[b]);
  else order.sort((a, b) => values[a].localeCompare(values[b], 'en'));
  return order;
}
