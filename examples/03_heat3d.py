"""03_heat3d.py: the heat equation in three dimensions, explicit in time, on arrays of PyTorch or CuPy.

    python3 03_heat3d.py [N [STEPS]]

Needs the package halotune (docs/python.md), a GPU, and PyTorch or CuPy. It tunes on first use, as 02_heat3d.cu does.
The same steps written with slices of PyTorch or CuPy are timed for comparison.
"""

import sys
import time

import halotune

try:
    import torch

    def cube(n):
        u = torch.zeros((n, n, n), dtype=torch.float32, device="cuda")
        u[n // 4 : 3 * n // 4, n // 4 : 3 * n // 4, n // 4 : 3 * n // 4] = 1
        return u

    copy, wait = torch.clone, torch.cuda.synchronize
except ImportError:
    import cupy

    def cube(n):
        u = cupy.zeros((n, n, n), dtype=cupy.float32)
        u[n // 4 : 3 * n // 4, n // 4 : 3 * n // 4, n // 4 : 3 * n // 4] = 1
        return u

    copy, wait = cupy.copy, cupy.cuda.runtime.deviceSynchronize

K = 0.1
WEIGHTS = {"c0": 1 - 6 * K, **{f"c{i}": K for i in range(1, 7)}}


def step_with_slices(u, v):
    inner = slice(1, -1)
    v[inner, inner, inner] = (1 - 6 * K) * u[inner, inner, inner] + K * (
        u[inner, inner, :-2] + u[inner, inner, 2:] + u[inner, :-2, inner] + u[inner, 2:, inner] + u[:-2, inner, inner] + u[2:, inner, inner]
    )


def advance_with_slices(fields, steps):
    u, v = fields
    for _ in range(steps):
        step_with_slices(u, v)
        u, v = v, u
    return [u, v]


def timed(advance, u, steps):
    """Advance copies of u, twice. Returns the state after the second time, and its seconds a step."""
    for _ in range(2):
        fields = [copy(u), copy(u)]  # the second holds the boundary, which no step writes
        wait()
        start = time.perf_counter()
        fields = advance(fields, steps)
        wait()
    return fields[0], (time.perf_counter() - start) / steps


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    u = cube(n)
    config = halotune.lookup("star7", halotune.grid_of(u), u.dtype, steps=halotune.STEPS_ANY)
    if config.match != "exact":
        print("first use on this GPU: tuning for 20 s", flush=True)
        config = halotune.tune("star7", halotune.grid_of(u), u.dtype, steps=halotune.STEPS_ANY)
    kernel = halotune.Kernel(config, WEIGHTS)
    print(f"{config.match}: {config.template_name}, {config.steps} steps a launch")

    tuned, tuned_s = timed(kernel.run, u, steps)
    plain, plain_s = timed(advance_with_slices, u, steps)
    points = (n - 2) ** 3 * 1e-9
    print(f"slices {plain_s * 1e3:8.4f} ms a step, {points / plain_s:6.0f} GStencil/s")
    print(f"tuned  {tuned_s * 1e3:8.4f} ms a step, {points / tuned_s:6.0f} GStencil/s: {plain_s / tuned_s:.2f} times as fast")
    difference = float(abs(tuned - plain).max())
    print(f"largest difference after {steps} steps: {difference:.1e}")
    return 0 if difference < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
