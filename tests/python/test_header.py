"""The structs of python/halotune/_library.py have the layout that a C compiler gives those of halotune.h."""

import ctypes
import os
import pathlib
import subprocess
import tempfile
import unittest

from halotune import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRUCTS = {
    "halotune_problem": _library.Problem,
    "halotune_config": _library.Config,
    "halotune_stencil_facts": _library.StencilFacts,
    "halotune_tune_options": _library.TuneOptions,
    "halotune_parameter": _library.Parameter,
    "halotune_layout": _library.Layout,
    "halotune_kernel_facts": _library.KernelFacts,
    "halotune_field": _library.Field,
    "halotune_box": _library.Box,
}


class Header(unittest.TestCase):
    def test_layouts(self):
        lines = ["#include <halotune.h>", "#include <stdio.h>", "int main(void) {"]
        expected = []
        for name, struct in STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for member, *_ in struct._fields_:
                lines.append(f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));')
                expected.append(f"{name}.{member} {getattr(struct, member).offset}")
        lines += ["return 0;", "}"]
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
            source.write_text("\n".join(lines))
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-I", str(ROOT / "include"), str(source), "-o", str(program)], check=True)
            printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split("\n")
        self.assertEqual(expected, printed[:-1])

    def test_functions(self):
        """Each exported function of the library has a line in _FUNCTIONS."""
        exported = (ROOT / "tests/abi.txt").read_text().split()
        self.assertEqual(sorted(exported), sorted(_library._FUNCTIONS))


if __name__ == "__main__":
    unittest.main()
