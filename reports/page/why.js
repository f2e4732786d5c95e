// why.js: the winner beside the runner-up, the best of each other template and the default, and what sets it apart.
import {isEmulated, leaderName} from './data.js';
import {el, term} from './dom.js';
import {bytes, isNumber, percent, time, times} from './format.js';
import {differences, figures, rivals, sentence} from './rivals.js';

/** The rule by which one of two ties comes first. */
function tieBreak(winner, rival) {
  const [registers, others] = [winner, rival].map((r) => r.figure('registers')),
    [shared, othersShared] = [winner, rival].map((r) => r.figure('shared_bytes'));
  const rule = 'both are at most half a percent slower than the fastest finalist';
  if (!isNumber(registers) || !isNumber(others)) return `${rule}; among such, fewer registers win, then less shared memory`;
  if (registers < others) return `${rule}; it needs ${registers} registers a thread against ${others}`;
  if (registers > others) return rule; // the rival was not known when the winner was chosen
  if (shared < othersShared)
    return `${rule}; with as many registers, it needs ${bytes(shared)} of shared memory against ${bytes(othersShared)}`;
  return `${rule}; they need as many registers and as much shared memory, so that the order of parameters decides`;
}

/** Where the two times come from, if they are not from the same final rounds. */
function phaseText(rival, ratio) {
  if (rival.phase === 'final') return '';
  const where = rival.run === rival.first_run ? ' in the search' : ' in searches of different runs';
  return ratio < 0 ? `${where}, but no finalist` : where;
}

export function why(problem) {
  const list = rivals(problem),
    [winner] = list;
  if (list.length < 2 || isEmulated(problem)) return null;
  const others = list.slice(1),
    favour = `in the ${leaderName(problem)}\u2019s favour`;
  // The default comes last, because the other rivals tell a reader more.
  const lines = [...others.filter((r) => r.role !== 'default'), ...others.filter((r) => r.role === 'default')]
    .filter((r) => isNumber(r.ratio))
    .slice(0, 3)
    .map((rival) => {
      const {better, worse, changed} = differences(winner, rival);
      const ratio = rival.ratio - 1,
        {isTie} = rival;
      const who = rival.title.startsWith('best ') ? `the ${rival.title} variant` : `the ${rival.title.split(',')[0]}`;
      const order = `${percent(Math.abs(ratio), Math.abs(ratio) < 0.1 ? 2 : 0)} ${ratio < 0 ? 'faster' : 'slower'}`;
      const lead = isTie
        ? `Against ${who}: a tie (${order} in the same rounds; ${winner.isDefault ? 'the default wins ties' : tieBreak(winner, rival)})`
        : `Against ${who}: ${order}${phaseText(rival, ratio)}`;
      const told =
        better.length > 0
          ? `; ${favour}: ${sentence(better)}`
          : isTie || ratio < 0
            ? ''
            : `; no static figure is ${favour}: the reason is not among them`;
      const against = worse.length > 0 && !isTie ? `; against it: ${sentence(worse)}` : '';
      return el(
        'li',
        {},
        lead,
        told,
        against,
        '.',
        changed.length > 0 ? el('span', {class: 'soft'}, ` They differ in ${sentence(changed)}.`) : '',
      );
    });
  return [
    el('h3', {}, problem.winner ? 'Why it won' : 'Why it is the fastest'),
    el(
      'p',
      {class: 'soft'},
      'These reasons come from static figures, not from measurements. Where the table says so, loads, over-read and bank conflicts were counted by running one block on the CPU. Otherwise rules of thumb in the templates compute them.',
    ),
    el('ul', {class: 'why'}, lines),
  ];
}

/** The ratio of two times of the same phase. If they are from the search, the winner's time there is shown, too. */
function againstText(rival, first, unit) {
  if (rival === first) return '1';
  if (!isNumber(rival.ratio)) return '\u2013';
  const ratio = `${times(rival.ratio)} the time`;
  if (rival.phase === 'final') return ratio;
  return [ratio, el('small', {}, ` search: ${time(rival.first_ms, unit)} ${unit.name}`)];
}

export function comparison(problem, unit) {
  const list = rivals(problem);
  if (list.length === 0) return null;
  const first = list[0],
    winner = problem.winner;
  const names = [...new Set(list.flatMap((r) => [...r.parameters.keys()]))];
  const cells = (make) =>
    list.map((r) => {
      const {text, differs} = make(r);
      return el('td', {class: differs ? 'differs' : null}, text);
    });
  const row = (head, make) => el('tr', {}, el('th', {scope: 'row'}, head), cells(make));
  const group = (title) => el('tr', {class: 'group'}, el('th', {colspan: list.length + 1, scope: 'rowgroup'}, title));
  const same = (text) => ({text, differs: false});
  return [
    el(
      'div',
      {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison'},
      el(
        'table',
        {class: 'upright compare'},
        el(
          'caption',
          {},
          winner
            ? 'The winner beside others; what differs from it is marked'
            : 'The fastest so far beside others; what differs is marked',
        ),
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('td'),
            list.map((r) => el('th', {scope: 'col'}, r.title)),
          ),
        ),
        el(
          'tbody',
          {},
          row('template', (r) => ({text: r.template, differs: r.template !== first.template})),
          row(`time, ${unit.name}`, (r) => same([time(r.ms, unit), r.phase === 'search' && el('small', {}, ' search')])),
          row(winner ? 'against the winner' : 'against the fastest', (r) => same(againstText(r, first, unit))),
          group('Parameters'),
          names.map((name) =>
            row(el('code', {}, name), (r) => ({
              text: r.parameters.get(name) ?? '\u2013',
              differs: r.parameters.get(name) !== first.parameters.get(name),
            })),
          ),
          group('Figures'),
          figures.map(({name, id, key, show}) =>
            row(id ? name : term(name), (r) => {
              const text = show(r.figure(key), r);
              return {text, differs: text !== '\u2013' && r.figure(key) !== first.figure(key)};
            }),
          ),
        ),
      ),
    ),
  ];
}

/** How the winner is launched, and what limits its occupancy. */
export function launchText(problem) {
  const winner = problem.winner,
    launch = winner?.launch;
  if (!launch) return null;
  return [
    el('h3', {}, 'Launch'),
    el('p', {}, el('code', {}, `${launch.kernel}<<<(${launch.grid}), (${launch.block}), ${launch.shared_bytes}>>>`)),
    winner.limited_by?.length > 0 &&
      el(
        'p',
        {},
        `Its ${percent(winner.occupancy, 1)} `,
        term('occupancy'),
        ` is limited by ${sentence(winner.limited_by)}.`,
      ),
    winner.occupancy_text &&
      el(
        'ul',
        {class: 'plain soft'},
        winner.occupancy_text.split('; ').map((part) => el('li', {}, part)),
      ),
  ];
}
