// problem.js: one problem: what won, by how much, why, and everything that was tried.
import {el, facts, term} from './dom.js';
import {
  bytes,
  count,
  date,
  digits,
  factor,
  grid,
  isNumber,
  parameters,
  percent,
  plural,
  share,
  time,
  timeUnit,
} from './format.js';
import {
  deviceName,
  devices,
  failedCount,
  fastestRow,
  isEmulated,
  report,
  resultOf,
  roofMs,
  runs,
  stencils,
  templateName,
  ties,
  timedRows,
} from './data.js';
import {convergence} from './convergence.js';
import {distribution} from './distribution.js';
import {effects, effectValues} from './effects.js';
import {failures} from './failures.js';
import {finalists} from './finalists.js';
import {heatmap} from './heatmap.js';
import {problemNotices} from './notices.js';
import {parallel} from './parallel.js';
import {roofline} from './roofline.js';
import {scatter} from './scatter.js';
import {source} from './source.js';
import {stencilPicture} from './stencil_picture.js';
import {variantTable} from './variants.js';
import {comparison, launchText, why} from './why.js';

export function problemTitle(problem) {
  const stencil = stencils.get(problem.stencil);
  const twins = report.problems.filter(
    (p) =>
      p !== problem &&
      p.stencil === problem.stencil &&
      p.dtype === problem.dtype &&
      p.device === problem.device &&
      p.nx === problem.nx &&
      p.ny === problem.ny &&
      p.nz === problem.nz,
  );
  return (
    `${stencil.name} ${problem.dtype} ${grid(problem, stencil)}${devices.size > 1 ? ` on ${deviceName(problem.device)}` : ''}` +
    `${twins.length > 0 ? `, ${problem.launch}, ${problem.cache}` : ''}`
  );
}

export function problemView(problem) {
  const stencil = stencils.get(problem.stencil),
    device = devices.get(problem.device);
  const timed = timedRows(problem),
    hasTimes = timed.length > 0;
  const at = report.problems.indexOf(problem),
    previous = report.problems[at - 1],
    next = report.problems[at + 1];
  // One unit for all times of the view: that of the middling variant, so that neither the fastest nor the slowest looks odd.
  const unit = timeUnit(problem.distribution.median_ms ?? 1);
  const selection = makeSelection();
  const sections = [];
  const add = (id, title, ...content) => {
    const kept = content.flat().filter(Boolean);
    if (kept.length > 0) sections.push({id, title, content: kept});
  };
  add('result', 'Result', summary(problem, unit), headline(problem, unit));
  if (hasTimes || problem.winner)
    add(
      'winner',
      problem.winner ? 'The winner' : 'The fastest so far',
      el(
        'div',
        {class: 'side'},
        el('div', {}, comparison(problem, unit)),
        el('div', {class: 'reasons'}, why(problem), launchText(problem)),
      ),
      problem.winner && source(problem),
    );
  add('stencil', 'The stencil', stencilPicture(problem, stencil));
  if (hasTimes) {
    add(
      'landscape',
      'All variants',
      el(
        'div',
        {class: 'charts'},
        roofline(problem, unit),
        scatter(problem, unit, selection),
        distribution(problem, unit),
        convergence(problem, unit),
      ),
    );
    add(
      'parameters',
      'Parameters',
      el(
        'div',
        {class: 'charts'},
        parallel(problem, unit, selection),
        effects(problem),
        heatmap(problem, unit),
        effectValues(problem, unit),
      ),
    );
  }
  if (problem.finalists.length > 0) add('finalists', 'Finalists', finalists(problem, unit));
  add('failures', 'Failures', failures(problem));
  add('table', 'Every variant', variantTable(problem, unit, selection));
  add('history', 'Provenance of this result', provenance(problem, unit));
  return [
    el(
      'div',
      {class: 'title'},
      el(
        'h1',
        {},
        stencil.name,
        ' ',
        el('span', {class: 'soft'}, `${problem.dtype}, ${grid(problem, stencil)} points`),
      ),
      el(
        'p',
        {},
        deviceName(device.id),
        ', launched ',
        problem.launch === 'graph' ? 'as a graph' : 'in a stream',
        ', cache ',
        problem.cache,
        el(
          'span',
          {class: 'neighbours'},
          previous && el('a', {href: `#/problem/${previous.id}`, rel: 'prev'}, '\u2190 ', problemTitle(previous)),
          next && el('a', {href: `#/problem/${next.id}`, rel: 'next'}, problemTitle(next), ' \u2192'),
        ),
      ),
    ),
    el(
      'nav',
      {class: 'sections', 'aria-label': 'Parts of this problem'},
      sections.map((s) => el('a', {href: `#/problem/${problem.id}/${s.id}`}, s.title)),
    ),
    ...problemNotices(problem).filter(Boolean),
    ...sections.map((s) =>
      el(
        'section',
        {id: s.id, 'aria-labelledby': `${s.id}-title`},
        el('h2', {id: `${s.id}-title`}, s.title),
        s.content,
      ),
    ),
  ];
}

/** Which rows are chosen by brushing; null: all. Charts that follow it are told. */
function makeSelection() {
  const listeners = [];
  return {
    mask: null,
    set(mask) {
      this.mask = mask;
      listeners.forEach((f) => f(mask));
    },
    follow(f) {
      listeners.push(f);
    },
  };
}

function summary(problem, unit) {
  const result = resultOf(problem),
    winner = problem.winner;
  if (!winner) {
    const row = fastestRow(problem);
    if (row < 0) {
      return el(
        'p',
        {class: 'lead'},
        problem.variant_count === 0
          ? 'No variant was tried yet.'
          : `None of ${plural(problem.variant_count, 'variant')} has a time: all failed or were pruned. The reasons are below.`,
      );
    }
    return el(
      'p',
      {class: 'lead'},
      `No final rounds took place. The fastest of ${plural(problem.distribution.count, 'timed variant')} in the search is a `,
      el('strong', {}, templateName(problem, row)),
      ` variant with ${time(problem.variants.median_ms[row], unit)} ${unit.name}.`,
    );
  }
  const others = ties(problem),
    isDefault = problem.finalists.some((f) => f.is_default && f.variant === winner.variant);
  return el(
    'p',
    {class: 'lead'},
    el('strong', {}, winner.template_name),
    ' won with ',
    el('strong', {}, `${time(result.time_ms, unit)} ${unit.name}`),
    ` (95 % interval ${time(result.low_ms, unit)} \u2013 ${time(result.high_ms, unit)} ${unit.name} over ${plural(winner.sample_count, 'round')})`,
    isNumber(result.roof) && !isEmulated(problem)
      ? [': ', el('strong', {}, share(result.roof)), ' of the ', term('copy roof')]
      : '',
    isDefault
      ? ', and is the default variant'
      : isNumber(result.speedup)
        ? [', ', el('strong', {}, factor(result.speedup)), ' as fast as the default variant']
        : '',
    '. ',
    others.length > 0
      ? `${plural(others.length, 'finalist')} ${others.length === 1 ? 'was' : 'were'} not told apart from it.`
      : problem.finalists.length > 1
        ? 'It was told apart from every other finalist.'
        : '',
    ` Out of ${plural(problem.variant_count, 'variant')} tried, ${count(problem.distribution.count)} have a time and ${count(failedCount(problem))} failed.`,
  );
}

function headline(problem, unit) {
  const result = resultOf(problem),
    emulated = isEmulated(problem);
  const space = Math.max(0, ...problem.runs.map((r) => runs.get(r.id)?.space ?? 0));
  return facts([
    result && [
      term('Time'),
      `${time(result.time_ms, unit)} ${unit.name}`,
      `${time(result.low_ms, unit)} \u2013 ${time(result.high_ms, unit)} (\u00b1${percent((result.high_ms - result.low_ms) / 2 / result.time_ms, 2)})`,
    ],
    result && [term('GStencil/s'), digits(result.gstencil), 'points a nanosecond'],
    result && [term('GB/s'), digits(result.gbps), `${bytes(problem.winner.bytes)} an application`],
    result &&
      !emulated && [
        term('Share of the roof'),
        share(result.roof),
        isNumber(result.roof_low)
          ? `${share(result.roof_low)} \u2013 ${share(result.roof_high)}; roof ${digits(result.roof_gbps)} GB/s`
          : null,
      ],
    !result &&
      isNumber(roofMs(problem)) && [
        term('Copy roof'),
        `${time(roofMs(problem), unit)} ${unit.name}`,
        'of the same bytes',
      ],
    result && [
      term('Speed-up over default'),
      factor(result.speedup),
      isNumber(problem.winner.default_ms)
        ? `default ${time(problem.winner.default_ms, unit)} ${unit.name}`
        : 'the default was not measured',
    ],
    ['Variants', count(problem.variant_count), space > 0 ? `of ${count(space)} that the rules keep` : null],
    [
      'Failed',
      count(failedCount(problem)),
      percent(problem.variant_count ? failedCount(problem) / problem.variant_count : null),
    ],
    result && [
      term('Largest error', 'error'),
      `${digits(problem.winner.max_error_units, 3)} roundings`,
      `RMS ${problem.winner.rms_error.toExponential(1)}`,
    ],
  ]);
}

function provenance(problem, unit) {
  const winner = problem.winner;
  const pairs = winner
    ? [
        ['Measured', date(winner.date)],
        ['Origin', winner.origin],
        winner.run !== null && ['Run', el('a', {href: '#/about/runs'}, `${winner.run}`)],
        ['Driver', winner.driver || 'none'],
        ['NVRTC', winner.nvrtc],
        ['Cubin for', winner.arch],
        ['Source hash', el('code', {}, winner.source_hash)],
        ['Verified also on', winner.second_grid || 'no second grid'],
        ['Time steps of one application', count(winner.steps)],
      ]
    : [];
  const commands = problem.runs.map((r) => runs.get(r.id)).filter(Boolean);
  return [
    winner && facts(pairs),
    el('p', {}, commands.length === 1 ? 'Command:' : 'Commands, oldest first:'),
    el(
      'ul',
      {class: 'plain'},
      commands.map((r) =>
        el(
          'li',
          {},
          el('code', {}, r.command),
          ` (${r.state}${r.reason ? `: ${r.reason}` : ''}, ${date(r.started)}, seed ${r.seed}, ${r.strategy})`,
        ),
      ),
    ),
    problem.history.length > 0 &&
      el(
        'div',
        {},
        el('p', {}, 'Earlier winners of this problem:'),
        el(
          'ul',
          {class: 'plain'},
          problem.history.map((h) =>
            el(
              'li',
              {},
              `${date(h.date)}: ${h.template}, ${time(h.time_ms, unit)} ${unit.name}, driver ${h.driver || 'none'}, NVRTC ${h.nvrtc}, ${h.origin}`,
            ),
          ),
        ),
      ),
  ];
}
