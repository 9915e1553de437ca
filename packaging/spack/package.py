# SPDX-License-Identifier: BSD-3-Clause
# The Spack recipe of Heptad. In a repository of one's own: packages/heptad/package.py.
from spack.package import *


class Heptad(CMakePackage, CudaPackage):
    """Fast matrix multiplication (Strassen, Winograd and their relatives) as a task graph, within an error bound that
    the caller chooses."""

    license("BSD-3-Clause")

    # The release's archive and checksum belong here once there is a release; until then, from a checkout:
    #   spack dev-build heptad@0.1.0
    version("0.1.0")

    variant("blas", default=True, description="The drop-in BLAS")
    variant("tools", default=True, description="The heptad program")
    variant("starpu", default=False, description="Products of StarPU's data handles")
    variant("python", default=False, description="The Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("intel-tbb@2021:")
    depends_on("fmt@9:")
    depends_on("hwloc@2:")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("cli11@2:", type="build", when="+tools")
    depends_on("blas", type="run", when="+blas")
    depends_on("starpu@1.3:1.4", when="+starpu")
    depends_on("cuda@12.1:", when="+cuda")
    depends_on("python@3.9:", when="+python")
    depends_on("py-nanobind@2:", type="build", when="+python")
    depends_on("py-numpy", type="run", when="+python")
    depends_on("catch2@2", type="test")

    generator("ninja")

    conflicts("%gcc@:11", msg="Heptad is written in C++20")
    conflicts("platform=darwin")
    conflicts("platform=windows")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("HEPTAD_BUILD_BLAS", "blas"),
            self.define_from_variant("HEPTAD_BUILD_TOOLS", "tools"),
            self.define_from_variant("HEPTAD_BUILD_PYTHON", "python"),
            self.define_from_variant("HEPTAD_WITH_STARPU", "starpu"),
            self.define_from_variant("HEPTAD_WITH_CUDA", "cuda"),
            self.define("HEPTAD_BUILD_BENCH", False),
            self.define("BUILD_TESTING", self.run_tests),
        ]
        if self.spec.satisfies("+cuda") and self.spec.variants["cuda_arch"].value != ("none",):
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return arguments

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        if self.spec.satisfies("+tools"):
            Executable(self.prefix.bin.heptad)("info")
