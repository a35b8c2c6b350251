"""`mortise doctor`: what it finds, in a world that is in order and in broken ones."""
import email.utils
import json
import os
import socket
import sqlite3
import time

import e2e

KEY = "sk-0123456789abcdef"


def models(*ids):
    return {"object": "list", "data": [{"id": name} for name in ids]}


class Doctor(e2e.Case):
    def doctor(self, code, *arguments, env=None, **how):
        """The findings, which are lines of JSON, and the same for people."""
        done = self.check(self.mortise("doctor", "--json", *arguments, env=env, **how), code)
        for event in done.events:
            self.assertEqual(list(event), ["status", "check", "message", "advice"])
            self.assertIn(event["status"], ("ok", "warning", "problem"))
            if event["status"] != "ok":
                self.assertTrue(event["advice"], event)
        shown = self.check(self.mortise("doctor", *arguments, env=env, **how), code).out
        self.assertEqual(len(shown.splitlines()), len(done.events))
        self.assertNotIn(KEY, done.out + shown)
        return done.events

    def of(self, findings, check, status=None):
        found = [f for f in findings if f["check"] == check and status in (None, f["status"])]
        self.assertTrue(found, f"no {status or ''} finding of {check}: {findings}")
        return found

    def one(self, findings, check, status, *parts):
        for finding in self.of(findings, check, status):
            text = f"{finding['message']}; {finding['advice']}"
            if all(part in text for part in parts):
                return finding
        self.fail(f"no {status} of {check} with {parts}: {findings}")


class Well(Doctor):
    def test_all_is_well(self):
        with e2e.Server(pages={"/v1/models": models("gpt-4.1", "gpt-5")}) as server:
            env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1"}
            findings = self.doctor(0, env=env)
            self.assertEqual([f for f in findings if f["status"] == "problem"], [])
            self.one(findings, "configuration", "ok", "config.json", "defaults")
            self.one(findings, "key", "ok", "openai: OPENAI_API_KEY is set")
            self.one(findings, "key", "ok", "not set:", "ANTHROPIC_API_KEY")
            self.one(findings, "folder", "ok", ".local/share/mortise", "will be made")
            self.one(findings, "folder", "ok", ".local/state/mortise")
            self.one(findings, "sessions", "ok", "none")
            self.one(findings, "plugin", "ok", "'greet' has 1 tool")
            self.one(findings, "model", "ok", "'openai/gpt-4.1'")
            self.one(findings, "proxy", "ok", "none")
            self.one(findings, "server", "ok", server.host, "2 models")
            self.one(findings, "clock", "ok")
            self.one(findings, "locale", "ok", "UTF-8")
            self.assertEqual(len(self.of(findings, "sandbox")), 11)  # R15: each layer
            self.one(findings, "sandbox", "ok", "Landlock, version")

    def test_makes_nothing(self):
        self.doctor(0, "-m", "offline")
        self.assertEqual((os.listdir(self.home), os.listdir(self.work)), ([], []))

    def times(self, folder):
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
        return {path: os.stat(path).st_mtime_ns for path in paths}

    def test_a_store_is_looked_at_and_left_alone(self):
        self.check(self.mortise("--session", "one", "-m", "offline", "hello"), 0)
        folder = os.path.join(self.home, ".local/share/mortise")
        before = self.times(folder)
        findings = self.doctor(0, "-m", "offline")
        self.one(findings, "sessions", "ok", "sessions.db", "whole")
        self.assertEqual(self.times(folder), before)

    def test_a_local_server(self):
        with e2e.Server(pages={"/v1/models": models("llama3.2:latest")}) as server:
            env = {"OLLAMA_HOST": server.host}
            findings = self.doctor(0, env=env)
            self.one(findings, "model", "ok", "ollama/llama3.2:latest", server.host)
            findings = self.doctor(0, "-m", "ollama/llama3.2", env=env)
            self.one(findings, "model", "ok", "(option)")
            self.assertEqual([f for f in findings if f["check"] == "model"][1:], [])
            findings = self.doctor(0, "-m", "ollama/lama3.2:latest", env=env)
            self.one(findings, "model", "warning", "did you mean 'ollama/llama3.2:latest'?")

    def test_mistakes(self):
        self.check_error(self.mortise("doctor", "x"), 2, "mortise doctor")


class Configuration(Doctor):
    def test_a_broken_file(self):
        """Everything else is looked at all the same."""
        path = self.file("home/.config/mortise/config.json", '{"model": "offline", oops}')
        findings = self.doctor(3, "-m", "offline")
        self.one(findings, "configuration", "problem", path, "line 1")
        self.one(findings, "plugin", "ok", "greet")
        self.one(findings, "model", "ok", "offline")

    def test_a_wrong_key_in_a_file(self):
        self.file("home/.config/mortise/config.json", '{"modle": "offline"}')
        findings = self.doctor(3, "-m", "offline")
        self.one(findings, "configuration", "problem", "did you mean 'model'?")

    def test_a_provider_of_the_users_own_that_is_wrong(self):
        self.config(model="offline", provider_config={"work": {"like": "openai", "base_ur": "x"}})
        findings = self.doctor(3)
        self.one(findings, "configuration", "problem", "'work'", "did you mean 'base_url'?")
        self.of(findings, "sandbox")

    def test_a_file_that_was_named(self):
        findings = self.doctor(3, "-m", "offline", "--config", "/nonexistent.json")
        self.one(findings, "configuration", "problem", "/nonexistent.json")

    def test_a_project(self):
        self.file("work/.mortise/config.json", '{"model": "openai/x"}')
        findings = self.doctor(3, "-m", "offline")
        self.one(findings, "configuration", "problem", ".mortise/config.json",
                 "cannot be set by a project")
        self.file("work/.mortise/config.json", '{"max-turns": 3}')
        self.one(self.doctor(0, "-m", "offline"), "configuration", "ok", "project file")

    def test_permissions(self):
        path = self.config(model="offline")
        os.chmod(path, 0o666)
        findings = self.doctor(1)
        self.one(findings, "configuration", "problem", "written by others", "chmod go-w")
        self.one(findings, "configuration", "ok", "is read")

    def test_variables(self):
        findings = self.doctor(3, "-m", "offline", env={"MORTISE_MAX_TURNS": "many"})
        self.one(findings, "variable", "problem", "MORTISE_MAX_TURNS")
        env = {"MORTISE_MODLE": "x", "MORTISE_PLUGIN_PATH": "",
               "MORTISE_AUDIT_FILE": os.path.join(self.root, "audit")}
        findings = self.doctor(0, "-m", "offline", env=env)
        warning, = self.of(findings, "variable")
        self.assertEqual(warning["status"], "warning")
        self.assertIn("MORTISE_MODLE", warning["message"])

    def test_no_home(self):
        findings = self.doctor(0, "-m", "offline", env={"HOME": None})
        self.one(findings, "configuration", "warning", "set HOME")
        self.one(findings, "folder", "warning", "set HOME")


class Keys(Doctor):
    """D24: where each is, never what it is."""

    def test_of_a_file(self):
        key = self.file("key", KEY)
        os.chmod(key, 0o600)
        self.config(model="offline", provider_config={"groq": {"key_file": key}})
        self.one(self.doctor(0), "key", "ok", "groq", key)
        os.chmod(key, 0o644)
        self.one(self.doctor(3), "key", "problem", "groq", "chmod 600")

    def test_of_a_variable_that_is_not_set(self):
        self.config(model="offline", provider_config={"groq": {"key_env": "MY_GROQ"}})
        self.one(self.doctor(3), "key", "problem", "groq", "MY_GROQ")
        self.one(self.doctor(0, env={"MY_GROQ": KEY}), "key", "ok", "groq", "MY_GROQ")

    def test_a_command_is_not_run(self):
        made = os.path.join(self.root, "ran")
        self.config(model="offline", provider_config={"groq": {"key_command": f"touch {made}"}})
        self.one(self.doctor(0), "key", "ok", "groq", "command")
        self.assertFalse(os.path.exists(made))

    def test_one_that_cannot_be_sent(self):
        findings = self.doctor(3, "-m", "offline", env={"GROQ_API_KEY": KEY + "\n"})
        self.one(findings, "key", "problem", "groq", "GROQ_API_KEY", "line break")


class Servers(Doctor):
    def asked(self, code, page, *arguments, env=None, path="/v1/models"):
        with e2e.Server(pages={path: page}) as server:
            return self.doctor(code, *arguments, env={"OPENAI_API_KEY": KEY, **(env or {}),
                                                      "OPENAI_BASE_URL": server.url + "/v1"})

    def test_a_bad_key(self):
        """W125: which variable holds it."""
        page = (401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
        findings = self.asked(3, page)
        self.one(findings, "server", "problem", "OPENAI_API_KEY", "Incorrect API key")

    def test_a_server_without_a_list(self):
        findings = self.asked(0, models(), path="/other")
        self.one(findings, "server", "warning", "HTTP 404", "base URL")

    def test_a_server_in_trouble(self):
        page = (503, {"error": {"message": "come back later"}})
        self.one(self.asked(4, page), "server", "problem", "come back later")

    def test_what_it_says_is_one_line(self):
        page = (500, {"error": {"message": "a\nproblem\x1b[2J forged\r\nproblem"}})
        self.assertNotIn("\x1b", str(self.asked(4, page)))

    def test_no_model(self):
        self.one(self.doctor(3), "model", "problem", "no model", "mortise providers")

    def test_no_key(self):
        self.one(self.doctor(3, "-m", "openai/x"), "model", "problem", "OPENAI_API_KEY")

    def test_nobody_is_there(self):
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        findings = self.doctor(4, env=env)
        self.one(findings, "server", "problem", "takes no connections", "127.0.0.1:1")

    def test_no_such_name(self):
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://nowhere.invalid/v1"}
        findings = self.doctor(4, "--connect-timeout", "5", env=env)
        self.of(findings, "certificates")
        self.one(findings, "server", "problem", "nowhere.invalid")

    def test_no_tls(self):
        with e2e.Server() as server:
            env = {"OPENAI_API_KEY": KEY,
                   "OPENAI_BASE_URL": server.url.replace("http:", "https:") + "/v1"}
            self.one(self.doctor(4, env=env), "server", "problem", "TLS")

    def test_certificates_that_are_not_there(self):
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://127.0.0.1:1/v1",
               "SSL_CERT_FILE": "/nonexistent.pem"}
        findings = self.mortise("doctor", "--json", env=env).events
        self.one(findings, "certificates", "problem", "/nonexistent.pem", "SSL_CERT_FILE")

    def test_the_proxy_in_force(self):
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://nowhere.invalid/v1",
               "http_proxy": "http://me:pass-word@127.0.0.1:1", "no_proxy": "example.org"}
        findings = self.doctor(4, env=env)
        proxy = self.one(findings, "proxy", "ok", "http_proxy: 127.0.0.1:1", "example.org")
        self.assertNotIn("pass-word", str(findings), proxy)
        findings = self.asked(0, models("gpt-4.1"), env={"http_proxy": "http://127.0.0.1:1"})
        self.one(findings, "proxy", "ok", "none: the server is on this machine")

    def test_a_key_that_can_be_read_on_the_way(self):
        for host, warned in (("http://nowhere.invalid", True), ("https://nowhere.invalid", False),
                             ("http://127.0.0.1:1", False)):
            env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": host + "/v1"}
            findings = self.doctor(4, env=env)
            found = [f for f in findings if "without TLS" in f["message"]]
            self.assertEqual([f["status"] for f in found], ["warning"] * warned, host)

    def test_the_clock(self):
        class Late(e2e.Answerer):
            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(time.time() - 3600, usegmt=True)

        with e2e.Server(pages={"/v1/models": models("gpt-4.1")}) as server:
            server.RequestHandlerClass = Late
            env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1"}
            self.one(self.doctor(0, env=env), "clock", "warning", "ahead of the server's", "NTP")


class Plugins(Doctor):
    def test_each_that_is_refused(self):
        """M5, with its reason; the others are told too."""
        path = self.file("plugins/broken.so", "no ELF file")
        findings = self.doctor(5, "-m", "offline", "-P", os.path.dirname(path))
        self.one(findings, "plugin", "problem", path)
        self.one(findings, "plugin", "ok", "greet")
        done = self.mortise("doctor", "-m", "offline", "-P", os.path.dirname(path))
        self.assertNotIn("warning:", done.err)

    def test_one_that_must_load(self):
        findings = self.doctor(5, "-m", "offline", "-e", "/nonexistent.so")
        self.one(findings, "plugin", "problem", "/nonexistent.so")
        self.of(findings, "sandbox")


class Places(Doctor):
    def test_a_damaged_store(self):
        self.check(self.mortise("--session", "one", "-m", "offline", "hello"), 0)
        path = os.path.join(self.home, ".local/share/mortise/sessions.db")
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 4096)
        self.one(self.doctor(1, "-m", "offline"), "sessions", "problem", path, "move it away")
        with open(path, "wb") as file:
            file.write(b"this was no database at all" * 100)
        self.one(self.doctor(1, "-m", "offline"), "sessions", "problem", path)

    def test_a_store_of_a_newer_version(self):
        self.check(self.mortise("--session", "one", "-m", "offline", "hello"), 0)
        path = os.path.join(self.home, ".local/share/mortise/sessions.db")
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 99")
        database.commit()
        findings = self.doctor(3, "-m", "offline")  # while it is open
        self.one(findings, "sessions", "problem", "newer mortise")
        database.close()
        self.one(self.doctor(3, "-m", "offline"), "sessions", "problem", "newer mortise")

    def test_permissions_of_a_store(self):
        self.check(self.mortise("--session", "one", "-m", "offline", "hello"), 0)
        os.chmod(os.path.join(self.home, ".local/share/mortise/sessions.db"), 0o644)
        self.one(self.doctor(0, "-m", "offline"), "sessions", "warning", "chmod 600")

    def test_folders(self):
        state = self.folder("home/.local/state/mortise")
        os.chmod(state, 0o777)
        self.one(self.doctor(1, "-m", "offline"), "folder", "problem", state, "chmod go-w")
        os.rmdir(state)
        self.file("home/.local/state/mortise", "a file")
        self.one(self.doctor(1, "-m", "offline"), "folder", "problem", state, "no folder")

    def test_a_folder_that_cannot_be_made(self):
        findings = self.doctor(1, "-m", "offline", env={"XDG_STATE_HOME": "/dev/null/x"})
        self.one(findings, "folder", "problem", "/dev/null/x/mortise",
                 "cannot be made in '/dev/null'")


class Terminals(Doctor):
    def test_a_locale_that_is_none_of_utf8(self):
        findings = self.doctor(0, "-m", "offline", env={"LC_ALL": "C"})
        self.one(findings, "locale", "warning", "LC_ALL=C.UTF-8")
        findings = self.doctor(0, "-m", "offline", env={"LC_ALL": "xx_XX.UTF-8"})
        self.one(findings, "locale", "warning", "xx_XX.UTF-8", "not installed")


if __name__ == "__main__":
    e2e.main()
