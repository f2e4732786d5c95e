"""The package on the driver of tests/fake_cuda. $HALOTUNE_DB is a database with a winner of star7, f32, on 24x12x10."""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy

import halotune
from halotune import _library
from fake_gpu import Array, DlpackArray, make_stream

GRID = (24, 12, 10)
SHAPE = GRID[::-1]
WEIGHTS = {"c0": 0.4, "c1": 0.1, "c2": 0.11, "c3": 0.09, "c4": 0.1, "c5": 0.12, "c6": 0.08}


def star7(u, weights=WEIGHTS):
    """One application; the outermost points keep their values."""
    v = u.copy()
    c = weights
    v[1:-1, 1:-1, 1:-1] = (
        c["c0"] * u[1:-1, 1:-1, 1:-1]
        + c["c1"] * u[1:-1, 1:-1, :-2]
        + c["c2"] * u[1:-1, 1:-1, 2:]
        + c["c3"] * u[1:-1, :-2, 1:-1]
        + c["c4"] * u[1:-1, 2:, 1:-1]
        + c["c5"] * u[:-2, 1:-1, 1:-1]
        + c["c6"] * u[2:, 1:-1, 1:-1]
    )
    return v


def start():
    return numpy.random.default_rng(1).random(SHAPE, dtype=numpy.float32)


class Watched(Array):
    """Counts how many were freed."""

    freed = 0

    def __del__(self):
        Watched.freed += 1
        super().__del__()


class Lookup(unittest.TestCase):
    def test_config(self):
        config = halotune.lookup("star7", GRID, numpy.float32)
        self.assertEqual(("exact", "small", GRID, 1), (config.match, config.template_name, config.grid, config.steps))
        self.assertGreater(config.time_ms, 0)
        self.assertGreater(config.bandwidth_gbs, 0)
        near = halotune.lookup("star7", (24, 12, 11), numpy.float32)
        self.assertIn(near.match, ("near_grid", "same_arch"))  # the starter database may know a better row
        self.assertTrue(math.isnan(near.bandwidth_gbs) and math.isnan(near.roof_share))

    def test_stencil(self):
        stencil = halotune.default_context().stencil("star7")
        self.assertEqual((("u",), ("v",), tuple(WEIGHTS), 3), (stencil.inputs, stencil.outputs, stencil.coefficients, stencil.dims))
        self.assertIn("c0*u[0,0,0]", stencil.text)

    def test_added_stencil(self):
        with halotune.Context() as context:
            context.add_stencil("name: mine\ndims: 2\ninputs: [a]\noutputs: [b]\nupdate: b = 0.5*a[-1,0] + 0.5*a[1,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64]]\n")
            self.assertIn(context.lookup("mine", (64, 64)).match, ("similar", "default"))

    def test_types(self):
        for name in ("f64", float, numpy.float64, numpy.dtype("float64"), "double"):
            self.assertEqual("f64", halotune.lookup("star7", GRID, name).dtype)

    def test_errors(self):
        rows = [
            (halotune.NotFoundError, "no database knows the stencil 'star8'", lambda: halotune.lookup("star8", GRID)),
            (LookupError, "star8", lambda: halotune.lookup("star8", GRID)),
            (halotune.ArgumentError, "one to three numbers", lambda: halotune.lookup("star7", ())),
            (ValueError, "the grid has -1 points in x", lambda: halotune.lookup("star7", (-1, 2, 3))),
            (halotune.ArgumentError, "dtype is 'int32'", lambda: halotune.lookup("star7", GRID, numpy.int32)),
            (halotune.ArgumentError, "stencil has a byte 0", lambda: halotune.lookup("star7\0x", GRID)),
            (halotune.ArgumentError, "device has a byte 0", lambda: halotune.lookup("star7", GRID, device="NVIDIA H200\0x")),
            (halotune.ArgumentError, "launch is 'twice'", lambda: halotune.lookup("star7", GRID, launch="twice")),
            (halotune.NotFoundError, "no such file|none.db", lambda: halotune.Context(["none.db"])),
            (halotune.ParseError, "line 1|name", lambda: halotune.default_context().add_stencil("names: x\n")),
            (halotune.ArgumentError, "this context is closed", closed_context),
        ]
        for kind, words, call in rows:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()


def closed_context():
    context = halotune.Context()
    context.close()
    context.lookup("star7", GRID)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.kernel = halotune.Kernel(halotune.lookup("star7", GRID))

    def test_call(self):
        u = start()
        given, out = Array(u), Array(u)
        self.kernel([given], [out])
        numpy.testing.assert_allclose(star7(u), out.get(), rtol=1e-5)

    def test_dlpack(self):
        u = start()
        given, out = DlpackArray(u, offset=4), DlpackArray(u, offset=8)
        stream = make_stream()
        self.kernel([given], [out], stream=stream)
        numpy.testing.assert_allclose(star7(u), out.get(), rtol=1e-5)
        self.assertEqual((stream, stream), (given.stream, out.stream), "the exporters wait for this stream")
        self.kernel([given], [out], stream=0)
        self.assertEqual(1, given.stream, "0 means no stream to an exporter; 1 is the default stream")

    def test_masks_and_lines(self):
        """A mask of bytes and a line along y have their own shapes and types."""
        context = halotune.Context()
        context.add_stencil(
            "name: lined\ndims: 2\ninputs: [u, solid, line]\noutputs: [v]\nalong: {line: y}\ntypes: {solid: u8}\n"
            "update: |\n  v = solid[1,0] ? line[0] : u[0,0] + line[-1]\nboundary: periodic\ndtypes: [f32]\ngrids: [[6, 4]]\n"
        )
        kernel = halotune.Kernel(context.lookup("lined", (6, 4), "f32"))
        generator = numpy.random.default_rng(2)
        u = generator.random((4, 6), dtype=numpy.float32)
        line = generator.random(4, dtype=numpy.float32)
        solid = generator.integers(0, 2, (4, 6), dtype=numpy.uint8)
        out = Array(u)
        kernel([Array(u), Array(solid), Array(line)], [out])
        expected = numpy.where(numpy.roll(solid, -1, 1) != 0, line[:, None], u + numpy.roll(line, 1)[:, None])
        numpy.testing.assert_array_equal(expected, out.get())
        self.assertEqual([(24, 4, (1, 6, 24)), (24, 1, (1, 6, 24)), (4, 4, (0, 1, 0))],
                         [(each.elements, each.element_bytes, each.strides) for each in kernel.fields[:3]])
        with self.assertRaisesRegex(halotune.ArgumentError, r"array 1 \(solid\) holds f32, and it is a mask"):
            kernel([Array(u), Array(u), Array(line)], [out])
        with self.assertRaisesRegex(halotune.ArgumentError, r"array 2 \(line\) has shape \(4, 6\).*an array of shape \(4,\)"):
            kernel([Array(u), Array(solid), Array(u)], [out])

    def test_run_sorts_the_fields(self):
        u = start()
        fields = [Array(u), Array(u)]
        expected = u
        for _ in range(5):
            expected = star7(expected)
        after = self.kernel.run(fields, 5)
        self.assertEqual({id(field) for field in fields}, {id(field) for field in after})
        self.assertIs(fields[1], after[0])
        numpy.testing.assert_allclose(expected, after[0].get(), rtol=1e-5)
        expected = star7(expected)
        numpy.testing.assert_allclose(expected, self.kernel.run(after, 1)[0].get(), rtol=1e-5)

    def test_run_in_place(self):
        """An output lies in the memory of the input that it replaces: the list has one array twice, and then the other."""
        with halotune.Context() as context:
            context.add_stencil(
                "name: swing\ndims: 1\ninputs: [u, u_prev]\noutputs: [v]\n"
                "update: v = 1.5*u[0] - u_prev[0] + 0.25*(u[-1] + u[1])\nboundary: periodic\n"
                "iterate: {v: u, u: u_prev}\nin_place: {v: u_prev}\ndtypes: [f32]\ngrids: [[64]]\n"
            )
            kernel = halotune.Kernel(context.lookup("swing", (64,)))
        now, before = numpy.random.default_rng(3).random((2, 64), dtype=numpy.float32)
        u, u_prev = Array(now), Array(before)
        fields = kernel.run([u, u_prev, u_prev], 1)
        self.assertEqual([id(u_prev), id(u), id(u)], [id(field) for field in fields])
        fields = kernel.run(fields, 4)
        self.assertEqual([id(u_prev), id(u), id(u)], [id(field) for field in fields])
        for _ in range(5):
            now, before = 1.5 * now - before + 0.25 * (numpy.roll(now, 1) + numpy.roll(now, -1)), now
        numpy.testing.assert_allclose(now, fields[0].get(), rtol=1e-4, atol=1e-5)
        numpy.testing.assert_allclose(before, fields[1].get(), rtol=1e-4, atol=1e-5)

    def test_coefficients(self):
        u = start()
        for given in ({"c0": 0.7}, [0.7, *list(WEIGHTS.values())[1:]]):
            kernel = halotune.Kernel(self.kernel.config, given)
            out = Array(u)
            kernel([Array(u)], [out])
            numpy.testing.assert_allclose(star7(u, {**WEIGHTS, "c0": 0.7}), out.get(), rtol=1e-5)
            self.assertEqual(0.7, kernel.facts.coefficients[0])

    def test_layout(self):
        """A box inside a padded field."""
        padded = numpy.random.default_rng(2).random((10, 16, 32), dtype=numpy.float32)
        layout = halotune.Layout(row=32, plane=32 * 16, low=(2, 3, 4), high=(20, 9, 8))
        kernel = halotune.Kernel(self.kernel.config, layout=layout)
        out = Array(padded)
        kernel([Array(padded)], [out])
        expected = padded.copy()
        expected[4:8, 3:9, 2:20] = star7(padded[:, :12, :24])[4:8, 3:9, 2:20]
        numpy.testing.assert_allclose(expected, out.get(), rtol=1e-5)

    def test_streams(self):
        class OfTorch:
            cuda_stream = make_stream()

        class OfCupy:
            ptr = make_stream()

        class Protocol:
            def __cuda_stream__(self):
                return 0, make_stream()

        u = start()
        waited = []
        with unittest.mock.patch("halotune._cuda.wait_for_stream", waited.append):
            for stream in (None, 0, 1, make_stream(), OfTorch(), OfCupy(), Protocol()):
                ready_on = make_stream()
                out = Array(u, stream=ready_on)
                self.kernel([Array(u)], [out], stream=stream)
                numpy.testing.assert_allclose(star7(u), out.get(), rtol=1e-5)
                self.assertEqual([ready_on], waited)
                waited.clear()
                self.kernel([Array(u, stream=ready_on)], [Array(u)], stream=ready_on)
                self.kernel([Array(u, stream=ready_on)], [Array(u)])  # the stream of the first array
                self.assertEqual([], waited)
        with self.assertRaisesRegex(halotune.ArgumentError, "a builtins.str is not a CUDA stream"):
            self.kernel([Array(u)], [Array(u)], stream="main")

    def test_arrays_are_held(self):
        Watched.freed = 0
        u = start()
        self.kernel([Watched(u)], [Watched(u)])
        self.assertEqual(0, Watched.freed)
        self.kernel([Array(u)], [Array(u)])
        self.assertEqual(2, Watched.freed)

    def test_threads_hold_their_own_arrays(self):
        Watched.freed = 0
        u = start()
        self.kernel([Watched(u)], [Watched(u)])
        arrays = [Array(u), Array(u)]
        for _ in range(3):
            thread = threading.Thread(target=lambda: self.kernel(arrays[:1], arrays[1:]))
            thread.start()
            thread.join()
        self.assertEqual(0, Watched.freed)

    def test_default_follows_a_given_coefficient(self):
        with halotune.Context() as context:
            context.add_stencil(
                "name: follows\ndims: 2\ninputs: [a]\noutputs: [b]\ncoefficients: {alpha: 0.1, c0: 1 - 4*alpha}\n"
                "update: b = c0*a[0,0] + alpha*(a[-1,0] + a[1,0])\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64]]\n"
            )
            kernel = halotune.Kernel(context.lookup("follows", (64, 64)), {"alpha": 0.2})
            numpy.testing.assert_allclose((0.2, 0.2), kernel.facts.coefficients, rtol=1e-12)

    def test_an_error_of_run_tells_the_order(self):
        """The driver fails at the third launch, which makes the second step. So one step has been made."""
        code = (
            "import fake_gpu, halotune, numpy, test_package\n"
            "kernel = halotune.Kernel(halotune.lookup('star7', test_package.GRID))\n"
            "u = test_package.start()\n"
            "fields = [fake_gpu.Array(u), fake_gpu.Array(u)]\n"
            "try:\n"
            "    kernel.run(fields, 1)\n"
            "    kernel.run(fields[::-1], 2)\n"
            "except halotune.NoGpuError as error:\n"
            "    print([fields.index(each) for each in error.fields])\n"
        )
        environment = {**os.environ, "HALOTUNE_FAKE_FAULT": "cuLaunchKernel#3+=LAUNCH_FAILED"}
        result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual("[0, 1]\n", result.stdout, result.stderr)

    def test_wrong_arrays(self):
        u = start()
        good = Array(u)
        strided = Array(u)
        strided.__cuda_array_interface__ = {**strided.__cuda_array_interface__, "strides": (4, 40, 480)}
        masked = Array(u)
        masked.__cuda_array_interface__ = {**masked.__cuda_array_interface__, "mask": good}
        rows = [
            ("NumPy array|numpy.ndarray is not in the memory of a GPU", [u], [good]),
            ("a builtins.list is not an array on a GPU", [[1.0]], [good]),
            (r"array 0 \(u\) holds f64, and the kernel computes with f32", [Array(u.astype(float))], [good]),
            (r"array 0 \(u\) holds <i4", [Array(u.astype(numpy.int32))], [good]),
            (r"array 1 \(v\) has shape \(10, 12, 23\)", [good], [Array(u[:, :, 1:])]),
            (r"array 0 \(u\) has shape \(24, 12, 10\)", [Array(u.reshape(GRID))], [good]),
            (r"array 0 \(u\) has strides \(1, 10, 120\) .* contiguous", [strided], [good]),
            ("has a mask", [masked], [good]),
            (r"array 1 \(v\) is read-only", [good], [Array(u, read_only=True)]),
            ("not in the memory of a GPU", [DlpackArray(u, device_type=1)], [good]),
            ("inputs has 2 arrays, and the kernel takes 1", [good, good], [good]),
            ("outputs has 0 arrays", [good], []),
            ("overlap", [good], [good]),
        ]
        for words, inputs, outputs in rows:
            with self.subTest(words), self.assertRaisesRegex(halotune.ArgumentError, words):
                self.kernel(inputs, outputs)

    def test_wrong_coefficients(self):
        for given, words in (([1.0], "7 coefficients, not 1: c0, c1"), ({"c9": 1.0}, "no coefficient 'c9'")):
            with self.assertRaisesRegex(halotune.ArgumentError, words):
                halotune.Kernel(self.kernel.config, given)

    def test_steps_out_of_range(self):
        u = start()
        with self.assertRaisesRegex(halotune.ArgumentError, "steps"):
            self.kernel.run([Array(u), Array(u)], 0)

    def test_kernel_outlives_its_context(self):
        with halotune.Context() as context:
            kernel = halotune.Kernel(context.lookup("star7", GRID))
        u = start()
        out = Array(u)
        kernel([Array(u)], [out])
        numpy.testing.assert_allclose(star7(u), out.get(), rtol=1e-5)
        kernel.close()
        with self.assertRaisesRegex(halotune.ArgumentError, "this kernel is closed"):
            kernel([Array(u)], [out])


class Tune(unittest.TestCase):
    def test_progress_can_cancel(self):
        class Enough(Exception):
            pass

        def progress(elapsed_s, line):
            self.assertIsInstance(line, str)
            raise Enough

        with self.assertRaises(Enough):
            halotune.tune("star7", (16, 16, 16), progress=progress, budget_s=600)

    def test_no_program(self):
        with self.assertRaisesRegex(halotune.NotFoundError, "nowhere"):
            halotune.tune("star7", (16, 16, 16), program="/nowhere/halotune")


class Numbers(unittest.TestCase):
    """ctypes wraps an integer that its type cannot hold: 2**64 + 24 would be 24."""

    def test_too_large_for_a_lookup(self):
        wrapped = 2**64
        for words, call in (
            ("grid", lambda: halotune.lookup("star7", (wrapped + 24, 12, 10))),
            ("grid", lambda: halotune.lookup("star7", (24 - wrapped, 12, 10))),
            ("steps", lambda: halotune.lookup("star7", GRID, steps=2**32 + 1)),
            ("max_variants", lambda: halotune.tune("star7", GRID, max_variants=2**32 + 1)),
        ):
            with self.assertRaisesRegex(OverflowError, words):
                call()

    def test_no_whole_number_for_a_lookup(self):
        with self.assertRaises(TypeError):
            halotune.lookup("star7", (24.5, 12, 10))

    def test_too_large_for_a_kernel(self):
        config = halotune.lookup("star7", GRID)
        for layout in (
            halotune.Layout(row=2**64 + 24),
            halotune.Layout(plane=2**64 + 24 * 12),
            halotune.Layout(low=(2**64, 0, 0)),
            halotune.Layout(high=(0, 0, 2**65)),
        ):
            with self.assertRaisesRegex(OverflowError, "layout"):
                halotune.Kernel(config, layout=layout)
        u = start()
        with self.assertRaisesRegex(OverflowError, "steps"):
            halotune.Kernel(config).run([Array(u), Array(u)], 2**64 + 1)


class Import(unittest.TestCase):
    def test_which_folders_have_the_library(self):
        """Of the folders named lib above the package, only that of its own installation."""
        with tempfile.TemporaryDirectory() as top:
            above = pathlib.Path(top).resolve() / "lib"
            own = above / "prefix" / "lib"
            own.mkdir(parents=True)
            for folder in (above, own):
                (folder / _library.SONAME).touch()
            module = str(own / "python3" / "site-packages" / "halotune" / "_library.py")
            with unittest.mock.patch.object(_library, "__file__", module), unittest.mock.patch.dict(os.environ):
                os.environ.pop("HALOTUNE_LIBRARY", None)
                self.assertEqual([str(own / _library.SONAME), _library.SONAME], _library._candidates())

    def test_no_library(self):
        environment = {**os.environ, "HALOTUNE_LIBRARY": "/nowhere/libhalotune.so"}
        result = subprocess.run([sys.executable, "-c", "import halotune"], env=environment, capture_output=True, text=True)
        self.assertEqual(1, result.returncode)
        self.assertIn("ImportError: the C library of Halotune was not found: install Halotune, or set HALOTUNE_LIBRARY", result.stderr)


if __name__ == "__main__":
    unittest.main()
