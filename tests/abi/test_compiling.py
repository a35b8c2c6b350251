#!/usr/bin/env python3
"""What compilers say about the SDK's headers.

test_compiling.py standards ROOT   the headers compile without a warning in every standard
test_compiling.py mistakes ROOT    each of mistakes/*.c is refused with words that help

A file of mistakes/ begins with a line `/* expect: REGEX */`: what the first line that a compiler or
the linker complains in must say.  It is the only one, unless there is a line `/* more: WHY */`.
`/* flags: … */` adds options, `/* compiler: c++ */` has it compiled as C++.  Compilers and
standards that are not there are named and skipped.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
# The flags of mortise_add_plugin() that make mistakes visible.
PLUGIN = {
    "gcc": ["-ftrack-macro-expansion=0"],
    "clang": ["-Werror=undefined-internal"],
}
PLUGIN_COMMON = ["-shared", "-fPIC", "-fvisibility=hidden", "-Werror=format",
                 "-Werror=implicit-function-declaration", "-Werror=int-conversion",
                 "-Werror=incompatible-pointer-types", "-Werror=return-type", "-Wl,-z,defs",
                 "-Wl,--require-defined=tool_definition",
                 "-Wl,--require-defined=mortise_plugin_stamp"]

SCRATCH = tempfile.TemporaryDirectory()

C_STANDARDS = ["c11", "gnu11", "c17", "c2x", "gnu2x"]
CXX_STANDARDS = ["c++11", "c++14", "c++17", "c++20", "c++23"]
C_COMPILERS = ["gcc", "clang"]
CXX_COMPILERS = ["g++", "clang++"]

USES_PLUGIN_H = """
#include <mortise/json.h>
#include <mortise/plugin.h>
#include <mortise/services.h>
#include <mortise/test.h>
bool knows_finish(const mortise_call_ops *ops);
bool knows_finish(const mortise_call_ops *ops)
{
    return MORTISE_HAS(ops, mortise_call_ops, finish);
}
"""


def run(command, text=None, cwd=None):
    """The exit status and all output, without the backslashes that gcc puts before quotes."""
    done = subprocess.run(command, input=text, text=True, capture_output=True, cwd=cwd,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    return done.returncode, (done.stdout + done.stderr).replace("\\", "")


def available(compilers):
    for compiler in compilers:
        if shutil.which(compiler):
            yield compiler
        else:
            print(f"skipped: {compiler} is not installed")


def knows(compiler, language, standard):
    status, _ = run([compiler, "-x", language, f"-std={standard}", "-fsyntax-only", "-"], "")
    if status != 0:
        print(f"skipped: {compiler} does not know {standard}")
    return status == 0


def check_standards(root):
    """The cases, and how to check one: None or what is wrong with it."""
    include = f"-I{root}/plugin-sdk/include"
    declared = ["#include <mortise/tasks.h>\n" + (root / "tests/plugin" / name).read_text()
                for name in ("sdk_every_kind.h", "fixtures/declared.c")]
    cases = [("c", compiler, standard, source)
             for compiler in available(C_COMPILERS)
             for standard in C_STANDARDS if knows(compiler, "c", standard)
             for source in (USES_PLUGIN_H, *declared)]
    cases += [("c++", compiler, standard, USES_PLUGIN_H)
              for compiler in available(CXX_COMPILERS)
              for standard in CXX_STANDARDS if knows(compiler, "c++", standard)]

    def check(case):
        language, compiler, standard, source = case
        status, output = run([compiler, "-x", language, f"-std={standard}", *WARNINGS, include,
                              "-fsyntax-only", "-"], source)
        return None if status == 0 else f"{compiler} -std={standard}\n{output}"

    return cases, check


def marked(source, word):
    found = re.search(rf"^/\* {word}: (.*) \*/$", source, re.MULTILINE)
    return found.group(1) if found else None


# A line in which something is complained of.  What the compiler says of its linker is not one.
COMPLAINT = re.compile(r"(error|warning): (?!ld returned|linker command)"
                       r"|undefined (reference|symbol)|required symbol")


def build_library(compiler, include, sources):
    """The SDK's library, which is the same for every mistake."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.name))
    status, output = run([compiler, "-std=c11", "-c", "-fPIC", "-fvisibility=hidden", include,
                          *sources], cwd=folder)
    if status != 0:
        sys.exit(output)
    return [str(path) for path in folder.glob("*.o")]


def check_mistakes(root):
    sdk = root / "plugin-sdk"
    include = f"-I{sdk}/include"
    sources = [str(path) for path in sorted((sdk / "src").glob("*.c"))]
    library = {compiler: build_library(compiler, include, sources)
               for compiler in C_COMPILERS if shutil.which(compiler)}
    cases = [(compiler, path) for compiler in available(C_COMPILERS)
             for path in sorted((root / "tests/abi/mistakes").glob("*.c"))]

    def check(case):
        compiler, path = case
        source = path.read_text()
        expected = marked(source, "expect")
        flags = (marked(source, "flags") or "").split()
        if marked(source, "compiler") == "c++":
            command = [compiler, "-x", "c++", "-fsyntax-only", *flags, include, str(path)]
        else:
            command = [compiler, "-std=c11", *PLUGIN[compiler], *PLUGIN_COMMON, *flags,
                       include, str(path), *library[compiler], "-o", os.devnull]
        status, output = run(command)
        complaints = [line for line in output.splitlines() if COMPLAINT.search(line)]
        if (status != 0 and complaints and expected and re.search(expected, complaints[0])
                and (len(complaints) == 1 or marked(source, "more"))):
            return None
        return (f"{compiler} {path.name}: expected {expected!r}, got status {status} and "
                f"{len(complaints)} complaints\n{output}")

    return cases, check


def main():
    subject, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    cases, check = {"standards": check_standards, "mistakes": check_mistakes}[subject](root)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [failure for failure in pool.map(check, cases) if failure]
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(cases)} checked, {len(failures)} failed")
    return 0 if cases and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
