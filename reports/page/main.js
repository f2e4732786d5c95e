// main.js: which view is shown, light and dark, printing.
import {el} from './dom.js';
import {forgetCharts, drawAll, redrawAll, resizeAll} from './chart.js';
import {problems, report} from './data.js';
import {aboutView} from './about.js';
import {acrossView} from './across.js';
import {overviewView} from './overview.js';
import {problemTitle, problemView} from './problem.js';

const view = document.getElementById('view');

// #/  #/problem/ID/SECTION  #/across  #/about/WORD
function parts() {
  return location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
}

let shown = null;

function route() {
  const [name, first, second] = parts();
  const problem = name === 'problem' ? problems.get(Number(first)) : null;
  const key = problem ? `problem/${first}` : name;
  if (key !== shown) {
    forgetCharts();
    const content = problem
      ? problemView(problem)
      : name === 'across'
        ? acrossView()
        : name === 'about'
          ? aboutView()
          : overviewView();
    view.replaceChildren(...content);
    document.title = `${problem ? problemTitle(problem) : name === 'across' ? 'Across GPUs' : name === 'about' ? 'Provenance and words' : 'Overview'} \u2013 Halotune report`;
    drawNavigation(name, problem);
    window.scrollTo(0, 0);
    if (shown !== null) view.focus({preventScroll: true});
  }
  shown = key;
  const target = document.getElementById(problem ? second : first);
  if (target && (problem ? second : name === 'about')) {
    target.scrollIntoView();
    target.classList.add('found');
    setTimeout(() => target.classList.remove('found'), 2000);
  }
}

function drawNavigation(name, problem) {
  const link = (hash, text, current) => el('a', {href: hash, 'aria-current': current ? 'page' : null}, text);
  const choose = el(
    'select',
    {
      'aria-label': 'Problem',
      onchange: (event) => {
        if (event.target.value) location.hash = `#/problem/${event.target.value}`;
      },
    },
    el('option', {value: ''}, 'problem \u2026'),
    report.problems.map((p) => el('option', {value: p.id, selected: p === problem}, problemTitle(p))),
  );
  document
    .querySelector('header nav')
    .replaceChildren(
      link('#/', 'Overview', !problem && !['across', 'about'].includes(name)),
      report.problems.length > 0 ? choose : '',
      link('#/across', 'Across GPUs', name === 'across'),
      link('#/about', 'Provenance and words', name === 'about'),
    );
}

// --- light and dark: as the system has it, until a person decides ---

const dark = matchMedia('(prefers-color-scheme: dark)');
const button = document.getElementById('theme');
let wish = null;

function applyTheme() {
  const theme = wish ?? (dark.matches ? 'dark' : 'light');
  document.documentElement.dataset.theme = theme;
  button.textContent = theme === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `Switch to ${theme === 'dark' ? 'light' : 'dark'} colours`);
  redrawAll();
}
button.addEventListener('click', () => {
  wish = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  applyTheme();
});
dark.addEventListener('change', applyTheme);

let timer;
addEventListener('resize', () => {
  clearTimeout(timer);
  timer = setTimeout(() => resizeAll(), 100);
});

// --- print: light, everything drawn, as wide as paper ---

let before;
addEventListener('beforeprint', () => {
  before = wish;
  wish = 'light';
  document.body.classList.add('printing');
  applyTheme();
  drawAll();
  resizeAll(660);
});
addEventListener('afterprint', () => {
  wish = before;
  document.body.classList.remove('printing');
  applyTheme();
  resizeAll();
});

applyTheme();
addEventListener('hashchange', route);
route();
document.documentElement.dataset.ready = 'true';
