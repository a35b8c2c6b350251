#!/usr/bin/env python3
"""The reference pages are made from the headers: nothing public is without a comment or left out.

test_reference.py ROOT; before the headers of ROOT are looked at, plugin-sdk/reference.py is tried
on small ones.
"""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("reference", ROOT / "plugin-sdk/reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

HEADERS = [path for path in sorted((ROOT / "plugin-sdk/include/mortise").glob("*.h"))
           if reference.INTERNAL not in reference.read(path)[0].lower()]

OPENING = "/* mortise/x.h - for a test.\n *\n * More of it.\n */\n"

# What is declared, and which names of it have no comment.
SMALL = [
    ("int mortise_a(void);", ["mortise_a"]),
    ("/* A. */\nint mortise_a(void);", []),
    ("/* A and b. */\nint mortise_a(void);\nint mortise_b(void);", []),
    ("/* A. */\nint mortise_a(void);\n\nint mortise_b(void);", ["mortise_b"]),
    ("/* Alone. */\n\nint mortise_a(void);", ["mortise_a"]),
    ("/* A. */\nstatic inline int mortise_a(void)\n{\n    return 1;\n}\n\n"
     "static inline int mortise_b(void)\n{\n    return 1;\n}", ["mortise_b"]),
    ("/* A. */\nMORTISE__OURS int mortise_a(const char *text, ...)\n    MORTISE__PRINTF(1, 2);\n"
     "MORTISE__CHECK(a);", []),
    ("#define MORTISE_A 1", ["MORTISE_A"]),
    ("#define MORTISE_A 1 /* one */", []),
    ("#define MORTISE__A 1\n#define MORTISE_X_H", []),
    ("#define MORTISE_A(x) \\\n    ((x) + 1)", ["MORTISE_A"]),
    ("typedef int mortise_a;\nenum {\n    MORTISE_A = 1, /* a */\n    MORTISE_B = 2 /* b */\n};",
     ["mortise_a"]),
    ("enum { MORTISE_A = 1, MORTISE_B = 2 };", ["MORTISE_A", "MORTISE_B"]),
    ("/* Both. */\nenum { MORTISE_A = 1, MORTISE_B = 2 };", []),
    ("enum {\n    MORTISE_A = 1, /* a */\n    MORTISE_B = 2\n};", ["MORTISE_B"]),
    ("/* A. */\ntypedef struct mortise_a {\n    int size;\n    int (*run)(void);\n} mortise_a;",
     ["mortise_a.run"]),
    ("/* A. */\ntypedef struct mortise_a {\n    int size;\n    /* Runs. */\n    int (*run)(void);\n"
     "} mortise_a;", []),
    ("typedef struct mortise_a mortise_a;\n\n/* A. */\nstruct mortise_a {\n    int size;\n};", []),
    ("typedef struct mortise_a mortise_a;", ["mortise_a"]),
    ("/* ---- a: what it is ---- */\n\nint mortise_a(void);\n\nint mortise_b(void);", ["mortise_b"]),
    ("/* ---- inside: nothing below is for plugins ---- */\n\nint mortise_a(void);", []),
    ("#ifdef __cplusplus\nint mortise_a(void);\n#else\n/* B. */\nint mortise_b(void);\n#endif", []),
]

# Definitions, found in another way than reference.py does.
DEFINITIONS = re.compile(r"^#define (MORTISE_\w+)|^    (MORTISE_\w+)\s+=|^\} (mortise_\w+);"
                         r"|^struct (mortise_\w+) \{|^typedef \w+ (mortise_\w+);"
                         r"|^[\w].*?\b(mortise_\w+)\((?!\*)", re.M)


class Small(unittest.TestCase):
    def parse(self, code):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.h"
            path.write_text(OPENING + code + "\n", encoding="utf-8")
            return reference.read(path)

    def test_what_has_no_comment(self):
        for code, names in SMALL:
            with self.subTest(code=code):
                self.assertEqual(reference.undocumented(self.parse(code)[1]), names)

    def test_page(self):
        page = reference.page(*self.parse(
            "/* ---- parts ---- */\n\n/* Does -a;\n *     code('x')\n * and more. */\n"
            "MORTISE__OURS int mortise_a(int b,\n    int c) MORTISE__PRINTF(1, 2);\n"))
        for part in ("mortise\\-x.h \\- for a test", "#include <mortise/x.h>", "More of it.",
                     '.SH "PARTS"', "\\fBint mortise_a(int b, int c);\\fR", "Does \\-a;",
                     ".EX\n    code('x')\n.EE"):
            self.assertIn(part, page)


class Headers(unittest.TestCase):
    def test_are_found(self):
        """By CMake too."""
        build = (ROOT / "plugin-sdk/CMakeLists.txt").read_text(encoding="utf-8")
        listed = re.search(r"foreach\(header (.*)\)", build)[1].split()
        self.assertEqual([path.stem for path in HEADERS], listed)

    def test_everything_public_has_a_comment(self):
        self.assertEqual(reference.main(["--check", *map(str, HEADERS)]), 0)

    def test_everything_public_is_on_the_page(self):
        for path in HEADERS:
            text = path.read_text(encoding="utf-8").partition(reference.END)[0]
            page = reference.page(*reference.read(path))
            names = {name for found in DEFINITIONS.findall(reference.COMMENT.sub("", text))
                     for name in found if name and "__" not in name}
            names -= {f"MORTISE_{path.stem.upper()}_H"}
            missing = [name for name in names
                       if not re.search(rf"(?m)^\\fB(.*\W)?{name}\b", page)]
            self.assertEqual(missing, [], path.name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_render_without_a_warning(self):
        for path in HEADERS:
            page = reference.page(*reference.read(path))
            done = subprocess.run(["groff", "-Kutf8", "-man", "-ww", "-z", "-Tutf8"], check=False,
                                  input=page, capture_output=True, encoding="utf-8")
            self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
