// about.js: where the numbers come from, how each is computed, what the words mean.
import {el} from './dom.js';
import {count, date, digits, grid} from './format.js';
import {deviceName, problems, report, stencils} from './data.js';
import {table} from './table.js';

// id, word, meaning. Links of the page lead here by id.
const figures = [
  [
    'time',
    'Time',
    'The time of one application of the kernel: the median over the final rounds. Each round runs every finalist and the copy once, so that a change of the clocks affects all of them. In the search, it is the median of the variant\u2019s own samples.',
  ],
  [
    'interval',
    '95 % interval',
    'The interval that contains the median with a probability of 95 %. It comes from the order statistics of the samples, and assumes no distribution.',
  ],
  [
    'gstencil-s',
    'GStencil/s',
    'Points of the grid (nx \u00d7 ny \u00d7 nz) times time steps of one application, over the time: points a nanosecond.',
  ],
  [
    'gb-s',
    'GB/s',
    'Effective bandwidth: compulsory traffic over the time. Values that a kernel reads again do not count, so variants can be compared.',
  ],
  [
    'compulsory-traffic',
    'Compulsory traffic',
    'Each input read once, each output written once: the fewest bytes that a sweep can move.',
  ],
  [
    'copy-roof',
    'Copy roof',
    'The faster of the tuned copy kernel and cuMemcpyDtoDAsync, moving the same number of bytes in the same rounds.',
  ],
  [
    'share-of-the-roof',
    'Share of the roof',
    'Median over the rounds of the copy\u2019s time over the kernel\u2019s time in the same round, with its 95 % interval. It can exceed 1: a kernel that reads more than it writes moves bytes faster than a copy, which writes half of them, and a cache may hold part of the data.',
  ],
  [
    'roof-of-fused-steps',
    'Roof of fused steps',
    'Where an application makes several time steps, a copy is no roof of a step. Memory: the copy\u2019s time for the bytes of an application, with the halos that its blocks read again, over its steps. Arithmetic: the instructions of a step, each point computed once, at the highest clock. Shared memory: the passes that the accesses of an application to shared memory take, one in a clock on each multiprocessor, over its steps; they are known if the report counts them (--count). The longest of these times binds; the share is this time over the winner\u2019s time of a step. Points that are computed again do not count.',
  ],
  [
    'speed-up-over-default',
    'Speed-up over default',
    'Time of the template\u2019s default configuration, over the winner\u2019s, in the same rounds.',
  ],
  [
    'arithmetic-roof',
    'Arithmetic roof',
    'Fused multiply-adds that a multiprocessor completes in a clock (NVIDIA\u2019s programming guide), times two, times multiprocessors, times the highest clock.',
  ],
  [
    'arithmetic-intensity',
    'Arithmetic intensity',
    'Flops of the update as written, over bytes. The roofline uses the bytes that blocks request (compulsory reads times over-read, plus writes): a variant that reads more values again lies further left.',
  ],
  [
    'loads-a-point',
    'Loads a point',
    'Instructions that read global memory, for each computed point. A vector load is one instruction. With --count, the report counts them for the winner and the finalists: the CPU runs one block in the middle of the grid. Otherwise the figure is a rule of thumb of the template.',
  ],
  [
    'over-read',
    'Over-read',
    'Different elements that a block reads, over the inputs of its points. 1 means that there is no halo; 1.2 means a fifth more. Like loads a point, it is counted or a rule of thumb.',
  ],
  ['computing-share', 'Computing share', 'Threads that compute, of the threads of a block.'],
  [
    'bank-conflicts',
    'Bank conflicts',
    'Passes that accesses to shared memory take, over the fewest possible. 1 means that there are no conflicts. The count covers all accesses; the rule of thumb covers the access that the template describes.',
  ],
  [
    'waves',
    'Waves',
    'Blocks of the launch over those that the GPU holds at a time. Just above a whole number, the last wave leaves most of the GPU idle.',
  ],
  [
    'occupancy',
    'Occupancy',
    'Warps that a multiprocessor holds, over the warps that it could hold. It follows from the threads, registers and shared memory of a block, with the arithmetic of the CUDA Toolkit.',
  ],
  [
    'effect',
    'Effect of a parameter',
    'The timed variants of a template are grouped by the value of this parameter. The effect is the share of the variance of log(time) that these groups explain (eta squared). Shares need not add up to 1, because parameters act together.',
  ],
  [
    'error',
    'Largest error',
    'The largest distance from the reference in double precision on the CPU, in units of the rounding that the update may have in this element type. RMS: the root of the mean square of all distances.',
  ],
  [
    'tie',
    'Tie',
    'A finalist that is at most half a percent slower than the fastest: the 95 % interval of the ratio of their times in the same rounds ends at 1.005 or below. Among the fastest finalist and its ties, the default variant wins. If it is not among them, the variant with the fewest registers wins, then the one with the least shared memory. So a difference that cannot be measured does not change the winner.',
  ],
];
const words = [
  ['stencil', 'Stencil', 'An update of each point of a grid from points around it.'],
  ['tap', 'Tap', 'A point that an update reads, by its offset.'],
  ['radius', 'Radius', 'The largest offset of a tap along an axis.'],
  ['halo', 'Halo', 'Points around a tile that its updates read beside the tile\u2019s own.'],
  ['template', 'Template', 'CUDA source that one family of kernels is made from, with named parameters.'],
  ['parameter', 'Parameter', 'A choice that a template leaves open, with a list of values.'],
  ['configuration', 'Configuration', 'A value for each parameter of a template.'],
  ['variant', 'Variant', 'A template and a configuration: one kernel.'],
  ['z_slicing', 'z_slicing', 'Planes that one block marches through.'],
  ['pencil', 'Pencil', 'A whole line of the grid along one axis.'],
  ['tile', 'Tile', 'Output points of one block.'],
  [
    'finalist',
    'Finalist',
    'One of the fastest variants of the search, measured again in interleaved rounds. Only these times decide who wins.',
  ],
  ['screened', 'Screened', 'A variant that was clearly slower than the best after a few samples. The search took no more samples of it.'],
  ['spill', 'Spill', 'Bytes that a thread stores to and loads from memory because its registers do not suffice.'],
];

export function aboutView() {
  const about = report.about;
  const define = (list) =>
    el(
      'dl',
      {class: 'words'},
      list.map(([id, word, meaning]) => el('div', {id}, el('dt', {}, word), el('dd', {}, meaning))),
    );
  return [
    el('h1', {}, 'Provenance and words'),
    el(
      'p',
      {class: 'lead'},
      'Made by Halotune ',
      about.halotune,
      ' on ',
      date(about.generated),
      ' from the database ',
      el('code', {}, about.database),
      about.stencil ? ` (stencil ${about.stencil} only)` : '',
      about.device ? ` (GPUs like ${about.device} only)` : '',
      '. The whole document behind this page: ',
      el('code', {}, 'halotune report --json'),
      '.',
    ),
    el('h2', {id: 'runs'}, 'Runs'),
    runTable(),
    el('h2', {id: 'templates'}, 'Templates and stencils'),
    table({
      caption: 'Templates and stencils, by the hash of their text',
      rows: [
        ...report.templates.map((t) => ({kind: 'template', ...t})),
        ...report.stencils.map((s) => ({kind: 'stencil', ...s})),
      ],
      columns: [
        {title: 'Name', value: (r) => r.name},
        {title: 'Kind', value: (r) => r.kind},
        {title: 'Hash', value: (r) => r.hash, cell: (r) => el('code', {}, r.hash)},
      ],
    }),
    el('h2', {id: 'figures'}, 'How each figure is computed'),
    define(figures),
    el('h2', {id: 'outcomes'}, 'Outcomes of a variant'),
    el(
      'dl',
      {class: 'words'},
      report.outcomes.map((o) =>
        el('div', {id: `outcome-${o.name}`}, el('dt', {}, o.name.replace(/_/g, ' ')), el('dd', {}, o.meaning)),
      ),
    ),
    el('h2', {id: 'words'}, 'Words'),
    define(words),
    el('h2', {}, 'Charts'),
    el('p', {}, 'Drawn with Apache ECharts, which is under the Apache License 2.0 and part of this file.'),
  ];
}

function runTable() {
  const problem = (run) => problems.get(run.problem);
  const title = (run) =>
    `${stencils.get(problem(run).stencil).name} ${problem(run).dtype} ${grid(problem(run), stencils.get(problem(run).stencil))}`;
  return table({
    caption: 'Every run of the tuner',
    filter: true,
    rows: report.runs,
    columns: [
      {title: 'Run', value: (r) => r.id, numeric: true},
      {
        title: 'Problem',
        value: title,
        cell: (r) => el('a', {href: `#/problem/${r.problem}`}, title(r)),
      },
      {title: 'GPU', value: (r) => deviceName(problem(r).device)},
      {title: 'State', value: (r) => r.state, cell: (r) => [r.state, r.reason && el('small', {}, `: ${r.reason}`)]},
      {title: 'Started', value: (r) => r.started, cell: (r) => date(r.started)},
      {title: 'Ended', value: (r) => r.ended ?? '', cell: (r) => date(r.ended)},
      {title: 'Results', value: (r) => r.measurements, cell: (r) => count(r.measurements), numeric: true},
      {title: 'Space', unit: 'variants', value: (r) => r.space, cell: (r) => count(r.space), numeric: true},
      {title: 'Strategy', value: (r) => r.strategy},
      {title: 'Budget', unit: 's', value: (r) => r.budget_s, cell: (r) => digits(r.budget_s, 3), numeric: true},
      {title: 'Seed', value: (r) => r.seed, numeric: true},
      {
        title: 'Copy',
        unit: '\u00b5s',
        value: (r) => r.copy_ms,
        cell: (r) => digits(r.copy_ms === null ? null : 1000 * r.copy_ms),
        numeric: true,
      },
      {
        title: 'cuMemcpy',
        unit: '\u00b5s',
        value: (r) => r.memcpy_ms,
        cell: (r) => digits(r.memcpy_ms === null ? null : 1000 * r.memcpy_ms),
        numeric: true,
      },
      {
        title: 'Empty launch',
        unit: '\u00b5s',
        value: (r) => r.empty_ms,
        cell: (r) => digits(r.empty_ms === null ? null : 1000 * r.empty_ms, 3),
        numeric: true,
      },
      {title: 'Host', value: (r) => r.host},
      {title: 'Driver', value: (r) => r.driver},
      {title: 'NVRTC', value: (r) => r.nvrtc},
      {title: 'Halotune', value: (r) => r.version},
      {title: 'Warnings', value: (r) => r.warnings},
      {title: 'Command', value: (r) => r.command, cell: (r) => el('code', {}, r.command)},
    ],
  });
}
