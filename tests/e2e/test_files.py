"""The file tools in the real binary: what a model sends, and what it reads back."""
import json
import os

import e2e

SWITCHED_ON = {"files": {"write": True}}


class Case(e2e.Case):
    def put(self, name, text):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)

    def get(self, name):
        with open(os.path.join(self.work, name), encoding="utf-8", newline="") as text:
            return text.read()

    def call(self, tool, **arguments):
        return self.mortise("tools", "call", tool, json.dumps(arguments))

    def play(self, *calls):
        """A run in which the model makes these calls, one after the other: their results."""
        turns = [{"calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
        done = self.mortise("--json", "-m", self.script(*turns, {"text": "ok"}), "the prompt")
        self.check(done, 0)
        return [result["result"] for result in done.of_type("tool_result")]


class Reading(Case):
    def test_is_there_without_configuration(self):
        self.put("src/main.c", "int main(void);\n")
        done = self.check(self.call("read_file", path="src/main.c"), 0)
        self.assertIn("     1\tint main(void);\n", done.out)
        self.assertIn("src/main.c\n", self.check(self.call("glob", pattern="*.c"), 0).out)
        self.assertIn("src/main.c:1:int main", self.check(self.call("grep", pattern="m..n"), 0).out)
        self.assertIn("main.c  16 bytes", self.check(self.call("list_files"), 0).out)

    def test_a_search_is_shown_from_its_result(self):  # F50
        self.put("a.txt", "needle\n")
        for name, arguments in (("read_file", {"path": "a.txt"}), ("grep", {"pattern": "needle"}),
                                ("glob", {"pattern": "*.txt"})):
            self.assertIn("a.txt" if name == "glob" else "needle", self.play((name, arguments))[0])

    def test_another_workspace(self):
        folder = self.folder("elsewhere")
        self.file("elsewhere/x.txt", "over there\n")
        done = self.mortise("--workspace", folder, "tools", "call", "read_file", '{"path":"x.txt"}')
        self.assertIn("over there", self.check(done, 0).out)
        done = self.mortise("tools", "call", "read_file", json.dumps({"path": folder + "/x.txt"}))
        self.assertIn("is outside of what can be reached here", self.check(done, 1).err)
        self.config(plugin_config={"files": {"roots": [folder]}})
        done = self.mortise("tools", "call", "read_file", json.dumps({"path": folder + "/x.txt"}))
        self.assertIn("over there", self.check(done, 0).out)

    def test_what_a_model_may_send(self):
        self.put("x", "harmless\n")
        secret = self.file("secret.txt", "SECRET\n")
        os.symlink(secret, os.path.join(self.work, "link"))
        paths = ["../secret.txt", secret, "link", "x\0/../../secret.txt", "\0", "../secret.txt\0x",
                 "x" * 5000, "x/" * 3000, "/proc/self/environ", "/proc/self/root" + secret, "\ud800",
                 "..\n/../secret.txt", "", "/dev/stdin", "/dev/zero", "x/../../secret.txt"]
        for path in paths:
            done = self.call("read_file", path=path)
            self.assertIn(done.code, (1, 2), done)
            self.assertNotIn("SECRET", done.out + done.err)
            for tool in ("grep", "list_files", "glob"):
                done = self.call(tool, path=path, **({} if tool == "list_files" else {"pattern": "."}))
                self.assertNotIn("SECRET", done.out + done.err)


class Writing(Case):
    def test_is_off_unless_switched_on(self):
        for tool in ("write_file", "edit_file"):
            self.check_error(self.call(tool, path="x"), 2, f"'{tool}' not found")
        self.assertFalse(os.path.exists(os.path.join(self.work, "x")))

    def test_reads_edits_and_writes_in_one_session(self):
        self.config(plugin_config=SWITCHED_ON)
        self.put("a.c", "int one;\r\nint two;\r\n")
        edit = {"path": "a.c", "edits": [{"old_text": "one;\nint two", "new_text": "1;\nint 2"}]}
        results = self.play(("edit_file", edit), ("read_file", {"path": "a.c"}), ("edit_file", edit),
                            ("write_file", {"path": "new/b.c", "content": "x\n"}),
                            ("write_file", {"path": "a.c", "content": "int three;\n"}))
        self.assertIn("read it with read_file first", results[0])
        self.assertIn("edited 'a.c': line 1", results[2])
        self.assertIn("made 'new/b.c'", results[3])
        self.assertIn("replaced 'a.c'", results[4])
        self.assertEqual(self.get("a.c"), "int three;\r\n")
        self.assertEqual(self.get("new/b.c"), "x\n")

    def test_a_new_process_knows_nothing_of_what_was_read(self):
        self.config(plugin_config=SWITCHED_ON)
        self.put("a.c", "old\n")
        self.check(self.call("read_file", path="a.c"), 0)
        done = self.check(self.call("write_file", path="a.c", content="new\n"), 1)
        self.assertIn("was not read", done.err)
        self.assertEqual(self.get("a.c"), "old\n")

    def test_a_wrong_configuration_is_told(self):
        self.config(plugin_config={"files": {"write": "yes"}})
        done = self.mortise("plugins", "list")
        self.assertIn('"write" must be true or false', done.out + done.err)


if __name__ == "__main__":
    e2e.main()
