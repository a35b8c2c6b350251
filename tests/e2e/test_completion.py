"""What Tab offers: by the binary, and through the scripts in the shells themselves."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import e2e

COMMANDS = ["run", "resume", "sessions", "replay", "chat", "tools", "plugins", "hooks", "providers",
            "models", "doctor", "new", "config", "completion", "help", "mcp"]


class Words(e2e.Case):
    def words(self, *words, **how):
        done = self.check(self.mortise("completion", "words", "--", *words, **how), 0)
        self.assertEqual(done.err, "")
        return [line.split("\t")[0] for line in done.out.splitlines()]

    def test_options(self):
        self.assertEqual(self.words("--re"),
                         ["--reasoning", "--response-limit", "--retries", "--result-limit",
                          "--record"])
        self.assertEqual(self.words("tools", "--ver"), ["--verbose", "--version"])
        options = self.words("-")
        helped = re.findall(r"(?m)^  (?:-\w,|   ) (--[\w-]+)", self.mortise("--help").out)
        self.assertEqual(sorted(options), sorted(helped))

    def test_commands(self):
        self.assertEqual(set(self.words("")), set(COMMANDS))
        self.assertEqual(self.words("pl"), ["plugins"])
        self.assertEqual(self.words("--json", "-m", "offline", "pl"), ["plugins"])
        self.assertEqual(self.words("--", "pl"), ["plugins"])
        self.assertEqual(self.words("help", "conf"), ["config"])

    def test_words_of_commands(self):
        for words, offered in (
                (("plugins", ""), ["list", "show", "check", "reset", "trust", "trusted",
                                   "distrust"]),
                (("sessions", "e"), ["export"]),
                (("new", ""), ["tool", "hook"]), (("new", "tool", ""), []),
                (("config", "s"), ["show"]), (("config", "show", ""), []),
                (("completion", ""), ["bash", "zsh", "fish"]),
                (("models", "open"), ["openai", "openai-responses", "openrouter"]),
                (("plugins", "check", ""), [":files"]),
                (("plugins", "check", "a.so", ""), [":files"]),
                (("plugins", "trust", "a.so", ""), [":files"]), (("plugins", "trusted", ""), []),
                (("sessions", "import", ""), [":files"]),
                (("plugins", "shw", ""), []), (("hooks", ""), []), (("a prompt", ""), []),
                (("run", ""), []), (("tools", "call", "greet", ""), [])):
            self.assertEqual(self.words(*words), offered, words)

    def test_values_of_options(self):
        for words, offered in (
                (("--color", ""), ["auto", "always", "never"]),
                (("--color", "a"), ["auto", "always"]), (("--color=a",), ["--color=auto", "--color=always"]),
                (("--reasoning", "h"), ["high"]),
                (("-P", ""), [":folders"]), (("--plugins=",), [":folders"]), (("-qP", ""), [":folders"]),
                (("--workspace", "x"), [":folders"]), (("-e", ""), [":files"]),
                (("--config", ""), [":files"]), (("replay", ""), [":files"]),
                (("-m", "ant"), ["anthropic/"]), (("-m", "off"), ["offline"]),
                (("--timeout", ""), []), (("--json=",), []), (("--nothing=",), [])):
            self.assertEqual(self.words(*words), offered, words)

    def test_names_that_must_be_looked_up(self):
        """Of the plugins that the words before name."""
        self.assertEqual(self.words("tools", "show", "gree"), ["greet"])
        self.assertEqual(self.words("--tools", "greet,cou"), ["greet,counter"])
        self.assertEqual(self.words("plugins", "reset", "calc"), ["calculator"])
        self.assertEqual(self.words("--no-plugins", "tools", "show", ""), [])
        fixtures = self.words("--no-plugins", "-P", e2e.options.fixtures, "tools", "call", "")
        self.assertIn("wait_for_cancel", fixtures)
        self.assertNotIn("greet", fixtures)
        self.check(self.mortise("--session", "trip-1", "-m", "offline", "hello\tthere\x1b[2J"), 0)
        self.assertEqual(self.words("--session", "tr"), ["trip-1"])
        self.assertEqual(self.words("sessions", "show", ""), ["trip-1"])
        self.assertEqual(self.words("resume", ""), ["trip-1"])
        shown = self.mortise("completion", "words", "--", "resume", "").out
        self.assertEqual(shown.count("\t"), 1)
        self.assertNotIn("\x1b", shown)

    def test_with_nothing_in_order(self):
        """A half-typed line and a broken file are no reason to say nothing."""
        self.file("home/.config/mortise/config.json", "{broken")
        self.assertEqual(self.words("--nonsense", "--max-turns", "many", "pl"), ["plugins"])
        self.assertEqual(self.words("-m"), [])
        self.check(self.mortise("completion", "words"), 0)
        self.check(self.mortise("completion", "bash"), 0)

    def test_makes_nothing(self):
        for words in (["resume", ""], ["tools", "show", ""], ["plugins", "show", ""]):
            self.words(*words)
            self.assertEqual(os.listdir(self.home), [])

    def test_mistakes(self):
        self.check_error(self.mortise("completion"), 2, "bash|zsh|fish")
        self.check_error(self.mortise("completion", "tcsh"), 2, "bash|zsh|fish")
        self.check_error(self.mortise("completion", "bash", "zsh"), 2, "bash|zsh|fish")


CASES = (
    ("mortise --re",
     ["--reasoning", "--record", "--response-limit", "--result-limit", "--retries"]),
    ("mortise pl", ["plugins"]),
    ("mortise plugins ", ["check", "distrust", "list", "reset", "show", "trust", "trusted"]),
    ("mortise --color ", ["always", "auto", "never"]),
    ("mortise --color=a", ["always", "auto"]),
    ("mortise -m 'offline' tools show gree", ["greet"]),
    ("mortise --json --metadata a=b -m ollama/llama3.2:latest plug", ["plugins"]),
    ("mortise -P fo", ["folder one/"]),
    ("mortise plugins check fi", ["file.so"]),
)


class Shell(e2e.Case):
    shell = None

    def setUp(self):
        super().setUp()
        if not self.shell:
            self.skipTest("for the shells below")
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        script = self.check(self.mortise("completion", self.shell), 0)
        self.path = self.file(f"completion/{self.file_name}", script.out)
        self.folder("work/folder one")
        self.file("work/file.so", "")
        bin_folder = os.path.dirname(e2e.options.mortise)
        self.env = self.environment({"PATH": f"{bin_folder}:{os.environ['PATH']}", "TERM": "dumb"})

    def run_shell(self, *arguments):
        done = subprocess.run(arguments, cwd=self.work, env=self.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=e2e.SECONDS, check=False)
        self.assertEqual(done.stderr, "", done)
        return done.stdout


class Bash(Shell):
    shell = "bash"
    file_name = "mortise"

    def split(self, line):
        """As readline does it with the usual COMP_WORDBREAKS."""
        words = re.findall(r"'[^']*'|[=:]|[^\s=:]+", line)
        return words + [""] if line.endswith((" ", "=")) and not line.endswith("=") else words

    def test_offers(self):
        for line, offered in CASES:
            words = " ".join(f'"{word}"' for word in self.split(line))
            code = (f". {self.path}; compopt() {{ :; }}; COMP_WORDS=({words}); "
                    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mortise; "
                    "printf '%s\\n' \"${COMPREPLY[@]}\"")
            out = self.run_shell("bash", "--norc", "-c", code)
            got = sorted(word for word in out.splitlines())
            self.assertEqual(got, [word.rstrip("/") for word in offered], line)

    def test_at_the_prompt(self):
        """What is typed becomes what is meant, also where "=" splits words."""
        with Terminal(self, ["bash", "--norc", "-i"]) as terminal:
            terminal.say(f". {self.path}; PS1='> '\n")
            for typed, becomes in (("mortise plu\t", "mortise plugins "),
                                   ("mortise --color=nev\t", "mortise --color=never "),
                                   ("mortise -m anthr\t", "mortise -m anthropic/"),
                                   ("mortise -P fol\t", r"mortise -P folder\ one/")):
                terminal.expect_line(typed, becomes)


class Zsh(Shell):
    shell = "zsh"
    file_name = "_mortise"

    def test_at_the_prompt(self):
        folder = os.path.dirname(self.path)
        with Terminal(self, ["zsh", "-f", "-i"]) as terminal:
            terminal.say(f"unsetopt zle_bracketed_paste; PS1='> '; fpath=({folder} $fpath); "
                         "autoload -U compinit; compinit -u -D; LISTMAX=0; echo rea''dy\n")
            terminal.expect("ready")
            for typed, becomes in (("mortise plu\t", "mortise plugins "),
                                   ("mortise --color=nev\t", "mortise --color=never "),
                                   ("mortise -m anthr\t", "mortise -m anthropic/"),
                                   ("mortise tools show gree\t", "mortise tools show greet "),
                                   ("mortise -P fol\t", r"mortise -P folder\ one/"),
                                   ("mortise plugins check fi\t", "mortise plugins check file.so ")):
                terminal.expect_line(typed, becomes)
            for line, offered in CASES[:4]:
                if len(offered) > 1:
                    terminal.say(line + "\t\t")
                    for word in offered:
                        terminal.expect(word)
                    terminal.say("\x15")

    def test_sourced(self):
        with Terminal(self, ["zsh", "-f", "-i"]) as terminal:
            terminal.say("unsetopt zle_bracketed_paste; PS1='> '; autoload -U compinit; "
                         f"compinit -u -D; source {self.path}; echo rea''dy\n")
            terminal.expect("ready")
            terminal.expect_line("mortise plu\t", "mortise plugins ")


class Fish(Shell):
    shell = "fish"
    file_name = "mortise.fish"

    def test_offers(self):
        for line, offered in CASES:
            quoted = line.replace("\\", "\\\\").replace('"', '\\"')
            out = self.run_shell("fish", "--no-config", "-c",
                                 f'source {self.path}; complete -C "{quoted}"')
            got = sorted(row.split("\t")[0] for row in out.splitlines())
            want = [f"--color={word}" if "--color=" in line else word for word in offered]
            self.assertEqual(got, want, line)

    def test_descriptions(self):
        out = self.run_shell("fish", "--no-config", "-c", f"source {self.path}; complete -C 'mortise doc'")
        self.assertRegex(out, r"\Adoctor\twhat is set up.*\n\Z")


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, case, command):
        self.case = case
        self.command = command
        self.seen = ""

    def __enter__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.case.work)
            os.execvpe(self.command[0], self.command, self.case.env)
        return self

    def __exit__(self, *reason):
        os.close(self.fd)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)

    def say(self, text):
        self.seen = ""
        os.write(self.fd, text.encode())

    def expect(self, text):
        until = time.monotonic() + e2e.SECONDS
        while text not in self.plain():
            if time.monotonic() > until:
                self.case.fail(f"{text!r} did not come: {self.seen!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    self.case.fail(f"the shell ended: {self.seen!r}")

    def plain(self):
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", self.seen)
        while re.search(r"[^\x08]\x08", text):  # what was taken back
            text = re.sub(r"[^\x08]\x08", "", text)
        return text

    def expect_line(self, typed, becomes):
        self.say(typed)
        self.expect(becomes)
        self.say("\x15")


if __name__ == "__main__":
    e2e.main()
