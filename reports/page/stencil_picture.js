// stencil_picture.js: what an update reads, drawn plane by plane, and its formula.
import {el, facts, svg, term} from './dom.js';
import {count, digits} from './format.js';

const CELL = 24;

export function stencilPicture(problem, stencil) {
  if (!stencil.is_readable) {
    return [
      el('p', {}, 'This version of Halotune cannot read the stored text of this stencil:'),
      el('pre', {}, stencil.text),
    ];
  }
  const flops = stencil.flops_per_point,
    traffic = stencil.bytes_per_point[problem.dtype],
    unknown = stencil.unknown_bytes_per_point?.[problem.dtype],
    known = stencil.known_bytes_per_point?.[problem.dtype];
  return [
    stencil.about && el('p', {}, stencil.about, '.'),
    el(
      'div',
      {class: 'side'},
      el(
        'div',
        {},
        stencil.kind === 'scan'
          ? el(
              'p',
              {},
              `The inclusive sum of ${stencil.inputs[0]} along ${stencil.axis}: each point is the sum of all before it and itself.`,
            )
          : stencil.inputs.map((name, input) => inputPicture(stencil, name, input)),
      ),
      el(
        'div',
        {},
        stencil.update && el('pre', {}, breakLines(stencil.update.trim())),
        facts([
          [term('Taps', 'tap'), count(stencil.taps.length), `${stencil.shape}, radius ${stencil.radius.join(' ')}`],
          [
            'Flops a point',
            count(flops),
            `${count(stencil.instructions_per_point)} instructions with fused multiply-adds`,
          ],
          [
            term('Compulsory traffic'),
            `${count(traffic)} bytes a point`,
            `${count(stencil.read_bytes_per_point[problem.dtype])} read, ${count(traffic - stencil.read_bytes_per_point[problem.dtype])} written`,
          ],
          unknown && [
            term('Effective bandwidth', 'gb-s'),
            `(2 \u00d7 ${count(unknown)} + ${count(known)} bytes a point) / time`,
            'unknown fields are read and written, known ones read',
          ],
          [term('Arithmetic intensity'), `${digits(flops / traffic, 3)} flops a byte`],
          stencil.boundary.length > 0 &&
            stencil.kind !== 'scan' && ['Boundary', [...new Set(stencil.boundary)].join(', ').replace(/_/g, ' ')],
        ]),
        el('details', {}, el('summary', {}, 'The stencil\u2019s file'), el('pre', {}, stencil.text)),
      ),
    ),
  ];
}

// A long sum breaks before its operators.
const breakLines = (text) =>
  text
    .split('\n')
    .map((line) => {
      const out = [];
      for (const part of line.split(/ (?=[+-] )/)) {
        if (out.length > 0 && out[out.length - 1].length + part.length < 72) out[out.length - 1] += ` ${part}`;
        else out.push(out.length > 0 ? `    ${part}` : part);
      }
      return out.join('\n');
    })
    .join('\n');

function inputPicture(stencil, name, input) {
  const taps = stencil.taps.filter((tap) => tap.input === input);
  if (taps.length === 0) return null;
  const range = (axis) => [
    Math.min(0, ...taps.map((t) => t.offset[axis])),
    Math.max(0, ...taps.map((t) => t.offset[axis])),
  ];
  const [x, y, z] = [0, 1, 2].map(range);
  if (taps.length === 1 && taps[0].offset.every((v) => v === 0))
    return el('p', {}, el('strong', {}, name), ': the point itself');
  // Planes that look alike are drawn once; that of the point itself stands alone.
  const groups = [],
    look = (at) =>
      taps
        .filter((t) => t.offset[2] === at)
        .map((t) => t.offset.slice(0, 2))
        .join(' ');
  for (let at = z[0]; at <= z[1]; at++) {
    const last = groups[groups.length - 1];
    if (last && at !== 0 && at !== 1 && look(at) === look(last.to)) last.to = at;
    else groups.push({from: at, to: at});
  }
  return el(
    'div',
    {},
    el(
      'p',
      {},
      el('strong', {}, name),
      `: ${taps.length} taps`,
      el('span', {class: 'soft'}, stencil.dims > 1 ? ' (x to the right, y downwards)' : ''),
    ),
    el(
      'div',
      {class: 'planes'},
      groups.map(({from, to}) =>
        plane(
          taps.filter((t) => t.offset[2] === from),
          x,
          y,
          from,
          to,
          stencil,
        ),
      ),
    ),
  );
}

const planeName = (z) => (z === 0 ? 'z' : `z${z > 0 ? '+' : '\u2212'}${Math.abs(z)}`);

function plane(taps, x, y, z, last, stencil) {
  const width = (x[1] - x[0] + 1) * CELL,
    height = (y[1] - y[0] + 1) * CELL;
  const place = (offset) => [(offset[0] - x[0] + 0.5) * CELL, (offset[1] - y[0] + 0.5) * CELL];
  const lines = [];
  for (let i = x[0]; i <= x[1]; i++)
    lines.push(svg('line', {x1: place([i, 0])[0], x2: place([i, 0])[0], y1: 0, y2: height, class: 'lattice'}));
  for (let j = y[0]; j <= y[1]; j++)
    lines.push(svg('line', {y1: place([0, j])[1], y2: place([0, j])[1], x1: 0, x2: width, class: 'lattice'}));
  const title = stencil.dims < 3 ? '' : z === last ? planeName(z) : `each of ${planeName(z)} to ${planeName(last)}`;
  const dots = taps.map((tap) => {
    const [cx, cy] = place(tap.offset),
      isCentre = tap.offset.every((v) => v === 0);
    const what = `[${tap.offset.slice(0, stencil.dims)}]${tap.weight ? ` weight ${tap.weight} = ${tap.value}` : ''}`;
    return svg('circle', {cx, cy, r: isCentre ? 6.5 : 5, class: isCentre ? 'centre' : 'tap'}, svg('title', {}, what));
  });
  const centre =
    z === 0 && !taps.some((t) => t.offset.every((v) => v === 0))
      ? svg(
          'circle',
          {cx: place([0, 0])[0], cy: place([0, 0])[1], r: 6, class: 'unread'},
          svg('title', {}, 'the point itself, which is not read'),
        )
      : null;
  return el(
    'div',
    {class: 'plane'},
    svg(
      'svg',
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: 'img',
        'aria-label': `${taps.length} taps in plane ${title || 'z'}`,
      },
      lines,
      centre,
      dots,
    ),
    el('small', {}, title),
  );
}
