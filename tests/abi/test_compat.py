#!/usr/bin/env python3
"""Plugins and hosts of different ages work together.

test_compat.py trials ROOT MORTISE   plugins of every released interface, of today's and of a
                                     future one, in this host and in the smallest host, which is
                                     built against each of them too
test_compat.py released ROOT         today's headers say what the frozen copy of their number
                                     says, so a change needs a new number
test_compat.py abidiff ROOT          libabigail agrees that structs only grew at their end
test_compat.py freeze ROOT           makes the frozen copy of today's number, for a release

Exit status 77: what is needed is not installed.  tests/abi/released/MAJOR.MINOR holds the frozen
headers; what is there never changes.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
HEADERS = ["plugin.h", "services.h"]
# Public structs that do not start with `size`: their number is told elsewhere (field_size), or
# they never grow.
GROWS_WITHOUT_SIZE = ["mortise_field"]


def run(*command):
    command = [str(part) for part in command]
    done = subprocess.run(command, text=True, capture_output=True)
    print("+", *command, f"\n{done.stdout}{done.stderr}", end="")
    return done


def must(*command):
    done = run(*command)
    assert done.returncode == 0, done.returncode
    return done.stdout.strip()


def number(include):
    text = (include / "mortise/plugin.h").read_text()
    return tuple(int(re.search(rf"MORTISE_ABI_{part} (\d+)u", text)[1])
                 for part in ("MAJOR", "MINOR"))


def without_comments(path):
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


# ---- a future interface ----

def grow(text):
    """Every struct gets one more member at its end."""
    def body(match):
        head, inside, tail = match.groups()
        name = re.search(r"struct (\w+)", head)[1]
        if "uint32_t size;" not in inside and name not in GROWS_WITHOUT_SIZE:
            return match[0]
        return f"{head}{inside}    uint64_t next_member;\n{tail}"

    grown, count = re.subn(r"((?:typedef )?struct mortise_\w+ \{\n)(.*?)(^\}[^;\n]*;)", body, text,
                           flags=re.DOTALL | re.MULTILINE)
    assert count > 8, count
    return grown


def make_next(current, folder, major_too=False):
    include = folder / ("other" if major_too else "next")
    (include / "mortise").mkdir(parents=True)
    for header in HEADERS:
        text = grow((current / "mortise" / header).read_text())
        text = re.sub(r"(MORTISE_ABI_MINOR )(\d+)u", lambda m: f"{m[1]}{int(m[2]) + 1}u", text)
        if major_too:
            text = re.sub(r"(MORTISE_ABI_MAJOR )(\d+)u", lambda m: f"{m[1]}{int(m[2]) + 1}u", text)
        (include / "mortise" / header).write_text(text)
    return include


# ---- the trials ----

def build_plugin(root, include, output, *flags):
    must("cc", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
         "-Wno-missing-field-initializers", f"-I{include}", *flags,
         root / "tests/abi/compat/plugin.c", "-o", output)
    return output


def build_sdk_plugin(root, output):
    must("cc", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{root}/plugin-sdk/include",
         root / "plugins/greet/greet.c", *sorted((root / "plugin-sdk/src").glob("*.c")),
         "-o", output)
    return output


def check_in_mortise(mortise, plugin):
    call = (mortise, "--no-plugins", "-e", plugin, "tools", "call")
    assert must(*call, "compat_add", '{"a": 2}') == "2.5 m"
    bad = run(*call, "compat_add", '{"a": 2, "unit": "mile"}')
    assert bad.returncode == 1 and "'unit' must be" in bad.stderr, bad
    skipped = run(*call, "compat_probe", "{}")
    assert skipped.returncode == 1 and "compat says no" in skipped.stderr, skipped


def trials(root, mortise):
    current = root / "plugin-sdk/include"
    released = sorted((root / "tests/abi/released").iterdir())
    assert released
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        future = make_next(current, folder)
        ages = {**{path.name: path for path in released}, "today": current, "next": future}
        plugins, hosts = {}, {}
        for age, include in ages.items():
            flags = ["-DNEXT"] if age == "next" else []
            plugins[age] = build_plugin(root, include, folder / f"plugin-{age}.so", *flags)
            hosts[age] = folder / f"host-{age}"
            must("cc", f"-I{include}", root / "tests/abi/compat/host.c", "-o", hosts[age], "-ldl")

        for age, plugin in plugins.items():
            check_in_mortise(mortise, plugin)
            for host_age, host in hosts.items():
                text = must(host, plugin, "compat_probe", "{}")
                sees_next = "unknown" if age != "next" else "yes" if host_age == "next" else "no"
                assert text.startswith("json={} user=ada none=NULL"), text
                assert text.endswith(f"next={sees_next} status=1 finished=1"), (age, host_age, text)

        # The SDK's plugins in every host, with the structs that tool.h fills.
        sdk = build_sdk_plugin(root, folder / "greet.so")
        for host in hosts.values():
            assert run(host, sdk, "no_such_tool", "{}").returncode == 3

        other = build_plugin(root, make_next(current, folder, major_too=True),
                             folder / "other.so", "-DNEXT")
        refused = run(mortise, "--no-plugins", "-e", other, "tools", "list")
        major, minor = number(current)
        assert refused.returncode == 5, refused
        assert f"plugin interface {major + 1}.{minor + 1}" in refused.stderr, refused.stderr
        assert f"{major}.{minor}" in refused.stderr, refused.stderr


# ---- what is frozen ----

def frozen(root):
    major, minor = number(root / "plugin-sdk/include")
    return root / f"tests/abi/released/{major}.{minor}"


def check_released(root):
    folder = frozen(root)
    assert folder.exists(), f"{folder} is missing: `test_compat.py freeze` makes it for a release"
    for header in HEADERS:
        now = without_comments(root / "plugin-sdk/include/mortise" / header)
        then = without_comments(folder / "mortise" / header)
        assert now == then, (f"{header} is not what was released as {folder.name}: an addition "
                             "needs a new MORTISE_ABI_MINOR")


def build_probe(root, include, output):
    must("cc", "-shared", "-fPIC", "-g", f"-I{include}", root / "tests/abi/compat/probe.c", "-o",
         output)
    return output


def abidiff(root, before, after):
    return run("abidiff", "--suppressions", root / "tests/abi/compat/grown.suppr", before,
               after).returncode


def check_abidiff(root):
    if not shutil.which("abidiff"):
        print("skipped: abidiff (abigail-tools) is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        current = root / "plugin-sdk/include"
        now = build_probe(root, current, folder / "now.so")
        for path in sorted((root / "tests/abi/released").iterdir()):
            before = build_probe(root, path, folder / f"{path.name}.so")
            assert abidiff(root, before, now) == 0, path.name
        # That it would tell: growth at the end is fine, a member in the middle is not.
        grown = build_probe(root, make_next(current, folder), folder / "grown.so")
        assert abidiff(root, now, grown) == 0
        broken = folder / "broken"
        shutil.copytree(current, broken)
        header = broken / "mortise/plugin.h"
        text = header.read_text()
        wrong = text.replace("    const char *code;", "    uint64_t new; const char *code;", 1)
        assert wrong != text
        header.write_text(wrong)
        assert abidiff(root, now, build_probe(root, broken, folder / "broken.so")) != 0
    return 0


def freeze(root):
    folder = frozen(root) / "mortise"
    folder.mkdir(parents=True)
    for header in HEADERS:
        shutil.copy(root / "plugin-sdk/include/mortise" / header, folder)


def main():
    what, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if what == "trials":
        return trials(root, sys.argv[3])
    return {"released": check_released, "abidiff": check_abidiff, "freeze": freeze}[what](root)


if __name__ == "__main__":
    sys.exit(main())
