#!/usr/bin/env python3
"""The bridge beside the client side of the protocol's conformance suite, for both revisions.

conformance_client.py is what the suite starts.  What it does not pass is in
expected-failures-client.yml.

C4, C5, C11, C12, C23, C24
"""
import json
import re
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import HERE, LEGACY, MODERN

MUST = {LEGACY: {"initialize", "tools_call", "sse-retry", "json-schema-2020-12-preservation"},
        MODERN: {"tools_call", "request-metadata", "http-standard-headers", "http-custom-headers",
                 "http-invalid-tool-headers", "json-schema-ref-no-deref",
                 "sep-2322-client-request-state", "json-schema-2020-12-preservation"}}


def client(world):
    return shlex.join([sys.executable, "-B", str(HERE / "conformance_client.py"), world.mortise,
                       str(world.bridge)])


def scenario(world, revision, name):
    """Its checks; alone, a client that does nothing does not pass."""
    folder = world.folder / revision / name
    done = world.run([*world.program("conformance"), "client", "--command", client(world),
                      "--scenario", name, "--spec-version", revision, "-o", folder])
    said = done.stdout + done.stderr + "".join(
        path.read_text("utf-8") for path in folder.glob("*/std*.txt"))
    assert done.returncode == 0, f"{name}: exit code {done.returncode}: {said}"
    [path] = folder.glob("*/checks.json")
    checks = json.loads(path.read_text("utf-8"))
    statuses = [check["status"] for check in checks]
    assert "SUCCESS" in statuses, f"{name}: {checks}"
    assert not {"FAILURE", "WARNING"} & set(statuses), f"{name}: {checks}"
    return statuses.count("SUCCESS")


def revision_passes(world, revision):
    names = sorted(MUST[revision])
    with ThreadPoolExecutor(max_workers=3) as pool:
        passed = sum(pool.map(lambda name: scenario(world, revision, name), names))
    print(f"{revision}: {passed} checks of {len(names)} scenarios passed")


def legacy(world):
    revision_passes(world, LEGACY)


def modern(world):
    revision_passes(world, MODERN)


def nothing_is_no_success(world):
    """The suite can fail."""
    done = world.run([*world.program("conformance"), "client", "--command", "/bin/true",
                      "--scenario", "tools_call", "--spec-version", MODERN])
    assert done.returncode == 1, done.stdout


def required(world, revision):
    """The suite's own list of what a client must pass."""
    package = world.modules / "node_modules/@modelcontextprotocol/conformance/requirements"
    text = (package / f"{revision}.yaml").read_text("utf-8")
    return set(re.findall(r"^ +- (\S+)", re.search(r"(?ms)^client:\n(.*?)^not_scored:", text)[1],
                          re.M))


def everything_else_is_known(world):
    """What is not in MUST is in the file of what fails, and says why there."""
    text = (HERE / "expected-failures-client.yml").read_text("utf-8")
    known = set(re.findall(r"^ +- (\S+)", text, re.M))
    for revision, must in MUST.items():
        wanted = required(world, revision)
        assert must & wanted and not must & known, must & known
        assert wanted <= must | known, wanted - must - known


if __name__ == "__main__":
    sys.exit(harness.run_all([legacy, modern, nothing_is_no_success, everything_else_is_known]))
