// overview.js: every GPU and every problem at a glance.
import {el, term} from './dom.js';
import {bytes, count, date, day, digits, factor, grid, isNumber, plural, share, time, timeUnit} from './format.js';
import {deviceName, devices, failedCount, isEmulated, report, resultOf, stencils, ties, fastestRow} from './data.js';
import {onSequence, sequence} from './colors.js';
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
      `${plural(c.devices, 'device')}, ${plural(c.stencils, 'stencil')}, ${plural(c.problems, 'problem')}; ` +
        `${plural(c.measurements, 'result')} of ${plural(c.variants, 'variant')} in ${plural(c.runs, 'run')}; ${plural(c.winners, 'winner')}. ` +
        `Report of ${date(about.generated)}. A problem is a stencil, element type and grid on a GPU; its winner is the fastest verified kernel in final, interleaved rounds. Every underlined word leads to its meaning.`,
    ),
    ...overviewNotices().filter(Boolean),
    el('h2', {}, 'Results'),
    results(),
    el('h2', {}, 'Share of the copy roof'),
    el(
      'p',
      {},
      'Time of a copy of the same bytes, measured in the same rounds, over the winner\u2019s time: 1 is as fast as memory allows one sweep to be. Where several grids were tuned, the range.',
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
    unit = timeUnit(Math.max(0, ...report.problems.map((p) => timeOf(p) ?? 0)));
  const modes = new Set(report.problems.map((p) => `${p.launch} ${p.cache}`));
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
      cell: (p) => grid(p, stencils.get(p.stencil)),
      numeric: true,
    },
    several && {title: 'GPU', value: (p) => deviceName(p.device)},
    modes.size > 1 && {title: 'Mode', value: (p) => `${p.launch}, ${p.cache}`},
    {
      title: 'Winner',
      value: (p) => p.winner?.template_name ?? (fastestRow(p) >= 0 ? 'not final' : 'none'),
      cell: (p) => winnerCell(p),
    },
    {title: 'Time', unit: unit.name, value: timeOf, cell: (p) => time(timeOf(p), unit), numeric: true},
    {
      title: '95 % interval',
      unit: unit.name,
      value: (p) => (p.winner ? p.winner.high_ms - p.winner.low_ms : null),
      numeric: true,
      cell: (p) => (p.winner ? `${time(p.winner.low_ms, unit)} \u2013 ${time(p.winner.high_ms, unit)}` : '\u2013'),
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
    {title: 'Variants', value: (p) => p.variant_count, cell: (p) => count(p.variant_count), numeric: true, big: true},
    {
      title: 'Failed',
      value: failedCount,
      cell: (p) => el('a', {href: `#/problem/${p.id}/failures`}, count(failedCount(p))),
      numeric: true,
      big: true,
    },
  ].filter(Boolean);
  return table({caption: 'Problems and their winners', columns, rows: report.problems, filter: true});
}

function winnerCell(problem) {
  if (!problem.winner) return el('span', {class: 'soft'}, fastestRow(problem) >= 0 ? 'no final rounds' : 'none');
  const others = ties(problem).length;
  return [
    problem.winner.template_name,
    others > 0 &&
      el('small', {title: 'Finalists that were not told apart from the winner'}, ` +${plural(others, 'tie')}`),
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

function matrix() {
  const columns = [];
  for (const device of devices.values()) {
    for (const dtype of ['f32', 'f64']) {
      if (report.problems.some((p) => p.device === device.id && p.dtype === dtype)) columns.push({device, dtype});
    }
  }
  const names = [...new Set(report.problems.map((p) => stencils.get(p.stencil).name))];
  const cell = (name, {device, dtype}) => {
    const list = report.problems.filter(
      (p) => stencils.get(p.stencil).name === name && p.device === device.id && p.dtype === dtype,
    );
    const shares = list.map((p) => p.winner?.roof_ratio).filter(isNumber);
    if (list.length === 0) return el('td', {class: 'none', title: 'not tuned'}, '\u2013');
    if (shares.length === 0 || device.is_emulation)
      return el(
        'td',
        {class: 'none'},
        el('a', {href: `#/problem/${list[0].id}`}, device.is_emulation ? 'emulated' : 'no winner'),
      );
    const low = Math.min(...shares),
      high = Math.max(...shares);
    const text = low.toFixed(2) === high.toFixed(2) ? high.toFixed(2) : `${low.toFixed(2)}\u2013${high.toFixed(2)}`;
    const at = Math.max(0, Math.min(1, high));
    const best = list.find((p) => p.winner?.roof_ratio === high);
    return el(
      'td',
      {
        class: 'heat',
        style: {background: sequence(at), color: onSequence(at)},
        title: list.map((p) => `${grid(p, stencils.get(p.stencil))}: ${share(p.winner?.roof_ratio)}`).join('\n'),
      },
      el('a', {href: `#/problem/${best.id}`, style: {color: 'inherit'}}, text),
    );
  };
  return el(
    'div',
    {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Share of roof by stencil and GPU'},
    el(
      'table',
      {class: 'matrix'},
      el('caption', {}, 'Share of the copy roof by stencil, GPU and element type'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {scope: 'col'}, 'Stencil'),
          columns.map((c) => el('th', {scope: 'col'}, deviceName(c.device.id), el('br'), c.dtype)),
        ),
      ),
      el(
        'tbody',
        {},
        names.map((name) =>
          el(
            'tr',
            {},
            el('th', {scope: 'row'}, name),
            columns.map((c) => cell(name, c)),
          ),
        ),
      ),
    ),
  );
}

function deviceTable() {
  const list = [...devices.values()];
  const row = (name, value) =>
    el(
      'tr',
      {},
      el('th', {scope: 'row'}, name),
      list.map((d) => el('td', {}, value(d) ?? '\u2013')),
    );
  return el(
    'div',
    {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'GPUs'},
    el(
      'table',
      {class: 'upright'},
      el('caption', {}, 'Facts of each GPU'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {}),
          list.map((d) => el('th', {scope: 'col'}, deviceName(d.id))),
        ),
      ),
      el(
        'tbody',
        {},
        row('UUID', (d) => el('code', {}, d.uuid)),
        row('Architecture', (d) => `sm_${d.capability}`),
        row('Multiprocessors', (d) => `${count(d.sm_count)} at up to ${count(d.clock_khz / 1000)} MHz`),
        row('Memory', (d) => `${bytes(d.memory_bytes)}, ${count(d.bus_bits)} bits wide, L2 ${bytes(d.l2_bytes)}`),
        row(term('Measured copy roof', 'copy-roof'), (d) =>
          d.is_emulation
            ? 'none: emulated'
            : isNumber(d.roof?.gbps)
              ? `${digits(d.roof.gbps)} GB/s, moving ${bytes(d.roof.bytes)}`
              : 'not measured',
        ),
        row(term('Arithmetic roof'), (d) =>
          isNumber(d.peak_gflops.f32)
            ? `${digits(d.peak_gflops.f32 / 1000)} TFLOP/s f32, ${digits(d.peak_gflops.f64 / 1000)} TFLOP/s f64`
            : d.is_emulation
              ? 'none: emulated'
              : 'unknown',
        ),
        row('Driver', (d) =>
          d.drivers
            ? `${d.drivers} (CUDA ${Math.floor(d.cuda / 1000)}.${(d.cuda % 1000) / 10})`
            : d.is_emulation
              ? 'none: emulated'
              : null,
        ),
        row(list.every((d) => d.is_emulation) ? 'Compiler' : 'NVRTC', (d) => d.nvrtcs),
        row(
          'Runs',
          (d) => `${count(d.run_count)}, ${day(d.first)}${day(d.first) === day(d.last) ? '' : ` to ${day(d.last)}`}`,
        ),
      ),
    ),
  );
}
