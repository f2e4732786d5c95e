// browser.mjs FOLDER SHOTS: the pages of the databases in FOLDER, in a Chromium without a window ($CHROMIUM). What a page must
// show is computed here from its JSON document. Speaks TAP; screenshots go to SHOTS.
import {readFileSync} from 'node:fs';
import {chromium} from 'playwright-core';

const [, , folder, shots] = process.argv;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const document = (kind) => JSON.parse(readFileSync(`${folder}/${kind}.json`, 'utf8'));
let failed = 0;

// --- a page, watched ---

async function open(kind, hash = '#/', options = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}, ...options});
  const page = await context.newPage(),
    faults = [],
    file = `file://${folder}/${kind}.html`;
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== file && !request.url().startsWith('data:'))
      faults.push(`request: ${request.url()}`);
  });
  await page.goto(file + hash);
  await page.waitForSelector('html[data-ready]');
  return {page, faults, close: () => context.close()};
}

const is = (condition, what) => {
  if (!condition) throw new Error(what);
};
const same = (got, want, what) =>
  is(
    JSON.stringify(got) === JSON.stringify(want),
    `${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`,
  );
const textOf = (page) => page.locator('main').innerText();
const includes = (text, ...parts) =>
  parts.forEach((part) => is(text.includes(part), `the page does not say "${part}"`));

async function test(name, kind, hash, run, options) {
  let view;
  try {
    view = await open(kind, hash, options);
    await run(view.page, view.faults);
    same(view.faults, [], 'faults');
    console.log(`ok - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok - ${name}\n# ${String(error.stack).split('\n').slice(0, 4).join('\n# ')}`);
    if (view?.faults.length) console.log(`# ${view.faults.join('\n# ')}`);
  }
  await view?.close();
}

/** Bring a chart into view and wait until it is drawn. */
async function drawn(page, id) {
  await page.locator(`#${id}`).scrollIntoViewIfNeeded();
  await page.waitForSelector(`#${id}[data-drawn]`);
  return page.locator(`#${id}`);
}

/** The share of a chart's pixels that are painted. */
const painted = (page, id) =>
  page.evaluate((chart) => {
    let all = 0,
      some = 0;
    for (const canvas of window.document.querySelectorAll(`#${chart} canvas`)) {
      const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      for (let i = 3; i < data.length; i += 4) (all++, (some += data[i] > 0));
    }
    return some / all;
  }, id);

const document_outcomes = document('empty').outcomes.map((o) => o.name);
const timed = (problem) => problem.variants.median_ms.filter((ms) => ms !== null).length;
const full = document('h200');
const star = full.problems.find(
  (p) => full.stencils.find((s) => s.id === p.stencil).name === 'star7' && p.dtype === 'f32' && p.nx === 512,
);
const starHash = `#/problem/${star.id}`;
const charts = ['roofline', 'scatter', 'distribution', 'convergence', 'parallel', 'effects', 'heatmap', 'finals'];

// --- the overview ---

await test('the overview lists every problem, sorts, filters and links', 'h200', '#/', async (page) => {
  const table = page.locator('.table').first(),
    rows = table.locator('tbody tr');
  same(await rows.count(), full.problems.length, 'rows');
  const times = async () =>
    (await rows.locator('td:nth-child(5)').allInnerTexts())
      .map((t) => Number(t.replace(/,/g, '')))
      .filter((t) => !Number.isNaN(t));
  await table.getByRole('button', {name: /^Time/}).click();
  const up = await times();
  same(
    up,
    [...up].sort((a, b) => a - b),
    'ascending times',
  );
  await table.getByRole('button', {name: /^Time/}).press('Enter'); // by the keyboard too
  same(await times(), [...up].reverse(), 'descending times');
  same(await table.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending', 'aria-sort');
  await table.getByRole('searchbox').fill('star25 f64');
  same(await rows.count(), 1, 'filtered rows');
  await rows.getByRole('link', {name: 'star25'}).click();
  await page.waitForSelector('h1:has-text("star25")');
});

await test('the overview says what the GPU is and how fast its copy', 'h200', '#/', async (page) => {
  const text = await textOf(page),
    device = full.devices[0];
  includes(
    text,
    device.name,
    device.uuid,
    'sm_90',
    '132 at up to 1,980 MHz',
    '580.159.04',
    `${full.counts.problems} problems`,
  );
  includes(text, Math.round(device.roof.gbps).toLocaleString('en'), '3 runs of 18 did not end as planned');
  await page.screenshot({path: `${shots}/overview.png`, fullPage: true});
});

// --- a problem ---

await test(
  'a problem tells winner, interval, share of the roof, speed-up, ties, failures and provenance',
  'h200',
  starHash,
  async (page) => {
    const text = await textOf(page),
      winner = star.winner,
      us = (ms) => (1000 * ms).toFixed(2);
    includes(
      text,
      `${winner.template_name} won with ${us(winner.time_ms)} \u00b5s`,
      `95 % interval ${us(winner.low_ms)} \u2013 ${us(winner.high_ms)} \u00b5s`,
      winner.roof_ratio.toFixed(3),
      `${winner.roof_ratio_low.toFixed(3)} \u2013 ${winner.roof_ratio_high.toFixed(3)}`,
      `${(winner.default_ms / winner.time_ms).toFixed(2)}\u00d7 as fast as the default variant`,
      ((star.points / winner.time_ms) * 1e-6).toFixed(1),
      `${star.variant_count} variants tried`,
    );
    const ties = star.finalists.filter((f) => f.is_tie && f.rank > 1).length;
    includes(text, `${ties} finalist${ties === 1 ? ' ties' : 's tie'} with it`);
    const failures = Object.entries(star.outcomes)
      .filter(([name]) => !['measured', 'screened', 'pruned'].includes(name))
      .reduce((sum, [, n]) => sum + n, 0);
    includes(text, `${failures} failed`, ...star.failures.map((f) => f.reason));
    includes(
      text,
      winner.source_hash,
      'halotune tune star7',
      'seed 7',
      winner.second_grid,
      'interrupted by the user',
      'Why it won',
      'Against the runner-up',
    );
    for (const [name, value] of winner.parameters) {
      same(
        await page
          .locator('.compare tr', {has: page.locator(`th code:text-is("${name}")`)})
          .locator('td')
          .first()
          .innerText(),
        value,
        name,
      );
    }
  },
);

await test('each chart draws, with a table behind it, and as many points as rows', 'h200', starHash, async (page) => {
  for (const id of charts) {
    await drawn(page, id);
    const share = await painted(page, id);
    is(share > 0.01, `${id} is empty: ${share}`);
  }
  const n = timed(star),
    attribute = (id, name) => page.locator(`#${id}`).getAttribute(`data-${name}`);
  same(Number(await attribute('roofline', 'points')), n, 'points of the roofline');
  same(Number(await attribute('scatter', 'points')), n, 'points of the scatter');
  const template = star.templates.findIndex((t) => t.id === star.winner.template);
  same(
    Number(await attribute('parallel', 'drawn')),
    star.variants.template.filter((t) => t === template).length,
    'variants of the parallel coordinates',
  );
  for (const id of ['roofline', 'scatter', 'distribution', 'convergence', 'effects', 'heatmap']) {
    await page.locator(`#${id} details.data summary`).click();
    await page.locator(`#${id} details.data tbody tr`).first().waitFor();
  }
  includes(await page.locator('#scatter details.data').innerText(), `of ${n}`);
  await page.screenshot({path: `${shots}/problem.png`, fullPage: true});
});

await test('every picture of a problem has words for it', 'h200', starHash, async (page) => {
  for (const label of await page
    .locator('[role=img]')
    .evaluateAll((list) => list.map((e) => e.getAttribute('aria-label'))))
    is(label?.length > 10, 'a picture without words');
  for (const id of charts) await drawn(page, id);
  same(
    await page.evaluate(
      () =>
        [...window.document.querySelectorAll('select, input')].filter(
          (e) => !e.labels?.length && !e.getAttribute('aria-label'),
        ).length,
    ),
    0,
    'fields without a label',
  );
});

await test('brushing chooses the rows that have the values', 'h200', starHash, async (page) => {
  const figure = await drawn(page, 'parallel'),
    v = star.variants;
  const t = star.templates.findIndex((x) => x.name === 'zmarch'),
    template = star.templates[t];
  await figure.getByRole('combobox', {name: 'Template'}).selectOption('zmarch');
  const place = template.parameters.findIndex((p) => p.name === 'block_x'),
    value = template.parameters[place].values.indexOf('64');
  const want = v.template.filter((at, row) => at === t && v.values[row][place] === value).length;
  await figure.getByRole('button', {name: 'block_x 64', exact: true}).click();
  same(Number(await figure.getAttribute('data-chosen')), want, 'chosen by a value');
  await page.waitForFunction((n) => window.document.querySelector('#table').innerText.includes(`${n} of `), want);
  await figure.getByRole('button', {name: 'Choose all'}).click();
  await figure.getByRole('combobox', {name: 'Time'}).selectOption('1.05');
  const best = Math.min(...v.median_ms.filter((ms, row) => ms !== null && v.template[row] === t));
  same(
    Number(await figure.getAttribute('data-chosen')),
    v.median_ms.filter((ms, row) => ms !== null && ms <= best * 1.05 && v.template[row] === t).length,
    'chosen by time',
  );
  await figure.getByRole('button', {name: 'Choose all'}).click();
  const box = await figure.locator('canvas').boundingBox(),
    labels = await figure.locator('[aria-label^="block_x "]').all(),
    places = await Promise.all(labels.map(async (l) => ({value: await l.innerText(), box: await l.boundingBox()}))),
    label = places[0].box;
  await page.mouse.move(label.x - 5, box.y + 20); // from above the first value to about the middle of the axis
  await page.mouse.down();
  await page.mouse.move(label.x - 5, box.y + 200, {steps: 5});
  await page.mouse.up();
  const chosen = places
    .filter((p) => p.box.y + p.box.height / 2 < box.y + 200)
    .map((p) => template.parameters[place].values.indexOf(p.value));
  is(chosen.length > 0 && chosen.length < places.length, 'the drag covers some of the values');
  same(
    Number(await figure.getAttribute('data-chosen')),
    v.template.filter((at, row) => at === t && chosen.includes(v.values[row][place])).length,
    'chosen by dragging',
  );
});

await test(
  'the source is highlighted and the copy button copies it',
  'h200',
  starHash,
  async (page) => {
    await page.locator('.source summary').click();
    is((await page.locator('.code-keyword').count()) > 20, 'no keywords are marked');
    same(await page.locator('.source code').innerText(), star.winner.source, 'the source shown');
    await page.locator('button.copy').click();
    await page.waitForSelector('button.copy:has-text("Copied")');
    await page.evaluate(() => {
      const area = window.document.createElement('textarea');
      area.id = 'paste';
      window.document.body.append(area);
      area.focus();
    });
    await page.keyboard.press('Control+V');
    same(await page.locator('#paste').inputValue(), star.winner.source, 'what was copied');
  },
  {permissions: ['clipboard-read', 'clipboard-write']},
);

await test('underlined words lead to their meaning, numbers to the problem', 'h200', starHash, async (page) => {
  await page.getByRole('link', {name: 'over-read'}).click();
  await page.waitForSelector('#over-read');
  const ids = await page.evaluate(() => [...window.document.querySelectorAll('[id]')].map((e) => e.id));
  await page.goBack();
  await page.waitForSelector('h1:has-text("star7")');
  const links = await page
    .locator('a.term')
    .evaluateAll((list) => list.map((a) => a.getAttribute('href').replace('#/about/', '')));
  is(links.length > 10, 'few words are linked');
  same(
    links.filter((id) => !ids.includes(id)),
    [],
    'links to words that the glossary lacks',
  );
});

// --- light, dark, print, narrow ---

const brightness = (page) =>
  page.evaluate(
    () =>
      getComputedStyle(window.document.documentElement)
        .backgroundColor.match(/\d+/g)
        .slice(0, 3)
        .reduce((a, b) => a + Number(b), 0) / 3,
  );
await test(
  'dark where the system is dark, and back by the button',
  'h200',
  starHash,
  async (page) => {
    is((await brightness(page)) < 60, 'the page is not dark');
    for (const id of charts) await drawn(page, id);
    await page.screenshot({path: `${shots}/problem-dark.png`, fullPage: true});
    await page.getByRole('button', {name: 'Switch to light colours'}).click();
    is((await brightness(page)) > 200, 'the page is not light');
  },
  {colorScheme: 'dark'},
);

await test('it prints', 'h200', starHash, async (page) => {
  const pdf = await page.pdf({path: `${shots}/problem.pdf`, format: 'A4'});
  is(pdf.subarray(0, 4).toString() === '%PDF' && pdf.length > 100000, `a PDF of ${pdf.length} bytes`);
});

await test(
  'a narrow window scrolls down, not sideways',
  'h200',
  starHash,
  async (page) => {
    for (const id of charts) await drawn(page, id);
    const wide = await page.evaluate(() => window.document.documentElement.scrollWidth);
    is(wide <= 420, `the page is ${wide} pixels wide in a window of 420`);
    await page.screenshot({path: `${shots}/problem-narrow.png`, fullPage: true});
  },
  {viewport: {width: 420, height: 800}},
);

// --- other databases ---

await test('an empty database says what to do', 'empty', '#/', async (page) =>
  includes(await textOf(page), 'Nothing was tuned yet', 'halotune tune star7'),
);

await test('emulated results come with a warning', 'emulated', '#/', async (page) => {
  includes(await textOf(page), 'Emulated times rank nothing');
  await page.locator('tbody a').first().click();
  await page.waitForSelector('nav.sections');
  const text = await textOf(page);
  includes(text, 'Emulated times rank nothing');
  is(!text.includes('of the copy roof'), 'a share of the roof is claimed for emulated times');
});

await test('winners alone: nothing is said of variants that are not recorded', 'imported', '#/', async (page) => {
  const none = /\b0 (variants|tried)|tried, 0/;
  is(!none.test(await textOf(page)), 'the overview counts no variants');
  const cells = await page.locator('main table').first().locator('tbody tr').first().locator('td').allInnerTexts();
  same(cells.slice(-2), ['\u2013', '\u2013'], 'variants and failures');
  await page.goto(page.url().replace(/#.*/, `#/problem/${document('imported').problems[0].id}`));
  await page.waitForSelector('#failures');
  const text = await textOf(page);
  includes(text, 'how many variants were tried is not recorded', 'what came of other variants is not recorded');
  is(!none.test(text), 'the problem counts no variants');
});

await test('failures only: no winner, and every reason', 'failures', '#/', async (page) => {
  const {problems} = document('failures');
  includes(await textOf(page), 'none', 'no winner');
  for (const problem of problems) {
    await page.goto(`file://${folder}/failures.html#/problem/${problem.id}`);
    await page.waitForSelector(`nav.sections a[href="#/problem/${problem.id}/failures"]`);
    const text = await textOf(page);
    includes(
      text,
      'No winner yet',
      `None of ${problem.variant_count} variants has a time`,
      ...problem.failures.map((f) => f.reason),
    );
  }
});

await test('three GPUs: each winner on the others', 'three', '#/across', async (page) => {
  const data = document('three'),
    text = await textOf(page);
  includes(
    text,
    ...data.devices.map((d) => d.name),
    ...data.transfer.map((t) => `${((100 * t.best_ms) / t.time_ms).toFixed(1)} %`),
  );
  same(await page.locator('.table tbody tr').count(), data.transfer.length, 'pairs');
  await page.screenshot({path: `${shots}/across.png`, fullPage: true});
});

await test('texts of the database stay texts', 'hostile', '#/', async (page) => {
  includes(await textOf(page), '<script>alert(1)</script>', '<img src=x onerror=alert(2)>');
  for (const hash of [`#/problem/${document('hostile').problems[0].id}`, '#/about', '#/across']) {
    await page.goto(`file://${folder}/hostile.html${hash}`);
    await page.waitForTimeout(100);
  }
  await page.goto(`file://${folder}/hostile.html#/problem/${document('hostile').problems[0].id}`);
  await page.waitForSelector('nav.sections');
  for (const id of ['roofline', 'finals']) await drawn(page, id);
  includes(
    await textOf(page),
    '<b onmouseover=alert(3)>bad</b>',
    '<u>w</u>',
    'halotune tune "</script><script>alert(4)</script>"',
  );
  same(
    await page.locator('main img, main b, main u, main i, main script').count(),
    0,
    'elements that came from the database',
  );
});

await test('the policy of the page allows no network and no other script', 'small', '#/', async (page, faults) => {
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  includes(policy, "default-src 'none'", "script-src 'sha256-");
  is(!/https?:|\*|connect-src|script-src[^;]*unsafe/.test(policy), policy);
  const answers = await page.evaluate(async () => {
    window.blocked = [];
    window.document.addEventListener('securitypolicyviolation', (event) =>
      window.blocked.push(event.effectiveDirective),
    );
    await fetch('data:text/plain,x').catch(() => {});
    const script = window.document.createElement('script');
    script.textContent = 'window.intruder = true';
    window.document.body.append(script);
    await new Promise((done) => {
      setTimeout(done, 50);
    });
    return {blocked: window.blocked, intruder: Boolean(window.intruder)};
  });
  faults.splice(0); // the browser tells what it refused
  same(answers.intruder, false, 'a script that was put into the page ran');
  is(
    answers.blocked.includes('connect-src') && answers.blocked.some((d) => d.startsWith('script-src')),
    `blocked: ${answers.blocked}`,
  );
});

await test('two GPUs of one name are told apart', 'twins', '#/', async (page) => {
  includes(await textOf(page), 'NVIDIA H200 (\u20269d7a01)', 'NVIDIA H200 (\u20269d7a02)');
});

await test(
  'more variants than a page holds: told, and neither winner nor a reason is missing',
  'many',
  '#/',
  async (page) => {
    const {problems} = document('many'),
      [problem] = problems;
    includes(await textOf(page), 'more variants than a page can');
    await page.goto(`file://${folder}/many.html#/problem/${problem.id}`);
    await page.waitForSelector('nav.sections');
    includes(
      await textOf(page),
      `${problem.shown_count.toLocaleString('en')} of ${problem.variant_count.toLocaleString('en')} variants are on this page`,
    );
    for (const p of problems) {
      const v = p.variants;
      is(p.shown_count === v.variant.length && p.shown_count < p.variant_count && p.variant_count > 20000, 'counts');
      is(
        [p.winner, ...p.finalists].every((x) => v.variant.includes(x.variant)),
        'a finalist is missing',
      );
      same(
        Object.values(p.outcomes).reduce((a, b) => a + b, 0),
        p.variant_count,
        'outcomes',
      );
      is(
        p.failures.every((f) => v.variant.includes(f.variant)),
        'the example of a failure is missing',
      );
      is(
        p.failures.every((f) =>
          v.reason.some((r, row) => p.reasons[r] === f.reason && document_outcomes[v.outcome[row]] === f.outcome),
        ),
        'a reason is missing',
      );
    }
  },
);

// --- 20,000 variants ---

const large = document('large').problems[0];
await test('20,000 variants: shown within 2 s, all of them', 'large', `#/problem/${large.id}`, async (page) => {
  const ready = [];
  for (let i = 0; i < 3; i++) {
    // the best of three: other work on the machine is not the page's fault
    await page.reload();
    await page.waitForSelector('html[data-ready]');
    await page.getByRole('link', {name: 'Provenance of this result'}).waitFor();
    ready.push(await page.evaluate(() => performance.now()));
  }
  is(Math.min(...ready) < 2000, `ready after ${ready.map(Math.round)} ms`);
  for (const id of charts) await drawn(page, id);
  same(Number(await page.locator('#roofline').getAttribute('data-points')), timed(large), 'points of the roofline');
  same(Number(await page.locator('#scatter').getAttribute('data-points')), timed(large), 'points of the scatter');
  same(large.shown_count, large.variant_count, 'variants on the page');
  includes(await textOf(page), 'variants', large.winner.template_name);
});

await test('20,000 variants: brushing takes at most 100 ms', 'large', `#/problem/${large.id}`, async (page) => {
  const figure = await drawn(page, 'parallel');
  const times = await page.evaluate(async () => {
    const canvas = window.document.querySelector('#parallel canvas'),
      box = canvas.getBoundingClientRect(),
      spent = [];
    const label = window.document.querySelector('#parallel .axis-value').getBoundingClientRect();
    const send = (type, y) =>
      canvas.dispatchEvent(
        new PointerEvent(type, {clientX: label.left - 5, clientY: box.top + y, pointerId: 1, bubbles: true}),
      );
    send('pointerdown', 25);
    for (let i = 0; i < 40; i++) {
      const begin = performance.now();
      send('pointermove', 40 + 8 * i);
      await new Promise((done) => {
        requestAnimationFrame(() => setTimeout(done));
      }); // until it is on the screen
      spent.push(performance.now() - begin);
    }
    send('pointerup', 350);
    return spent.sort((a, b) => a - b);
  });
  const median = times[Math.floor(times.length / 2)];
  console.log(
    `# brushing 20,000 variants: median ${median.toFixed(1)} ms, slowest ${times[times.length - 1].toFixed(1)} ms`,
  );
  is(median <= 100, `the median is ${median} ms`);
  is(Number(await figure.getAttribute('data-chosen')) > 0, 'nothing is chosen');
});

await browser.close();
process.exit(failed > 0 ? 1 : 0);
