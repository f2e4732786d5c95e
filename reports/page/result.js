// result.js: what won, in words and numbers, and where that comes from.
import {el, facts, term} from './dom.js';
import {bytes, count, date, digits, factor, isNumber, percent, plural, share, time, timeRange} from './format.js';
import {
  failedCount,
  fastestRow,
  isEmulated,
  prunedCount,
  resultOf,
  roofMs,
  runs,
  templateName,
  ties,
  timedCount,
  triedCount,
  undecided,
} from './data.js';

export function summary(problem, unit) {
  const result = resultOf(problem),
    winner = problem.winner;
  if (!winner) {
    const row = fastestRow(problem);
    if (row < 0) {
      return el(
        'p',
        {class: 'lead'},
        triedCount(problem) > 0
          ? `None of ${plural(triedCount(problem), 'variant')} has a time: all failed or were pruned. The reasons are below.`
          : 'No variant was tried yet.',
      );
    }
    return el(
      'p',
      {class: 'lead'},
      'No final rounds took place. The fastest variant of the search is a ',
      el('strong', {}, templateName(problem, row)),
      ` variant with ${time(problem.variants.median_ms[row], unit)} ${unit.name}.`,
    );
  }
  const isDefault = problem.finalists.some((f) => f.is_default && f.variant === winner.variant);
  return el(
    'p',
    {class: 'lead'},
    el('strong', {}, winner.template_name),
    ' won with ',
    el('strong', {}, `${time(result.time_ms, unit)} ${unit.name}`),
    isNumber(result.low_ms)
      ? ` (95 % interval ${timeRange(result.low_ms, result.high_ms, unit)} ${unit.name} over ${plural(winner.sample_count, 'round')})`
      : ' (a single value, so its interval is unknown)',
    isNumber(result.roof) && !isEmulated(problem)
      ? [': ', el('strong', {}, share(result.roof)), ' of the ', term('copy roof')]
      : '',
    isDefault
      ? ', and is the default variant'
      : isNumber(result.speedup)
        ? [', ', el('strong', {}, factor(result.speedup)), ' as fast as the default variant']
        : '',
    '. ',
    ...standing(problem),
    triedText(problem),
  );
}

/** What the search tried, and with which outcomes. */
function triedText(problem) {
  if (!isNumber(triedCount(problem))) return ' This database does not record how many variants the search tried.';
  const [tried, timed, failed, pruned] = [triedCount, timedCount, failedCount, prunedCount].map((f) => f(problem));
  return ` The search tried ${plural(tried, 'variant')}: ${count(timed)} ran and were right, ${count(failed)} failed, ${count(pruned)} were pruned.`;
}

/** How the winner stands among the finalists. */
function standing(problem) {
  const tied = ties(problem).length,
    open = undecided(problem).length;
  if (problem.finalists.length < 2) return [];
  return [
    tied > 0 && [
      plural(tied, 'finalist'),
      tied === 1 ? ' ties with it' : ' tie with it',
      `: ${tied === 1 ? 'it is' : 'they are'} at most half a percent slower than the fastest finalist. `,
    ],
    open > 0 && ['The final rounds do not show whether ', plural(open, 'finalist'), open === 1 ? ' is' : ' are', ' slower. '],
    tied + open === 0 && 'The final rounds show that every other finalist is slower. ',
  ];
}

/** The least time that a step can take, if a launch makes several steps. */
function stepRoof({step_roof: roof, steps}, unit) {
  const shared = isNumber(roof.shared_ms) ? `, shared memory ${time(roof.shared_ms, unit)}` : '';
  const parts = `memory ${time(roof.memory_ms, unit)}, arithmetic ${time(roof.arithmetic_ms, unit)}${shared} ${unit.name} a step of ${count(steps)} in a launch`;
  return [
    term('Roof of fused steps'),
    roof.binds ? share(roof.share) : '\u2013',
    roof.binds ? `${parts}; ${roof.binds} binds` : parts,
  ];
}

export function headline(problem, unit) {
  const result = resultOf(problem),
    emulated = isEmulated(problem);
  const space = Math.max(0, ...problem.runs.map((r) => runs.get(r.id)?.space ?? 0));
  return facts([
    result && [
      term('Time'),
      `${time(result.time_ms, unit)} ${unit.name}`,
      isNumber(result.low_ms)
        ? `${timeRange(result.low_ms, result.high_ms, unit)} (\u00b1${percent((result.high_ms - result.low_ms) / 2 / result.time_ms, 2)})`
        : 'a single value, so its interval is unknown',
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
    problem.winner?.step_roof && stepRoof(problem.winner, unit),
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
    [
      'Variants tried',
      isNumber(triedCount(problem)) ? count(triedCount(problem)) : 'not recorded',
      space > 0 ? `of ${count(space)} that the rules keep` : null,
    ],
    isNumber(failedCount(problem)) && [
      'Failed',
      count(failedCount(problem)),
      percent(triedCount(problem) > 0 ? failedCount(problem) / triedCount(problem) : null),
    ],
    result && [
      term('Largest error', 'error'),
      // -1: the recording that was replayed does not have them
      problem.winner.max_error_units >= 0 ? `${digits(problem.winner.max_error_units, 3)} roundings` : 'not recorded',
      problem.winner.rms_error >= 0 ? `RMS ${problem.winner.rms_error.toExponential(1)}` : null,
    ],
  ]);
}

export function provenance(problem, unit) {
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
