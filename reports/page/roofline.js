// roofline.js: every variant under the roofs of memory and arithmetic.
import {figure, legend, legendExcess, logAxis} from './chart.js';
import {templateStyle} from './colors.js';
import {devices, isEmulated, least, most, roofMs, stencils, templateName, timedRows} from './data.js';
import {el, newId} from './dom.js';
import {digits, isNumber, time} from './format.js';
import {finalistTip, markedRows, ringSeries, rowTip} from './marks.js';
import {table} from './table.js';
import {variantRows} from './variants.js';

/** The variants that are drawn: all that have a time; if the search is not in the database, the finalists. */
function entries(problem) {
  const v = problem.variants,
    rows = timedRows(problem);
  if (!problem.has_search)
    return problem.finalists.map((f) => ({
      template: f.template,
      ms: f.median_ms,
      over_read: f.figures.over_read,
      finalist: f,
      mark: f.rank === 1 ? 'winner' : f.is_default ? 'default' : null,
    }));
  const marks = new Map(markedRows(problem).map(({name, row}) => [row, name]));
  return rows.map((row) => ({
    template: templateName(problem, row),
    ms: v.median_ms[row],
    over_read: v.over_read[row],
    row,
    mark: marks.get(row) ?? null,
  }));
}

export function roofline(problem, unit) {
  const stencil = stencils.get(problem.stencil),
    device = devices.get(problem.device);
  const flops = stencil.is_readable ? stencil.flops_per_point : 0;
  const roof_ms = roofMs(problem),
    traffic = problem.winner?.bytes ?? problem.roof?.bytes;
  const title = 'Roofline';
  if (!(flops > 0) || !isNumber(roof_ms)) {
    return el(
      'figure',
      {id: 'roofline', class: 'wide'},
      el(
        'figcaption',
        {},
        el('h3', {}, title),
        el(
          'p',
          {},
          isEmulated(problem)
            ? 'Emulated times have no roof.'
            : flops > 0
              ? 'No copy of the same bytes was measured in a run of this problem, so that there is no memory roof to draw.'
              : 'This stencil computes nothing: its roof is the copy alone, and the share of the roof tells all.',
        ),
      ),
    );
  }
  const gbps = (traffic / roof_ms) * 1e-6,
    peak = device.peak_gflops[problem.dtype];
  const read = stencil.read_bytes_per_point[problem.dtype],
    all = stencil.bytes_per_point[problem.dtype];
  const list = entries(problem),
    names = [...new Set([...problem.templates.map((t) => t.name), ...list.map((e) => e.template)])],
    isSearch = problem.has_search,
    what = isSearch ? 'variant' : 'finalist';
  // A launch reads and writes once for all of its steps.
  const work = flops * problem.steps;
  const intensity = (e) => work / (all - read + read * (isNumber(e.over_read) ? e.over_read : 1));
  const rate = (e) => ((work * problem.points) / e.ms) * 1e-6;
  const point = (e) => [intensity(e), rate(e)];
  const best_ms = (name) => least(list.filter((e) => e.template === name).map((e) => e.ms));
  const tooltip = (e) => (e.finalist ? finalistTip(e.finalist, unit) : rowTip(problem, e.row, unit));
  const compulsory = work / all;
  const rates = list.map(rate),
    xs = list.map(intensity);
  const top = Math.max(most(rates), compulsory * gbps),
    bottom = Math.min(least(rates), least(xs) * gbps);
  const x0 = Math.min(least(xs), compulsory) / 1.3,
    x1 = Math.max(compulsory * 1.6, isNumber(peak) && peak / gbps < compulsory * 12 ? (peak / gbps) * 1.5 : 0);
  const y1 = isNumber(peak) && peak < 20 * top ? peak * 1.4 : top * 1.8;
  const ridge = isNumber(peak) ? peak / gbps : Infinity;
  const memory = [
    [x0 / 1.2, (x0 / 1.2) * gbps],
    [Math.min(ridge, x1), Math.min(ridge, x1) * gbps],
  ];
  const nice = (value) =>
    value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : `${Number(value.toPrecision(3))}`;
  let near = false;
  const id = newId('roofs');
  const select = el(
    'select',
    {
      id,
      onchange: (event) => {
        near = event.target.selectedIndex === 1;
        element.chart.redraw();
      },
    },
    el('option', {}, 'both roofs'),
    el('option', {}, `the ${what}s closely`),
  );
  const element = figure({
    id: 'roofline',
    title,
    note:
      `Each point is a ${what}: work done over the bytes that its blocks request. The sloping line is the copy\u2019s ${digits(gbps)} GB/s, ${isNumber(peak) ? `the arithmetic roof is ${digits(peak / 1000, 3)} TFLOP/s` : 'the arithmetic roof of this GPU is not known'}. ` +
      'The dashed line is the intensity of compulsory traffic; points to the left of it read parts of their halo again. A point is above the slope if a cache serves these reads.',
    summary: `${list.length} ${what}s; the highest reaches ${digits(most(rates))} GFLOP/s, the memory roof at compulsory traffic is ${digits(compulsory * gbps)} GFLOP/s.`,
    tools: isNumber(peak) ? [el('label', {for: id}, 'Show ', select)] : [],
    table: () => {
      const number = (title, of, unitName, f, show) => ({
        title,
        unit: unitName,
        value: (item) => f(of(item)),
        cell: (item) => show(f(of(item))),
        numeric: true,
      });
      const figures = (of) => [
        number('Intensity', of, 'flops/byte', intensity, digits),
        {...number('Rate', of, 'GFLOP/s', rate, digits), big: true},
      ];
      if (isSearch) {
        const byRow = new Map(list.map((e) => [e.row, e]));
        return variantRows(problem, unit, [...byRow.keys()], figures((row) => byRow.get(row)));
      }
      return table({
        caption: 'Finalists',
        rows: list,
        columns: [
          {title: 'Rank', value: (e) => e.finalist.rank, numeric: true},
          {title: 'Template', value: (e) => e.template},
          number('Time', (e) => e, unit.name, (e) => e.ms, (ms) => time(ms, unit)),
          ...figures((e) => e),
        ],
      });
    },
    option: (colors) => ({
      legend: legend(colors, {data: names}),
      grid: {left: 62, right: 24, top: 34 + legendExcess(names), bottom: 46},
      tooltip: {trigger: 'item', formatter: (p) => (p.data?.[2] >= 0 ? tooltip(list[p.data[2]]) : '')},
      xAxis: logAxis(colors, 'flops a byte requested', near ? x0 : x0 / 1.2, near ? compulsory * 1.15 : x1, nice),
      yAxis: logAxis(colors, 'GFLOP/s', bottom / 1.15, near ? top * 1.25 : y1, nice, {nameGap: 46}),
      series: [
        ...fastestLast(names, best_ms).map((name) => ({
          id: `points-${name}`,
          name,
          type: 'scatter',
          symbolSize: 6,
          large: list.length > 4000,
          progressive: 0,
          ...seriesStyle(name),
          data: list.flatMap((e, i) => (e.template === name ? [[...point(e), i]] : [])),
        })),
        {
          id: 'memory',
          type: 'line',
          silent: true,
          showSymbol: false,
          lineStyle: {color: colors.text, width: 2},
          data: memory,
          markLine: {
            silent: true,
            symbol: 'none',
            lineStyle: {color: colors.soft, type: 'dashed'},
            label: {show: false},
            data: [{xAxis: compulsory}],
          },
        },
        ...(isNumber(peak) && peak < y1
          ? [
              {
                id: 'arithmetic',
                type: 'line',
                silent: true,
                showSymbol: false,
                lineStyle: {color: colors.text, width: 2},
                data: [
                  [Math.min(ridge, x1), peak],
                  [x1, peak],
                ],
              },
            ]
          : []),
        ringSeries(
          list.filter((e) => e.mark).map((e) => ({name: e.mark, value: point(e)})),
          colors,
        ),
      ],
    }),
  });
  return element;
}

/** Series in the order of painting. The fastest variants come last, on top, because readers look for them. */
export const fastestLast = (list, best_ms) => [...list].sort((a, b) => best_ms(b) - best_ms(a));

export function seriesStyle(name) {
  const {color, symbol} = templateStyle(name);
  return {symbol, itemStyle: {color, opacity: 0.7}};
}
