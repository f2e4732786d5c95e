// colors.js: colours that people with any colour vision tell apart (Okabe and Ito's set; viridis for sequences).

const okabeIto = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b5a800', '#8c8c8c'];
const onDark = ['#4ba3e3', '#f0b030', '#1fbf8f', '#dd9ac0', '#8fd0f5', '#f08a3c', '#d6cb3a', '#a8a8a8'];

// For each template the number of its colour, and its symbol. Templates of the same colour are seldom in one chart, and have different
// symbols.
const styles = {
  zmarch: [0, 'circle'],
  tile: [1, 'triangle'],
  direct: [2, 'diamond'],
  pencil: [3, 'rect'],
  patch: [3, 'circle'],
  scan: [4, 'roundRect'],
  scan_segments: [4, 'triangle'],
  scatter_direct: [5, 'rect'],
  flat: [7, 'diamond'],
  scatter: [6, 'roundRect'],
  line: [7, 'circle'],
  pipeline_planes: [4, 'circle'],
  pipeline_rows: [4, 'rect'],
  fused_tile: [1, 'rect'],
  fused_line: [0, 'diamond'],
  fused_march: [6, 'circle'],
  resident: [2, 'circle'],
  tensor_box: [4, 'arrow'],
};
// The same for templates that do not come with Halotune.
const stylesOfOthers = [
  [7, 'rect'],
  [4, 'diamond'],
  [3, 'triangle'],
];

/** A template has the same colour and symbol in every chart; the colour is lighter on dark. */
export function templateStyle(name) {
  const other = [...name].reduce((sum, c) => sum + c.codePointAt(0), 0) % stylesOfOthers.length;
  const [place, symbol] = Object.hasOwn(styles, name) ? styles[name] : stylesOfOthers[other];
  const isDark = document.documentElement.dataset.theme === 'dark';
  return {color: (isDark ? onDark : okabeIto)[place], symbol};
}

const viridis = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [109, 205, 89],
  [180, 222, 44],
  [253, 231, 37],
];

/** 0 is dark, 1 is yellow. */
export function sequence(share) {
  const at = Math.max(0, Math.min(1, share)) * (viridis.length - 1),
    low = Math.min(Math.floor(at), viridis.length - 2);
  const rgb = viridis[low].map((v, i) => Math.round(v + (viridis[low + 1][i] - v) * (at - low)));
  return `rgb(${rgb})`;
}
export const sequenceStops = viridis.map((rgb) => `rgb(${rgb})`);
export const onSequence = (share) => (share > 0.55 ? '#111' : '#fff');

/** The page's own colours, as the style sheet has them in the current theme. */
export function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    text: get('--text'),
    soft: get('--soft'),
    line: get('--line'),
    back: get('--back'),
    panel: get('--panel'),
    accent: get('--accent'),
    series: get('--series'),
    faint: get('--faint'),
  };
}
