"""The Python recipes of docs/cookbook.md on the driver of tests/fake_cuda. CuPy and PyTorch are stand-ins that have the
calls of the recipes, on arrays of tests/python/fake_gpu.py. $HALOTUNE_DB has a winner of star7, f32, on 24x12x10."""

import sys
import types
import unittest

import numpy

import halotune
from fake_gpu import Array

SHAPE = (10, 12, 24)
K = 0.1


class GpuArray(Array):
    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    def clone(self):
        return GpuArray(self.get())


def custom_op(name, mutates_args):
    def register(function):
        function.register_fake = lambda fake: fake
        return function

    return register


def stand_in(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(members)
    return module


def star7(u, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1, 1:-1] = (1 - 6 * K) * u[1:-1, 1:-1, 1:-1] + K * (
            u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
        )
        u = v
    return u


class Recipes(unittest.TestCase):
    def setUp(self):
        halotune._cuda.make_context_current(0)  # as arrays of CuPy or PyTorch do
        self.start = numpy.random.default_rng(1).random(SHAPE, dtype=numpy.float32)

    def test_cupy(self):
        stand_in("cupy", ndarray=type("ndarray", (), {}), array=lambda array: array.clone())
        from heat_cupy import heat

        numpy.testing.assert_allclose(heat(GpuArray(self.start), K, 3).get(), star7(self.start, 3), rtol=1e-5)

    def test_torch(self):
        library = types.SimpleNamespace(custom_op=custom_op)
        stand_in("torch", Tensor=type("Tensor", (), {}), library=library, empty_like=lambda u: u.clone())
        from heat_torch import advance

        u = GpuArray(self.start)
        numpy.testing.assert_allclose(advance(u, K, 3).get(), star7(self.start, 3), rtol=1e-5)
        numpy.testing.assert_array_equal(u.get(), self.start)


if __name__ == "__main__":
    unittest.main()
