// variants.js: tables of variants.
import {el} from './dom.js';
import {leaderName, outcomes, rowParameters, searchRatio, templateName} from './data.js';
import {count, digits, isNumber, parameters, percent, time, timeRange, times} from './format.js';
import {table} from './table.js';

/** A table of some rows; `extra` columns stand behind the time. */
export function variantRows(problem, unit, rows, extra = [], filter = false, caption = 'Variants') {
  const v = problem.variants;
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) texts.set(row, parameters(rowParameters(problem, row)));
    return texts.get(row);
  };
  const number = (title, key, show, more = {}) => ({
    title,
    value: (row) => v[key][row],
    cell: (row) => show(v[key][row]),
    numeric: true,
    ...more,
  });
  return table({
    caption,
    rows,
    filter,
    pageSize: 50,
    order: {column: 2, down: false},
    columns: [
      {title: 'Variant', value: (row) => v.variant[row], numeric: true},
      {title: 'Template', value: (row) => templateName(problem, row)},
      {
        title: 'Time',
        unit: unit.name,
        value: (row) => v.median_ms[row],
        cell: (row) => time(v.median_ms[row], unit),
        numeric: true,
      },
      {
        title: '95 % interval',
        unit: unit.name,
        value: (row) => (isNumber(v.low_ms[row]) ? v.high_ms[row] - v.low_ms[row] : null),
        numeric: true,
        cell: (row) => timeRange(v.low_ms[row], v.high_ms[row], unit),
      },
      {
        title: `To the ${leaderName(problem)}`,
        value: (row) => searchRatio(problem, row),
        cell: (row) => times(searchRatio(problem, row)),
        numeric: true,
      },
      ...extra,
      {title: 'Parameters', value: text, class: 'mono wide'},
      {
        title: 'Outcome',
        value: (row) => outcomes[v.outcome[row]].name.replace(/_/g, ' '),
        cell: (row) => [
          outcomes[v.outcome[row]].name.replace(/_/g, ' '),
          v.is_marked[row] ? el('small', {title: 'still throttled or drifting at the last attempt'}, ' marked') : '',
        ],
      },
      number('Samples', 'sample_count', count),
      number('Occupancy', 'occupancy', (x) => percent(x)),
      number('Registers', 'registers', count),
      number('Shared', 'shared_bytes', count, {unit: 'B'}),
      number('Spill', 'spill_bytes', count, {unit: 'B'}),
      number('Waves', 'waves', (x) => digits(x, 3)),
      number('Loads a point', 'loads_per_point', (x) => digits(x, 3)),
      number('Over-read', 'over_read', (x) => digits(x, 4)),
    ],
  });
}

export function variantTable(problem, unit, selection) {
  const all = problem.variants.variant.map((_, row) => row);
  if (all.length === 0) return null;
  const note = el('p', {class: 'soft'});
  const caption = problem.has_search
    ? 'Every variant on this page, fastest first. Times are those of the search'
    : 'Variants that this database holds, fastest first. Times are those of the search, not of the final rounds';
  const element = variantRows(problem, unit, all, [], true, caption);
  const tell = (n) => {
    note.textContent =
      n === null
        ? 'A choice in the parallel coordinates narrows this table.'
        : `${count(n)} of ${count(all.length)}, as chosen in the parallel coordinates.`;
  };
  if (problem.has_search) tell(null);
  let timer;
  selection.follow((mask) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const rows = mask ? all.filter((row) => mask[row]) : all;
      tell(mask ? rows.length : null);
      element.redraw(rows);
    }, 150);
  });
  return [note, element];
}
