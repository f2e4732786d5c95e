// effects.js: what each parameter does to the time.
import {axis, figure} from './chart.js';
import {templateStyle} from './colors.js';
import {orderValues} from './data.js';
import {el, newId, term} from './dom.js';
import {count, isNumber, percent, time} from './format.js';
import {table} from './table.js';

const known = (problem, t) =>
  problem.effects.filter((e) => e.template === t && e.values.filter((v) => v.count > 0).length > 1);

function templateSelect(problem, onchange) {
  const id = newId('template'),
    list = problem.templates.map((_, t) => t).filter((t) => known(problem, t).length > 0);
  const first = Math.max(
    0,
    list.findIndex((t) => problem.templates[t].id === problem.winner?.template),
  );
  const select = el(
    'select',
    {id, onchange: (event) => onchange(list[event.target.selectedIndex])},
    list.map((t, i) => el('option', {selected: i === first}, problem.templates[t].name)),
  );
  return {tool: el('label', {for: id}, 'Template ', select), start: list[first]};
}

export function effects(problem) {
  const {tool, start} = templateSelect(problem, (t) => {
    template = t;
    element.chart.redraw();
  });
  let template = start;
  if (template === undefined) return null;
  const list = () =>
    known(problem, template)
      .filter((e) => isNumber(e.share))
      .sort((a, b) => a.share - b.share);
  const element = figure({
    id: 'effects',
    title: 'Effect of each parameter',
    note: 'Share of the variance of the logarithm of the time that one parameter alone accounts for, over all timed variants of the template.',
    summary: `strongest first: ${list()
      .reverse()
      .map((e) => `${e.parameter} ${percent(e.share, 0)}`)
      .join(', ')}`,
    tools: [tool],
    table: () =>
      table({
        caption: 'Effects',
        rows: problem.effects,
        columns: [
          {title: 'Parameter', value: (e) => e.parameter},
          {title: 'Template', value: (e) => problem.templates[e.template].name},
          {title: 'Share of variance', value: (e) => e.share, cell: (e) => percent(e.share), numeric: true, big: true},
        ],
      }),
    option: (colors) => ({
      grid: {left: 110, right: 48, top: 8, bottom: 46},
      tooltip: {trigger: 'item', formatter: (p) => `${p.name}: ${percent(p.value)}`},
      xAxis: axis(colors, 'share of variance', {
        type: 'value',
        min: 0,
        axisLabel: {color: colors.soft, formatter: (v) => percent(v, 0)},
      }),
      yAxis: axis(colors, '', {
        type: 'category',
        data: list().map((e) => e.parameter),
        axisLabel: {color: colors.text},
        splitLine: {show: false},
      }),
      series: [
        {
          id: 'bars',
          type: 'bar',
          barMaxWidth: 16,
          itemStyle: {color: templateStyle(problem.templates[template].name).color},
          data: list().map((e) => e.share),
          label: {
            show: true,
            position: 'right',
            color: colors.text,
            formatter: (p) => percent(p.value, p.value < 0.1 ? 1 : 0),
          },
        },
      ],
    }),
  });
  return element;
}

/** Best and median time for each value of each parameter. */
export function effectValues(problem, unit) {
  const {tool, start} = templateSelect(problem, (t) => {
    template = t;
    fill();
  });
  let template = start;
  if (template === undefined) return null;
  const body = el('div', {class: 'values'});
  const best = Math.min(...problem.effects.flatMap((e) => e.values.map((v) => v.best_ms)).filter(isNumber));
  function fill() {
    const list = known(problem, template).sort((a, b) => b.share - a.share);
    body.replaceChildren(
      ...list.map((effect) => {
        const values = effect.values,
          order = orderValues(values.map((v) => v.value)).filter((i) => values[i].count > 0);
        const least = Math.min(...values.map((v) => v.best_ms).filter(isNumber));
        return el(
          'table',
          {class: 'small'},
          el('caption', {}, el('code', {}, effect.parameter), ` ${percent(effect.share, 0)}`),
          el(
            'thead',
            {},
            el(
              'tr',
              {},
              el('th', {scope: 'col'}, 'value'),
              el('th', {scope: 'col', class: 'number'}, `best, ${unit.name}`),
              el('th', {scope: 'col', class: 'number'}, 'median'),
              el('th', {scope: 'col', class: 'number'}, 'n'),
            ),
          ),
          el(
            'tbody',
            {},
            order.map((i) =>
              el(
                'tr',
                {class: values[i].best_ms === least ? 'best' : null},
                el('th', {scope: 'row'}, values[i].value),
                el(
                  'td',
                  {class: 'number'},
                  el(
                    'span',
                    {class: 'bar'},
                    el('span', {class: 'fill', style: {width: `${(100 * best) / values[i].best_ms}%`}}),
                    el('span', {}, time(values[i].best_ms, unit, 4)),
                  ),
                ),
                el('td', {class: 'number'}, time(values[i].median_ms, unit, 4)),
                el('td', {class: 'number'}, count(values[i].count)),
              ),
            ),
          ),
        );
      }),
    );
  }
  fill();
  return el(
    'figure',
    {id: 'effect-values', class: 'wide'},
    el(
      'figcaption',
      {},
      el('h3', {}, 'Best time for each value'),
      el(
        'p',
        {},
        'Each value has the fastest timed variant with it, the median of all variants with it, and their number. The length of a bar is the best time of all over the fastest time with this value. The strongest ',
        term('effect', 'effect'),
        ' comes first.',
      ),
    ),
    el('div', {class: 'tools'}, tool),
    body,
  );
}
