// across.js: how well the winner of one GPU does on another.
import {el} from './dom.js';
import {grid, isNumber, percent, time, timeUnit} from './format.js';
import {deviceName, devices, problems, report, stencils} from './data.js';
import {onSequence, sequence} from './colors.js';
import {table} from './table.js';

const key = (p) => [p.stencil, p.dtype, p.nx, p.ny, p.nz, p.launch, p.cache, p.is_reproducible, p.steps].join(' ');

export function acrossView() {
  const head = [
    el('h1', {}, 'Across GPUs'),
    el(
      'p',
      {class: 'lead'},
      'How fast is the winner of one GPU on another GPU? A share is the best time on the other GPU, over the time of this configuration there. ' +
        'A share exists only where the same template and parameters were measured on both. If the configuration ran in the final rounds on the other GPU, ' +
        'both times come from these rounds, and the share has an interval. Otherwise both times come from the search; such shares are marked, ' +
        'and may be off by about a percent.',
    ),
  ];
  const groups = new Map();
  for (const problem of report.problems) {
    if (!problem.winner || devices.get(problem.device).is_emulation) continue;
    groups.set(key(problem), [...(groups.get(key(problem)) ?? []), problem]);
  }
  const several = [...groups.values()].filter((list) => list.length > 1);
  if (several.length === 0) {
    return [
      ...head,
      el(
        'p',
        {},
        devices.size > 1
          ? 'No problem has winners on two GPUs of this database.'
          : report.database_counts.devices > 1
            ? 'This report shows one of several GPUs. A report without --device compares them, if the same stencils were tuned on them.'
            : 'The database knows one GPU. Tune the same problems on another GPU to compare the two.',
      ),
    ];
  }
  const known = report.transfer.filter((t) => problems.has(t.from) && problems.has(t.to));
  return [
    ...head,
    ...several.map(matrix),
    el('h2', {}, 'All pairs'),
    table({
      caption: 'Winners on other GPUs',
      rows: known,
      filter: true,
      columns: [
        {
          title: 'Problem',
          value: (t) => name(problems.get(t.from)),
          cell: (t) => el('a', {href: `#/problem/${t.from}`}, name(problems.get(t.from))),
        },
        {title: 'Winner of', value: (t) => deviceName(problems.get(t.from).device)},
        {title: 'On', value: (t) => deviceName(problems.get(t.to).device)},
        {
          title: 'Time there',
          unit: 'ms',
          value: (t) => t.time_ms,
          cell: (t) => time(t.time_ms, timeUnit(10)),
          numeric: true,
        },
        {
          title: 'Best there',
          unit: 'ms',
          value: (t) => t.best_ms,
          cell: (t) => time(t.best_ms, timeUnit(10)),
          numeric: true,
        },
        {
          title: 'Of the best',
          value: (t) => t.share,
          cell: (t) => percent(t.share),
          numeric: true,
          big: true,
        },
        {title: '95 % interval', value: (t) => interval(t) ?? '\u2013', numeric: true},
        {title: 'Both times from', value: (t) => phase(t)},
      ],
    }),
  ];
}

const name = (p) => `${stencils.get(p.stencil).name} ${p.dtype} ${grid(p, stencils.get(p.stencil))}`;

/** The same configuration won on both. */
const isSame = (t) => t.share_low === 1 && t.share_high === 1;

const interval = (t) => (isNumber(t.share_low) && t.share_low < t.share_high ? `${percent(t.share_low)} \u2013 ${percent(t.share_high)}` : null);

/** Which times are compared. */
function phase(t) {
  if (isSame(t)) return 'the final rounds: it won there, too';
  if (t.phase === 'search') return 'the search';
  return isNumber(t.share_low) ? 'the same final rounds' : 'final rounds of different runs';
}

function matrix(list) {
  const cell = (from, to) => {
    if (from === to) return el('td', {class: 'heat', style: {background: sequence(1), color: onSequence(1)}}, '100 %');
    const found = report.transfer.find((t) => t.from === from.id && t.to === to.id);
    if (!found || !isNumber(found.share)) return el('td', {class: 'none'}, 'not measured');
    const shade = Math.min(1, found.share),
      range = interval(found);
    return el(
      'td',
      {
        class: 'heat',
        style: {background: sequence(shade), color: onSequence(shade)},
        title: `both times from ${phase(found)}${range ? `; 95 % interval ${range}` : ''}`,
      },
      percent(found.share),
      found.phase === 'search' && el('small', {style: {color: 'inherit'}}, ' search'),
    );
  };
  return el(
    'div',
    {class: 'scroll'},
    el(
      'table',
      {class: 'matrix'},
      el('caption', {}, `${name(list[0])}: share of the best time there`),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {scope: 'col'}, 'winner of \\ on'),
          list.map((p) => el('th', {scope: 'col'}, deviceName(p.device))),
        ),
      ),
      el(
        'tbody',
        {},
        list.map((from) =>
          el(
            'tr',
            {},
            el('th', {scope: 'row'}, deviceName(from.device)),
            list.map((to) => cell(from, to)),
          ),
        ),
      ),
    ),
  );
}
