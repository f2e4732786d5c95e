// devices.js: the facts of each GPU.
import {el, term} from './dom.js';
import {bytes, count, day, digits, isNumber} from './format.js';
import {deviceName, devices} from './data.js';

export function deviceTable() {
  const list = [...devices.values()];
  const row = (name, value) =>
    el(
      'tr',
      {},
      el('th', {scope: 'row'}, name),
      list.map((d) => el('td', {}, value(d) ?? '\u2013')),
    );
  return el(
    'div',
    {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'GPUs'},
    el(
      'table',
      {class: 'upright'},
      el('caption', {}, 'Facts of each GPU'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('td'),
          list.map((d) => el('th', {scope: 'col'}, deviceName(d.id))),
        ),
      ),
      el(
        'tbody',
        {},
        row('UUID', (d) => el('code', {}, d.uuid)),
        row('Architecture', (d) => `sm_${d.capability}`),
        row('Multiprocessors', (d) =>
          d.is_emulation ? 'none: emulated' : `${count(d.sm_count)} at up to ${count(d.clock_khz / 1000)} MHz`,
        ),
        row('Memory', (d) =>
          d.is_emulation
            ? 'none: emulated'
            : `${bytes(d.memory_bytes)}, ${count(d.bus_bits)} bits wide, L2 ${bytes(d.l2_bytes)}`,
        ),
        row(term('Measured copy roof', 'copy-roof'), (d) =>
          d.is_emulation
            ? 'none: emulated'
            : isNumber(d.roof?.gbps)
              ? `${digits(d.roof.gbps)} GB/s, moving ${bytes(d.roof.bytes)}`
              : 'not measured',
        ),
        row(term('Arithmetic roof'), (d) =>
          isNumber(d.peak_gflops.f32)
            ? `${digits(d.peak_gflops.f32 / 1000)} TFLOP/s f32, ${digits(d.peak_gflops.f64 / 1000)} TFLOP/s f64`
            : d.is_emulation
              ? 'none: emulated'
              : 'unknown',
        ),
        row('Driver', (d) =>
          d.drivers
            ? `${d.drivers} (CUDA ${Math.floor(d.cuda / 1000)}.${(d.cuda % 1000) / 10})`
            : d.is_emulation
              ? 'none: emulated'
              : null,
        ),
        row(list.every((d) => d.is_emulation) ? 'Compiler' : 'NVRTC', (d) => d.nvrtcs),
        row(
          'Runs',
          (d) => `${count(d.run_count)}, ${day(d.first)}${day(d.first) === day(d.last) ? '' : ` to ${day(d.last)}`}`,
        ),
      ),
    ),
  );
}
