// overview.js: every GPU and every problem at a glance.
import {el} from './dom.js';
import {count, date, digits, factor, grid, isNumber, plural, share, time, timeRange, timeUnit} from './format.js';
import {deviceName, devices, failedCount, fastestRow, isEmulated, report, resultOf, stencils, ties, triedCount} from './data.js';
import {deviceTable} from './devices.js';
import {matrix} from './matrix.js';
import {overviewNotices} from './notices.js';
import {table} from './table.js';

export function overviewView() {
  const c = report.counts,
    about = report.about;
  if (report.problems.length === 0) return emptyView();
  return [
    el('h1', {}, 'What was tuned, and what won'),
    el(
      'p',
      {class: 'lead'},
      `This database holds ${plural(c.devices, 'device')}, ${plural(c.stencils, 'stencil')}, ${plural(c.problems, 'problem')}, ${plural(c.winners, 'winner')}` +
        (c.runs > 0
          ? `, and ${plural(c.measurements, 'result')} of ${plural(c.variants, 'variant')} from ${plural(c.runs, 'run')}. `
          : '. It holds no runs: the winners came without their searches. '),
      (about.stencil || about.device) &&
        `The database holds ${plural(report.database_counts.problems, 'problem')} in all. `,
      `Report of ${date(about.generated)}. A problem is a stencil, element type and grid on a GPU. Its winner is the fastest verified kernel of the final rounds. Among kernels that tie with the fastest, the default wins, else the one that needs fewer registers. Every underlined word leads to its meaning.`,
    ),
    ...overviewNotices().filter(Boolean),
    el('h2', {}, 'Results'),
    results(),
    el('h2', {}, 'Share of the copy roof'),
    el(
      'p',
      {},
      'Time of a copy of the same bytes, measured in the same rounds, over the winner\u2019s time: 1 is as fast as a copy of the same bytes. Where several grids, or several GPUs of one name, were tuned, the range.',
    ),
    matrix(),
    el('h2', {}, devices.size === 1 ? 'The GPU' : 'The GPUs'),
    deviceTable(),
  ];
}

function emptyView() {
  const view = [
    el('h1', {}, 'Nothing was tuned yet'),
    el('p', {class: 'lead'}, 'The database holds no problem: no stencil was tuned with it so far.'),
    el('p', {}, 'Tune one on a machine with an NVIDIA GPU, then write the report again:'),
    el('pre', {}, 'halotune tune star7\nhalotune report'),
    el('p', {}, 'Database: ', el('code', {}, report.about.database), '. Report of ', date(report.about.generated), '.'),
  ];
  if (devices.size > 0) view.push(el('h2', {}, 'Known GPUs'), deviceTable());
  return view;
}

const timeOf = (p) => p.winner?.time_ms ?? null;

function results() {
  const several = devices.size > 1,
    hasCounts = report.problems.some((p) => isNumber(triedCount(p))),
    unit = timeUnit(Math.max(0, ...report.problems.map((p) => timeOf(p) ?? 0)));
  // The modes of a problem are shown only if most problems have other ones.
  const modes = ['launch', 'cache'].map((key) => {
    const often = new Map();
    for (const p of report.problems) often.set(p[key], (often.get(p[key]) ?? 0) + 1);
    return {key, usual: [...often].sort((a, b) => b[1] - a[1])[0][0]};
  });
  const unusual = (p) =>
    modes
      .filter(({key, usual}) => p[key] !== usual)
      .map(({key}) => p[key])
      .join(', ');
  const result = new Map(report.problems.map((p) => [p, resultOf(p)]));
  const of = (p, key) => result.get(p)?.[key] ?? null;
  const columns = [
    {
      title: 'Stencil',
      value: (p) => stencils.get(p.stencil).name,
      cell: (p) => el('a', {href: `#/problem/${p.id}`}, stencils.get(p.stencil).name),
    },
    {title: 'Type', value: (p) => p.dtype},
    {
      title: 'Grid',
      unit: 'points',
      value: (p) => p.points,
      filter: (p) => grid(p, stencils.get(p.stencil)),
      cell: (p) => [grid(p, stencils.get(p.stencil)), unusual(p) && el('small', {}, ` ${unusual(p)}`)],
      numeric: true,
    },
    several && {title: 'GPU', value: (p) => deviceName(p.device)},
    {
      title: 'Winner',
      value: (p) => p.winner?.template_name ?? (fastestRow(p) >= 0 ? 'not final' : 'none'),
      cell: (p) => winnerCell(p),
    },
    {title: 'Time', unit: unit.name, value: timeOf, cell: (p) => time(timeOf(p), unit), numeric: true},
    {
      title: '95 % interval',
      unit: unit.name,
      value: (p) => (isNumber(p.winner?.low_ms) ? p.winner.high_ms - p.winner.low_ms : null),
      numeric: true,
      cell: (p) => timeRange(p.winner?.low_ms, p.winner?.high_ms, unit),
    },
    {
      title: 'GStencil/s',
      value: (p) => of(p, 'gstencil'),
      cell: (p) => digits(of(p, 'gstencil')),
      numeric: true,
      big: true,
    },
    {title: 'GB/s', value: (p) => of(p, 'gbps'), cell: (p) => digits(of(p, 'gbps')), numeric: true, big: true},
    {
      title: 'Share of roof',
      value: (p) => of(p, 'roof'),
      cell: (p) => bar(of(p, 'roof'), isEmulated(p)),
      numeric: true,
      big: true,
    },
    {
      title: 'Over default',
      value: (p) => of(p, 'speedup'),
      cell: (p) => factor(of(p, 'speedup')),
      numeric: true,
      big: true,
    },
    hasCounts && {
      title: 'Tried',
      unit: 'variants',
      value: triedCount,
      cell: (p) => (isNumber(triedCount(p)) ? count(triedCount(p)) : notRecorded()),
      numeric: true,
      big: true,
    },
    hasCounts && {
      title: 'Failed',
      value: failedCount,
      cell: (p) =>
        isNumber(failedCount(p))
          ? el('a', {href: `#/problem/${p.id}/failures`}, count(failedCount(p)))
          : notRecorded(),
      numeric: true,
      big: true,
    },
  ].filter(Boolean);
  return table({caption: 'Problems and their winners', columns, rows: report.problems, filter: true});
}

const notRecorded = () => el('span', {class: 'soft'}, 'not recorded');

function winnerCell(problem) {
  if (!problem.winner) return el('span', {class: 'soft'}, fastestRow(problem) >= 0 ? 'no final rounds' : 'none');
  const others = ties(problem).length;
  return [
    problem.winner.template_name,
    others > 0 &&
      el(
        'small',
        {title: 'Finalists that are at most half a percent slower than the fastest'},
        ` +${plural(others, 'tie')}`,
      ),
  ];
}

function bar(value, isEmulation) {
  if (!isNumber(value) || isEmulation) return '\u2013';
  return el(
    'span',
    {class: 'bar'},
    el('span', {class: 'fill', style: {width: `${Math.min(100, 100 * value)}%`}}),
    el('span', {}, share(value)),
  );
}
