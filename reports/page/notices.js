// notices.js: what a reader must know before the numbers.
import {el} from './dom.js';
import {count, isNumber, percent, plural} from './format.js';
import {devices, isEmulated, isSampled, report, runs, timedCount} from './data.js';

const banner = (kind, ...content) => el('p', {class: `banner ${kind}`, role: 'note'}, content);

// An interval that is wider than this on one side gets a notice.
const WIDE = 0.01;
const spread = ({time_ms, low_ms, high_ms}) =>
  isNumber(low_ms) ? Math.max(high_ms - time_ms, time_ms - low_ms) / time_ms : 0;

const emulationBanner = () =>
  banner(
    'warning',
    el('strong', {}, 'Emulated times do not tell which variant is fast. '),
    'The CPU executed these variants thread by thread. This shows that they compute the right values. ' +
      'Their times say nothing about a GPU. A lookup returns them only if it names the emulation.',
  );

export function overviewNotices() {
  const list = [...devices.values()],
    emulated = list.filter((d) => d.is_emulation);
  const sampled = report.problems.filter(isSampled),
    partial = [...runs.values()].filter((r) => r.state !== 'complete');
  const names = report.templates.map((t) => t.name),
    mixed = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
  return [
    list.length > 0 && emulated.length === list.length && emulationBanner(),
    emulated.length > 0 &&
      emulated.length < list.length &&
      banner(
        'warning',
        `${plural(emulated.length, 'device')} below ${emulated.length === 1 ? 'is an emulation' : 'are emulations'} on the CPU. Emulated times do not tell which variant is fast.`,
      ),
    sampled.length > 0 &&
      banner(
        '',
        `The database holds more variants than a page can: ${plural(sampled.length, 'problem')} ` +
          `${sampled.length === 1 ? 'shows' : 'show'} a choice of them, with the fastest, every finalist and every kind of failure in it. ` +
          'Counts, effects and distributions cover all variants. `halotune report --stencil NAME` shows more variants of one stencil.',
      ),
    partial.length > 0 &&
      banner(
        '',
        `${plural(partial.length, 'run')} of ${count(runs.size)} did not end as planned. See `,
        el('a', {href: '#/about/runs'}, 'the runs'),
        '.',
      ),
    mixed.length > 0 &&
      banner(
        '',
        `The database has results of several versions of ${mixed.length === 1 ? 'template' : 'templates'} ${mixed.join(', ')}: ` +
          'times of one version say nothing about another. Their hashes are under ',
        el('a', {href: '#/about/templates'}, 'templates'),
        '.',
      ),
    (report.about.stencil || report.about.device) &&
      banner(
        '',
        'This report was asked for ',
        report.about.stencil ? `stencil ${report.about.stencil}` : 'all stencils',
        report.about.device ? ` on GPUs like ${report.about.device}` : '',
        '. The database holds more.',
      ),
  ];
}

/** Why the page lacks the charts of the search. */
function searchBanner(problem) {
  const held = problem.finalists.length > 0 ? 'the winner and the other finalists' : 'the winner';
  return banner(
    '',
    `This database holds ${held}, but not the other variants of the search. `,
    'The page therefore leaves out what needs all of them: the distribution of times, the course of the search, the parallel coordinates, ' +
      'the effect of each parameter, and the reasons of failures.',
  );
}

export function problemNotices(problem) {
  const state = problem.runs.map((r) => runs.get(r.id)).filter(Boolean);
  const warnings = [...new Set(state.flatMap((r) => r.warnings.split('\n')).filter(Boolean))];
  return [
    isEmulated(problem) && emulationBanner(),
    !problem.winner &&
      banner(
        'warning',
        el('strong', {}, 'No winner yet. '),
        state.some((r) => r.state === 'running')
          ? 'A run is under way, or was killed before its final rounds.'
          : 'No run of this problem reached its final rounds.',
        timedCount(problem) > 0 &&
          ' The times below are those of the search. They have fewer samples, and were taken at different moments.',
      ),
    problem.winner &&
      !isEmulated(problem) &&
      spread(problem.winner) > WIDE &&
      banner(
        'warning',
        `The winner\u2019s time is known to \u00b1${percent(spread(problem.winner), 1)} only. The clocks of the GPU changed during the final rounds. ` +
          'Shares and ratios compare times of the same round, so they are more exact.',
      ),
    problem.winner && !problem.has_search && searchBanner(problem),
    isSampled(problem) &&
      banner(
        '',
        `${count(problem.shown_count)} of ${count(problem.variant_count)} variants are on this page: ` +
          'the fastest, every finalist, every kind of failure, and an even sample of the others. Counts, effects and the distribution cover all variants.',
      ),
    warnings.length > 0 && banner('warning', 'The tuner warned: ', warnings.join('; ')),
  ];
}
