"""The commands of the binary: what they show, what they refuse, and how they end."""
import json
import os
import re
import subprocess

import e2e

TOOLS = ["calculator", "check_report_status", "counter", "execute_code", "generate_report",
         "get_weather", "glob", "greet", "grep", "http_fetch", "list_files", "load_artifact",
         "memory_add", "memory_search", "read_file", "save_artifact", "web_search"]
COMMANDS = ("run", "tools", "plugins", "hooks", "providers", "models", "doctor", "new", "config",
            "completion", "help")


class Help(e2e.Case):
    def test_help_teaches(self):
        done = self.check(self.mortise("--help"), 0)
        for command in COMMANDS:
            self.assertIn(f"mortise {command}", done.out)
        for word in ("--model", "--plugins", "--json", "-m offline", "ANTHROPIC_API_KEY",
                     "Exit codes", "124 time limit", "130 interrupted"):
            self.assertIn(word, done.out)
        self.assertEqual(done.err, "")
        self.assertEqual(done.out, self.mortise("help").out)
        self.assertEqual(done.out, self.mortise("-h").out)

    def test_help_fits_a_terminal(self):
        for line in self.mortise("--help").out.splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_help_of_one_command(self):
        for command in COMMANDS:
            done = self.check(self.mortise("help", command), 0)
            self.assertIn(f"mortise {command}", done.out)
            self.assertEqual(done.out, self.mortise(command, "--help").out)

    def test_version(self):
        done = self.check(self.mortise("--version"), 0)
        self.assertRegex(done.out, r"\Amortise \d+\.\d+\.\d+\n\Z")

    def test_creates_nothing(self):
        for arguments in (["--help"], ["--version"], ["help", "tools"], ["tools"], ["providers"],
                          ["config", "show"], ["-m", "offline", "hello"]):
            self.mortise(*arguments)
            self.assertEqual(os.listdir(self.home), [], arguments)
            self.assertEqual(os.listdir(self.work), [], arguments)

    def test_needs_no_good_configuration(self):
        self.file("home/.config/mortise/config.json", "{broken")
        self.check(self.mortise("--help"), 0)
        self.check(self.mortise("--version"), 0)

    def test_needs_no_home(self):
        for home in (None, "", "/nonexistent"):
            self.check(self.mortise("--help", env={"HOME": home}), 0)
            self.check(self.mortise("-m", "offline", "hello", env={"HOME": home}), 0)


class Mistakes(e2e.Case):
    def test_unknown_option(self):
        self.check_error(self.mortise("--modle", "offline", "hi"), 2, "'--modle'",
                         "did you mean '--model'?")
        self.check_error(self.mortise("-x", "hi"), 2, "'-x'", "mortise --help")

    def test_option_without_value(self):
        self.check_error(self.mortise("hi", "-m"), 2, "--model PROVIDER/MODEL")

    def test_bad_values(self):
        for option, value, rule in (("--max-turns", "many", "whole number"),
                                    ("--temperature", "hot", "number"),
                                    ("--color", "red", "auto, always or never"),
                                    ("--strategy", "fast", "auto, ordered, sequential or parallel"),
                                    ("--reasoning", "hard", "low, medium or high")):
            done = self.mortise("-m", "offline", option, value, "hi")
            self.check_error(done, 2, option, f"'{value}'", rule)

    def test_unknown_command(self):
        self.check_error(self.mortise("help", "tols"), 2, "'tols'", "did you mean 'tools'?")
        self.check_error(self.mortise("help", "frobnicate"), 2, "'frobnicate'", "mortise --help")

    def test_unknown_words(self):
        for arguments in (["tools", "lst"], ["tools", "show"], ["tools", "call"], ["hooks", "x"],
                          ["plugins", "show"], ["providers", "x"], ["config", "x"],
                          ["tools", "call", "greet", "{}", "more"]):
            self.check_error(self.mortise(*arguments), 2, f"usage: mortise {arguments[0]}")

    def test_no_prompt(self):
        self.check_error(self.mortise("-m", "offline"), 2, "no prompt", "mortise --help")

    def test_no_model(self):
        done = self.mortise("hello")
        self.check_error(done, 3, "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "-m PROVIDER/MODEL",
                         "-m offline", "mortise providers")

    def test_unknown_provider(self):
        done = self.mortise("-m", "opnai/gpt", "hello")
        self.check_error(done, 2, "'opnai/gpt'", "openai", "anthropic", "offline")

    def test_no_key(self):
        self.check_error(self.mortise("-m", "anthropic/m", "hello"), 3, "ANTHROPIC_API_KEY",
                         "-m offline")

    def test_missing_script(self):
        self.check_error(self.mortise("-m", "script/nowhere.json", "hello"), 3, "nowhere.json")

    def test_broken_configuration(self):
        path = self.file("home/.config/mortise/config.json", '{"model": }')
        self.check_error(self.mortise("tools"), 3, path, "line 1, column")
        self.config(modle="x")
        self.check_error(self.mortise("tools"), 3, "'modle'", "did you mean 'model'?")

    def test_strangers_project(self):
        """A project's file can neither load code nor send keys elsewhere."""
        self.file("work/.mortise/config.json", '{"base-url": "http://127.0.0.1:1"}')
        done = self.mortise("-m", "offline", "hello")
        self.check_error(done, 3, "'base-url' cannot be set by a project")
        self.file("work/.mortise/config.json", '{"plugins": ["."]}')
        self.check_error(self.mortise("tools"), 3, "'plugins' cannot be set by a project")

    def test_an_error_ends_json_too(self):
        """--json: the last line is the result, however early it failed."""
        for arguments, code in ((["hello"], 3), (["-m", "offline"], 2),
                                (["-m", "script/nowhere.json", "hello"], 3),
                                (["-m", "offline", "-e", "no.so", "hi"], 5)):
            done = self.check(self.mortise("--json", *arguments), code)
            self.assertEqual(done.events[-1]["type"], "result", done)
            self.assertEqual(done.events[-1]["exit_code"], code)
            self.assertEqual(len(done.of_type("error")), 1)


class Tools(e2e.Case):
    def test_list(self):
        done = self.check(self.mortise("tools", "list"), 0)
        names = [line.split()[0] for line in done.out.splitlines()]
        self.assertEqual(names, TOOLS)
        self.assertIn("Greet somebody by name.", done.out)
        self.assertEqual(done.err, "")
        self.assertEqual(done.out, self.mortise("tools").out)

    def test_list_of_some(self):
        done = self.check(self.mortise("tools", "--tools", "g*,count?r"), 0)
        names = [line.split()[0] for line in done.out.splitlines()]
        self.assertEqual(names, ["counter", "generate_report", "get_weather", "glob", "greet", "grep"])
        self.assertEqual(self.check(self.mortise("tools", "--no-tools"), 0).out, "")

    def test_list_without_plugins(self):
        done = self.check(self.mortise("tools", "--no-plugins"), 0)
        self.assertEqual(done.out, "")
        self.assertIn("-P DIR", done.err)

    def test_list_for_programs(self):
        done = self.check(self.mortise("tools", "--json"), 0)
        tools = {tool["name"]: tool for tool in done.events}
        self.assertEqual(sorted(tools), TOOLS)
        schema = tools["greet"]["input_schema"]
        self.assertEqual(schema["type"], "object")
        self.assertEqual(schema["required"], ["name"])
        self.assertEqual(schema["properties"]["name"]["description"], "Who to greet.")
        self.assertEqual(tools["greet"]["plugin"], "greet")

    def test_show(self):
        done = self.check(self.mortise("tools", "show", "calculator"), 0)
        for part in ("calculator", "multiply", "plugin", "calculator.so", "read-only",
                     "input schema"):
            self.assertIn(part, done.out)
        shown = self.check(self.mortise("tools", "show", "calculator", "--json"), 0).events
        self.assertEqual([tool["name"] for tool in shown], ["calculator"])

    def test_show_examples(self):
        """As their author wrote them, and in the schema that the model sees."""
        tools = ["--plugin", os.path.join(e2e.options.fixtures, "e2e_tools.so"), "tools", "show", "fails"]
        done = self.check(self.mortise(*tools), 0)
        self.assertRegex(done.out, r'(?m)^example +\{"why": "it rains"\}$')
        schema = self.mortise(*tools, "--json").events[0]["input_schema"]
        self.assertEqual(schema["examples"], [{"why": "it rains"}])

    def test_unknown_tool(self):
        for command in (["show", "gret"], ["call", "gret", "{}"]):
            self.check_error(self.mortise("tools", *command), 2, "'gret'", "did you mean 'greet'?")
        self.check_error(self.mortise("tools", "call", "zzzzzz"), 2, "'zzzzzz'", "mortise tools")

    def test_call(self):
        """T33, F62: outside of a run."""
        done = self.check(self.mortise("tools", "call", "greet", '{"name": "Ada"}'), 0)
        self.assertEqual(done.out, "Hello, Ada!\n")
        self.assertIn("→ greet", done.err)
        self.assertIn("← greet", done.err)

    def test_call_quietly(self):
        done = self.check(self.mortise("-q", "tools", "call", "greet", '{"name": "Ada"}'), 0)
        self.assertEqual((done.out, done.err), ("Hello, Ada!\n", ""))

    def test_call_without_arguments(self):
        self.assertEqual(self.check(self.mortise("tools", "call", "counter"), 0).out, "count: 0\n")

    def test_call_from_standard_input(self):
        done = self.mortise("tools", "call", "greet", "-", input='{"name": "Bo"}\n')
        self.assertEqual(self.check(done, 0).out, "Hello, Bo!\n")

    def test_missing_argument(self):
        done = self.mortise("tools", "call", "greet", "{}")
        self.check(done, 1)
        self.assertEqual(done.out, "")
        self.assertIn("name is required", done.err.replace("'", ""))

    def test_wrong_arguments(self):
        for arguments, parts in (('{"name": 5}', ("'name'", "a string", "5")),
                                 ('{"nme": "Ada"}', ("'nme'", "'name'")),
                                 ('["Ada"]', ("must be a JSON object", "a list")),
                                 ('{"name": }', ("not valid JSON", "line 1, column 10")),
                                 ('{"name": "A', ("not valid JSON", "line 1"))):
            done = self.check(self.mortise("tools", "call", "greet", arguments), 1)
            self.assertEqual(done.out, "", arguments)
            for part in parts:
                self.assertIn(part, done.err)

    def test_failing_tool(self):
        arguments = '{"op": "divide", "a": 1, "b": 0}'
        done = self.check(self.mortise("tools", "call", "calculator", arguments), 1)
        self.assertEqual(done.out, "")
        self.assertIn("Cannot divide by zero", done.err)

    def test_call_for_programs(self):
        done = self.check(self.mortise("--json", "tools", "call", "greet", '{"name": "Ada"}'), 0)
        call, result = done.events[0], done.events[-1]
        self.assertEqual((call["type"], call["arguments"], call["valid"]),
                         ("tool_call", {"name": "Ada"}, True))
        self.assertEqual((result["type"], result["success"], result["result"], result["error"]),
                         ("tool_result", True, "Hello, Ada!", None))
        self.assertEqual(result["id"], call["id"])
        self.assertGreaterEqual(result["duration_ms"], 0)

        done = self.check(self.mortise("--json", "tools", "call", "greet", "oops"), 1)
        call, result = done.events[0], done.events[-1]
        self.assertEqual((call["valid"], call["arguments"], call["arguments_raw"]),
                         (False, None, "oops"))
        self.assertEqual(result["error"]["category"], "invalid_input")

    def test_who_calls(self):
        call = ("-P", e2e.options.fixtures, "tools", "call", "who")
        self.assertEqual(self.check(self.mortise(*call), 0).out,
                         "user=anonymous tenant=none agent=mortise\n")
        done = self.mortise("--user", "ada", "--tenant", "acme", "--agent", "bot", *call)
        self.assertEqual(self.check(done, 0).out, "user=ada tenant=acme agent=bot\n")

    def test_scopes(self):
        call = ("-P", e2e.options.fixtures, "tools", "call", "guarded")
        done = self.check(self.mortise(*call), 1)
        self.assertIn("vault:read", done.err)
        self.check(self.mortise("--scopes", "x,vault:read", *call), 0)


class Plugins(e2e.Case):
    def test_list(self):
        done = self.check(self.mortise("plugins", "list"), 0)
        self.assertEqual(sorted(line.split()[0] for line in done.out.splitlines()),
                         sorted(name for name in os.listdir(os.path.join(e2e.options.source, "plugins"))
                                if name != "CMakeLists.txt"))
        for plugin in self.check(self.mortise("plugins", "--json"), 0).events:
            self.assertTrue(plugin["loaded"])
            self.assertTrue(os.path.exists(plugin["path"]), plugin)

    def test_show(self):
        env = {"MORTISE_AUDIT_FILE": os.path.join(self.root, "audit.jsonl")}
        done = self.check(self.mortise("plugins", "show", "audit", env=env), 0)
        for part in ("audit 1.0.0", "audit.so", "hook", "OnAbort"):
            self.assertIn(part, done.out)
        self.check_error(self.mortise("plugins", "show", "nope"), 2, "'nope'")

    def test_refused_file(self):
        """What is no plugin is told in one line, and everything else works."""
        folder = self.folder("plugins")
        path = self.file("plugins/broken.so", "this is no shared object")
        done = self.check(self.mortise("-P", folder, "tools", "call", "greet", '{"name": "A"}'), 0)
        self.assertIn(path, done.err)
        self.assertEqual(done.out, "Hello, A!\n")
        refused = [plugin for plugin in self.mortise("-P", folder, "plugins", "--json").events
                   if not plugin["loaded"]]
        self.assertEqual([plugin["path"] for plugin in refused], [path])
        self.assertTrue(refused[0]["reason"])

    def test_required_plugin(self):
        path = self.file("broken.so", "this is no shared object")
        self.check_error(self.mortise("-e", path, "tools"), 5, path)
        self.check_error(self.mortise("-e", "/nowhere.so", "tools"), 5, "/nowhere.so")

    def test_check(self):
        good = os.path.join(e2e.options.fixtures, "e2e_tools.so")
        bad = self.file("bad.so", "no")
        self.assertIn(good, self.check(self.mortise("plugins", "check", good), 0).out)
        done = self.check(self.mortise("plugins", "check", good, bad), 5)
        self.assertIn(good, done.out)
        self.assertIn(bad, done.err)

    def test_folders(self):
        """-P, the variable and the user's folder, in this order; the first one of a name wins."""
        source = os.path.join(e2e.options.fixtures, "e2e_tools.so")
        places = [self.folder("option"), self.folder("variable"),
                  self.folder("home/.local/share/mortise/plugins")]
        for place in places:
            with open(source, "rb") as old, open(os.path.join(place, "e2e_tools.so"), "wb") as new:
                new.write(old.read())
        env = {"MORTISE_PLUGIN_PATH": places[1]}

        def found(*options):
            shown = self.mortise(*options, "tools", "show", "echo", env=env)
            return re.search(r"file +(.*)/e2e_tools.so", self.check(shown, 0).out).group(1)

        self.assertEqual(found("-P", places[0]), places[0])
        self.assertEqual(found(), places[1])
        env.clear()
        self.assertEqual(found(), places[2])

    def test_hooks(self):
        done = self.check(self.mortise("-P", e2e.options.fixtures, "hooks"), 0)
        for event in ("OnPromptSubmit", "PreLlmRequest", "PreToolCall", "PostToolCall", "OnTurnEnd",
                      "OnAbort", "OnTextDelta", "OnToolCallDelta", "OnStreamChunk",
                      "OnStreamComplete"):
            self.assertIn(event, done.out)
        line = done.out.splitlines()[0]
        order = re.findall(r"e2e_hooks/(\w+)", line)
        self.assertEqual(order, ["early", "also_early", "main", "late"])


class Settings(e2e.Case):
    def test_providers_show_no_key(self):
        key = "sk-this-must-not-be-shown"
        done = self.check(self.mortise("providers", env={"OPENAI_API_KEY": key}), 0)
        self.assertIn("OPENAI_API_KEY (set)", done.out)
        self.assertIn("ANTHROPIC_API_KEY (not set)", done.out)
        self.assertNotIn(key, done.out + done.err)
        for name in ("openai", "openai-responses", "anthropic", "ollama", "openrouter", "script",
                     "offline"):
            self.assertRegex(done.out, rf"(?m)^{name}$")

    def test_config(self):
        self.config(max_turns=7, stop=["a", "b"])
        self.file("work/.mortise/config.json", '{"temperature": 0.5}')
        done = self.mortise("config", "--retries", "1", env={"MORTISE_TOP_K": "3"})
        self.check(done, 0)
        shown = dict(re.findall(r"(?m)^(\S+) +(.*)$", done.out))
        self.assertEqual(shown["max-turns"], "7  (user file)")
        self.assertEqual(shown["temperature"], "0.5  (project file)")
        self.assertEqual(shown["top-k"], "3  (environment)")
        self.assertEqual(shown["retries"], "1  (option)")
        self.assertEqual(shown["strategy"], "auto  (default)")
        self.assertIn("stop                 a  (user file)\nstop                 b", done.out)
        self.assertEqual(done.out, self.mortise("config", "show", "--retries", "1",
                                                env={"MORTISE_TOP_K": "3"}).out)

    def test_first_provider_with_a_key(self):
        """Without -m, the provider whose key is set is asked."""
        with e2e.Server(e2e.anthropic_reply("Hello.")) as server:
            done = self.mortise("hi", env={"ANTHROPIC_API_KEY": "sk-ant-0123456789",
                                           "ANTHROPIC_BASE_URL": server.url})
            self.check(done, 0)
            self.assertEqual(done.out, "Hello.\n")
            self.assertEqual(server.requests[0]["path"], "/v1/messages")

    def test_key_of_the_configuration(self):
        key = "sk-from-a-file-0123456789"
        path = self.file("key", key + "\n")
        os.chmod(path, 0o600)
        self.config(model="openai/m", provider_config={"openai": {"key_file": path}})
        with e2e.Server(e2e.openai_reply("Hello.")) as server:
            self.check(self.mortise("hi", "--base-url", server.url + "/v1"), 0)
            self.assertEqual(server.requests[0]["headers"]["Authorization"], "Bearer " + key)
        os.chmod(path, 0o644)
        done = self.mortise("hi", "--base-url", "http://127.0.0.1:1/v1")
        self.check_error(done, 3, path, "chmod 600")
        self.assertNotIn(key, done.err)

    def test_keys_are_redacted_in_errors(self):
        key = "sk-0123456789-secret"
        answer = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}}).encode()

        class Refusing(e2e.Answerer):
            def answer(self, reply):
                self.send_response(401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        with e2e.Server(b"") as server:
            server.RequestHandlerClass = Refusing
            for options in ([], ["-vv"], ["--json"]):
                server.replies.append(b"")
                done = self.mortise("-m", "openai/m", *options, "hi", "--base-url", server.url,
                                    env={"OPENAI_API_KEY": key})
                self.check(done, 3)
                self.assertNotIn(key, done.out + done.err)
                self.assertIn("[redacted]", done.out + done.err)


class Prompts(e2e.Case):
    def asked(self, *arguments, input=None, **how):
        """The prompt as the model got it."""
        with e2e.Server(e2e.openai_reply("Yes.")) as server:
            done = self.mortise("-m", "openai/m", "--base-url", server.url, *arguments, input=input,
                                **how)
            self.check(done, 0)
            self.assertEqual(done.out, "Yes.\n")
            return server.bodies[0]["messages"][-1]["content"]

    def test_words(self):
        self.assertEqual(self.asked("how", "are you?"), "how are you?")
        self.assertEqual(self.asked("run", "how", "-q", "are you?"), "how are you?")

    def test_words_after_two_dashes(self):
        self.assertEqual(self.asked("--", "--json", "is", "what?"), "--json is what?")

    def test_a_command_as_a_word(self):
        self.assertEqual(self.asked("run", "tools"), "tools")

    def test_standard_input_alone(self):
        self.assertEqual(self.asked(input="from\nbelow\n"), "from\nbelow")
        self.assertEqual(self.asked("-", input="from\nbelow\n"), "from\nbelow")

    def test_standard_input_beside_words(self):
        """It is appended after an empty line."""
        self.assertEqual(self.asked("Review this", input="a\nb\n"), "Review this\n\na\nb")
        self.assertEqual(self.asked("Review", "-", "this", input="a\n"), "Review this\n\na")

    def test_empty_standard_input(self):
        self.assertEqual(self.asked("alone", input=""), "alone")

    def test_closed_standard_input(self):
        with e2e.Server(e2e.openai_reply("Yes.")) as server:
            process = subprocess.run(
                ["sh", "-c", 'exec "$0" "$@" <&-', e2e.options.mortise, "-m", "openai/m",
                 "--base-url", server.url, "alone"], env=self.environment(None), cwd=self.work,
                capture_output=True, timeout=e2e.SECONDS)
            self.assertEqual(process.returncode, 0, process)
            self.assertEqual(server.bodies[0]["messages"][-1]["content"], "alone")

    def test_invalid_text(self):
        """FAULTS 128; D23: what is no UTF-8 becomes U+FFFD at the border."""
        self.assertEqual(self.asked(input=b"a\xff\x00b"), "a\ufffd\ufffdb")

    def test_large_input(self):
        text = "line of text\n" * 100000
        self.assertEqual(self.asked("Count:", input=text), "Count:\n\n" + text.rstrip("\n"))


class Output(e2e.Case):
    COMMANDS = (["--help"], ["--version"], ["tools"], ["tools", "--json"],
                ["tools", "show", "greet"], ["tools", "call", "greet", '{"name": "A"}'],
                ["plugins"], ["hooks"], ["providers"], ["config"],
                ["-m", "offline", "What is the weather in Tokyo?"],
                ["--json", "-m", "offline", "What is the weather in Tokyo?"])

    def test_full_disk(self):
        """A command that could not say everything has failed, and says why."""
        for arguments in self.COMMANDS:
            with open("/dev/full", "w", encoding="ascii") as full:
                done = self.mortise(*arguments, stdout=full)
            self.check(done, 1)
            self.assertIn("cannot write to standard output: No space left on device", done.err)

    def test_closed_standard_output(self):
        """Nothing that the host opens may take the place of a closed descriptor."""
        for arguments in self.COMMANDS:
            process = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', e2e.options.mortise,
                                      *arguments], env=self.environment(None), cwd=self.work,
                                     stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     timeout=e2e.SECONDS)
            self.assertEqual(process.returncode, 1, (arguments, process))
            self.assertIn(b"standard output: Bad file descriptor", process.stderr, arguments)

    def test_reader_that_goes_away(self):
        """A run whose answer nobody reads any more ends, although the model would go on."""
        for options in ([], ["--json"]):
            model = self.script({"text": "word " * 2000, "delay_ms": 50})
            process = self.start("-m", model, *options, "hi")
            process.stdout.read(10)
            process.stdout.close()
            process.stdout = None
            done = self.finish(process)
            self.check(done, 1)
            self.assertIn("cannot write to standard output: Broken pipe", done.err)

    def test_reader_that_reads_one_line(self):
        """As with `| head -1`: it ends at once, one way or the other."""
        process = self.start("--help")
        process.stdout.readline()
        process.stdout.close()
        self.assertIn(process.wait(timeout=e2e.SECONDS), (0, 1, -13))

    def test_failing_standard_error(self):
        """Notes that nobody can read are no reason to lose the answer."""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = self.mortise("-m", "offline", "What is the weather in Tokyo?", stderr=full)
        self.check(done, 0)
        self.assertIn("Tokyo", done.out)


if __name__ == "__main__":
    e2e.main()
