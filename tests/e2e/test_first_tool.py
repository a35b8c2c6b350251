"""The README's ten lines: built with its one command, dropped into a folder, used at once."""
import os
import re
import shutil
import subprocess

import e2e


def first_block(text, kind, holds=""):
    """The first fenced block of this kind that holds a text."""
    for block in re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", text):
        if holds in block:
            return block
    raise AssertionError(f"README.md has no block of {kind} with '{holds}'")


class FirstTool(e2e.Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(e2e.options.source, "README.md"), encoding="utf-8") as readme:
            text = readme.read().partition("## Write your own tool")[2]
        self.assertTrue(text, 'README.md has no heading "Write your own tool"')
        self.code = first_block(text, "c")
        self.commands = first_block(text.partition(self.code)[2], "sh", "cc ").splitlines()
        self.name = re.search(r"(?m)^MORTISE_TOOL\((\w+)", self.code).group(1)
        self.build = next(line for line in self.commands if line.startswith("cc "))
        self.source = next(word for word in self.build.split() if re.fullmatch(r"[a-z_]+\.c", word))
        self.result = re.search(r"-o (\S+\.so)", self.build).group(1)
        # "From this folder": the tool's file, the SDK, and the binary where the README has it.
        os.symlink(os.path.join(e2e.options.source, "plugin-sdk"),
                   os.path.join(self.work, "plugin-sdk"))
        self.file("work/" + self.source, self.code)

    def shell(self, line):
        done = subprocess.run(["sh", "-euc", line], cwd=self.work, env=self.environment(None),
                              capture_output=True, text=True, timeout=e2e.SECONDS)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        return done

    def test_it_is_short(self):
        lines = [line for line in self.code.splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 10, self.code)

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.shell(self.build + " -Wall -Wextra").stderr, "")

    def test_dropped_into_a_folder(self):
        self.shell(self.build)
        folder = self.folder("plugins")
        shutil.move(os.path.join(self.work, self.result), folder)
        listed = self.check(self.mortise("-P", folder, "tools", "list"), 0)
        self.assertIn(self.name, listed.out)
        self.assertEqual(listed.err, "")

        tool = self.mortise("-P", folder, "--json", "tools", "show", self.name).events[0]
        required = tool["input_schema"]["required"]
        arguments = {name: 50 for name in required}
        model = self.script({"calls": [{"name": self.name, "arguments": arguments}]},
                            {"text": "There it is."})
        done = self.check(self.mortise("-P", folder, "--json", "-m", model, "Use it"), 0)
        self.assertIn(self.name, done.of_type("run_start")[0]["tools"])
        result = done.of_type("tool_result")[0]
        self.assertTrue(result["success"], done)
        self.assertTrue(result["result"])
        self.assertEqual(done.events[-1]["text"], "There it is.")

        # And what its declaration says is held to, before the code runs.
        done = self.mortise("-P", folder, "tools", "call", self.name, "{}")
        self.check(done, 1)
        self.assertIn(required[0], done.err)

    def test_the_commands_as_they_are_written(self):
        """All lines of the block, with the binary where the README has it."""
        binary = re.search(r"(?m)^(\S*bin/mortise) ", "\n".join(self.commands)).group(1)
        os.makedirs(os.path.join(self.work, os.path.dirname(binary)))
        os.symlink(e2e.options.mortise, os.path.join(self.work, binary))
        done = self.shell("\n".join(self.commands))
        self.assertIn(self.name, done.stderr)  # "→ add_tax …"
        self.assertIn(self.name + " answered", done.stdout)
        self.assertIn(self.name, self.check(self.mortise("tools"), 0).out)


if __name__ == "__main__":
    e2e.main()
