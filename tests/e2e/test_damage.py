"""FAULTS 119-121, 136, 139: whatever is lost or out of order in a stored conversation, the next
request is one that the API takes, in each wire format.
"""
import contextlib
import json
import os
import random
import sqlite3

import e2e
import test_wire

ROUNDS = 12
STORE = "home/.local/share/mortise/sessions.db"


def rows(store):
    return store.execute("SELECT place, json FROM items ORDER BY place").fetchall()


def lose(store, dice):
    store.execute("DELETE FROM items WHERE place = ?", [dice.choice(rows(store))[0]])


def spoil(store, dice):
    place, text = dice.choice(rows(store))
    store.execute("UPDATE items SET json = ? WHERE place = ?",
                  [text[:dice.randrange(len(text))], place])


def swap(store, dice):
    (one, first), (other, second) = dice.choice(rows(store)), dice.choice(rows(store))
    store.execute("UPDATE items SET json = ? WHERE place = ?", [second, one])
    store.execute("UPDATE items SET json = ? WHERE place = ?", [first, other])


def repeat(store, dice):
    (one, _), (_, text) = dice.choice(rows(store)), dice.choice(rows(store))
    store.execute("UPDATE items SET json = ? WHERE place = ?", [text, one])


def rename(store, dice):
    place, text = dice.choice(rows(store))
    item = json.loads(text)
    if "call_id" in item:
        item["call_id"] = dice.choice(["call_0", "call_3", "nobody"])
        store.execute("UPDATE items SET json = ? WHERE place = ?", [json.dumps(item), place])


def forget_starts(store, _dice):
    store.execute("DELETE FROM starts")


DAMAGE = [lose, lose, spoil, swap, repeat, rename, forget_starts]


class DamageTests:
    wire = None

    def ask(self, server, *arguments):
        return self.mortise("-q", "-m", self.wire.model, "--base-url", server.url + self.wire.base,
                            "-P", e2e.options.fixtures, "--no-plugins", *arguments,
                            env=self.wire.env)

    def call(self, number, tool="echo"):
        arguments = {"echo": {"text": f"result {number}"}, "fails": {}}[tool]
        return f"call_{number}", tool, json.dumps(arguments)

    def make_session(self):
        reply = self.wire.reply
        replies = [reply("I ask.", [self.call(0), self.call(1, "fails")]),
                   reply(None, [self.call(2)]), reply("So it is."),
                   reply("Three at once.", [self.call(3), self.call(4), self.call(5)]),
                   reply(None, [self.call(6)]), reply("That was all.")]
        with e2e.Server(*replies) as server:
            self.check(self.ask(server, "--session", "s", "First"), 0)
            self.check(self.ask(server, "-c", "Second"), 0)

    @staticmethod
    def copy(path, to):
        with contextlib.closing(sqlite3.connect(path)) as store:
            with contextlib.closing(sqlite3.connect(to)) as copy:
                store.backup(copy)

    def damaged(self, seed, path):
        """Returns what was done."""
        dice = random.Random(seed)
        with contextlib.closing(sqlite3.connect(path)) as store, store:
            chosen = [dice.choice(DAMAGE) for _ in range(dice.randint(1, 5))]
            for damage in chosen:
                if rows(store) and not (damage is rename and self.is_spoilt(store)):
                    damage(store, dice)
        return [damage.__name__ for damage in chosen]

    @staticmethod
    def is_spoilt(store):
        try:
            return not all(json.loads(text) for _, text in rows(store))
        except ValueError:
            return True

    def check_request(self, body):
        self.name_calls(body)
        self.wire.check_valid(self, body)
        self.assertIn("Go on", self.wire.user_texts(body)[-1])

    @staticmethod
    def name_calls(body):
        """What was torn goes to Gemini without what it sent itself, signatures and ids: there a
        result is told by its place."""
        waiting = []
        for number, content in enumerate(body.get("contents", [])):
            for part in content["parts"]:
                if "functionCall" in part and "id" not in part["functionCall"]:
                    part.setdefault("thoughtSignature", "c2ln")
                    part["functionCall"]["id"] = f"unnamed_{number}_{len(waiting)}"
                    waiting.append(part["functionCall"]["id"])
                elif "functionResponse" in part and "id" not in part["functionResponse"]:
                    part["functionResponse"]["id"] = waiting.pop(0)

    def test_any_damage(self):
        self.make_session()
        path = os.path.join(self.root, STORE)
        whole = os.path.join(self.root, "whole.db")
        self.copy(path, whole)
        for seed in range(ROUNDS):
            self.copy(whole, path)
            done = self.damaged(seed, path)
            with self.subTest(seed=seed, damage=done):
                with e2e.Server(self.wire.reply("Fine."), self.wire.reply("Fine.")) as server:
                    self.check(self.ask(server, "--session", "s", "Go on"), 0)
                    self.check(self.ask(server, "--session", "s", "Go on"), 0)
                    for body in server.bodies:
                        self.check_request(body)


class Chat(DamageTests, e2e.Case):
    wire = test_wire.Chat


class Messages(DamageTests, e2e.Case):
    wire = test_wire.Messages


class Responses(DamageTests, e2e.Case):
    wire = test_wire.Responses

    def check_request(self, body):
        """What the assistant says may stand between its calls and their results."""
        body["input"] = [item for item in body["input"] if item.get("role") != "assistant"]
        super().check_request(body)


class Gemini(DamageTests, e2e.Case):
    wire = test_wire.Gemini


if __name__ == "__main__":
    e2e.main()
