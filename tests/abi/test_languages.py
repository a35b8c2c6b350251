#!/usr/bin/env python3
"""The plugins in other languages (plugin-sdk/example) build from plugin.h alone, and work.

test_languages.py LANGUAGE ROOT MORTISE builds the example of LANGUAGE and calls its tool with
the host binary MORTISE.  Exit status 77: there is no compiler for it, or one that is too old.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def need(compiler, version_of=None, least=()):
    """The compiler, if it is there and new enough."""
    found = shutil.which(compiler)
    if not found:
        print(f"skipped: {compiler} is not installed")
        sys.exit(SKIPPED)
    if version_of:
        text = subprocess.run([found, *version_of], text=True, capture_output=True).stdout
        version = re.search(r"(\d+)\.(\d+)", text)
        if not version or tuple(map(int, version.groups())) < least:
            print(f"skipped: {text.strip()} is older than {'.'.join(map(str, least))}")
            sys.exit(SKIPPED)
    return found


def run(*command, where=None, **environment):
    print("+", *command)
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          cwd=where, env={**os.environ, **environment})
    print(done.stdout + done.stderr, end="")
    assert done.returncode == 0, done.returncode


def build_cpp(example, include, folder):
    built = []
    for compiler in ("g++", "clang++"):
        if shutil.which(compiler):
            built.append(folder / f"{compiler}.so")
            run(compiler, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared",
                "-fPIC", "-fvisibility=hidden", f"-I{include}", example / "cpp/roman.cpp",
                "-o", built[-1])
    return built or need("g++")


def build_rust(example, _, folder):
    run(need("rustc", ["--version"], (1, 82)), "--edition", "2021", "--crate-type", "cdylib", "-O",
        "-D", "warnings", example / "rust/slug.rs", "-o", folder / "slug.so")
    return [folder / "slug.so"]


def build_go(example, include, folder):
    run(need("go", ["version"], (1, 20)), "build", "-buildmode=c-shared", "-o",
        folder / "urls.so", ".", where=example / "go", CGO_CFLAGS=f"-I{include} -O2",
        GOTOOLCHAIN="local", GOFLAGS="-mod=mod")
    return [folder / "urls.so"]


# How to build it, the tool, and pairs of arguments and what comes of them.
LANGUAGES = {
    "cpp": (build_cpp, "roman", [
        ('{"number": 2026}', True, "MMXXVI"),
        ('{"number": 4000}', False, "'number' must be"),
    ]),
    "rust": (build_rust, "slug", [
        ('{"text": "Ein schöner Tag, nicht wahr?", "most": 20}', True, "ein-schöner-tag"),
        ('{"text": "?!"}', False, "the title has no letter and no digit"),
        ('{}', False, "'text' is required"),
    ]),
    "go": (build_go, "parse_url", [
        ('{"url": "https://host.test/a?q=1"}', True,
         '{"scheme":"https","host":"host.test","path":"/a","query":{"q":["1"]}}'),
        (r'{"url": "https://a b\u0001"}', False, "invalid control character in URL"),
    ]),
}


def check(mortise, plugin, tool, arguments, good, expected):
    command = [mortise, "--no-plugins", "-e", plugin, "tools", "call", tool, arguments]
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True)
    print("+", *command, "\n" + done.stdout + done.stderr)
    if good:
        assert (done.returncode, done.stdout.strip()) == (0, expected), done
    else:
        assert done.returncode == 1 and expected in done.stderr, done


def main():
    language, root, mortise = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    build, tool, cases = LANGUAGES[language]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Nothing but plugin.h, so that nothing else is leant on.
        include = folder / "include"
        (include / "mortise").mkdir(parents=True)
        shutil.copy(root / "plugin-sdk/include/mortise/plugin.h", include / "mortise")
        for plugin in build(root / "plugin-sdk/example", include, folder):
            for arguments, good, expected in cases:
                check(mortise, plugin, tool, arguments, good, expected)


if __name__ == "__main__":
    main()
