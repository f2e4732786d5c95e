// convergence.js: how fast a run found its best.
import {axis, figure, legend} from './chart.js';
import {runs} from './data.js';
import {el, newId} from './dom.js';
import {count, digits, time} from './format.js';
import {table} from './table.js';

const CUT = 1.25;
const hues = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

export function convergence(problem, unit) {
  const list = problem.convergence;
  if (list.length === 0) return null;
  let bySeconds = false;
  const id = newId('course');
  const select = el(
    'select',
    {
      id,
      onchange: (event) => {
        bySeconds = event.target.selectedIndex === 1;
        element.chart.redraw();
      },
    },
    el('option', {}, 'variants tried'),
    el('option', {}, 'seconds'),
  );
  const title = (c) => `run ${c.run}${runs.get(c.run) ? `, ${runs.get(c.run).strategy}` : ''}`;
  const all = list.flatMap((c) => c.points.map((p) => ({run: c.run, number: p[0], at_s: p[1], ms: p[2]})));
  const last = list[list.length - 1].points.at(-1);
  const least = Math.min(...all.map((p) => p.ms)),
    most = Math.max(...all.map((p) => p.ms));
  const element = figure({
    id: 'convergence',
    title: 'Convergence',
    note: `The best time so far, as the search went on: how much a shorter budget would have lost.${most > CUT * least ? ' The axis ends at 1.25 times the best.' : ''}`,
    summary: `${list.length} runs; the last one ended after ${count(last[0])} variants and ${digits(last[1], 3)} s with ${time(last[2], unit)} ${unit.name}.`,
    tools: [el('label', {for: id}, 'Against ', select)],
    table: () =>
      table({
        caption: 'Improvements of the best, and the end of each run',
        rows: all,
        columns: [
          {title: 'Run', value: (r) => r.run, numeric: true},
          {title: 'Variants tried', value: (r) => r.number, numeric: true},
          {title: 'After', unit: 's', value: (r) => r.at_s, cell: (r) => digits(r.at_s), numeric: true},
          {title: 'Best', unit: unit.name, value: (r) => r.ms, cell: (r) => time(r.ms, unit), numeric: true},
        ],
      }),
    option: (colors) => ({
      legend: legend(colors, {data: list.map(title)}),
      grid: {left: 62, right: 24, top: 34, bottom: 46},
      tooltip: {
        trigger: 'item',
        formatter: (p) =>
          `${p.seriesName}: ${digits(p.data[1], 5)} ${unit.name} after ${digits(p.data[0], 3)} ${bySeconds ? 's' : 'variants'}`,
      },
      xAxis: axis(colors, bySeconds ? 'seconds since the run began' : 'variants tried', {
        type: 'value',
        min: 0,
        splitLine: {show: false},
      }),
      yAxis: axis(colors, `best time, ${unit.name}`, {
        type: 'value',
        scale: true,
        max: Math.min(most, CUT * least) * unit.scale,
        nameGap: 46,
        axisLabel: {color: colors.soft, showMaxLabel: most <= CUT * least, formatter: (value) => digits(value, 4)},
      }),
      series: list.map((c, i) => ({
        id: `run-${i}`,
        name: title(c),
        type: 'line',
        step: 'end',
        symbolSize: 5,
        color: hues[i % hues.length],
        data: c.points.map((p) => [bySeconds ? p[1] : p[0], p[2] * unit.scale]),
      })),
    }),
  });
  return element;
}
