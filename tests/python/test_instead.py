"""The ways of bench/instead/instead.py without a GPU: they compute what NumPy does. PyTorch, CuPy and JAX are stand-ins
with the calls that the ways make: on arrays of NumPy, and for Halotune on arrays of tests/fake_cuda. The plain CUDA
kernels are left out."""

import sys
import types
import unittest

import numpy

import halotune
from fake_gpu import Array

N = 16
STEPS = 3


class Field(numpy.ndarray):
    """An array of NumPy with methods of tensors of PyTorch and arrays of JAX."""

    def clone(self):
        return self.copy()

    def copy_(self, values):
        self[...] = values

    def block_until_ready(self):
        return self

    at = property(lambda self: At(self))


class At:
    def __init__(self, field, index=None):
        self.field, self.index = field, index

    def __getitem__(self, index):
        return At(self.field, index)

    def set(self, values):
        out = self.field.copy()
        out[self.index] = values
        return out


class GpuArray(Array):
    def clone(self):
        return GpuArray(self.get())

    copy = clone

    def block_until_ready(self):
        return self


def conv3d(u, weights):
    w = weights[0, 0]
    n = u.shape[2] - w.shape[0] + 1
    out = numpy.zeros((n, n, n), numpy.float32)
    for z, y, x in numpy.argwhere(w):
        out += w[z, y, x] * u[0, 0, z : z + n, y : y + n, x : x + n]
    return out[None, None]


def fori_loop(low, high, body, value):
    for i in range(low, high):
        value = body(i, value)
    return value


def same(value):
    return value


def stand_in(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(members)
    return module


functional = stand_in("torch.nn.functional", conv3d=conv3d)
nn = stand_in("torch.nn", functional=functional)
stand_in("torch", Tensor=type("Tensor", (), {}), nn=nn, compile=same, from_dlpack=same, zeros=lambda shape, device: numpy.zeros(shape, numpy.float32))
stand_in("cupy", ndarray=type("ndarray", (), {}), fuse=same, from_dlpack=same)
jax_numpy = stand_in("jax.numpy", copy=lambda u: u.clone())
stand_in("jax", jit=same, numpy=jax_numpy, lax=types.SimpleNamespace(fori_loop=fori_loop), dlpack=types.SimpleNamespace(from_dlpack=same))

import instead  # noqa: E402  (it imports the stand-ins)

instead.N = N


def heat(u):
    """The reference: double precision, axis by axis."""
    for _ in range(STEPS):
        v = u.copy()
        inner = (slice(1, -1),) * 3
        total = sum(numpy.roll(u, shift, axis) for axis in range(3) for shift in (1, -1))
        v[inner] = (u + instead.K * (total - 6 * u))[inner]
        u = v
    return u


def wave(u, u_prev, c2):
    for _ in range(STEPS):
        inner = (slice(4, -4),) * 3
        laplacian = 3 * instead.A[0] * u
        for r in range(1, 5):
            laplacian = laplacian + instead.A[r] * sum(numpy.roll(u, shift, axis) for axis in range(3) for shift in (r, -r))
        v = u_prev.copy()
        v[inner] = (2 * u - u_prev + c2 * laplacian)[inner]
        u, u_prev = v, u
    return u


class Ways(unittest.TestCase):
    def test_each_way_computes_the_same(self):
        halotune._cuda.make_context_current(0)  # as arrays of CuPy or PyTorch do
        u = numpy.random.default_rng(1).random((N, N, N), dtype=numpy.float32)
        start = {"heat": [u], "wave": [u, u.copy(), numpy.full_like(u, instead.C2)]}
        want = {
            "heat": heat(u.astype(numpy.float64)),
            "wave": wave(*(field.astype(numpy.float64) for field in start["wave"])),
        }
        tried = []
        for problem, name, function in instead.WAYS:
            if "plain CUDA" in name:
                continue
            on_gpu = "Halotune" in name
            fields = [GpuArray(each) if on_gpu else each.copy().view(Field) for each in start[problem]]
            with self.subTest(problem=problem, way=name):
                got = function()(*fields, STEPS)
                got = got.get() if on_gpu else got
                numpy.testing.assert_allclose(got, want[problem], rtol=1e-4, atol=1e-4)
                tried.append((problem, name))
        for problem in ("heat", "wave"):
            for package in ("PyTorch", "CuPy", "JAX"):
                self.assertIn((problem, f"Halotune from {package}"), tried)


if __name__ == "__main__":
    unittest.main()
