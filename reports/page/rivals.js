// rivals.js: who the winner is compared with, and by which figures.
import {bytes, count, digits, isNumber, percent} from './format.js';
import {fastestRow, rowOf, rowParameters, templateName} from './data.js';

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

/** The share of the last wave that the launch fills. */
const lastWave = (waves) => (isNumber(waves) && waves > 0 ? waves / Math.ceil(waves) : null);

/** A variant that is compared: of a row of the columns, or of the winner, which may have come from elsewhere without its run. */
function fromRow(problem, row) {
  return {
    variant: problem.variants.variant[row],
    template: templateName(problem, row),
    figure: (key) => problem.variants[key][row],
    parameters: new Map(rowParameters(problem, row)),
  };
}

function fromWinner({
  variant,
  template_name: template,
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
  return {variant, template, figure: (key) => all[key] ?? null, parameters: new Map(parameters)};
}

/** A finalist whose search is not in this database: what its template says of its configuration, and no more. */
function fromFinalist(f) {
  return {
    variant: f.variant,
    template: f.template,
    figure: (key) => f.figures[key] ?? null,
    parameters: new Map(f.parameters),
  };
}

/** Who is compared, each with a heading and a time. */
export function rivals(problem) {
  const list = [],
    used = new Set();
  const push = (title, who, ms) => {
    if (!who || used.has(who.variant)) return;
    used.add(who.variant);
    const searched = problem.variants.median_ms[rowOf(problem, who.variant)] ?? null;
    list.push({
      title,
      ...who,
      searched,
      ms: ms ?? searched,
      isFinal: ms !== undefined,
      isDefault: problem.finalists.some((f) => f.is_default && f.variant === who.variant),
      // Of the same rounds, where both ran in them; else a quotient of times.
      paired: problem.finalists.find((f) => f.variant === who.variant)?.ratio ?? null,
    });
  };
  const at = (row) => (row < 0 ? null : fromRow(problem, row));
  const finals = problem.finalists;
  const pushFinalist = (title, f) => push(title, at(rowOf(problem, f.variant)) ?? fromFinalist(f), f.median_ms);
  const final = (variant) => finals.find((f) => f.variant === variant)?.median_ms;
  if (problem.winner)
    push('winner', at(rowOf(problem, problem.winner.variant)) ?? fromWinner(problem.winner), problem.winner.time_ms);
  else push('fastest so far', at(fastestRow(problem)));
  const second = finals.find((f) => f.rank === 2);
  if (second) pushFinalist(second.is_tie ? 'runner-up, a tie' : 'runner-up', second);
  problem.templates.forEach((template, t) => {
    if (template.name === list[0]?.template) return;
    const row = fastestRow(problem, (r) => problem.variants.template[r] === t);
    if (row >= 0) push(`best ${template.name}`, at(row), final(problem.variants.variant[row]));
  });
  for (const f of finals) {
    if (!f.is_default && list.every((r) => r.template !== f.template)) pushFinalist(`best ${f.template}`, f);
  }
  const standard = finals.find((f) => f.is_default);
  if (standard) pushFinalist('default', standard);
  return list;
}

/** Figures in which a differs from b by enough to matter, split by whom they favour. */
export function differences(a, b) {
  const better = [],
    worse = [];
  const compare = (name, x, y, less, show) => {
    if (!isNumber(x) || !isNumber(y) || Math.abs(x - y) <= 0.03 * Math.max(Math.abs(x), Math.abs(y))) return;
    (x < y === less ? better : worse).push(`${name} ${show(x)} against ${show(y)}`);
  };
  for (const {name, key, less, show} of figures) {
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
