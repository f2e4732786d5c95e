// matrix.js: the share of the roof by stencil and GPU.
import {el} from './dom.js';
import {grid, isNumber, share} from './format.js';
import {deviceName, devices, report, stencils} from './data.js';
import {onSequence, sequence} from './colors.js';

export function matrix() {
  const columns = [];
  for (const device of devices.values()) {
    for (const dtype of ['f32', 'f64']) {
      if (report.problems.some((p) => p.device === device.id && p.dtype === dtype)) columns.push({device, dtype});
    }
  }
  const names = [...new Set(report.problems.map((p) => stencils.get(p.stencil).name))];
  const cell = (name, {device, dtype}) => {
    const list = report.problems.filter(
      (p) => stencils.get(p.stencil).name === name && p.device === device.id && p.dtype === dtype,
    );
    const shares = list.map((p) => p.winner?.roof_ratio).filter(isNumber);
    if (list.length === 0) return el('td', {class: 'none', title: 'not tuned'}, '\u2013');
    if (shares.length === 0 || device.is_emulation)
      return el(
        'td',
        {class: 'none'},
        el('a', {href: `#/problem/${list[0].id}`}, device.is_emulation ? 'emulated' : 'no winner'),
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
        title: list.map((p) => `${grid(p, stencils.get(p.stencil))}: ${share(p.winner?.roof_ratio)}`).join('\n'),
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
          columns.map((c) => el('th', {scope: 'col'}, deviceName(c.device.id), el('br'), c.dtype)),
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
