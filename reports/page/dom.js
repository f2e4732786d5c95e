// dom.js: elements. Texts of the database reach the page through here, as text nodes and attributes, never as HTML.

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
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
}

export function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
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
