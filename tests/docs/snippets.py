# SPDX-License-Identifier: BSD-3-Clause
"""Every snippet of C, C++, Python and CMake that the pages show is what runs here.

A snippet is put in the place of @snippet@ in the file of tests/docs/snippets that is named after its page, language and
number, such as README.1.c, which declares what the snippet takes for granted and checks what it did. A snippet without
such a file fails. So does a file whose snippet has gone."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("prefix", type=pathlib.Path, help="where Heptad is installed")
parser.add_argument("work", type=pathlib.Path)
parser.add_argument("--cxx", required=True)
parser.add_argument("--cc", required=True)
parser.add_argument("--cmake", required=True)
parser.add_argument("--generator", required=True)
parser.add_argument("--starpu", default="", help="flags for its headers; without, its snippets are left out")
parser.add_argument("--starpu-libraries", default="")
parser.add_argument("--python", default="", help="an interpreter with heptad in its path; without, Python's are left out")
given = parser.parse_args()
harness = given.source / "tests/docs/snippets"
pages = [given.source / "README.md", given.source / "python/README.md", *sorted((given.source / "docs").glob("*.md"))]
fence = re.compile(r"^```(c|cpp|python|cmake)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(*command, **keywords):
    subprocess.run([str(word) for word in command], check=True, timeout=300, **keywords)


def compile_and_run(compiler, file, *flags, execute):
    program = file.with_suffix(".out")
    libraries = [f"-L{given.build}", f"-Wl,-rpath,{given.build}", "-lheptad", "-ltbb"] if execute else ["-fsyntax-only"]
    output = ["-o", program] if execute else []
    run(compiler, "-Wall", "-Wextra", "-Werror", f"-I{given.source / 'include'}", file, *output, *flags, *libraries)
    if execute:
        run(program, cwd=given.work, env=os.environ | {"STARPU_HOME": str(given.work)})


def try_snippet(page, language, number, text):
    name = f"{page.parent.name}-{page.stem}" if page.parent.name == "python" else page.stem
    template = harness / f"{name}.{number}.{language}"
    if not template.exists():
        raise SystemExit(f"{page}: nothing says how to run this snippet: {template} is missing\n{text}")
    first, mark, rest = template.read_text().partition("@snippet@")
    if not mark:
        raise SystemExit(f"{template} has no @snippet@")
    includes = "".join(line + "\n" for line in text.splitlines() if line.startswith("#include"))
    body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#include"))
    file = given.work / template.name
    file.write_text(includes + first + body + rest if language in ("c", "cpp") else first + text + rest)
    starpu = name == "starpu" and language != "cmake"
    if starpu and not given.starpu or language == "python" and not given.python:
        return template, "left out: this build has no part for it"
    flags = given.starpu.split() if starpu else []
    # What needs a device, and what is no program and needs tasks of StarPU's, is only compiled.
    execute = name != "gpu" and (name != "starpu" or "int main()" in text)
    if execute and starpu:
        flags += ["-lheptad_starpu", *given.starpu_libraries.split()]
    if language == "c":
        compile_and_run(given.cc, file, "-std=gnu11", "-lm", *flags, execute=execute)
    elif language == "cpp":
        compile_and_run(given.cxx, file, "-std=c++20", *flags, execute=execute)
    elif language == "python":
        run(given.python, file, cwd=given.work)
    else:
        project = given.work / template.stem
        project.mkdir(exist_ok=True)
        (project / "CMakeLists.txt").write_text(file.read_text())
        (project / "client.cpp").write_text((given.source / "examples/find_package/client.cpp").read_text())
        if "starpu" in text and not given.starpu:
            return template, "left out: this build has no part for it"
        run(given.cmake, "-S", project, "-B", project / "build", "-G", given.generator, "--fresh",
            f"-DCMAKE_PREFIX_PATH={given.prefix}", f"-DCMAKE_CXX_COMPILER={given.cxx}")
        run(given.cmake, "--build", project / "build")
    return template, "compiled and run" if execute else "compiled"


given.work.mkdir(parents=True, exist_ok=True)
used = set()
for page in pages:
    for number, (language, text) in enumerate(fence.findall(page.read_text()), 1):
        template, result = try_snippet(page, language, number, text)
        used.add(template)
        print(f"{page.relative_to(given.source)}, snippet {number} ({language}): {result}", flush=True)
unused = set(harness.iterdir()) - used
if unused:
    sys.exit(f"no page has the snippet of {', '.join(str(file) for file in sorted(unused))}")
