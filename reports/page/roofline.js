// roofline.js: every variant under the roofs of memory and arithmetic.
import {figure, legend, logAxis} from './chart.js';
import {templateStyle} from './colors.js';
import {devices, roofMs, stencils, timedRows, isEmulated} from './data.js';
import {el, newId} from './dom.js';
import {digits, isNumber} from './format.js';
import {markSeries, rowTip} from './marks.js';
import {variantRows} from './variants.js';

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
  const v = problem.variants,
    rows = timedRows(problem);
  const intensity = (row) => flops / (all - read + read * (isNumber(v.over_read[row]) ? v.over_read[row] : 1));
  const rate = (ms) => ((flops * problem.points) / ms) * 1e-6;
  const point = (row) => [intensity(row), rate(v.median_ms[row]), row];
  const compulsory = flops / all;
  const rates = rows.map((row) => rate(v.median_ms[row])),
    xs = rows.map(intensity);
  const top = Math.max(...rates, compulsory * gbps),
    bottom = Math.min(...rates);
  const x0 = Math.min(...xs, compulsory) / 1.3,
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
    el('option', {}, 'the variants closely'),
  );
  const element = figure({
    id: 'roofline',
    title,
    note:
      `Each point is a variant: work done over the bytes that its blocks request. The sloping line is the copy\u2019s ${digits(gbps)} GB/s, ${isNumber(peak) ? `the arithmetic roof is ${digits(peak / 1000, 3)} TFLOP/s` : 'the arithmetic roof of this GPU is not known'}. ` +
      'The dashed line is the intensity of compulsory traffic; points to the left of it read their halo again, and come above the slope where a cache serves that.',
    summary: `${rows.length} variants; the highest reaches ${digits(Math.max(...rates))} GFLOP/s, the memory roof at compulsory traffic is ${digits(compulsory * gbps)} GFLOP/s.`,
    tools: isNumber(peak) ? [el('label', {for: id}, 'Show ', select)] : [],
    table: () =>
      variantRows(problem, unit, rows, [
        {
          title: 'Intensity',
          unit: 'flops/byte',
          value: intensity,
          cell: (row) => digits(intensity(row)),
          numeric: true,
        },
        {
          title: 'Rate',
          unit: 'GFLOP/s',
          value: (row) => rate(v.median_ms[row]),
          cell: (row) => digits(rate(v.median_ms[row])),
          numeric: true,
          big: true,
        },
      ]),
    option: (colors) => ({
      legend: legend(colors, {data: problem.templates.map((t) => t.name)}),
      grid: {left: 62, right: 24, top: 34, bottom: 46},
      tooltip: {trigger: 'item', formatter: (p) => (p.data?.[2] >= 0 ? rowTip(problem, p.data[2], unit) : '')},
      xAxis: logAxis(colors, 'flops a byte requested', near ? x0 : x0 / 1.2, near ? compulsory * 1.15 : x1, nice),
      yAxis: logAxis(colors, 'GFLOP/s', bottom / 1.15, near ? top * 1.25 : y1, nice, {nameGap: 46}),
      series: [
        ...problem.templates.map((template, t) => ({
          id: `points-${t}`,
          name: template.name,
          type: 'scatter',
          symbolSize: 6,
          large: rows.length > 4000,
          progressive: 0,
          ...seriesStyle(template.name),
          data: rows.filter((row) => v.template[row] === t).map(point),
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
        markSeries(problem, colors, point),
      ],
    }),
  });
  return element;
}

export function seriesStyle(name) {
  const {color, symbol} = templateStyle(name);
  return {symbol, itemStyle: {color, opacity: 0.7}};
}
