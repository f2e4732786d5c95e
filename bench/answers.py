"""answers.py: whether what lookups serve for random problems computes the right numbers on a GPU.

    python3 bench/answers.py [--program FILE] [--db FILE] [--count N] [--seed N] [--devices LIST] [--work FOLDER]
                             [--most-points N]

Each problem is a stencil of kernels/, an element type, a grid with sides of 2 to 1200 points that no tune has chosen, and
a number of time steps where the stencil has some. `halotune run` computes it on random arrays with the kernel that the
database serves, and again with the reference in double precision. Prints a line for each problem, then how many there
were and the largest error. Exit code 1: a problem had no answer, or a wrong number. Needs NumPy.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys

import numpy

EPSILON = {"f32": 2.0**-24, "f64": 2.0**-53}


def arguments():
    parser = argparse.ArgumentParser(description="check answers for random problems on a GPU")
    parser.add_argument("--program", default="build/halotune")
    parser.add_argument("--db", default="build/starter.db")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", default="0")
    parser.add_argument("--work", default="build/answers")
    parser.add_argument("--most-points", type=int, default=4_000_000, help="of a grid: the CPU computes it, too")
    return parser.parse_args()


def document(command):
    """What a command prints with --json."""
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    return json.loads(done.stdout)


def random_grid(draw, dims, least, most_points):
    """Sides from the least that the stencil allows to 1200, small ones as often as large ones."""
    while True:
        grid = [int(round(2 ** draw.uniform(numpy.log2(least), numpy.log2(1200)))) for _ in range(dims)]
        if numpy.prod(grid, dtype=numpy.int64) <= most_points:
            return grid


def random_problem(draw, stencils, most_points):
    stencil = draw.choice(stencils)
    least = max(2, 2 * max(stencil["radius"]) + 2)
    return {
        "stencil": stencil,
        "dtype": draw.choice(stencil["dtypes"]),
        "grid": random_grid(draw, stencil["dims"], least, most_points),
        "steps": draw.choice([1, 2, 5, 12]) if stencil["iterate"] else 1,
        "seed": draw.getrandbits(32),
    }


def compute(options, problem, folder, backend, inputs, device):
    """Run one problem, and load its outputs."""
    stencil = problem["stencil"]
    files = {name: f"{folder}/{backend}-{name}.npy" for name in stencil["outputs"]}
    command = [options.program, "run", stencil["file"], "--backend", backend, "--steps", str(problem["steps"])]
    command += ["--input", ",".join(f"{name}={path}" for name, path in inputs.items())]
    command += ["--output", ",".join(f"{name}={path}" for name, path in files.items())]
    command += ["--db", options.db, "--device", device] if backend == "gpu" else ["--threads", "2"]
    said = document(command)
    return said, [numpy.load(path).astype("f8") for path in files.values()]


def error_of(problem, results, wants, largest_input):
    """The largest error of a point, as a multiple of what rounding may do in a sum of as many terms."""
    stencil = problem["stencil"]
    terms = stencil["taps"] + 8 if stencil["kind"] == "stencil" else max(problem["grid"])
    worst = 0.0
    for result, want in zip(results, wants):
        if not numpy.all(numpy.isfinite(result)):
            return numpy.inf
        scale = max(numpy.abs(want).max(), largest_input)
        may = EPSILON[problem["dtype"]] * terms * problem["steps"] * scale
        worst = max(worst, float(numpy.abs(result - want).max() / may))
    return worst


def check(options, problem, number, device):
    folder = f"{options.work}/{number}"
    os.makedirs(folder, exist_ok=True)
    numbers = numpy.random.default_rng(problem["seed"])
    shape = problem["grid"][::-1]
    inputs, largest_input = {}, 0.0
    for name in problem["stencil"]["inputs"]:
        array = numbers.random(shape).astype(problem["dtype"].replace("f32", "f4").replace("f64", "f8"))
        inputs[name] = f"{folder}/{name}.npy"
        numpy.save(inputs[name], array)
        largest_input = max(largest_input, float(numpy.abs(array).max()))
    try:
        said, results = compute(options, problem, folder, "gpu", inputs, device)
        _, wants = compute(options, problem, folder, "cpu", inputs, device)
        return said, error_of(problem, results, wants, largest_input)
    finally:
        shutil.rmtree(folder)


def describe(problem):
    grid = "x".join(str(n) for n in problem["grid"])
    return f"{problem['stencil']['name']:12} {problem['dtype']} {grid:14} {problem['steps']:3} steps"


def main():
    options = arguments()
    draw = random.Random(options.seed)
    names = sorted(name[:-5] for name in os.listdir("kernels") if name.endswith(".yaml"))
    stencils = [document([options.program, "show", name]) for name in names]
    problems = [random_problem(draw, stencils, options.most_points) for _ in range(options.count)]
    devices = options.devices.split(",")
    failed, worst = 0, 0.0
    with concurrent.futures.ThreadPoolExecutor(4 * len(devices)) as pool:
        tasks = [pool.submit(check, options, problem, i, devices[i % len(devices)]) for i, problem in enumerate(problems)]
        for problem, task in zip(problems, tasks):
            try:
                said, error = task.result()
                verdict = "right" if error <= 1 else "WRONG"
                print(f"{describe(problem)}  {verdict}, error {error:.3f}  {said['match']} {said['template']}, {said['launch_steps']} a launch")
                worst = max(worst, error)
                failed += error > 1
            except RuntimeError as failure:
                print(f"{describe(problem)}  NO ANSWER: {failure}")
                failed += 1
    print(f"{options.count} problems, {failed} failed; largest error {worst:.3f} of what rounding may do")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
