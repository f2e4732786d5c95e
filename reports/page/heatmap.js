// heatmap.js: the best time for each pair of values of two parameters.
import {axis, figure} from './chart.js';
import {onSequence, sequenceStops} from './colors.js';
import {isSampled, least, most, orderValues, timedRows} from './data.js';
import {el, newId} from './dom.js';
import {count, isNumber, time} from './format.js';
import {table} from './table.js';

export function heatmap(problem, unit) {
  const v = problem.variants,
    rows = timedRows(problem);
  const templates = problem.templates
    .map((template, t) => ({
      t,
      template,
      parameters: template.parameters.map((p, i) => ({...p, i})).filter((p) => p.values.length > 1),
    }))
    .filter((entry) => entry.parameters.length > 1 && rows.some((row) => v.template[row] === entry.t));
  if (templates.length === 0) return null;
  let entry = templates.find((e) => e.template.id === problem.winner?.template) ?? templates[0],
    x,
    y;
  const ids = [newId('heat'), newId('heat'), newId('heat')];
  const selects = ids.map((id, which) =>
    el('select', {
      id,
      onchange: (event) => {
        const at = event.target.selectedIndex;
        if (which === 0) {
          entry = templates[at];
          begin();
        } else if (which === 1) x = entry.parameters[at];
        else y = entry.parameters[at];
        element.chart.redraw();
      },
    }),
  );
  selects[0].append(...templates.map((e) => el('option', {selected: e === entry}, e.template.name)));
  const share = (p) => problem.effects.find((e) => e.template === entry.t && e.parameter === p.name)?.share ?? 0;

  function begin() {
    // with the two parameters that matter most
    [x, y] = [...entry.parameters].sort((a, b) => share(b) - share(a));
    selects
      .slice(1)
      .forEach((select, i) =>
        select.replaceChildren(
          ...entry.parameters.map((p) => el('option', {selected: p === (i === 0 ? x : y)}, p.name)),
        ),
      );
  }
  begin();

  function cells() {
    const best = new Map();
    for (const row of rows) {
      if (v.template[row] !== entry.t) continue;
      const a = v.values[row][x.i],
        b = v.values[row][y.i];
      if (!isNumber(a) || !isNumber(b)) continue;
      const key = a * y.values.length + b,
        cell = best.get(key);
      if (!cell) best.set(key, {a, b, ms: v.median_ms[row], n: 1});
      else {
        cell.ms = Math.min(cell.ms, v.median_ms[row]);
        cell.n++;
      }
    }
    return [...best.values()];
  }
  const element = figure({
    id: 'heatmap',
    title: 'Two parameters at a time',
    note: `The best time for each pair of values, over all values of the other parameters; empty where no timed variant has the pair.${isSampled(problem) ? ' Of the variants on this page.' : ''}`,
    summary: `${entry.template.name}: ${x.name} against ${y.name}`,
    tools: [
      el('label', {for: ids[0]}, 'Template ', selects[0]),
      el('label', {for: ids[1]}, 'across ', selects[1]),
      el('label', {for: ids[2]}, 'down ', selects[2]),
    ],
    table: () =>
      table({
        caption: 'Best time for each pair',
        rows: cells(),
        columns: [
          {title: x.name, value: (c) => x.values[c.a]},
          {title: y.name, value: (c) => y.values[c.b]},
          {title: 'Best', unit: unit.name, value: (c) => c.ms, cell: (c) => time(c.ms, unit), numeric: true},
          {title: 'Variants', value: (c) => c.n, numeric: true},
        ],
      }),
    option: (colors) => {
      const list = cells(),
        low = least(list.map((c) => c.ms)),
        high = most(list.map((c) => c.ms));
      const across = orderValues(x.values),
        down = orderValues(y.values);
      const shareOf = (c) => (high > low ? 1 - Math.log(c.ms / low) / Math.log(high / low) : 1);
      return {
        grid: {left: 92, right: 96, top: 8, bottom: 46},
        tooltip: {
          formatter: (p) =>
            `${x.name}=${x.values[p.data.cell.a]}, ${y.name}=${y.values[p.data.cell.b]}: best ${time(p.data.cell.ms, unit)} ${unit.name} of ${count(p.data.cell.n)}`,
        },
        xAxis: axis(colors, x.name, {type: 'category', data: across.map((i) => x.values[i]), splitLine: {show: false}}),
        yAxis: axis(colors, y.name, {
          type: 'category',
          data: down.map((i) => y.values[i]),
          inverse: true,
          nameGap: 62,
          splitLine: {show: false},
        }),
        visualMap: {
          min: 0,
          max: 1,
          dimension: 2,
          right: 0,
          top: 'middle',
          calculable: false,
          inRange: {color: sequenceStops},
          textStyle: {color: colors.text},
          text: [`${time(low, unit, 4)} ${unit.name}`, `${time(high, unit, 4)} ${unit.name}`],
          itemHeight: 200,
        },
        series: [
          {
            id: 'cells',
            type: 'custom', // the library's own heat map does not print
            encode: {x: 0, y: 1},
            data: list.map((c) => ({value: [across.indexOf(c.a), down.indexOf(c.b), shareOf(c)], cell: c})),
            renderItem: ({dataIndex}, api) => {
              const [x0, y0] = api.coord([api.value(0), api.value(1)]),
                [width, height] = api.size([1, 1]),
                cell = list[dataIndex];
              return {
                type: 'rect',
                shape: {x: x0 - width / 2, y: y0 - height / 2, width, height},
                style: {fill: api.visual('color'), stroke: colors.back, lineWidth: 1},
                textConfig: {position: 'inside'},
                textContent: {
                  style: {
                    text: across.length <= 9 ? time(cell.ms, unit, 4) : '',
                    fontSize: 11,
                    fill: onSequence(shareOf(cell)),
                  },
                },
              };
            },
          },
        ],
      };
    },
  });
  return element;
}
