// rivals.js: who the winner is compared with, and by which figures.
import {bytes, count, digits, isNumber, percent} from './format.js';
import {rowOf, rowParameters} from './data.js';

// Static figures: name, key of the columns, whether less is better (null: it depends), how a number reads.
export const figures = [
  {name: 'loads a point', key: 'loads_per_point', less: true, show: (v) => digits(v, 3)},
  {name: 'over-read', key: 'over_read', less: true, show: (v) => digits(v, 4)},
  {
    name: 'bank conflicts',
    key: 'bank_conflicts',
    less: true,
    show: (v, who) => (isNumber(v) ? digits(v, 3) : isNumber(who?.figure('loads_per_point')) ? 'no shared memory' : '\u2013'),
  },
  {
    name: 'these three',
    id: 'loads',
    key: 'is_counted',
    less: null,
    show: (v, who) => (isNumber(who?.figure('loads_per_point')) ? (v ? 'counted' : 'rules of thumb') : '\u2013'),
  },
  {name: 'computing share', key: 'computing_share', less: false, show: (v) => percent(v, 0)},
  {name: 'occupancy', key: 'occupancy', less: false, show: (v) => percent(v, 1)},
  {name: 'registers a thread', id: 'parameter', key: 'registers', less: null, show: count},
  {name: 'spill', key: 'spill_bytes', less: true, show: (v) => (isNumber(v) ? `${count(v)} B` : '\u2013')},
  {name: 'shared memory a block', id: 'tile', key: 'shared_bytes', less: null, show: bytes},
  {name: 'waves', key: 'waves', less: null, show: (v) => digits(v, 4)},
  {name: 'blocks a multiprocessor', id: 'occupancy', key: 'blocks_per_sm', less: null, show: count},
  {name: 'threads a block', id: 'occupancy', key: 'threads', less: null, show: count},
  {name: 'blocks of the launch', id: 'waves', key: 'blocks', less: null, show: count},
];

/** Figures that `halotune report --count` counts. */
const counted = ['loads_per_point', 'over_read', 'bank_conflicts'];

/** The share of the last wave that the launch fills. */
const lastWave = (waves) => (isNumber(waves) && waves > 0 ? waves / Math.ceil(waves) : null);

/** A variant that is compared, made from a row of the columns. The winner may have no row: its run may not be in the database. */
function fromRow(problem, row) {
  return {
    variant: problem.variants.variant[row],
    figure: (key) => problem.variants[key][row],
    parameters: new Map(rowParameters(problem, row)),
  };
}

function fromWinner({
  variant,
  parameters,
  figures: known,
  registers,
  shared_bytes,
  occupancy,
  blocks_per_sm,
  launch,
}) {
  const product = (axes) => (axes ? axes.reduce((a, b) => a * b, 1) : null);
  const all = {
    ...known,
    registers,
    shared_bytes,
    occupancy,
    blocks_per_sm,
    threads: product(launch?.block),
    blocks: product(launch?.grid),
  };
  return {variant, figure: (key) => all[key] ?? null, parameters: new Map(parameters)};
}

/** A finalist whose search is not in this database. Only figures that follow from its template and its configuration are known. */
function fromFinalist(f) {
  return {
    variant: f.variant,
    figure: (key) => f.figures[key] ?? null,
    parameters: new Map(f.parameters),
  };
}

const titles = {
  winner: () => 'winner',
  fastest: () => 'fastest so far',
  runner_up: (f) => (f.is_tie ? 'runner-up, a tie' : 'runner-up'),
  best_of_template: (f, rival) => `best ${rival.template}`,
  default: () => 'default',
};

/** Who is compared: the document's rivals, each with a heading, static figures and parameters. */
export function rivals(problem) {
  return problem.rivals.map((rival) => {
    const row = rowOf(problem, rival.variant),
      finalist = problem.finalists.find((f) => f.variant === rival.variant);
    const known =
      row >= 0 ? fromRow(problem, row) : rival.role === 'winner' ? fromWinner(problem.winner) : fromFinalist(finalist);
    return {
      ...known,
      ...rival,
      title: titles[rival.role](finalist, rival),
      ms: rival.time_ms,
      isDefault: finalist?.is_default ?? false,
      isTie: finalist?.is_tie ?? false,
    };
  });
}

/** Figures in which a differs from b by enough to matter, split by whom they favour. */
export function differences(a, b) {
  const better = [],
    worse = [];
  const compare = (name, x, y, less, show) => {
    if (!isNumber(x) || !isNumber(y) || Math.abs(x - y) <= 0.03 * Math.max(Math.abs(x), Math.abs(y))) return;
    (x < y === less ? better : worse).push(`${name} ${show(x)} against ${show(y)}`);
  };
  const alike = Boolean(a.figure('is_counted')) === Boolean(b.figure('is_counted'));
  for (const {name, key, less, show} of figures) {
    if (!alike && counted.includes(key)) continue; // a count and a rule of thumb do not compare
    if (less !== null) compare(name, a.figure(key), b.figure(key), less, show);
  }
  compare('a last wave filled to', lastWave(a.figure('waves')), lastWave(b.figure('waves')), false, (v) =>
    percent(v, 0),
  );
  const changed =
    a.template === b.template
      ? [...a.parameters]
          .filter(([name, value]) => b.parameters.get(name) !== value)
          .map(([name, value]) => `${name}=${value} instead of ${b.parameters.get(name)}`)
      : [];
  return {better, worse, changed};
}

export const sentence = (list) =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}`;
