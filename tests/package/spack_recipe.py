# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipe without Spack: it is run with stand-ins for Spack's words, which note what it declares, and that is
compared with the build: spack_recipe.py RECIPE CMAKE_CACHE. Every option that it sets exists, every combination of
variants sets each to a value of its type, and versions and dependencies are those that the build asks for."""
import itertools
import pathlib
import re
import sys
import types


class Recipe:
    """What a package's class body declares by calls of functions."""

    def __init__(self):
        self.versions, self.variants, self.dependencies, self.conflicts, self.licenses = [], {}, {}, [], []

    def words(self):
        return {
            "version": lambda number, **_: self.versions.append(number),
            "variant": lambda name, **about: self.variants.__setitem__(name, about),
            "depends_on": lambda spec, **about: self.dependencies.__setitem__(re.split("[@+~]", spec)[0], (spec, about)),
            "conflicts": lambda spec, **_: self.conflicts.append(spec),
            "license": self.licenses.append,
            "generator": lambda *_: None,
            "run_after": lambda *_: lambda method: method,
            "on_package_attributes": lambda **_: lambda method: method,
            "Executable": None,
        }


class CMakePackage:
    """Spack's helpers for command lines, as its documentation states them."""

    run_tests = False

    def __init__(self, chosen):
        self.chosen = chosen
        self.spec = self

    def satisfies(self, spec):
        return self.chosen[spec.removeprefix("+")]

    @property
    def variants(self):
        return {"cuda_arch": types.SimpleNamespace(value=("90",))}

    def define(self, name, value):
        text = ("ON" if value else "OFF") if isinstance(value, bool) else ";".join(value)
        return f"-D{name}:{'BOOL' if isinstance(value, bool) else 'STRING'}={text}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.chosen[variant])


class CudaPackage:
    pass


def main():
    recipe_file, cache_file = map(pathlib.Path, sys.argv[1:])
    root = recipe_file.parents[2]
    recipe = Recipe()
    package = types.ModuleType("spack.package")
    declared = {**recipe.words(), "CMakePackage": CMakePackage, "CudaPackage": CudaPackage}
    package.__dict__.update(declared, __all__=list(declared))
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": package})
    namespace = {}
    exec(compile(recipe_file.read_text(), recipe_file, "exec"), namespace)  # as Spack does

    problems = []

    def expect(holds, what):
        if not holds:
            problems.append(what)

    build = (root / "CMakeLists.txt").read_text()
    expect(recipe.versions == re.findall(r"project\(heptad VERSION ([\d.]+)", build), f"versions {recipe.versions}")
    expect(recipe.licenses == ["BSD-3-Clause"], f"licenses {recipe.licenses}")
    cached = dict(re.findall(r"^(\w+):(\w+)=", cache_file.read_text(), re.MULTILINE))
    names = [*recipe.variants, "cuda"]
    for values in itertools.product([True, False], repeat=len(names)):
        chosen = dict(zip(names, values))
        for argument in namespace["Heptad"](chosen).cmake_args():
            option, kind, value = re.fullmatch(r"-D(\w+):(\w+)=(.*)", argument).groups()
            expect(option in cached or option == "CMAKE_CUDA_ARCHITECTURES", f"{option} is no option of the build")
            expect(kind != "BOOL" or value in ("ON", "OFF"), f"{option} = {value}")
    # The build's own limits, where it names them.
    asked = {"cmake": r"cmake_minimum_required\(VERSION ([\d.]+)", "intel-tbb": r"find_package\(TBB (\d+)",
             "cuda": r"find_package\(CUDAToolkit ([\d.]+)"}
    for dependency, pattern in asked.items():
        number = re.search(pattern, build)[1]
        spec = recipe.dependencies[dependency][0]
        expect(spec == f"{dependency}@{number}:", f"{spec}, but the build asks for {number}")
    for variant in names:
        expect(variant == "cuda" or recipe.variants[variant].get("description"), f"variant {variant} is not described")
    for spec, about in recipe.dependencies.values():
        expect(about.get("when", "+tools").removeprefix("+") in names, f"{spec} depends on an unknown variant")
    for problem in dict.fromkeys(problems):
        print(problem)
    print(f"{len(names)} variants in {2 ** len(names)} combinations, {len(recipe.dependencies)} dependencies")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
