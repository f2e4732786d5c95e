// why.js: the winner beside the runner-up, the best of each other template and the default, and what sets it apart.
import {el, term} from './dom.js';
import {bytes, count, digits, isNumber, percent, time} from './format.js';
import {fastestRow, rowOf, rowParameters, templateName} from './data.js';

// Static figures: name, key of the columns, whether less is better (null: it depends), how a number reads.
const figures = [
  {name: 'loads a point', key: 'loads_per_point', less: true, show: (v) => digits(v, 3)},
  {name: 'over-read', key: 'over_read', less: true, show: (v) => digits(v, 4)},
  {
    name: 'bank conflicts',
    key: 'bank_conflicts',
    less: true,
    show: (v) => (isNumber(v) ? digits(v, 3) : 'no shared memory'),
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

/** Who is compared, each with a heading and a time. */
function rivals(problem) {
  const list = [],
    used = new Set();
  const push = (title, who, ms) => {
    if (!who || used.has(who.variant)) return;
    used.add(who.variant);
    list.push({
      title,
      ...who,
      ms: ms ?? problem.variants.median_ms[rowOf(problem, who.variant)],
      isFinal: ms !== undefined,
    });
  };
  const at = (row) => (row < 0 ? null : fromRow(problem, row));
  const finals = problem.finalists;
  const final = (variant) => finals.find((f) => f.variant === variant)?.median_ms;
  if (problem.winner)
    push('winner', at(rowOf(problem, problem.winner.variant)) ?? fromWinner(problem.winner), problem.winner.time_ms);
  else push('fastest so far', at(fastestRow(problem)));
  const second = finals.find((f) => f.rank === 2);
  if (second)
    push(second.is_tie ? 'runner-up, a tie' : 'runner-up', at(rowOf(problem, second.variant)), second.median_ms);
  problem.templates.forEach((template, t) => {
    if (template.name === list[0]?.template) return;
    const row = fastestRow(problem, (r) => problem.variants.template[r] === t);
    if (row >= 0) push(`best ${template.name}`, at(row), final(problem.variants.variant[row]));
  });
  const standard = finals.find((f) => f.is_default);
  if (standard) push('default', at(rowOf(problem, standard.variant)), standard.median_ms);
  return list;
}

/** Figures in which a differs from b by enough to matter, split by whom they favour. */
function differences(a, b) {
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

const sentence = (list) =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}`;

export function why(problem) {
  const list = rivals(problem),
    [winner] = list;
  if (list.length < 2) return null;
  const lines = list
    .slice(1)
    .filter((r) => r.title !== 'default')
    .slice(0, 3)
    .map((rival) => {
      const {better, worse, changed} = differences(winner, rival);
      const ratio = rival.ms / winner.ms - 1,
        isTie = rival.title.includes('tie');
      const who = rival.title.startsWith('best ') ? `the ${rival.title} variant` : `the ${rival.title.split(',')[0]}`;
      const lead = isTie
        ? `Against ${who}: a tie (${percent(ratio, 2)} apart, within the noise)`
        : `Against ${who}: ${percent(ratio, ratio < 0.1 ? 2 : 0)} ${winner.isFinal && rival.isFinal ? 'slower' : 'slower in the search'}`;
      const told =
        better.length > 0
          ? `; in the winner\u2019s favour: ${sentence(better)}`
          : isTie
            ? ''
            : '; no static figure is in the winner\u2019s favour, so the reason lies in scheduling or caches';
      const against = worse.length > 0 && !isTie ? `; against it: ${sentence(worse)}` : '';
      return el(
        'li',
        {},
        lead,
        told,
        against,
        '.',
        changed.length > 0 ? el('span', {class: 'soft'}, ` They differ in ${sentence(changed)}.`) : '',
      );
    });
  return [
    el('h3', {}, 'Why it won'),
    el('p', {class: 'soft'}, 'As far as static figures tell; they are computed from the templates, not measured.'),
    el('ul', {class: 'why'}, lines),
  ];
}

export function comparison(problem, unit) {
  const list = rivals(problem);
  if (list.length === 0) return null;
  const first = list[0],
    winner = problem.winner;
  const names = [...new Set(list.flatMap((r) => [...r.parameters.keys()]))];
  const cells = (make) =>
    list.map((r) => {
      const {text, differs} = make(r);
      return el('td', {class: differs ? 'differs' : null}, text);
    });
  const row = (head, make) => el('tr', {}, el('th', {scope: 'row'}, head), cells(make));
  const group = (title) => el('tr', {class: 'group'}, el('th', {colspan: list.length + 1, scope: 'rowgroup'}, title));
  const same = (text) => ({text, differs: false});
  return [
    el(
      'div',
      {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison'},
      el(
        'table',
        {class: 'upright compare'},
        el(
          'caption',
          {},
          winner
            ? 'The winner beside others; what differs from it is marked'
            : 'The fastest so far beside others; what differs is marked',
        ),
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', {}),
            list.map((r) => el('th', {scope: 'col'}, r.title)),
          ),
        ),
        el(
          'tbody',
          {},
          row('template', (r) => ({text: r.template, differs: r.template !== first.template})),
          row(`time, ${unit.name}`, (r) => same([time(r.ms, unit), !r.isFinal && el('small', {}, ' search')])),
          row('against the winner', (r) => same(r === first ? '1' : `${digits(r.ms / first.ms, 4)}\u00d7 the time`)),
          group('Parameters'),
          names.map((name) =>
            row(el('code', {}, name), (r) => ({
              text: r.parameters.get(name) ?? '\u2013',
              differs: r.parameters.get(name) !== first.parameters.get(name),
            })),
          ),
          group('Figures'),
          figures.map(({name, id, key, show}) =>
            row(id ? name : term(name), (r) => ({
              text: show(r.figure(key)),
              differs: r.figure(key) !== first.figure(key),
            })),
          ),
        ),
      ),
    ),
  ];
}

/** How the winner is launched, and what limits its occupancy. */
export function launchText(problem) {
  const winner = problem.winner,
    launch = winner?.launch;
  if (!launch) return null;
  return [
    el('h3', {}, 'Launch'),
    el('p', {}, el('code', {}, `${launch.kernel}<<<(${launch.grid}), (${launch.block}), ${launch.shared_bytes}>>>`)),
    winner.limited_by?.length > 0 &&
      el(
        'p',
        {},
        `Its ${percent(winner.occupancy, 1)} `,
        term('occupancy'),
        ` is limited by ${sentence(winner.limited_by)}.`,
      ),
    winner.occupancy_text &&
      el(
        'ul',
        {class: 'plain soft'},
        winner.occupancy_text.split('; ').map((part) => el('li', {}, part)),
      ),
  ];
}
