// matrix.js: the share of the roof by stencil and GPU. GPUs of one name share a column: their problems are told apart in the table.
import {el} from './dom.js';
import {grid, isNumber, share} from './format.js';
import {deviceName, devices, isEmulated, report, stencils} from './data.js';
import {onSequence, sequence} from './colors.js';

export function matrix() {
  const columns = [];
  const modelOf = (p) => devices.get(p.device).name;
  for (const model of new Set([...devices.values()].map((d) => d.name))) {
    for (const dtype of ['f32', 'f64']) {
      const list = report.problems.filter((p) => modelOf(p) === model && p.dtype === dtype);
      if (list.length > 0) columns.push({model, dtype, isEmulation: list.every(isEmulated)});
    }
  }
  const names = [...new Set(report.problems.map((p) => stencils.get(p.stencil).name))];
  const cell = (name, {model, dtype, isEmulation}) => {
    const list = report.problems.filter(
      (p) => stencils.get(p.stencil).name === name && modelOf(p) === model && p.dtype === dtype,
    );
    const shares = list.map((p) => p.winner?.roof_ratio).filter(isNumber);
    if (list.length === 0) return el('td', {class: 'none', title: 'not tuned'}, '\u2013');
    if (shares.length === 0 || isEmulation)
      return el(
        'td',
        {class: 'none'},
        el('a', {href: `#/problem/${list[0].id}`}, isEmulation ? 'emulated' : list.some((p) => p.winner) ? 'no copy' : 'no winner'),
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
        title: list
          .map((p) => `${grid(p, stencils.get(p.stencil))} on ${deviceName(p.device)}: ${share(p.winner?.roof_ratio)}`)
          .join('\n'),
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
          columns.map((c) => el('th', {scope: 'col'}, c.model, el('br'), c.dtype)),
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
