// table.js: a table that sorts by its headings, filters by a text, and shows large ones page by page.
import {el, newId} from './dom.js';

/**
 * columns: {title, value(row), cell(row)?, unit?, numeric?, note?, sort?}; value is what it sorts and filters by, cell what it shows
 * rows: any list; filter: whether there is a field to filter with; order: {column, down} to begin with
 */
export function table({
  caption,
  columns,
  rows,
  filter = false,
  pageSize = 100,
  order = null,
  rowClass = () => null,
  tools = [],
}) {
  const body = el('tbody'),
    foot = el('p', {class: 'pages', 'aria-live': 'polite'});
  const state = {column: order?.column ?? -1, down: order?.down ?? false, text: '', page: 0};
  const heads = columns.map((column, i) =>
    el(
      'th',
      {scope: 'col', class: column.numeric ? 'number' : null},
      el(
        'button',
        {type: 'button', onclick: () => sortBy(i)},
        column.title,
        column.unit && el('small', {}, ` ${column.unit}`),
      ),
    ),
  );

  function sortBy(i) {
    state.down = state.column === i ? !state.down : Boolean(columns[i].numeric && columns[i].big);
    state.column = i;
    state.page = 0;
    draw();
  }

  function chosen() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const list = rows.filter((row) =>
      words.every((word) =>
        columns.some((column) =>
          String(column.filter ? column.filter(row) : (column.value(row) ?? ''))
            .toLowerCase()
            .includes(word),
        ),
      ),
    );
    if (state.column < 0) return list;
    const {value} = columns[state.column],
      sign = state.down ? -1 : 1;
    return list
      .map((row) => [value(row), row])
      .sort(([a], [b]) => compare(a, b, sign))
      .map(([, row]) => row);
  }

  function draw() {
    const list = chosen(),
      pages = Math.max(1, Math.ceil(list.length / pageSize));
    state.page = Math.min(state.page, pages - 1);
    heads.forEach((head, i) => {
      if (i === state.column) head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    const shown = list.slice(state.page * pageSize, (state.page + 1) * pageSize);
    body.replaceChildren(
      ...shown.map((row) =>
        el(
          'tr',
          {class: rowClass(row)},
          columns.map((column, i) => {
            const content = column.cell ? column.cell(row) : (column.value(row) ?? '\u2013');
            return el(
              i === 0 && column.heads !== false ? 'th' : 'td',
              {scope: i === 0 ? 'row' : null, class: column.numeric ? 'number' : column.class},
              content,
            );
          }),
        ),
      ),
    );
    const from = list.length === 0 ? 0 : state.page * pageSize + 1;
    foot.replaceChildren();
    if (pages > 1 || state.text) {
      foot.append(
        `${from}\u2013${from + shown.length - (list.length ? 1 : 0)} of ${list.length.toLocaleString('en')} `,
      );
    }
    if (pages > 1) foot.append(step('previous', -1, state.page === 0), ' ', step('next', 1, state.page === pages - 1));
  }

  const step = (name, by, disabled) =>
    el(
      'button',
      {
        type: 'button',
        disabled,
        onclick: () => {
          state.page += by;
          draw();
        },
      },
      name,
    );

  draw();
  const id = newId('filter');
  const field =
    filter &&
    el(
      'label',
      {for: id, class: 'filter'},
      'Filter ',
      el('input', {
        id,
        type: 'search',
        placeholder: 'words that a row has',
        oninput: (event) => {
          state.text = event.target.value;
          state.page = 0;
          draw();
        },
      }),
    );
  const element = el(
    'div',
    {class: 'table'},
    (field || tools.length > 0) && el('div', {class: 'tools'}, field, tools),
    el(
      'div',
      {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
      el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, heads)), body),
    ),
    foot,
  );
  element.redraw = (newRows) => {
    if (newRows) rows = newRows;
    draw();
  };
  return element;
}

function compare(a, b, sign) {
  const no = (v) => v === null || v === undefined || Number.isNaN(v);
  if (no(a) || no(b)) return no(a) - no(b);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * String(a).localeCompare(String(b), 'en', {numeric: true});
}
