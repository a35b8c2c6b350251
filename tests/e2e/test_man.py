"""The manual pages: they render, and mortise(1) says what the binary says."""
import os
import re
import shutil
import subprocess

import e2e

PAGES = ("host/man/mortise.1.scd", "plugin-sdk/man/mortise-plugin.7.scd")


def read(path):
    with open(os.path.join(e2e.options.source, path), encoding="utf-8") as file:
        return file.read()


def section(page, title):
    return re.search(rf"(?ms)^# {title}\n(.*?)(?=^# |\Z)", page)[1]


class Rendering(e2e.Case):
    def check_quiet(self, command, page):
        done = subprocess.run(command, input=page, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        return done.stdout

    def test_without_a_warning(self):
        if not shutil.which("scdoc"):
            self.skipTest("scdoc is not installed")
        for path in PAGES:
            roff = self.check_quiet(["scdoc"], read(path).encode())
            if shutil.which("groff"):
                shown = self.check_quiet(["groff", "-Kutf8", "-man", "-ww", "-Tutf8"], roff)
                self.assertIn(b"NAME", shown)

    def test_pages_that_are_pointed_to(self):
        """What SEE ALSO names is there, or is made of a header."""
        known = {os.path.basename(path)[:-len(".scd")] for path in PAGES}
        headers = os.listdir(os.path.join(e2e.options.source, "plugin-sdk/include/mortise"))
        known |= {f"mortise-{header}.3" for header in headers}
        for path in PAGES:
            named = re.findall(r"\*(mortise[\w.-]*)\*\((\d)\)", read(path))
            self.assertTrue(named)
            self.assertEqual({f"{name}.{number}" for name, number in named} - known, set())


class Mortise(e2e.Case):
    def setUp(self):
        super().setUp()
        self.page = read(PAGES[0])
        self.help = self.check(self.mortise("--help"), 0).out

    def test_options(self):
        """Each of --help with its letter and its value, and no other."""
        in_help = re.findall(r"(?m)^  (?:-(\w),|   ) --([\w-]+)(?: (?! )(\S+))?", self.help)
        self.assertGreater(len(in_help), 30)
        in_page = re.findall(r"(?:\*-(\w)\*, )?\*--([\w-]+)\*(?: _(\S+)_)?",
                             "\n".join(line for line in section(self.page, "OPTIONS").splitlines()
                                       if line.startswith("*-")))
        self.assertEqual(len(set(in_page)), len(in_page))
        self.assertEqual((set(in_help) - set(in_page), set(in_page) - set(in_help)), (set(), set()),
                         f"missing in, and too much in, OPTIONS of {PAGES[0]}")

    def test_defaults(self):
        options = section(self.page, "OPTIONS")
        for number in re.findall(r"\[(\d+)\]$", self.help, re.M):
            self.assertRegex(options, rf"\b{number}\b")

    def test_commands(self):
        commands = section(self.page, "COMMANDS")
        in_help = re.findall(r"(?m)^  mortise (\w+)", self.help.partition("\nCommands\n")[2])
        self.assertEqual(re.findall(r"(?m)^\*(\w+)\*", commands), in_help)

    def test_exit_codes(self):
        told = section(self.page, "EXIT STATUS")
        in_help = re.findall(r"(?:^  |· )(\d+) ", self.help.partition("Exit codes\n")[2], re.M)
        self.assertEqual(re.findall(r"(?m)^\|\[ (\d+)$", told), in_help)

    def test_events(self):
        """Every name that a line of --json can have as its type."""
        kinds = re.search(r"#define EVENT_KINDS\(X\)(.*?)enum", read("host/timeline/event.h"), re.S)[1]
        kinds = set(re.findall(r'X\(\w+, "(\w+)"\)', kinds))
        self.assertIn("run_start", kinds)
        deltas = re.search(r"delta_names\[\] = \{(.*?)\}", read("host/timeline/event.c"), re.S)[1]
        kinds |= set(re.findall(r'"(\w+)"', deltas)) | {"tool_call_start"}
        lines = section(self.page, "EVENTS").splitlines()
        told = {name for line in lines if line.startswith("*") for name in re.findall(r"\*(\w+)\*", line)}
        self.assertEqual(told, kinds)

    def test_variables_of_providers(self):
        told = section(self.page, "ENVIRONMENT")
        shown = self.check(self.mortise("providers"), 0).out
        pattern = r"\b[A-Z]+(?:_[A-Z]+)*_(?:API_KEY|API_TOKEN|BASE_URL|HOST|ENDPOINT|API_BASE)\b"
        names = set(re.findall(pattern, shown))
        self.assertGreater(len(names), 30)
        self.assertEqual(set(re.findall(pattern, told)), names)

    def test_keys_of_providers(self):
        table = re.search(r"\} keys\[\] = \{(.*?)\n\};", read("host/provider/profile_read.c"), re.S)[1]
        names = set(re.findall(r'\{"(\w+)", ', table))
        self.assertIn("base_url", names)
        lines = [line for line in section(self.page, "PROVIDERS").splitlines() if line[:1] == "*"]
        self.assertEqual({name for line in lines for name in re.findall(r"\*(\w+)\*", line)}, names)


if __name__ == "__main__":
    e2e.main()
