// source.js: the winner's CUDA source, highlighted, folded, to be copied.
import {el} from './dom.js';
import {count} from './format.js';

const keywords = new Set(
  (
    'alignas auto bool break case char class const constexpr continue default do double else enum extern false float for if inline int ' +
    'long namespace operator real return short signed sizeof static struct switch template true typedef typename union unsigned using void volatile while ' +
    '__global__ __device__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__ __host__ __syncthreads asm'
  ).split(' '),
);
const pattern =
  /(\/\/[^\n]*|\/\*[^]*?\*\/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(^[ \t]*#[^\n]*)|(\b\d[\w.]*)|([A-Za-z_]\w*)/gm;

function highlight(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = match[1]
      ? 'comment'
      : match[2]
        ? 'string'
        : match[3]
          ? 'directive'
          : match[4]
            ? 'digit'
            : keywords.has(match[5])
              ? 'keyword'
              : null;
    if (!kind) continue;
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(el('span', {class: `code-${kind}`}, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

export function source(problem) {
  const text = problem.winner.source,
    lines = text.split('\n').length;
  const button = el('button', {type: 'button', class: 'copy', onclick: copy}, 'Copy');
  const code = el('code');
  const details = el(
    'details',
    {class: 'source'},
    el('summary', {}, `Source of the winner, ${count(lines)} lines of CUDA`),
    el('div', {class: 'tools'}, button, el('span', {class: 'soft'}, 'compiles as it stands with nvcc')),
    el('pre', {tabindex: 0}, code),
  );
  details.addEventListener('toggle', () => {
    if (!code.firstChild) code.append(...highlight(text));
  });

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // a page that was opened from a file may not use the clipboard
      const area = el('textarea', {style: {position: 'fixed', opacity: 0}});
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  }
  return details;
}
