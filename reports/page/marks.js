// marks.js: how tooltips describe a variant, and how every chart marks winner and default.
import {leaderName, rowOf, rowParameters, searchRatio, templateName} from './data.js';
import {count, digits, isNumber, parameters, percent, time, times} from './format.js';
import {tip} from './chart.js';

/** The lines that describe the variant of a row. */
export function rowTip(problem, row, unit) {
  const v = problem.variants,
    ratio = searchRatio(problem, row);
  return tip([
    `${templateName(problem, row)}: ${time(v.median_ms[row], unit)} ${unit.name} in the search${isNumber(ratio) ? `, ${times(ratio)} the ${leaderName(problem)}\u2019s` : ''}`,
    parameters(rowParameters(problem, row)),
    `${count(v.registers[row])} registers, ${count(v.shared_bytes[row])} B shared, occupancy ${percent(v.occupancy[row])}, ${count(v.threads[row])} threads a block`,
    `${digits(v.loads_per_point[row], 3)} loads a point, over-read ${digits(v.over_read[row], 4)}, ${digits(v.waves[row], 4)} waves`,
    `variant ${v.variant[row]}, ${count(v.sample_count[row])} samples${v.is_marked[row] ? ', throttled or drifting' : ''}`,
  ]);
}

/** The lines that describe a finalist whose search is not in the database. */
export function finalistTip(f, unit) {
  return tip([
    `${f.template}: ${time(f.median_ms, unit)} ${unit.name} in the final rounds`,
    parameters(f.parameters),
    `${digits(f.figures.loads_per_point, 3)} loads a point, over-read ${digits(f.figures.over_read, 4)}`,
  ]);
}

/** The rows that every chart marks: the winner (of the search, if there are no final rounds) and the default. */
export function markedRows(problem) {
  const marked = [];
  const winner = problem.winner ? rowOf(problem, problem.winner.variant) : -1;
  const standard = problem.finalists.find((f) => f.is_default);
  if (standard && standard.variant !== problem.winner?.variant) {
    const row = rowOf(problem, standard.variant);
    if (row >= 0) marked.push({name: 'default', row});
  }
  if (winner >= 0) marked.push({name: 'winner', row: winner});
  return marked;
}

/** A series that rings the marked rows. point(row): its place, or null */
export const markSeries = (problem, colors, point) =>
  ringSeries(
    markedRows(problem).map(({name, row}) => ({name, value: point(row)})),
    colors,
  );

/** A series that rings places and names them: [{name: 'winner', value: [x, y]}, ...] */
export function ringSeries(places, colors) {
  return {
    id: 'marks',
    name: 'marks',
    type: 'scatter',
    z: 10,
    silent: true,
    symbol: 'circle',
    symbolSize: 16,
    itemStyle: {color: 'transparent', borderColor: colors.text, borderWidth: 2},
    label: {
      show: true,
      position: 'top',
      color: colors.text,
      fontWeight: 'bold',
      textBorderColor: colors.back,
      textBorderWidth: 3,
      formatter: (p) => p.name,
    },
    labelLayout: {moveOverlap: 'shiftY'},
    data: places
      .filter((d) => d.value && isNumber(d.value[1]))
      .map((d) => ({...d, label: d.name === 'default' ? {position: 'bottom'} : {}})),
  };
}
