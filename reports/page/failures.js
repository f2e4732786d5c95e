// failures.js: the outcomes of the variants, and why some failed.
import {el} from './dom.js';
import {outcomes, triedCount} from './data.js';
import {count, isNumber, parameters, percent} from './format.js';
import {table} from './table.js';

const name = (text) => text.replace(/_/g, ' ');

export function failures(problem) {
  const total = triedCount(problem);
  if (!isNumber(total)) return null;
  if (total === 0) return el('p', {}, 'No variant was tried.');
  const present = outcomes.filter((o) => problem.outcomes[o.name] > 0);
  return [
    el(
      'div',
      {class: 'scroll'},
      el(
        'table',
        {class: 'small'},
        el('caption', {}, `Outcomes of ${count(total)} variants`),
        el(
          'tbody',
          {},
          present.map((o) =>
            el(
              'tr',
              {},
              el('th', {scope: 'row'}, el('a', {class: 'term', href: `#/about/outcome-${o.name}`}, name(o.name))),
              el('td', {class: 'number'}, count(problem.outcomes[o.name])),
              el('td', {class: 'number'}, percent(problem.outcomes[o.name] / total)),
              el('td', {}, o.meaning),
            ),
          ),
        ),
      ),
    ),
    !problem.failures
      ? el('p', {}, 'The run recorded these counts when it ended. This database does not hold the failed variants and their reasons.')
      : problem.failures.length === 0
      ? el('p', {}, 'Nothing failed, and nothing was pruned.')
      : table({
          caption: 'Why variants failed or were pruned, with one example each',
          rows: problem.failures,
          filter: problem.failures.length > 10,
          columns: [
            {title: 'Outcome', value: (f) => name(f.outcome)},
            {title: 'Variants', value: (f) => f.count, cell: (f) => count(f.count), numeric: true, big: true},
            {title: 'Reason', value: (f) => f.reason, class: 'reason'},
            {title: 'Template', value: (f) => problem.templates[f.template].name},
            {
              title: 'For example',
              value: (f) => parameters(f.parameters),
              cell: (f) => `variant ${f.variant}: ${parameters(f.parameters)}`,
              class: 'mono',
            },
          ],
        }),
  ];
}
