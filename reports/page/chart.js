// chart.js: a figure: a title, one sentence on how to read it, a chart drawn when it comes into view, and its data as a table.
import * as echarts from 'echarts/core';
import {BarChart, CustomChart, LineChart, ScatterChart} from 'echarts/charts';
import {
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from 'echarts/components';
import {CanvasRenderer} from 'echarts/renderers';
import {add, el} from './dom.js';
import {themeColors} from './colors.js';

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  ScatterChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

const live = new Set();

/**
 * id: of the figure; title, note: text; summary: what the chart shows, in words, for readers who do not see it
 * option(colors): ECharts' option, made anew for each theme; table(): the data behind it, made when it is opened
 * tools: elements above the chart; height: pixels; wide: over the whole width
 */
export function figure({id, title, note, summary, option, table, tools = [], height = 340, wide = false, draw = null}) {
  const canvas = el('div', {
    class: 'canvas',
    role: 'img',
    'aria-label': `${title}. ${summary}`,
    style: {height: `${height}px`},
  });
  const element = el(
    'figure',
    {id, class: wide ? 'wide' : null},
    el('figcaption', {}, el('h3', {}, title), note && el('p', {}, note)),
    tools.length > 0 && el('div', {class: 'tools'}, tools),
    canvas,
    table && behind(table),
  );
  const chart = {element, canvas, option, draw, instance: null};
  element.chart = chart;
  live.add(chart);
  watcher.observe(canvas);
  chart.redraw = () => {
    if (chart.isDrawn) show(chart);
  };
  return element;
}

function behind(make) {
  const details = el('details', {class: 'data'}, el('summary', {}, 'Data as a table'));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) add(details, [make()]);
  });
  return details;
}

const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      const chart = [...live].find((c) => c.canvas === entry.target);
      if (chart) show(chart);
    }
  },
  {rootMargin: '300px'},
);

const base = (colors) => ({
  animation: false,
  textStyle: {fontFamily: 'system-ui, sans-serif', color: colors.text},
  tooltip: {
    confine: true,
    backgroundColor: colors.panel,
    borderColor: colors.line,
    textStyle: {color: colors.text, fontSize: 12},
    extraCssText: 'white-space: normal; max-width: 30rem',
  },
});

/** ECharts reads the text of a formatter as HTML. So each text is put into an element, and names from the database stay text. */
function withTextTips(option) {
  const formatter = option.tooltip?.formatter;
  if (!formatter) return option;
  const asElement = (told) => (typeof told === 'string' && told ? el('div', {}, told) : told);
  return {...option, tooltip: {...option.tooltip, formatter: (...of) => asElement(formatter(...of))}};
}

function show(chart) {
  const colors = themeColors();
  chart.isDrawn = true;
  chart.element.dataset.drawn = 'true';
  if (chart.draw) {
    chart.draw(chart.canvas, colors);
    return;
  }
  const option = withTextTips(chart.option(colors));
  chart.instance ??= echarts.init(chart.canvas, null, {renderer: 'canvas'});
  chart.instance.setOption({...base(colors), ...option, tooltip: {...base(colors).tooltip, ...option.tooltip}}, true);
}

/** Axes in the page's colours. */
export function axis(colors, name, more = {}) {
  return {
    name,
    nameLocation: 'middle',
    nameGap: 28,
    nameTextStyle: {color: colors.text},
    axisLine: {show: true, lineStyle: {color: colors.soft}},
    axisLabel: {color: colors.soft, hideOverlap: true},
    axisTick: {lineStyle: {color: colors.soft}},
    splitLine: {lineStyle: {color: colors.line}},
    minorSplitLine: {show: false},
    ...more,
  };
}
/** A logarithmic axis with ticks at 1, 2, 5 and so on, as many as its range needs. */
export function logAxis(colors, name, low, high, show, more = {}) {
  let ticks = [];
  for (const steps of [
    [1],
    [1, 2, 5],
    [1, 1.5, 2, 3, 4, 5, 7],
    [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.75, 3, 3.25, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 8, 9],
  ]) {
    ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      ticks.push(...steps.map((step) => step * 10 ** power).filter((tick) => tick >= low && tick <= high));
    }
    if (ticks.length >= 4) break;
  }
  return axis(colors, name, {
    type: 'log',
    min: low,
    max: high,
    axisTick: {customValues: ticks, lineStyle: {color: colors.soft}},
    axisLabel: {customValues: ticks, color: colors.soft, hideOverlap: true, formatter: show},
    splitLine: {show: false},
    ...more,
  });
}

/** The height that a legend of these names needs beyond its first line, in the narrowest chart (400 px). */
export function legendExcess(names) {
  let lines = 1,
    used = 0;
  for (const width of names.map((name) => 28 + 7 * name.length)) {
    if (used + width > 400) {
      lines++;
      used = 0;
    }
    used += width;
  }
  return (lines - 1) * 20;
}

export const legend = (colors, more = {}) => ({
  top: 0,
  left: 0,
  type: 'plain',
  itemWidth: 12,
  itemHeight: 10,
  textStyle: {color: colors.text},
  ...more,
});

/** The lines of a tooltip as elements, so that words from the database stay text. */
export const tip = (lines) =>
  el(
    'div',
    {class: 'tip'},
    lines.filter(Boolean).map((line, i) => el(i === 0 ? 'strong' : 'div', {}, line)),
  );

export function forgetCharts() {
  for (const chart of live) {
    watcher.unobserve(chart.canvas);
    chart.instance?.dispose();
  }
  live.clear();
}

const each = (f) => {
  for (const chart of live) f(chart);
};
export const redrawAll = () => each((chart) => chart.isDrawn && show(chart));
export const drawAll = () => each((chart) => show(chart));

/** Fit every chart to its place, or to a width in pixels. Charts are painted at once, because printing does not wait for the next frame. */
export const resizeAll = (width) =>
  each((chart) => {
    chart.canvas.style.width = width ? `${width}px` : '';
    if (chart.instance) {
      chart.instance.resize();
      chart.instance.getZr().refreshImmediately();
    } else if (chart.isDrawn) {
      show(chart);
    }
  });
