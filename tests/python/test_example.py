"""examples/03_heat3d.py without a GPU: on the driver of tests/fake_cuda. PyTorch is a stand-in with the calls of the
example. $HALOTUNE_DB has a winner of star7, f32, on 16x16x16."""

import runpy
import sys
import types
import unittest
from ctypes import c_size_t, c_void_p

import numpy

import halotune
from fake_gpu import Array, call

N = 16


class Tensor(Array):
    """Slices are copies of all of the array in NumPy."""

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    def __getitem__(self, index):
        return self.get()[index]

    def __setitem__(self, index, value):
        self.values = self.get()
        self.values[index] = value
        call("cuMemcpyHtoD_v2", self.pointer, self.values.ctypes.data_as(c_void_p), c_size_t(self.values.nbytes))

    def __sub__(self, other):
        return self.get() - other.get()


class Example(unittest.TestCase):
    def test_it_agrees_with_slices(self):
        halotune._cuda.make_context_current(0)  # as arrays of PyTorch do
        torch = sys.modules["torch"] = types.ModuleType("torch")
        vars(torch).update(
            Tensor=type("Tensor", (), {}),
            float32=numpy.float32,
            zeros=lambda shape, dtype, device: Tensor(numpy.zeros(shape, dtype)),
            clone=lambda tensor: Tensor(tensor.get()),
            cuda=types.SimpleNamespace(synchronize=lambda: call("cuCtxSynchronize")),
        )
        sys.argv = ["03_heat3d.py", str(N), "5"]
        with self.assertRaises(SystemExit) as end:
            runpy.run_path("examples/03_heat3d.py", run_name="__main__")
        self.assertEqual(0, end.exception.code)


if __name__ == "__main__":
    unittest.main()
