"""A disk without room: what cannot be stored is told, and no tool runs for it.

The sessions are on a small file system of their own, in a mount namespace that only this test
and what it starts see.  Where that cannot be made it is skipped.
"""
import contextlib
import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import e2e

INSIDE = "MORTISE_TEST_HAS_NAMESPACE"
KIB = 1024

def enter_namespace():
    """Begins anew with mounts of its own, where that is possible."""
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0:
        unshare.append("--map-root-user")
    if INSIDE in os.environ or not shutil.which("unshare"):
        return
    tried = subprocess.run([*unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if tried.returncode == 0:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", [*unshare, sys.executable, "-B", *sys.argv])


class FullDisk(e2e.Case):
    def setUp(self):
        super().setUp()
        if INSIDE not in os.environ:
            self.skipTest("no mount namespace: it needs unshare(1), and root or user namespaces")
        if os.stat(e2e.options.fixtures).st_uid != os.geteuid():
            self.skipTest("the plugins belong to somebody else: they would not be loaded")
        self.disk = self.folder("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=True)
        self.filler = os.path.join(self.disk, "filler")
        self.notes = os.path.join(self.root, "notes.txt")

    def fill(self):
        """Not a byte is left."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (64 * KIB, 4 * KIB, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError as full:
                    self.assertEqual(full.errno, errno.ENOSPC)

    def make_room(self):
        os.remove(self.filler)

    def environment(self, extra):
        return super().environment({"XDG_DATA_HOME": self.disk, **(extra or {})})

    def play(self, *turns, options=("--session", "trip"), prompt="hello"):
        return self.mortise("--json", "-P", e2e.options.fixtures, "-m", self.script(*turns),
                            *options, prompt)

    def note(self, number=1, **arguments):
        return {"id": f"call_{number}", "name": "note",
                "arguments": {"file": self.notes, "text": f"noted {number}", **arguments}}

    def noted(self):
        if not os.path.exists(self.notes):
            return []
        with open(self.notes, encoding="utf-8") as notes:
            return notes.read().splitlines()

    def items(self):
        exported = self.check(self.mortise("sessions", "export", "trip"), 0)
        self.assertEqual(exported.err, "")
        return [line["item"] for line in exported.events[1:]]

    def check_full(self, done):
        self.check(done, 1)
        self.assertEqual((done.events[-1]["type"], done.events[-1]["status"],
                          done.events[-1]["exit_code"]), ("result", "failed", 1))
        for part in ("mortise: ", "session store", "disk is full", "nothing that was stored is lost"):
            self.assertIn(part, done.err)
        return done

    def check_sound(self):
        """By SQLite itself, and every call has its result."""
        with contextlib.closing(
                sqlite3.connect(os.path.join(self.disk, "mortise/sessions.db"))) as store:
            self.assertEqual(store.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        items = self.items()
        self.assertEqual([item["call_id"] for item in items if item["type"] == "function_call"],
                         [item["call_id"] for item in items
                          if item["type"] == "function_call_output"])

    def begin(self):
        self.check(self.play({"text": "One."}, prompt="first words"), 0)
        return self.items()

    def test_response_that_does_not_fit(self):
        """It is no part of the session, and its calls are not run."""
        before = self.begin()
        done = self.check_full(self.play({"text": "x" * 600 * KIB, "calls": [self.note()]},
                                         {"text": "no"}))
        self.assertEqual(self.noted(), [])
        self.assertEqual([result for result in done.of_type("tool_result") if result["success"]], [])
        after = self.items()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual([item["type"] for item in after[len(before):]], ["message"])
        self.check(self.play({"text": "Two.", "expect": ["first words", "One.", "and now?"]},
                             prompt="and now?"), 0)
        self.assertEqual(self.noted(), [])
        self.check_sound()

    def test_prompt_that_does_not_fit(self):
        """Nothing is asked, and the session is what it was."""
        before = self.begin()
        self.fill()
        with e2e.Server(e2e.openai_reply("no")) as server:
            done = self.mortise("--json", "-m", "openai/m", "--base-url", server.url, "--session",
                                "trip", "x" * 100 * KIB)
            self.assertEqual(server.requests, [])
        self.check_error(done, 1, "disk is full")
        self.make_room()
        self.assertEqual(self.items(), before)
        self.check(self.play({"text": "Two.", "expect": ["first words", "One."]}), 0)
        self.check_sound()

    def test_no_room_for_the_first_item(self):
        """A session that could not begin is not there."""
        self.fill()
        done = self.play({"calls": [self.note()]}, {"text": "no"})
        self.check_error(done, 1, "disk is full")
        self.assertEqual(done.events[-1]["exit_code"], 1)
        self.assertEqual(self.noted(), [])
        self.make_room()
        self.assertEqual(self.check(self.mortise("--json", "sessions"), 0).events, [])
        self.check(self.play({"text": "One."}), 0)
        self.check_sound()

    def fill_at(self, path):
        """As soon as a file is there, there is no room any more."""
        def wait():
            until = time.monotonic() + e2e.SECONDS
            while not os.path.exists(path) and time.monotonic() < until:
                time.sleep(0.005)
            self.fill()

        thread = threading.Thread(target=wait)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def test_while_a_tool_runs(self):
        """D25: the second call cannot be noted as begun, so it is not begun; the first one ran,
        and is not run again."""
        before = self.begin()
        filled = self.fill_at(self.notes)
        calls = [self.note(1, wait_ms=700), self.note(2), self.note(3)]
        done = self.play({"text": "I note. " + "x" * 20 * KIB, "calls": calls}, {"text": "no"},
                         options=("--session", "trip", "--strategy", "sequential"))
        filled.join()
        self.check_full(done)
        self.assertEqual(self.noted(), ["noted 1"])
        self.make_room()
        after = self.items()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual([item["call_id"] for item in after if item["type"] == "function_call"],
                         ["call_1", "call_2", "call_3"])
        done = self.mortise("--json", "-P", e2e.options.fixtures, "-m",
                            self.script({"text": "Done.", "expect": ["noted 2", "noted 3"]}),
                            "resume", "trip")
        self.check(done, 0)
        self.assertEqual(self.noted(), ["noted 1", "noted 2", "noted 3"])
        self.check_sound()

    def test_result_that_does_not_fit(self):
        """It ran: that is not forgotten, and it does not run twice."""
        self.begin()
        filled = self.fill_at(self.notes)
        done = self.play({"calls": [self.note(1, wait_ms=700)]}, {"text": "no"})
        filled.join()
        self.check_full(done)
        self.make_room()
        done = self.mortise("--json", "-P", e2e.options.fixtures, "-m",
                            self.script({"text": "Done.", "expect": ["call_1"]}), "resume", "trip")
        self.check(done, 0)
        self.assertEqual(self.noted(), ["noted 1"])
        self.check_sound()

    def call(self, tool, arguments):
        plugins = os.path.join(os.path.dirname(e2e.options.fixtures), "services")
        return self.mortise("-q", "-P", plugins, "tools", "call", tool, json.dumps(arguments),
                            env={"XDG_STATE_HOME": self.disk})

    def test_what_tools_store(self):
        """F74: it is told, nothing is left of it, and what was there before is as it was."""
        self.assertEqual(self.check(self.call("keeper_count", {"owner": 1}), 0).out, "1\n")
        small = {"owner": 1, "name": "x", "text": "small"}
        self.assertEqual(self.check(self.call("keeper_save", small), 0).out, "version 1\n")
        large = {"owner": 1, "name": "x", "bytes": 600 * KIB}
        self.check_error(self.call("keeper_save", large), 1, "cannot keep 'x'", "No space left")
        folder = os.path.join(self.disk, "mortise/artifacts/user/+anonymous/x")
        self.assertEqual(os.listdir(folder), ["1.text=plain"])
        self.fill()
        self.check_error(self.call("keeper_save", small), 1, "cannot keep 'x'", "No space left")
        self.check_error(self.call("keeper_count", {"owner": 1, "times": 1000}), 1, "disk is full")
        self.make_room()
        self.assertEqual(self.check(self.call("keeper_save", small), 0).out, "version 2\n")
        self.assertGreater(int(self.check(self.call("keeper_count", {"owner": 1}), 0).out), 1)

    def test_recording(self):
        """D24: where it is too long for the disk it ends, with one warning, and the run does not."""
        path = os.path.join(self.disk, "run.jsonl")
        calls = [("a", "echo", json.dumps({"text": "x" * 300 * KIB}))]
        with e2e.Server(e2e.openai_reply(calls=calls), e2e.openai_reply("Done.")) as server:
            done = self.mortise("--json", "--record", path, "-P", e2e.options.fixtures, "-m", "openai/m",
                                "--base-url", server.url, "hello")
            self.assertEqual(len(server.requests), 2)
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "Done.")
        self.assertEqual(done.err.count("warning"), 1, done)
        self.assertIn(f"the recording '{path}' ends here: No space left on device", done.err)
        replayed = self.check(self.mortise("replay", path), 0)
        self.assertIn("no difference, as far as the recording goes", replayed.err)

    def test_new_plugin(self):
        """F51: all of it is there or nothing, at whichever byte the disk is full."""
        done = None
        for room in range(0, 64 * KIB, KIB):
            self.fill()
            os.truncate(self.filler, os.path.getsize(self.filler) - room)
            done = self.mortise("new", "hook", "guard", cwd=self.disk)
            if done.code == 0:
                break
            self.check_error(done, 1, "cannot ", "No space left on device")
            self.assertEqual(os.listdir(self.disk), ["filler"])
            self.make_room()
        self.check(done, 0)
        self.assertEqual(len(os.listdir(os.path.join(self.disk, "guard"))), 6)


if __name__ == "__main__":
    enter_namespace()
    e2e.main()
