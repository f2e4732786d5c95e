// parallel_axes.js: the axes of the parallel coordinates: a template's parameters and the time.
import {isNumber} from './format.js';
import {least, most, orderValues} from './data.js';

/** Places of the time axis; the place of a value that a variant does not have. */
export const BINS = 40;
export const NONE = 65535;

/** The axes of one template: values in order, and each row's place among them. */
export function makeAxes(problem, t, unit) {
  const v = problem.variants,
    rows = [];
  v.template.forEach((template, row) => {
    if (template === t) rows.push(row);
  });
  const times = rows.map((row) => v.median_ms[row]).filter(isNumber);
  const low = least(times),
    span = Math.log(most(times) / low);
  const axes = problem.templates[t].parameters
    .map((parameter, p) => {
      const order = orderValues(parameter.values),
        rank = [];
      order.forEach((value, place) => {
        rank[value] = place;
      });
      return {
        name: parameter.name,
        labels: order.map((i) => parameter.values[i]),
        codes: Uint16Array.from(rows, (row) => rank[v.values[row][p]] ?? NONE),
      };
    })
    .filter((axis) => new Set(axis.codes).size > 1);
  const bin = (ms) =>
    isNumber(ms) ? Math.min(BINS - 1, span > 0 ? Math.floor((BINS * Math.log(ms / low)) / span) : 0) : BINS + 1;
  axes.push({
    name: `time, ${unit.name}`,
    isTime: true,
    labels: Array.from({length: BINS + 2}),
    codes: Uint8Array.from(rows, (row) => bin(v.median_ms[row])),
  });
  for (const axis of axes) axis.chosen = null; // or a flag for each place
  return {
    rows,
    axes,
    least: low,
    strength: (ms) => (span > 0 ? 1 - Math.log(ms / low) / span : 1),
    msAt: (place) => low * Math.exp((span * place) / BINS),
  };
}
