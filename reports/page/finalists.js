// finalists.js: the last rounds, which alone decide.
import {axis, figure} from './chart.js';
import {templateStyle} from './colors.js';
import {count, digits, isNumber, parameters, time, timeRange} from './format.js';
import {table} from './table.js';

const kind = (f) =>
  [f.rank === 1 ? 'winner' : f.is_tie ? 'tie' : '', f.is_default ? 'default' : ''].filter(Boolean).join(', ');

/** Time against energy, if the finals measured energy. A finalist is on the front if no other one is better in both. */
function pareto(list, unit, label) {
  const known = list.filter((f) => isNumber(f.energy_mj)),
    front = known.filter((f) => f.is_pareto).sort((a, b) => a.median_ms - b.median_ms);
  const point = (f) => [f.median_ms * unit.scale, f.energy_mj];
  const names = new Map(known.map((f) => [point(f).join(), label(f)]));
  return figure({
    id: 'pareto',
    title: 'Time and energy of the finalists',
    height: 320,
    wide: true,
    note: 'Energy of one application by the counter of the GPU, with what the GPU draws while it waits. The line joins the finalists of which no other one is better in both.',
    summary: known.map((f) => `${label(f)} ${time(f.median_ms, unit)} ${unit.name}, ${digits(f.energy_mj, 5)} mJ`).join('; '),
    option: (colors) => ({
      grid: {left: 70, right: 30, top: 12, bottom: 46},
      tooltip: {
        trigger: 'item',
        formatter: (p) => `${names.get(p.data.join()) ?? ''}: ${digits(p.data[0], 6)} ${unit.name}, ${digits(p.data[1], 5)} mJ`,
      },
      xAxis: axis(colors, `time, ${unit.name}`, {type: 'value', scale: true}),
      yAxis: axis(colors, 'energy, mJ', {type: 'value', scale: true}),
      series: [
        {id: 'front', type: 'line', symbol: 'none', silent: true, lineStyle: {color: colors.soft, type: 'dashed'}, data: front.map(point)},
        {id: 'finalists', type: 'scatter', symbolSize: 9, itemStyle: {color: colors.text}, data: known.map(point)},
      ],
    }),
  });
}

export function finalists(problem, unit) {
  const list = problem.finalists,
    label = (f) => `${f.rank} ${f.template}${kind(f) ? ` (${kind(f)})` : ''}`;
  // A default that is much slower is only in the table: beside it, all other finalists would look like one line here.
  const shown = list.filter((f) => !f.is_default || f.rank === 1 || f.median_ms < 1.1 * list[0].median_ms);
  const left = list.filter((f) => !shown.includes(f));
  const points = shown.flatMap((f, i) => f.samples.map((ms) => [ms * unit.scale, i]));
  const [first] = list;
  const varying = [...new Set(list.flatMap((f) => f.parameters.map(([name]) => name)))].filter(
    (name) => new Set(list.map((f) => new Map(f.parameters).get(name))).size > 1,
  );
  return [
    figure({
      id: 'finals',
      title: 'Times of the finalists',
      height: Math.max(180, 34 * shown.length + 60),
      wide: true,
      note: `${count(first.sample_count)} rounds; in each, every finalist ran once. Dots are samples, the bar is the 95 % interval of the median, the notch the median. A tie is at most half a percent slower than the fastest, as far as can be told; among ties the default wins, then fewer registers.${left.length > 0 ? ` Not shown: the default, ${time(left[0].median_ms, unit)} ${unit.name}.` : ''}`,
      summary: list.map((f) => `${label(f)} ${time(f.median_ms, unit)} ${unit.name}`).join('; '),
      option: (colors) => ({
        grid: {left: 170, right: 30, top: 8, bottom: 46},
        tooltip: {
          trigger: 'item',
          formatter: (p) => (p.seriesId === 'samples' ? `sample: ${digits(p.data[0], 6)} ${unit.name}` : ''),
        },
        xAxis: axis(colors, `time, ${unit.name}`, {
          type: 'value',
          scale: true,
          axisLabel: {color: colors.soft, formatter: (value) => digits(value, 5)},
        }),
        yAxis: axis(colors, '', {
          type: 'category',
          data: shown.map(label),
          inverse: true,
          axisLabel: {color: colors.text},
          splitLine: {show: false},
        }),
        series: [
          {id: 'samples', type: 'scatter', symbolSize: 4, itemStyle: {color: colors.soft, opacity: 0.55}, data: points},
          {
            id: 'intervals',
            type: 'custom',
            silent: true,
            z: 5,
            encode: {x: [0, 1, 2], y: 3},
            data: shown.map((f, i) => [f.low_ms ?? f.median_ms, f.median_ms, f.high_ms ?? f.median_ms].map((ms) => ms * unit.scale).concat(i)),
            renderItem: (_, api) => {
              const [low, middle, high] = [0, 1, 2].map((d) => api.coord([api.value(d), api.value(3)])[0]),
                y = api.coord([0, api.value(3)])[1];
              const color = templateStyle(shown[api.value(3)].template).color;
              return {
                type: 'group',
                children: [
                  {
                    type: 'rect',
                    shape: {x: low, y: y - 4, width: Math.max(2, high - low), height: 8},
                    style: {fill: color, opacity: 0.85},
                  },
                  {
                    type: 'line',
                    shape: {x1: middle, x2: middle, y1: y - 9, y2: y + 9},
                    style: {stroke: colors.text, lineWidth: 2},
                  },
                ],
              };
            },
          },
        ],
      }),
    }),
    list.some((f) => isNumber(f.energy_mj)) && pareto(list, unit, label),
    table({
      caption: 'Finalists in their order',
      rows: list,
      rowClass: (f) => (f.rank === 1 ? 'best' : null),
      columns: [
        {title: 'Rank', value: (f) => f.rank, numeric: true},
        {title: 'Template', value: (f) => f.template},
        {title: 'Role', value: kind},
        {
          title: 'Median',
          unit: unit.name,
          value: (f) => f.median_ms,
          cell: (f) => time(f.median_ms, unit),
          numeric: true,
        },
        {
          title: '95 % interval',
          unit: unit.name,
          value: (f) => (isNumber(f.low_ms) ? f.high_ms - f.low_ms : null),
          cell: (f) => timeRange(f.low_ms, f.high_ms, unit),
          numeric: true,
        },
        {
          title: 'Fastest sample',
          unit: unit.name,
          value: (f) => f.minimum_ms,
          cell: (f) => time(f.minimum_ms, unit),
          numeric: true,
        },
        {
          title: 'Ratio to the winner',
          value: (f) => f.ratio,
          cell: (f) =>
            f.rank === 1
              ? '1'
              : digits(f.ratio, 5) +
                (isNumber(f.ratio_low) ? ` (${digits(f.ratio_low, 5)} \u2013 ${digits(f.ratio_high, 5)})` : ''),
          numeric: true,
        },
        ...(list.some((f) => isNumber(f.energy_mj))
          ? [
              {title: 'Energy', unit: 'mJ', value: (f) => f.energy_mj, cell: (f) => digits(f.energy_mj, 5), numeric: true},
              {title: 'On the front', value: (f) => (f.is_pareto ? 'yes' : '')},
            ]
          : []),
        {
          title: 'Parameters that differ',
          value: (f) => parameters(f.parameters.filter(([name]) => varying.includes(name))),
          class: 'mono',
        },
        ...(list.some((f) => f.why) ? [{title: 'Why it was proposed', value: (f) => f.why ?? '-', class: 'cause'}] : []),
      ],
    }),
  ];
}
