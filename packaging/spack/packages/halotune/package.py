import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:  # before Spack 1.0, spack.package has it
    pass


class Halotune(MakefilePackage):
    """Autotuner for stencil kernels on NVIDIA GPUs. It finds the fastest kernel for a stencil, stores the winner of each
    GPU in a database, and its library gives the kernel to a program."""

    # The tarball of `make dist`, in the folder where spack is called, or in a mirror.
    manual_download = True
    url = f"file://{os.getcwd()}/halotune-0.2.0.tar.gz"

    license("Apache-2.0")

    version("0.2.0")

    variant("static", default=False, description="Link all libraries but glibc into the program")
    variant("python", default=True, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")

    # The headers for the build; NVRTC, which is loaded at run time.
    depends_on("cuda@12:13")
    depends_on("jansson")
    depends_on("libsodium")
    depends_on("libyaml")
    depends_on("sqlite@3.20:")
    depends_on("xxhash@0.8:")
    depends_on("python@3.8:", when="+python", type=("build", "run"))

    extends("python", when="+python")

    @property
    def build_targets(self):
        return self._variables + ["all", "library"]

    @property
    def install_targets(self):
        return self._variables + ["install"]

    @property
    def _variables(self):
        # make takes CC, Spack's wrapper of the compiler, from the environment.
        variables = [f"PREFIX={self.prefix}", f"CUDA_HOME={self.spec['cuda'].prefix}"]
        if self.spec.satisfies("+static"):
            variables.append("STATIC=1")
        return variables

    @run_after("install")
    def install_python(self):
        if self.spec.satisfies("+python"):
            install_tree("python/halotune", join_path(python_platlib, "halotune"))

    def setup_run_environment(self, env):
        # The tuner loads NVRTC, and the Python package the library, where the dynamic linker looks.
        env.prepend_path("LD_LIBRARY_PATH", self.spec["cuda"].prefix.lib64)
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    def test_query(self):
        """the starter database answers"""
        halotune = which(self.prefix.bin.halotune)
        halotune("query", "star7", "--device", "h200", "--grid", "512,512,512")
