#!/usr/bin/env python3
"""The author's guide tells the truth: its tools are built and called straight out of the document.

test_guide.py ROOT MORTISE reads plugin-sdk/README.md.  A block ```c whose first line is a comment
with a file name, /* greet.c */, is a whole plugin, and /* test_greet.c */ a program that includes
a plugin above it and succeeds.  A block ```console behind it has lines
"$ COMMAND" and below each what it prints; `mortise` in it is the host with the plugins of that
section only.  A block ```json is the user's configuration.  All commands of a section share a home
of their own.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

AT_LEAST = 12  # plugins in the guide
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"/\* (\w+\.c) \*/\n")


def sections(text):
    """(title, plugins, configuration, commands): plugins by file name, commands with what they
    print."""
    for part in re.split(r"^(?=##+ )", text, flags=re.MULTILINE):
        plugins, configuration, commands = {}, None, []
        for language, body in BLOCK.findall(part):
            name = FILE.match(body) if language == "c" else None
            if name:
                plugins[name[1]] = body
            elif language == "json":
                configuration = body
            elif language == "console":
                for command in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                    line, _, output = command.partition("\n")
                    commands.append((line, output))
        if plugins:
            yield part.split("\n", 1)[0].lstrip("# "), plugins, configuration, commands


class Compiler:
    """Builds what is written to `folder`; the SDK is compiled once, to sdk/*.o and sdk/test/*.o."""

    def __init__(self, root, folder):
        self.folder, self.sdk = folder, folder / "sdk"
        self.flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden",
                      f"-I{root}/plugin-sdk/include"]
        for part in ("", "test"):
            (self.sdk / part).mkdir()
            self.run("-c", *(root / "plugin-sdk/src" / part).glob("*.c"), cwd=self.sdk / part)

    def run(self, *words, cwd=None):
        done = subprocess.run(["cc", *self.flags, *words], text=True, capture_output=True, cwd=cwd)
        assert done.returncode == 0, f"{words} does not build:\n{done.stderr}"

    def build(self, name, source, output, *more):
        path = self.folder / name
        path.write_text(source)
        self.run(path, *self.sdk.glob("*.o"), *more, "-Wl,-z,defs", "-o", output)


def test(compiler, name, source):
    program = compiler.folder / name.removesuffix(".c")
    compiler.build(name, source, program, *(compiler.sdk / "test").glob("*.o"))
    done = subprocess.run([program], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, f"{name} fails:\n{done.stderr}"


def call(mortise, plugins, home, line):
    """What the command prints: its output, or the host's own words when it fails."""
    words = shlex.split(line)
    assert words[0] == "mortise", line
    command = [mortise, "--no-plugins", "-P", str(plugins), *words[1:]]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    done = subprocess.run(command, text=True, capture_output=True, env=environment, cwd=home,
                          timeout=60)
    if done.returncode == 0:
        return done.stdout.rstrip("\n") + "\n"
    return done.stderr[done.stderr.rfind("mortise: "):].rstrip("\n") + "\n"


def matches(expected, printed):
    """`…` in the document stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL)


def main():
    root, mortise = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    built, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources = folder / "sources"
        sources.mkdir()
        compiler = Compiler(root, sources)
        guide = (root / "plugin-sdk/README.md").read_text()
        for title, plugins, configuration, commands in sections(guide):
            place = folder / title.replace("/", " ")
            home = folder / f"home of {place.name}"
            place.mkdir(mode=0o755)
            (home / ".config/mortise").mkdir(parents=True)
            if configuration:
                (home / ".config/mortise/config.json").write_text(configuration)
            for name, source in plugins.items():
                if name.startswith("test_"):
                    test(compiler, name, source)
                    continue
                compiler.build(name, source, (place / name).with_suffix(".so"), "-shared")
                built += 1
            for line, expected in commands:
                printed = call(mortise, place, home, line)
                print(f"{title}\n$ {line}\n{printed}", end="")
                if not matches(expected, printed):
                    wrong.append(f"{title}\n$ {line}\nthe guide says: {expected}it prints: {printed}")
            if not commands and any(not name.startswith("test_") for name in plugins):
                wrong.append(f"{title}: nothing calls its plugins")
    assert built >= AT_LEAST, f"only {built} plugins in the guide"
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main()
