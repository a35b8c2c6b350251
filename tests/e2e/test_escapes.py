"""What code of a model tries to get out of its sandbox, in three languages: all of it is refused.

The world around it is there to be harmed: a file, a process, listeners, variables.  It runs as an
ordinary user where that can be, in a mount namespace of its own in which nothing but that world can
be written, so that what gets through harms nothing else.
"""
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import e2e
import escapes

INSIDE = "MORTISE_TEST_IS_CONFINED"
TOKEN = "canary-3f9c1e77"
NOBODY = "65534"


def confine():
    """Begins anew, as said above, where that is possible."""
    if INSIDE in os.environ or not shutil.which("unshare") or not shutil.which("setpriv"):
        return
    world = tempfile.mkdtemp(prefix="mortise-escapes-")
    mounts = 'mount --bind "$1" "$1" && mount -o remount,bind,ro / && shift && exec "$@"'
    inside = ["sh", "-c", mounts, "sh", world]
    if os.geteuid() == 0:
        os.chown(world, int(NOBODY), int(NOBODY))
        unshare = ["unshare", "--mount", "--propagation", "private"]
        user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
    else:
        unshare = ["unshare", "--mount", "--propagation", "private", "--map-root-user"]
        user = []
    command = [*unshare, *inside, *user]
    can_run = [*command, e2e.options.mortise, "--version"]
    tried = subprocess.run(can_run, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if tried.returncode != 0:
        os.rmdir(world)
        return
    env = {**os.environ, INSIDE: world, "TMPDIR": world}
    done = subprocess.run([*command, sys.executable, "-B", *sys.argv], env=env, check=False)
    shutil.rmtree(world, ignore_errors=True)
    sys.exit(done.returncode)


class World(e2e.Case):
    def setUp(self):
        super().setUp()
        self.secret = self.file("home/secret", TOKEN)
        self.file("home/outsider.py", "")
        library = os.path.join(self.home, "foreign.so")
        plugins = os.path.join(os.path.dirname(os.path.dirname(e2e.options.mortise)), "lib",
                               "mortise", "plugins")
        shutil.copy(os.path.join(plugins, "greet.so"), library)
        self.arrived = []
        self.listeners = [self.listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
                          self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))]
        path = os.path.join(self.root, "listener")
        abstract = "mortise-escapes-" + os.path.basename(self.root)
        self.listeners += [self.listen(socket.AF_UNIX, socket.SOCK_STREAM, path),
                           self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)]
        self.witness = subprocess.Popen(["sleep", "600"], env={"CANARY": TOKEN, **os.environ},
                                        cwd=self.home)
        self.processes.append(self.witness)
        self.places = {
            "SECRET": self.secret, "HOME": self.home, "LIBRARY": library, "TOKEN": TOKEN,
            "UNIX": path, "ABSTRACT": abstract, "WITNESS": str(self.witness.pid),
            "HOST": str(os.getpid()), "TCP": str(self.listeners[0].getsockname()[1]),
            "UDP": str(self.listeners[1].getsockname()[1])}
        self.before = self.state()

    def listen(self, family, kind, address):
        listener = socket.socket(family, kind)
        self.addCleanup(listener.close)
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        threading.Thread(target=self.note, args=(listener, kind), daemon=True).start()
        return listener

    def note(self, listener, kind):
        """Who came; without a word, for it may be the end of the test."""
        try:
            while True:
                if kind == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(100)
                self.arrived.append(listener.getsockname())
        except OSError:
            pass

    def state(self):
        """All that is below the home folder, but for what mortise itself keeps there."""
        found = {}
        for folder, _, names in os.walk(self.home):
            if "/." not in folder:
                for name in names:
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        found[path] = (file.read(), oct(os.stat(path).st_mode), os.stat(path).st_mtime)
        return found

    def fill(self, code):
        for name, value in self.places.items():
            code = code.replace(f"@{name}@", value)
        return code

    def execute(self, codes, language, **limits):
        """One run with a call for each; their results, in order."""
        self.config(plugin_config={"execute_code": limits})
        turns = [{"calls": [{"name": "execute_code",
                             "arguments": {"language": language, "code": self.fill(code)}}]}
                 for code in codes]
        done = self.mortise("--json", "--no-session", "--max-turns", "1000", "-m",
                            self.script(*turns, {"text": "the answer"}), "go",
                            env={"CANARY": TOKEN, "TMPDIR": self.folder("tmp")}, seconds=120)
        self.check(done, 0)
        self.assertEqual(done.events[-1]["text"], "the answer", done)
        results = done.of_type("tool_result")
        self.assertEqual(len(results), len(codes))
        return results

    def check_unharmed(self):
        self.assertEqual(self.state(), self.before)
        self.assertIsNone(self.witness.poll(), "the witness was killed")
        self.assertEqual(self.arrived, [])


class Escapes(World):
    def check_language(self, language):
        attempts = dict(escapes.of_language())[language]
        if platform.machine() != "x86_64":
            attempts = [attempt for attempt in attempts if "system_call(" not in
                        attempt.code.replace("def system_call(", "")]
        results = self.execute([attempt.code for attempt in attempts], language)
        for attempt, result in zip(attempts, results):
            with self.subTest(attempt.name):
                text = result["result"] if isinstance(result["result"], str) else str(result)
                told = text + str(result.get("error") or "")
                self.assertNotIn("ESCAPED", told)
                self.assertNotIn(TOKEN, told)
                self.assertRegex(told, "denied: |SyntaxError|ReferenceError|broken|killed")
        self.check_unharmed()
        print(f"{language}: {len(attempts)} attempts denied", file=sys.stderr)

    def test_python(self):
        """R15, R16, R20"""
        self.check_language("python")

    def test_javascript(self):
        """R16, R19"""
        self.check_language("javascript")

    def test_typescript(self):
        """R16, R19"""
        self.check_language("typescript")

    def test_they_are_attempts(self):
        """Where nothing confines it, what is harmless there gets through."""
        for attempt in dict(escapes.of_language())["python"]:
            if not attempt.outside:
                continue
            with self.subTest(attempt.name):
                scratch = self.folder("outside")
                done = subprocess.run(["/usr/bin/python3", "-c", self.fill(attempt.code)], cwd=scratch,
                                      capture_output=True, text=True, check=False,
                                      env={"CANARY": TOKEN, "PATH": "/usr/bin:/bin"})
                self.assertIn("ESCAPED", done.stdout, done)
                shutil.rmtree(scratch)


class Excesses(World):
    def test_limits(self):
        """R17: whatever there is too much of, the error names it, and the run goes on."""
        for language in ("javascript", "typescript", "python"):
            cases = [case for case in escapes.EXCESSES if case.language == language]
            results = self.execute([case.code for case in cases], language, timeout_s=2)
            for case, result in zip(cases, results):
                with self.subTest(f"{language}: {case.name}"):
                    told = str(result["result"])
                    self.assertTrue(any(word in told for word in case.words), result)
        self.check_unharmed()


if __name__ == "__main__":
    e2e.main(confine)
