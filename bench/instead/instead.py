"""instead.py: time loops of two stencils as one would write them in Python without Halotune, and with it.

    PYTHONPATH=python python3 bench/instead/instead.py [--n 512] [--steps 40] [--json FILE] [--markdown FILE]
        [--only WORD]

heat: 7 points, f32, fixed edges. wave: 25 points (eighth order in space, second in time), f32, fixed edges.
Each way advances the same initial state on the same GPU. After ten steps its result is compared element by element with
that of the plain CUDA kernel, relative to its largest element. Printed: GStencil/s (points that are computed, times steps, over the median time of five runs), the
spread of these runs, the seconds from its definition to the end of its first step, and its lines of code.
"""

import argparse
import inspect
import json
import statistics
import sys
import time

import cupy
import torch
import torch.nn.functional

import halotune

try:
    import jax
    import jax.numpy
except ImportError:
    jax = None

K = 0.1  # heat
A = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)  # wave: weights of the second derivative
C2 = 0.1  # wave: (velocity * dt / dx)^2
CHECKED = 10  # the steps after which results are compared
WAYS = []


def way(problem, name):
    """A function that returns advance(u, steps) -> u for heat, or advance(u, u_prev, steps) -> u for wave."""

    def register(function):
        WAYS.append((problem, name, function))
        return function

    return register


# --- heat ------------------------------------------------------------------------------------------------------------


@way("heat", "PyTorch, slices")
def heat_torch():
    def advance(u, steps):
        v = u.clone()
        for _ in range(steps):
            v[1:-1, 1:-1, 1:-1] = (1 - 6 * K) * u[1:-1, 1:-1, 1:-1] + K * (
                u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
            )
            u, v = v, u
        return u

    return advance


@way("heat", "PyTorch, torch.compile")
def heat_compile():
    @torch.compile
    def step(u, v):
        v[1:-1, 1:-1, 1:-1] = (1 - 6 * K) * u[1:-1, 1:-1, 1:-1] + K * (
            u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
        )

    def advance(u, steps):
        v = u.clone()
        for _ in range(steps):
            step(u, v)
            u, v = v, u
        return u

    return advance


@way("heat", "PyTorch, conv3d")
def heat_conv3d():
    weights = torch.zeros((1, 1, 3, 3, 3), device="cuda")
    weights[0, 0, 1, 1, 1] = 1 - 6 * K
    for z, y, x in ((0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)):
        weights[0, 0, z, y, x] = K

    def advance(u, steps):
        v = u.clone()
        for _ in range(steps):
            v[1:-1, 1:-1, 1:-1] = torch.nn.functional.conv3d(u[None, None], weights)[0, 0]
            u, v = v, u
        return u

    return advance


@way("heat", "JAX, jit")
def heat_jax():
    @jax.jit
    def run(u, steps):
        def step(_, u):
            inner = (1 - 6 * K) * u[1:-1, 1:-1, 1:-1] + K * (
                u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
            )
            return u.at[1:-1, 1:-1, 1:-1].set(inner)

        return jax.lax.fori_loop(0, steps, step, u)

    def advance(u, steps):
        return torch.from_dlpack(run(jax.dlpack.from_dlpack(u.clone()), steps).block_until_ready())

    return advance


@way("heat", "CuPy, slices")
def heat_cupy():
    def advance(u, steps):
        u = cupy.from_dlpack(u)
        v = u.copy()
        for _ in range(steps):
            v[1:-1, 1:-1, 1:-1] = (1 - 6 * K) * u[1:-1, 1:-1, 1:-1] + K * (
                u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
            )
            u, v = v, u
        return torch.from_dlpack(u)

    return advance


@way("heat", "CuPy, fuse")
def heat_fuse():
    @cupy.fuse
    def point(c, w, e, s, n, b, t):
        return (1 - 6 * K) * c + K * (w + e + s + n + b + t)

    def advance(u, steps):
        u = cupy.from_dlpack(u)
        v = u.copy()
        for _ in range(steps):
            v[1:-1, 1:-1, 1:-1] = point(
                u[1:-1, 1:-1, 1:-1], u[1:-1, 1:-1, :-2], u[1:-1, 1:-1, 2:], u[1:-1, :-2, 1:-1], u[1:-1, 2:, 1:-1], u[:-2, 1:-1, 1:-1], u[2:, 1:-1, 1:-1]
            )
            u, v = v, u
        return torch.from_dlpack(u)

    return advance


@way("heat", "plain CUDA kernel (CuPy, RawKernel)")
def heat_raw():
    kernel = cupy.RawKernel(
        r"""
        extern "C" __global__ void heat(const float *u, float *v, int n) {
          const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
          if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
          const long row = n, plane = (long)n * n, at = x + row * y + plane * z;
          v[at] = 0.4f * u[at] + 0.1f * (u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane]);
        }""",
        "heat",
    )

    def advance(u, steps):
        u = cupy.from_dlpack(u)
        v = u.copy()
        n = len(u)
        for _ in range(steps):
            kernel(((n + 31) // 32, (n + 7) // 8, n), (32, 8), (u, v, cupy.int32(n)))
            u, v = v, u
        return torch.from_dlpack(u)

    return advance


HEAT = {"c0": 1 - 6 * K, **{f"c{i}": K for i in range(1, 7)}}


@way("heat", "Halotune from PyTorch, one step a launch")
def heat_halotune_sweep():
    kernel = halotune.Kernel(halotune.lookup("star7", (N, N, N), "f32"), HEAT)

    def advance(u, steps):
        return kernel.run([u, u.clone()], steps)[0]

    return advance


@way("heat", "Halotune from PyTorch")
def heat_halotune_torch():
    kernel = halotune.Kernel(halotune.lookup("star7", (N, N, N), "f32", steps=halotune.STEPS_ANY), HEAT)

    def advance(u, steps):
        return kernel.run([u, u.clone()], steps)[0]

    return advance


@way("heat", "Halotune from CuPy")
def heat_halotune_cupy():
    kernel = halotune.Kernel(halotune.lookup("star7", (N, N, N), "f32", steps=halotune.STEPS_ANY), HEAT)

    def advance(u, steps):
        u = cupy.from_dlpack(u)
        return torch.from_dlpack(kernel.run([u, u.copy()], steps)[0])

    return advance


@way("heat", "Halotune from JAX")
def heat_halotune_jax():
    kernel = halotune.Kernel(halotune.lookup("star7", (N, N, N), "f32", steps=halotune.STEPS_ANY), HEAT)

    def advance(u, steps):
        u = jax.dlpack.from_dlpack(u)
        fields = [torch.from_dlpack(jax.numpy.copy(u).block_until_ready()) for _ in range(2)]  # arrays of JAX are immutable
        return torch.from_dlpack(jax.dlpack.from_dlpack(kernel.run(fields, steps)[0]))

    return advance


# --- wave: v = 2 u - u_prev + c2 * laplacian(u), 8th order ------------------------------------------------------------


def shifted(u, x=0, y=0, z=0):
    """The inner points' neighbours at a distance."""
    return u[4 + z : u.shape[0] - 4 + z, 4 + y : u.shape[1] - 4 + y, 4 + x : u.shape[2] - 4 + x]


def new_wave(u, u_prev, c2):
    laplacian = 3 * A[0] * shifted(u)
    for r in range(1, 5):
        laplacian = laplacian + A[r] * (shifted(u, x=-r) + shifted(u, x=r) + shifted(u, y=-r) + shifted(u, y=r) + shifted(u, z=-r) + shifted(u, z=r))
    return 2 * shifted(u) - shifted(u_prev) + shifted(c2) * laplacian


@way("wave", "PyTorch, slices")
def wave_torch():
    def advance(u, u_prev, c2, steps):
        for _ in range(steps):
            shifted(u_prev).copy_(new_wave(u, u_prev, c2))
            u, u_prev = u_prev, u
        return u

    return advance


@way("wave", "PyTorch, torch.compile")
def wave_compile():
    @torch.compile
    def step(u, u_prev, c2):
        shifted(u_prev).copy_(new_wave(u, u_prev, c2))

    def advance(u, u_prev, c2, steps):
        for _ in range(steps):
            step(u, u_prev, c2)
            u, u_prev = u_prev, u
        return u

    return advance


@way("wave", "PyTorch, conv3d")
def wave_conv3d():
    weights = torch.zeros((1, 1, 9, 9, 9), device="cuda")
    weights[0, 0, 4, 4, 4] = 3 * A[0]
    for r in range(1, 5):
        for at in (4 - r, 4 + r):
            weights[0, 0, at, 4, 4] = weights[0, 0, 4, at, 4] = weights[0, 0, 4, 4, at] = A[r]

    def advance(u, u_prev, c2, steps):
        for _ in range(steps):
            laplacian = torch.nn.functional.conv3d(u[None, None], weights)[0, 0]
            shifted(u_prev).copy_(2 * shifted(u) - shifted(u_prev) + shifted(c2) * laplacian)
            u, u_prev = u_prev, u
        return u

    return advance


@way("wave", "JAX, jit")
def wave_jax():
    @jax.jit
    def run(u, u_prev, c2, steps):
        def step(_, pair):
            return pair[1].at[4:-4, 4:-4, 4:-4].set(new_wave(pair[0], pair[1], c2)), pair[0]

        return jax.lax.fori_loop(0, steps, step, (u, u_prev))[0]

    def advance(u, u_prev, c2, steps):
        u, u_prev, c2 = (jax.dlpack.from_dlpack(field) for field in (u, u_prev, c2))
        return torch.from_dlpack(run(u, u_prev, c2, steps).block_until_ready())

    return advance


@way("wave", "CuPy, slices")
def wave_cupy():
    def advance(u, u_prev, c2, steps):
        u, u_prev, c2 = (cupy.from_dlpack(field) for field in (u, u_prev, c2))
        for _ in range(steps):
            shifted(u_prev)[...] = new_wave(u, u_prev, c2)
            u, u_prev = u_prev, u
        return torch.from_dlpack(u)

    return advance


@way("wave", "CuPy, fuse")
def wave_fuse():
    @cupy.fuse
    def point(c, before, c2, r1, r2, r3, r4):
        return 2 * c - before + c2 * (3 * A[0] * c + A[1] * r1 + A[2] * r2 + A[3] * r3 + A[4] * r4)

    @cupy.fuse
    def ring(w, e, n, s, b, t):
        return w + e + n + s + b + t

    def advance(u, u_prev, c2, steps):
        u, u_prev, c2 = (cupy.from_dlpack(field) for field in (u, u_prev, c2))
        for _ in range(steps):
            rings = [
                ring(shifted(u, x=-r), shifted(u, x=r), shifted(u, y=-r), shifted(u, y=r), shifted(u, z=-r), shifted(u, z=r))
                for r in range(1, 5)
            ]
            shifted(u_prev)[...] = point(shifted(u), shifted(u_prev), shifted(c2), *rings)
            u, u_prev = u_prev, u
        return torch.from_dlpack(u)

    return advance


@way("wave", "plain CUDA kernel (CuPy, RawKernel)")
def wave_raw():
    kernel = cupy.RawKernel(
        r"""
        extern "C" __global__ void wave(const float *u, float *u_prev, const float *c2, int n) {
          const float a[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
          const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
          if (x < 4 || y < 4 || z < 4 || x >= n - 4 || y >= n - 4 || z >= n - 4) return;
          const long row = n, plane = (long)n * n, at = x + row * y + plane * z;
          float sum = 3 * a[0] * u[at];
        #pragma unroll
          for (int r = 1; r < 5; r++)
            sum += a[r] * (u[at - r] + u[at + r] + u[at - r * row] + u[at + r * row] + u[at - r * plane] + u[at + r * plane]);
          u_prev[at] = 2 * u[at] - u_prev[at] + c2[at] * sum;
        }""",
        "wave",
    )

    def advance(u, u_prev, c2, steps):
        n = len(u)
        u, u_prev, c2 = (cupy.from_dlpack(field) for field in (u, u_prev, c2))
        for _ in range(steps):
            kernel(((n + 31) // 32, (n + 7) // 8, n), (32, 8), (u, u_prev, c2, cupy.int32(n)))
            u, u_prev = u_prev, u
        return torch.from_dlpack(u)

    return advance


@way("wave", "Halotune from PyTorch")
def wave_halotune():
    config = halotune.lookup("wave25", (N, N, N), "f32", steps=halotune.STEPS_ANY)
    kernel = halotune.Kernel(config, {"dx": 1, "dy": 1, "dz": 1, "dt": 1})

    def advance(u, u_prev, c2, steps):
        extra = [u.clone() for _ in range(kernel.facts.output_count)]
        return kernel.run([u, u_prev, c2] + extra, steps)[0]

    return advance


@way("wave", "Halotune from CuPy")
def wave_halotune_cupy():
    config = halotune.lookup("wave25", (N, N, N), "f32", steps=halotune.STEPS_ANY)
    kernel = halotune.Kernel(config, {"dx": 1, "dy": 1, "dz": 1, "dt": 1})

    def advance(u, u_prev, c2, steps):
        u, u_prev, c2 = (cupy.from_dlpack(field) for field in (u, u_prev, c2))
        extra = [u.copy() for _ in range(kernel.facts.output_count)]
        return torch.from_dlpack(kernel.run([u, u_prev, c2] + extra, steps)[0])

    return advance


@way("wave", "Halotune from JAX")
def wave_halotune_jax():
    config = halotune.lookup("wave25", (N, N, N), "f32", steps=halotune.STEPS_ANY)
    kernel = halotune.Kernel(config, {"dx": 1, "dy": 1, "dz": 1, "dt": 1})

    def advance(u, u_prev, c2, steps):
        u, u_prev, c2 = (jax.dlpack.from_dlpack(field) for field in (u, u_prev, c2))
        copies = [u, u_prev] + [u] * kernel.facts.output_count  # arrays of JAX are immutable
        fields = [torch.from_dlpack(jax.numpy.copy(field).block_until_ready()) for field in copies]
        fields.insert(2, torch.from_dlpack(c2))
        return torch.from_dlpack(jax.dlpack.from_dlpack(kernel.run(fields, steps)[0]))

    return advance


# --- the measurement --------------------------------------------------------------------------------------------------


def state(problem):
    """The initial state, the same for each way."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    u = torch.rand((N, N, N), generator=generator, device="cuda")
    if problem == "heat":
        return [u]
    return [u, u.clone(), torch.full_like(u, C2)]


def lines_of_code(function):
    """Lines that are neither empty nor the decorator and the name, with those of the wave's formula where it is used."""
    own = inspect.getsource(function)
    helpers = [inspect.getsource(helper) for helper in (shifted, new_wave)] if "new_wave" in own else []
    return sum(1 for text in [own, *helpers] for line in text.split("\n")[2:] if line.strip())


def measure(problem, function, most_steps):
    """Returns the result after CHECKED steps, the rates of five runs, and the seconds to the first step. A run makes
    most_steps, or fewer in a way that is so slow that these would take longer than a second."""
    fields = state(problem)
    torch.cuda.synchronize()
    start = time.perf_counter()
    advance = function()
    advance(*fields, 1)
    torch.cuda.synchronize()
    first_s = time.perf_counter() - start
    halo = 1 if problem == "heat" else 4
    points = (N - 2 * halo) ** 3 * 1e-9

    def run(steps):
        fields = state(problem)
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = advance(*fields, steps)
        torch.cuda.synchronize()
        return result, time.perf_counter() - start

    result, checked_s = run(CHECKED)
    result = result.clone()
    steps = max(2, min(most_steps, int(CHECKED / checked_s)))
    run(steps)  # a warm-up
    return result, [points * steps / run(steps)[1] for _ in range(5)], first_s


def main():
    global N
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=512, help="points in each direction")
    parser.add_argument("--steps", type=int, default=100, help="steps of a run; fewer where these would take longer than a second")
    parser.add_argument("--json", help="also write the figures there")
    parser.add_argument("--markdown", help="also write a table there")
    parser.add_argument("--only", default="", help="ways with this word in their name")
    options = parser.parse_args()
    N = options.n
    device = torch.cuda.get_device_name()
    print(f"{device}, {N}^3, f32, {options.steps} steps a run; PyTorch {torch.__version__}, CuPy {cupy.__version__}, JAX {jax and jax.__version__}")
    rows, failed = [], 0
    for problem in ("heat", "wave"):
        reference = None
        ways = [each for each in WAYS if each[0] == problem]
        ways.sort(key=lambda each: "plain CUDA" not in each[1])  # the plain kernel is the reference
        for _, name, function in ways:
            if options.only not in name and "plain CUDA" not in name:
                continue
            try:
                result, rates, first_s = measure(problem, function, options.steps)
                reference = result.clone() if reference is None else reference
                row = {
                    "problem": problem,
                    "way": name,
                    "gstencil_s": statistics.median(rates),
                    "low": min(rates),
                    "high": max(rates),
                    "first_step_s": first_s,
                    "lines": lines_of_code(function),
                    "difference": float((result - reference).abs().max() / reference.abs().max()),
                }
                if not row["difference"] < 1e-3:
                    failed += 1
                print("{problem:5} {way:42} {gstencil_s:7.1f} GStencil/s ({low:.1f} to {high:.1f})  first step {first_step_s:6.2f} s  {lines:3} lines  difference {difference:.1e}".format(**row), flush=True)
                rows.append(row)
                del result
            except Exception as error:  # one package that fails must not hide the others
                failed += 1
                print(f"{problem:5} {name:42} failed: {type(error).__name__}: {str(error)[:300]}", flush=True)
            torch.cuda.empty_cache()
            cupy.get_default_memory_pool().free_all_blocks()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": device, "n": N, "steps": options.steps, "rows": rows}, file, indent=1)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(markdown(device, options, rows))
    return 1 if failed else 0


def markdown(device, options, rows):
    lines = [
        f"# What people use instead: {device}",
        "",
        f"{options.n}^3 points, f32, fixed edges, {options.steps} steps a run, or as many as take a second. PyTorch {torch.__version__}, CuPy {cupy.__version__}, "
        f"JAX {jax and jax.__version__}, Halotune {halotune.__version__}. `bench/instead/instead.py` made this table in one run.",
        "",
        "A rate is the median of five runs, with the lowest and the highest. The first step is from the definition of the way to the end of its",
        "first step, with compiling. The difference is the largest to the plain CUDA kernel after ten steps, relative to the largest element.",
    ]
    for problem, title in (("heat", "Heat, 7 points"), ("wave", "Acoustic wave, 25 points")):
        lines += ["", f"## {title}", "| way | GStencil/s | lowest, highest | first step, s | lines of code | difference |", "| --- | --- | --- | --- | --- | --- |"]
        for row in rows:
            if row["problem"] == problem:
                rates = [f"{row[name]:.{0 if row[name] >= 10 else 1}f}" for name in ("gstencil_s", "low", "high")]
                lines.append("| {way} | {0} | {1}, {2} | {first_step_s:.2f} | {lines} | {difference:.0e} |".format(*rates, **row))
    return "\n".join(lines) + "\n"


N = 512

if __name__ == "__main__":
    sys.exit(main())
