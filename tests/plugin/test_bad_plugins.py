#!/usr/bin/env python3
"""The real binary over a folder of bad plugins: test_bad_plugins.py BINARY GOOD BAD

GOOD and BAD are the folders of fixtures that tests/plugin/CMakeLists.txt builds.  A folder
is made with one good plugin, one that would run code as soon as it is loaded, and one of
each bad kind.  Then (M5):

  mortise --no-plugins -P DIR tools list     ends with 0, lists the good tools, and says one
                                             line with a reason for each bad file
  mortise plugins check FILE...              says the same of all that can be told without
                                             running a file's code, ends with 5, runs none
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# What is built: part of the reason at loading, and of the reason at checking (None: only its
# code could tell).
BUILT = {
    "no_stamp": ("it has no mortise_plugin_stamp", "it has no mortise_plugin_stamp"),
    "other_major": ("it is built for plugin interface 2.0", "it is built for plugin interface 2.0"),
    "undefined_symbol": ("undefined symbol: fixture_nowhere", "the symbol 'fixture_nowhere'"),
    "needs_missing": ("libfixture_helper.so: cannot open", "the library 'libfixture_helper.so'"),
    "refuses": ("it refused to load: it needs a database", None),
    "returns_null": ("it refused to load and gave no reason", None),
    "bad_name": ("tool 0 has the name 'bad name!'", None),
    "bad_schema": ("the input schema of tool 'find' cannot be used: '/properties/name/pattern' cannot "
                   "be used: the pattern '^(a' is not valid", None),
    "duplicate_name": ("Tool with name 'good_tool' already registered", None),
    "null_size": ("its mortise_plugin is not complete", None),
    "null_name": ("it has the name ''", None),
    "null_tools": ("an array of them is NULL", None),
    "null_meta": ("tool 0 is not complete", None),
    "null_hook_name": ("hook 0 has the name ''", None),
}

# What is made here: told without running code.
MADE = {
    "empty": "it is empty",
    "truncated": "it is cut short",
    "text": "it is no shared object (not ELF)",
    "other_machine": "it is built for s390",
    "dangling": "it is a link to 'gone', which does not exist",
    "world_writable": "everybody can write it",
    "group_writable": "its group can write it",
}


def put(source, target):
    shutil.copyfile(source, target)
    target.chmod(0o755)


def make_folder(folder, good, bad):
    # 'a_': the first of two with the same tool is the one that stays.
    put(good / "good.so", folder / "a_good.so")
    put(good / "constructor_writes_file.so", folder / "constructor.so")
    for name in BUILT:
        put(bad / f"{name}.so", folder / f"{name}.so")

    whole = (good / "good.so").read_bytes()
    (folder / "empty.so").write_bytes(b"")
    (folder / "truncated.so").write_bytes(whole[: len(whole) // 2])
    (folder / "text.so").write_text("no plugin\n")
    machine = 18  # of the ELF header; 22 is s390
    (folder / "other_machine.so").write_bytes(whole[:machine] + struct.pack("=H", 22) + whole[machine + 2:])
    (folder / "dangling.so").symlink_to("gone")
    for name in ("empty", "truncated", "text", "other_machine"):
        (folder / f"{name}.so").chmod(0o755)
    for name, mode in (("world_writable", 0o757), ("group_writable", 0o775)):
        put(good / "good.so", folder / f"{name}.so")
        (folder / f"{name}.so").chmod(mode)
    return sorted(folder.glob("*.so"))


def run(binary, scratch, *arguments):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MORTISE_", "XDG_"))}
    environment |= {"HOME": str(scratch), "MORTISE_TEST_MARK": str(scratch / "mark")}
    return subprocess.run([binary, *map(str, arguments)], env=environment, cwd=scratch, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def line_about(lines, path):
    """The one line that names the file; others may name it as the one that came first."""
    found = [line for line in lines if f"{path}: " in line]
    assert len(found) == 1, f"{path}: {len(found)} lines on standard error: {found}"
    return found[0]


def check_listing(binary, scratch, folder):
    done = run(binary, scratch, "--no-plugins", "-P", folder, "tools", "list")
    lines = done.stderr.splitlines()
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "good_tool" in done.stdout and "constructor_tool" in done.stdout, done.stdout
    assert (scratch / "mark").exists(), "the constructor of a good plugin did not run"
    (scratch / "mark").unlink()
    reasons = {name: reasons[0] for name, reasons in BUILT.items()} | MADE
    for name, reason in reasons.items():
        line = line_about(lines, folder / f"{name}.so")
        assert reason in line, f"{line!r} has no {reason!r}"
    assert len(lines) == len(reasons), done.stderr


def check_checking(binary, scratch, folder, files):
    done = run(binary, scratch, "plugins", "check", *files)
    lines = done.stderr.splitlines()
    assert done.returncode == 5, (done.returncode, done.stderr)
    assert not (scratch / "mark").exists(), "checking ran a file's code"
    reasons = {name: reasons[1] for name, reasons in BUILT.items()} | MADE
    for name, reason in reasons.items():
        path = folder / f"{name}.so"
        if reason is None:
            assert str(path) in done.stdout, f"{path} is not said to be good:\n{done.stdout}"
        else:
            line = line_about(lines, path)
            assert reason in line, f"{line!r} has no {reason!r}"
    for name in ("a_good", "constructor"):
        assert str(folder / f"{name}.so") in done.stdout, done.stdout

    done = run(binary, scratch, "plugins", "check", folder / "a_good.so")
    assert done.returncode == 0, (done.returncode, done.stderr)


def main():
    binary, good, bad = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        folder = scratch / "plugins"
        folder.mkdir(mode=0o755)
        files = make_folder(folder, Path(good), Path(bad))
        check_listing(Path(binary).resolve(), scratch, folder)
        check_checking(Path(binary).resolve(), scratch, folder, files)


if __name__ == "__main__":
    main()
