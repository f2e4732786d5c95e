// scatter.js: time against occupancy, or against another figure of the variants.
import {axis, figure, legend, legendExcess, logAxis} from './chart.js';
import {least, most, timedRows} from './data.js';
import {el, newId} from './dom.js';
import {digits, isNumber, time} from './format.js';
import {markSeries, rowTip} from './marks.js';
import {fastestLast, seriesStyle} from './roofline.js';
import {variantRows} from './variants.js';

const choices = [
  {key: 'occupancy', name: 'occupancy', unit: '%', scale: 100},
  {key: 'registers', name: 'registers a thread'},
  {key: 'shared_bytes', name: 'shared memory a block', unit: 'KiB', scale: 1 / 1024},
  {key: 'loads_per_point', name: 'loads a point'},
  {key: 'over_read', name: 'over-read'},
  {key: 'waves', name: 'waves', log: true},
  {key: 'bank_conflicts', name: 'bank conflicts'},
  {key: 'threads', name: 'threads a block'},
  {key: 'spill_bytes', name: 'spill', unit: 'B'},
  {key: 'number', name: 'order in the search'},
];

export function scatter(problem, unit, selection) {
  const v = problem.variants,
    rows = timedRows(problem);
  let choice = choices[0];
  const id = newId('against');
  const place = (row) => {
    const value = v[choice.key][row];
    return isNumber(value) && !(choice.log && value <= 0) ? value * (choice.scale ?? 1) : null;
  };
  const places = () => rows.map(place).filter(isNumber);
  const point = (row) => (place(row) === null ? null : [place(row), v.median_ms[row] * unit.scale, row]);
  const select = el(
    'select',
    {
      id,
      onchange: (event) => {
        choice = choices[event.target.selectedIndex];
        element.chart.redraw();
      },
    },
    choices.map((c) => el('option', {}, c.name)),
  );
  const timesOf = (list) => list.map((row) => v.median_ms[row]);
  const fastest = least(timesOf(rows));
  const slowest = most(timesOf(rows));
  const bestOf = (t) => least(timesOf(rows.filter((row) => v.template[row] === t)));
  const names = problem.templates.map((t) => t.name);
  const element = figure({
    id: 'scatter',
    title: 'Time against occupancy and other figures',
    note: 'Lower is faster; the time axis is logarithmic. A variant without the chosen figure is left out of the chart, not of the table.',
    summary: `${rows.length} variants by template; the fastest takes ${time(fastest, unit)} ${unit.name}.`,
    tools: [el('label', {for: id}, 'Time against ', select)],
    table: () => variantRows(problem, unit, rows),
    option: (colors) => ({
      legend: legend(colors, {data: names}),
      grid: {left: 62, right: 24, top: 34 + legendExcess(names), bottom: 46},
      tooltip: {trigger: 'item', formatter: (p) => (p.data?.[2] >= 0 ? rowTip(problem, p.data[2], unit) : '')},
      xAxis: choice.log
        ? logAxis(colors, choice.name, least(places()) / 1.1, most(places()) * 1.1, (value) =>
            digits(value, 1),
          )
        : axis(colors, `${choice.name}${choice.unit ? `, ${choice.unit}` : ''}`, {
            type: 'value',
            scale: choice.key !== 'occupancy',
          }),
      yAxis: logAxis(
        colors,
        `time, ${unit.name}`,
        (fastest * unit.scale) / 1.04,
        slowest * unit.scale * 1.02,
        (value) => digits(value, 3),
        {nameGap: 46, splitLine: {show: false}},
      ),
      series: [
        ...fastestLast(problem.templates.map((_, t) => t), bestOf).flatMap((t) => {
          const template = problem.templates[t],
            mine = rows.filter((row) => v.template[row] === t),
            mask = selection.mask;
          const chosen = mask ? mine.filter((row) => mask[row]) : mine,
            others = mask ? mine.filter((row) => !mask[row]) : [];
          const style = {
            type: 'scatter',
            symbolSize: 6,
            large: rows.length > 4000,
            progressive: 0,
            ...seriesStyle(template.name),
          };
          return [
            {
              ...style,
              id: `points-others-${t}`,
              name: `${template.name} `,
              silent: true,
              itemStyle: {color: colors.line, opacity: 0.5},
              data: others.map(point).filter(Boolean),
            },
            {...style, id: `points-${t}`, name: template.name, data: chosen.map(point).filter(Boolean)},
          ];
        }),
        markSeries(problem, colors, point),
      ],
    }),
  });
  let timer;
  selection.follow(() => {
    clearTimeout(timer);
    timer = setTimeout(() => element.chart.redraw(), 150);
  });
  return element;
}
