// data.js: the document, and what follows from it for each problem.
import {isNumber} from './format.js';

export const report = JSON.parse(document.getElementById('document').textContent);

const byId = (list) => new Map(list.map((item) => [item.id, item]));
export const devices = byId(report.devices);
export const stencils = byId(report.stencils);
export const runs = byId(report.runs);
export const problems = byId(report.problems);
export const outcomes = report.outcomes;

/** A GPU's name; with the end of its UUID where the database knows several of that name. */
export function deviceName(id) {
  const device = devices.get(id),
    isAlone = report.devices.every((d) => d === device || d.name !== device.name);
  return isAlone ? device.name : `${device.name} (\u2026${device.uuid.slice(-6)})`;
}

export const isEmulated = (problem) => devices.get(problem.device).is_emulation;

/** The figures of a problem's result; null where it has none yet. */
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

/** How many variants came to one of some outcomes; null where the database does not tell. */
function countOutcomes(problem, accepts) {
  if (!problem.outcomes) return null;
  return outcomes.filter(accepts).reduce((sum, outcome) => sum + problem.outcomes[outcome.name], 0);
}

/** How many variants were tried, have a time, were pruned, or failed; null where the database does not tell. */
export const triedCount = (problem) => countOutcomes(problem, () => true);
export const timedCount = (problem) => countOutcomes(problem, (outcome) => outcome.has_time);
export const prunedCount = (problem) => countOutcomes(problem, (outcome) => outcome.name === 'pruned');
export const failedCount = (problem) =>
  countOutcomes(problem, (outcome) => !outcome.has_time && outcome.name !== 'pruned');

/** Finalists that are neither ties nor shown to be slower than the winner. */
export const undecided = (problem) => problem.finalists.filter((f) => f.rank > 1 && !f.is_tie && (f.ratio_low ?? f.ratio) <= 1);

export const ties = (problem) => problem.finalists.filter((f) => f.is_tie && f.rank > 1);

/** The copy of the same bytes, ms: the winner's, from its own rounds, else the newest run's; of an emulation none. */
export const roofMs = (problem) =>
  isEmulated(problem) ? null : (problem.winner?.roof_ms ?? problem.roof?.roof_ms ?? null);

/** The row of a variant in the problem's columns; -1 where it is not there. */
export const rowOf = (problem, variant) => problem.variants.variant.indexOf(variant);

/** [["block_x", "32"], ...] of a row. */
export function rowParameters(problem, row) {
  const template = problem.templates[problem.variants.template[row]];
  return template.parameters
    .map((parameter, i) => [parameter.name, parameter.values[problem.variants.values[row][i]]])
    .filter(([, value]) => value !== undefined);
}

export const templateName = (problem, row) => problem.templates[problem.variants.template[row]].name;

/** Rows that have a time. */
export function timedRows(problem) {
  const rows = [];
  problem.variants.median_ms.forEach((ms, row) => {
    if (isNumber(ms)) rows.push(row);
  });
  return rows;
}

/** The fastest row of the search; -1 where none has a time. */
export function fastestRow(problem, accepts = () => true) {
  const times = problem.variants.median_ms;
  let best = -1;
  for (let row = 0; row < times.length; row++) {
    if (isNumber(times[row]) && accepts(row) && (best < 0 || times[row] < times[best])) best = row;
  }
  return best;
}

/** The time of a variant over the winner's; both are of the search. null where one of them has no time. */
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
