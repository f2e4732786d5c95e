// problem.js: one problem: what won, by how much, why, and everything that was tried.
import {el} from './dom.js';
import {grid, timeUnit} from './format.js';
import {deviceName, devices, report, stencils, timedRows} from './data.js';
import {convergence} from './convergence.js';
import {distribution} from './distribution.js';
import {effectValues, effects} from './effects.js';
import {failures} from './failures.js';
import {finalists} from './finalists.js';
import {heatmap} from './heatmap.js';
import {problemNotices} from './notices.js';
import {parallel} from './parallel.js';
import {headline, provenance, summary} from './result.js';
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
    `${twins.length > 0 ? `, ${problem.launch}, ${problem.cache}` : ''}${problem.is_reproducible ? ', reproducible' : ''}${problem.steps > 1 ? `, ${problem.steps} steps` : ''}`
  );
}

export function problemView(problem) {
  const stencil = stencils.get(problem.stencil),
    device = devices.get(problem.device);
  const timed = timedRows(problem),
    hasSearch = problem.has_search && timed.length > 0;
  const at = report.problems.indexOf(problem),
    previous = report.problems[at - 1],
    next = report.problems[at + 1];
  // All times of the view have the unit that suits the median variant.
  const unit = timeUnit(problem.distribution?.median_ms ?? problem.winner?.time_ms ?? 1);
  const selection = makeSelection();
  const sections = [];
  const add = (id, title, ...content) => {
    const kept = content.flat().filter(Boolean);
    if (kept.length > 0) sections.push({id, title, content: kept});
  };
  add('result', 'Result', summary(problem, unit), headline(problem, unit));
  if (timed.length > 0 || problem.winner)
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
  if (hasSearch) {
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
  if (problem.finalists.length > 0)
    add('finalists', 'Finalists', !hasSearch && roofline(problem, unit), finalists(problem, unit));
  add('failures', 'Failures', failures(problem));
  add('table', problem.has_search ? 'Every variant' : 'Times of the search', variantTable(problem, unit, selection));
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
        problem.is_reproducible ? ', only reproducible variants' : '',
        problem.steps > 1 ? `, ${problem.steps} time steps in a launch: times are of a launch` : '',
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

/** The rows that are chosen by brushing; null: all rows. Charts that show the choice are told of each change. */
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
