// dom.js: elements. Texts of the database reach the page through here, as text nodes and attributes, never as HTML.

// Characters that are invisible, or that change the order of others: with them, a text could look like another one. base/text/utf8.c has
// the same list.
const HIDDEN = new RegExp(
  '[\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F' +
    '\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}]',
  'gu',
);
const visible = (text) => String(text).replace(HIDDEN, '?');

/** el('a', {href: '#/', class: 'x', onclick: f}, child, 'text', [more]) */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, properties, children);
  return element;
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? '' : visible(value));
  }
  add(element, children);
}

export function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** A word that the glossary explains. */
export function term(text, id = text.toLowerCase().replace(/[^a-z0-9]+/g, '-')) {
  return el('a', {class: 'term', href: `#/about/${id}`, title: 'What this means'}, text);
}

/** A list of terms, with a description beside each. */
export function facts(pairs) {
  return el(
    'dl',
    {class: 'facts'},
    pairs
      .filter(Boolean)
      .map(([name, value, note]) =>
        el('div', {}, el('dt', {}, name), el('dd', {}, value, note && el('small', {}, note))),
      ),
  );
}

let id = 0;
export const newId = (prefix) => `${prefix}-${++id}`;
