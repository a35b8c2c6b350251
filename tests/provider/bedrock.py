"""What Amazon Bedrock does beside a model's own server: it checks signatures, and frames events.

Both by the specification alone, with Python's hmac and zlib, so that the product is not compared
with itself.
"""
import base64
import calendar
import hashlib
import hmac
import json
import re
import struct
import time
import zlib
from urllib.parse import quote

KEY_ID = "AKIDFIXTURE0123456789"
SECRET = "fixture/secret+0123456789"
TOKEN = "fixture//token+0123456789=="
BEARER = "bedrock-api-key-0123456789"
REGION = "us-west-2"
PATH = re.compile(r"/model/[^/?]+/invoke-with-response-stream\Z")

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET,
               "AWS_SESSION_TOKEN": TOKEN, "AWS_REGION": REGION}

MISMATCH = ("The request signature we calculated does not match the signature you provided. Check "
            "your AWS Secret Access Key and signing method. Consult the service documentation for "
            "details.")


# ---- signatures ------------------------------------------------------------------------------

def _hmac(key, message):
    return hmac.new(key, message.encode(), hashlib.sha256).digest()


def signature(path, headers, names, body, scope, secret=SECRET):
    """The one that a POST must have; `names` are those of the headers that it covers."""
    day, region, service, end = scope
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names)
    request = "\n".join(["POST", quote(path, safe="/-_.~"), "", lines, ";".join(names),
                         hashlib.sha256(body).hexdigest()])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], "/".join(scope),
                         hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (day, region, service, end):
        key = _hmac(key, part)
    return _hmac(key, to_sign).hex()


def refusal(path, headers, body, clock=time.time):
    """Why the service would not take the request, as (error type, message); None when it would."""
    given = headers.get("authorization", "")
    if given == f"Bearer {BEARER}":
        return None
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/(\w+), "
                         r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", given)
    if not match:
        return "MissingAuthenticationTokenException", "Missing Authentication Token"
    key_id, *scope, names, told = match.groups()
    names = names.split(";")
    if key_id != KEY_ID or headers.get("x-amz-security-token", TOKEN) != TOKEN:
        return "UnrecognizedClientException", ("The security token included in the request is "
                                               "invalid.")
    needed = {"host", *(name for name in headers if name.startswith("x-amz-")), "content-type"}
    if names != sorted(names) or not needed <= set(names):
        return "InvalidSignatureException", f"'{needed - set(names)}' must be signed headers"
    date = headers["x-amz-date"]
    if scope != [date[:8], REGION, "bedrock", "aws4_request"]:
        return "InvalidSignatureException", f"Credential should be scoped correctly, not {scope}"
    if not hmac.compare_digest(told, signature(path, headers, names, body, scope)):
        return "InvalidSignatureException", MISMATCH
    age = clock() - calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
    if age > 300:
        return "InvalidSignatureException", f"Signature expired: {date} is now earlier than …"
    if age < -300:
        return "InvalidSignatureException", f"Signature not yet current: {date} is still later …"
    return None


# ---- event streams ---------------------------------------------------------------------------

def frame(payload, **headers):
    """A message; _ in the name of a header stands for -."""
    packed = b""
    for name, value in headers.items():
        name, value = (":" + name.replace("_", "-")).encode(), value.encode()
        packed += bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + packed + payload
    return message + struct.pack(">I", zlib.crc32(message))


def chunk(data):
    """An event of the model's server, as text."""
    payload = {"bytes": base64.b64encode(data.encode()).decode(), "p": "abcdefgh"}
    return frame(json.dumps(payload).encode(), event_type="chunk", content_type="application/json",
                 message_type="event")


def exception(name, message):
    return frame(json.dumps({"message": message}).encode(), exception_type=name,
                 content_type="application/json", message_type="exception")


def frames_of(events):
    """Server-sent events, each as a message."""
    out = b""
    for event in re.split(r"\r?\n\r?\n", events.decode()):
        data = [line[5:].strip() for line in event.splitlines() if line.startswith("data:")]
        if data:
            out += chunk("\n".join(data))
    return out
