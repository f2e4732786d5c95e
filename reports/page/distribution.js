// distribution.js: how the times of all variants are spread.
import {axis, figure, legend, legendExcess} from './chart.js';
import {templateStyle} from './colors.js';
import {count, digits, isNumber, time} from './format.js';
import {markedRows} from './marks.js';
import {table} from './table.js';

export function distribution(problem, unit) {
  const {edges_ms: edges, counts, median_ms, count: total} = problem.distribution;
  const bins = edges.slice(1).map((_, i) => i);
  const marks = [
    ['median', median_ms],
    ...markedRows(problem).map(({name, row}) => [name, problem.variants.median_ms[row]]),
  ].filter(([, ms]) => isNumber(ms));
  // The place of a time among bins of equal width on a logarithmic axis.
  const low = edges[0],
    width = Math.log(edges[edges.length - 1] / low) / bins.length;
  const place = (ms) => (width > 0 ? Math.max(-0.5, Math.min(bins.length - 0.5, Math.log(ms / low) / width - 0.5)) : 0);
  const names = problem.templates.map((t) => t.name);
  return figure({
    id: 'distribution',
    title: 'Distribution of times',
    note: `${count(total)} timed variants in ${bins.length} bins of equal ratio, stacked by template. All times are those of the search${problem.winner ? ', also those of the winner and the default' : ''}.`,
    summary: marks.map(([name, ms]) => `${name} ${time(ms, unit)} ${unit.name}`).join(', '),
    table: () =>
      table({
        caption: 'Variants in each bin',
        rows: bins,
        columns: [
          {title: 'From', unit: unit.name, value: (i) => edges[i], cell: (i) => time(edges[i], unit, 4), numeric: true},
          {
            title: 'To',
            unit: unit.name,
            value: (i) => edges[i + 1],
            cell: (i) => time(edges[i + 1], unit, 4),
            numeric: true,
          },
          ...problem.templates.map((t, at) => ({title: t.name, value: (i) => counts[at][i], numeric: true})),
        ],
      }),
    option: (colors) => ({
      legend: legend(colors, {data: names}),
      grid: {left: 52, right: 24, top: 66 + legendExcess(names), bottom: 46},
      tooltip: {
        trigger: 'axis',
        axisPointer: {type: 'shadow'},
        formatter: (list) => {
          const i = list[0].dataIndex;
          return `${time(edges[i], unit, 4)} \u2013 ${time(edges[i + 1], unit, 4)} ${unit.name}: ${counts.map((c) => c[i]).reduce((a, b) => a + b, 0)}`;
        },
      },
      xAxis: [
        axis(colors, `time, ${unit.name}`, {
          type: 'category',
          data: bins.map((i) => digits(Math.sqrt(edges[i] * edges[i + 1]) * unit.scale, 3)),
          axisLabel: {color: colors.soft, interval: Math.ceil(bins.length / 7) - 1},
          splitLine: {show: false},
          axisTick: {show: false},
        }),
        {type: 'value', min: -0.5, max: bins.length - 0.5, show: false},
      ],
      yAxis: axis(colors, 'variants', {type: 'value', nameGap: 38, minInterval: 1}),
      series: [
        ...problem.templates.map((template, t) => ({
          name: template.name,
          type: 'bar',
          stack: 'all',
          barCategoryGap: '8%',
          itemStyle: {color: templateStyle(template.name).color},
          data: counts[t],
        })),
        {
          id: 'marks',
          type: 'line',
          xAxisIndex: 1,
          data: [],
          silent: true,
          markLine: {
            silent: true,
            symbol: 'none',
            lineStyle: {color: colors.text, width: 1.5, type: 'solid'},
            label: {
              color: colors.text,
              fontWeight: 'bold',
              formatter: (p) => p.name,
              textBorderColor: colors.back,
              textBorderWidth: 3,
            },
            data: marks.map(([name, ms]) => ({
              name,
              xAxis: place(ms),
              lineStyle: {type: name === 'median' ? 'dashed' : 'solid'},
              label: {distance: [0, {winner: 28, default: 15, median: 2}[name]]},
            })),
          },
        },
      ],
    }),
  });
}
