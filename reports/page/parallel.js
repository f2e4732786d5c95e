// parallel.js: parallel coordinates of a template's parameters and the time. Parameters have few values, so many variants share a
// segment between two axes. Each segment is drawn once: its width shows the number of its variants, its strength the time of the
// fastest one. So no variant is left out, and brushing takes as long for twenty thousand variants as for a hundred.
import {figure} from './chart.js';
import {fastestRow, isSampled, rowParameters} from './data.js';
import {el, newId} from './dom.js';
import {BINS, makeAxes, NONE} from './parallel_axes.js';
import {count, isNumber, parameters, time} from './format.js';
import {table} from './table.js';

const TOP = 30,
  BOTTOM = 14,
  REACH = 28,
  NARROWEST = 72;

export function parallel(problem, unit, selection) {
  const v = problem.variants;
  const usable = problem.templates
    .map((_, t) => t)
    .filter((t) => v.template.some((at, row) => at === t && isNumber(v.median_ms[row])));
  let template =
    usable.find((t) => problem.templates[t].id === problem.winner?.template) ?? v.template[fastestRow(problem)];
  let model = makeAxes(problem, template, unit),
    canvas = null,
    stage = null,
    drag = null;
  const ids = [newId('parallel'), newId('within')];
  const status = el('output', {class: 'status', 'aria-live': 'polite'});
  const best = el('p', {class: 'mono best-chosen'});
  const choose = el(
    'select',
    {
      id: ids[0],
      onchange: (event) => {
        template = usable[event.target.selectedIndex];
        model = makeAxes(problem, template, unit);
        within.selectedIndex = 0;
        brush(true);
      },
    },
    usable.map((t) => el('option', {selected: t === template}, problem.templates[t].name)),
  );
  const within = el(
    'select',
    {
      id: ids[1],
      onchange: (event) => {
        limitTime(Number(event.target.value));
      },
    },
    [
      ['0', 'any'],
      ['1.01', 'within 1 % of the best'],
      ['1.05', 'within 5 %'],
      ['1.1', 'within 10 %'],
      ['1.25', 'within 25 %'],
      ['2', 'at most twice the best'],
    ].map(([value, text]) => el('option', {value}, text)),
  );
  const element = figure({
    id: 'parallel',
    title: 'Parallel coordinates',
    wide: true,
    height: 380,
    note:
      'Drag along an axis, or press its values, to choose variants. The other axes, the chart of times and the table of variants follow. The width of a line shows how many variants share it, ' +
      `and its strength how fast the fastest of them is. The orange line is the fastest chosen variant. Variants without a time are at the lowest place of the time axis.${isSampled(problem) ? ' The chart holds the variants on this page.' : ''}`,
    summary: 'The parameters and times of each variant of the template, as lines from axis to axis.',
    table: () => {
      const rows = v.variant.map((_, row) => row).filter((row) => v.template[row] === template);
      const names = problem.templates[template].parameters.map((p) => p.name);
      const valueOf = (row, name) => new Map(rowParameters(problem, row)).get(name);
      return table({
        caption: `Variants of ${problem.templates[template].name}`,
        rows,
        columns: [
          ...names.map((name) => ({title: name, value: (row) => valueOf(row, name)})),
          {title: 'Time', unit: unit.name, value: (row) => v.median_ms[row], cell: (row) => time(v.median_ms[row], unit), numeric: true},
        ],
      });
    },
    tools: [
      el('label', {for: ids[0]}, 'Template ', choose),
      el('label', {for: ids[1]}, 'Time ', within),
      el('button', {type: 'button', onclick: clear}, 'Choose all'),
      status,
    ],
    draw,
  });
  element.querySelector('.canvas').setAttribute('role', 'group');
  element.append(best);

  function clear() {
    for (const axis of model.axes) axis.chosen = axis.exact = null;
    within.selectedIndex = 0;
    brush(true);
  }

  function limitTime(ratio) {
    const axis = model.axes[model.axes.length - 1];
    axis.exact = ratio > 0 ? model.least * ratio : null;
    axis.chosen = null;
    brush(true);
  }

  /** The rows of the template that are chosen. */
  function chosenRows() {
    const {axes, rows} = model,
      mask = new Uint8Array(rows.length).fill(1);
    for (const {codes, chosen, exact} of axes) {
      if (chosen) for (let i = 0; i < mask.length; i++) mask[i] &= codes[i] === NONE ? 0 : chosen[codes[i]];
      if (exact)
        for (let i = 0; i < mask.length; i++)
          mask[i] &= isNumber(v.median_ms[rows[i]]) && v.median_ms[rows[i]] <= exact;
    }
    return mask;
  }

  function brush(isWhole) {
    const begin = performance.now();
    if (canvas) paint(isWhole);
    const {rows, axes} = model,
      mask = chosenRows(),
      isAll = axes.every((axis) => !axis.chosen && !axis.exact);
    let n = 0;
    for (const chosen of mask) n += chosen;
    status.textContent = isAll
      ? `all ${count(rows.length)} variants`
      : `${count(n)} of ${count(rows.length)} variants chosen`;
    element.dataset.chosen = n;
    const fastest = fastestOf(mask);
    best.textContent =
      fastest < 0
        ? 'none of them has a time'
        : `fastest: ${time(v.median_ms[rows[fastest]], unit)} ${unit.name}: ${parameters(rowParameters(problem, rows[fastest]))}`;
    if (isAll) {
      selection.set(null);
    } else {
      const all = new Uint8Array(v.variant.length);
      rows.forEach((row, i) => {
        all[row] = mask[i];
      });
      selection.set(all);
    }
    element.dataset.brushMs = (performance.now() - begin).toFixed(2);
  }

  function fastestOf(mask) {
    let at = -1;
    for (let i = 0; i < mask.length; i++) {
      const ms = v.median_ms[model.rows[i]];
      if (mask[i] && isNumber(ms) && (at < 0 || ms < v.median_ms[model.rows[at]])) at = i;
    }
    return at;
  }

  // --- drawing ---

  let colors,
    width = 0,
    height = 0;

  function draw(box, themeColors) {
    colors = themeColors;
    if (!canvas) {
      canvas = el('canvas', {'aria-hidden': 'true'});
      stage = el('div', {class: 'stage'}, canvas);
      box.append(stage);
      canvas.addEventListener('pointerdown', down);
      canvas.addEventListener('pointermove', move);
      canvas.addEventListener('pointerup', up);
      canvas.addEventListener('pointercancel', up);
    }
    width = document.body.classList.contains('printing')
      ? box.clientWidth
      : Math.max(box.clientWidth, NARROWEST * model.axes.length);
    height = box.clientHeight;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    Object.assign(canvas.style, {width: `${width}px`, height: `${height}px`});
    brush(true);
  }

  const xOf = (a) => 50 + (a * (width - 110)) / Math.max(1, model.axes.length - 1);
  const yOf = (axis, place) =>
    TOP + (axis.labels.length > 1 ? place / (axis.labels.length - 1) : 0.5) * (height - TOP - BOTTOM);

  function paint(isWhole) {
    const context = canvas.getContext('2d'),
      {axes} = model,
      mask = chosenRows();
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    for (let a = 0; a + 1 < axes.length; a++) paintBetween(context, a, mask);
    const fastest = fastestOf(mask);
    context.globalAlpha = 1;
    if (fastest >= 0) {
      context.strokeStyle = colors.accent;
      context.lineWidth = 2.5;
      context.beginPath();
      axes.forEach((axis, a) =>
        context.lineTo(xOf(a), yOf(axis, axis.codes[fastest] === NONE ? 0 : axis.codes[fastest])),
      );
      context.stroke();
    }
    axes.forEach((axis, a) => paintAxis(context, axis, a));
    if (isWhole) placeLabels();
    else markLabels();
  }

  function paintBetween(context, a, mask) {
    const left = model.axes[a],
      right = model.axes[a + 1],
      n = right.labels.length;
    const all = new Uint8Array(left.labels.length * n),
      counts = new Uint32Array(all.length),
      strong = new Float32Array(all.length).fill(-1);
    let most = 1;
    for (let i = 0; i < model.rows.length; i++) {
      if (left.codes[i] === NONE || right.codes[i] === NONE) continue;
      const cell = left.codes[i] * n + right.codes[i],
        ms = v.median_ms[model.rows[i]];
      all[cell] = 1;
      if (!mask[i]) continue;
      most = Math.max(most, ++counts[cell]);
      if (isNumber(ms)) strong[cell] = Math.max(strong[cell], model.strength(ms));
    }
    const line = (cell) => {
      const x0 = xOf(a),
        x1 = xOf(a + 1),
        y0 = yOf(left, Math.floor(cell / n)),
        y1 = yOf(right, cell % n),
        bend = (x1 - x0) / 3;
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    };
    context.strokeStyle = colors.line;
    context.globalAlpha = 0.5;
    context.lineWidth = 0.7;
    context.beginPath();
    for (let cell = 0; cell < all.length; cell++) if (all[cell] && !counts[cell]) line(cell);
    context.stroke();
    const drawn = [];
    for (let cell = 0; cell < all.length; cell++) if (counts[cell]) drawn.push(cell);
    drawn.sort((x, y) => strong[x] - strong[y]);
    for (const cell of drawn) {
      context.strokeStyle = strong[cell] < 0 ? colors.soft : colors.series;
      context.globalAlpha = 0.12 + 0.75 * Math.max(0, strong[cell]) ** 3;
      context.lineWidth = 0.8 + 5 * Math.sqrt(counts[cell] / most);
      context.beginPath();
      line(cell);
      context.stroke();
    }
  }

  function paintAxis(context, axis, a) {
    const x = xOf(a);
    context.globalAlpha = 1;
    context.strokeStyle = colors.text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, height - BOTTOM);
    context.stroke();
    if (!axis.chosen) return;
    context.fillStyle = colors.accent;
    axis.chosen.forEach((is, place) => {
      if (is) context.fillRect(x - 3, yOf(axis, place) - (axis.isTime ? 4 : 7), 6, axis.isTime ? 8 : 14);
    });
  }

  let labels = [];

  function placeLabels() {
    stage.querySelectorAll('.axis-name, .axis-value, .axis-time').forEach((old) => old.remove());
    labels = [];
    model.axes.forEach((axis, a) => {
      const isLast = a === model.axes.length - 1;
      // If axes are close together, as on paper, the names of two neighbours are on different lines.
      const isCrowded = document.body.classList.contains('printing') || xOf(1) - xOf(0) < 80;
      const top = isCrowded && a % 2 === 1 ? '11px' : '0px';
      stage.append(el('span', {class: 'axis-name', style: {left: `${xOf(a)}px`, top}}, axis.name));
      if (axis.isTime) {
        for (let i = 0; i <= 4; i++)
          stage.append(
            el(
              'span',
              {class: 'axis-time', style: {left: `${xOf(a) + 6}px`, top: `${yOf(axis, (i * (BINS - 1)) / 4)}px`}},
              time(model.msAt((i * BINS) / 4), unit, 4),
            ),
          );
        stage.append(
          el(
            'span',
            {class: 'axis-time', style: {left: `${xOf(a) + 6}px`, top: `${yOf(axis, BINS + 1)}px`}},
            'no time',
          ),
        );
        return;
      }
      axis.labels.forEach((label, place) => {
        const button = el(
          'button',
          {
            type: 'button',
            class: 'axis-value',
            'aria-label': `${axis.name} ${label}`,
            style: {left: `${xOf(a) + (isLast ? -6 : 5)}px`, top: `${yOf(axis, place)}px`},
            onclick: () => toggle(axis, place),
          },
          label,
        );
        labels.push({button, axis, place});
        stage.append(button);
      });
    });
    markLabels();
  }

  function markLabels() {
    for (const {button, axis, place} of labels) button.setAttribute('aria-pressed', Boolean(axis.chosen?.[place]));
  }

  // --- choosing ---

  function toggle(axis, place) {
    axis.chosen ??= new Uint8Array(axis.labels.length);
    axis.chosen[place] ^= 1;
    if (!axis.chosen.includes(1)) axis.chosen = null;
    brush(false);
  }

  function axisNear(event) {
    const box = canvas.getBoundingClientRect(),
      x = event.clientX - box.left;
    const a = model.axes.findIndex((_, i) => Math.abs(xOf(i) - x) <= REACH);
    return a < 0 ? null : {axis: model.axes[a], y: event.clientY - box.top};
  }

  function down(event) {
    const near = axisNear(event);
    if (!near) return;
    drag = {axis: near.axis, from: near.y};
    try {
      canvas.setPointerCapture(event.pointerId);
    } catch {
      /* a script made this pointer event, and there is no such pointer */
    }
    event.preventDefault();
  }

  function move(event) {
    canvas.style.cursor = drag || axisNear(event) ? 'ns-resize' : 'default';
    if (!drag) return;
    const y = event.clientY - canvas.getBoundingClientRect().top,
      low = Math.min(drag.from, y) - 3,
      high = Math.max(drag.from, y) + 3;
    drag.axis.chosen = Uint8Array.from(drag.axis.labels, (_, place) =>
      Number(yOf(drag.axis, place) >= low && yOf(drag.axis, place) <= high),
    );
    if (drag.axis.isTime) ((drag.axis.exact = null), (within.selectedIndex = 0));
    drag.moved = true;
    brush(false);
  }

  function up() {
    if (drag && (!drag.moved || !drag.axis.chosen?.includes(1))) {
      drag.axis.chosen = null;
      brush(false);
    }
    drag = null;
  }

  return element;
}
