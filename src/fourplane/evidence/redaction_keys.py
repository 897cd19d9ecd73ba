"""Which names hold secrets: ``HF_TOKEN`` and ``clientSecret`` do, ``MAX_TOKENS`` and ``PASSWORD_FILE`` don't."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

__all__ = ["Secrecy", "secrecy"]


class Secrecy(IntEnum):
    """How surely the value under a name is a secret."""

    NO = 0
    VAGUE = 1
    """A secret only where the value looks random: ``auth: munge`` names a method."""
    WEAK = 2
    """A secret unless the value is a plain number: ``session: 3`` and ``tokens = 120`` are counts."""
    STRONG = 3
    HEADER = 4
    """An HTTP header: the secret is the rest of the line."""


_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STRONG = frozenset(
    {"password", "passwords", "passwd", "passphrase", "passphrases", "pwd", "passwort", "secret", "secrets",
     "credential", "credentials", "jwt", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "bearer"}
)  # fmt: skip
_ENDINGS = (
    "password", "passwords", "passwd", "passphrase", "secret", "secrets", "apikey", "apikeys", "accesskey",
    "secretkey", "privatekey", "credential", "credentials", "cookie", "cookies",
)  # fmt: skip
_HEADERS = frozenset({"authorization", "cookie", "cookies"})
_WEAK = frozenset({"session", "sessionid", "sess"})
_BEFORE_KEY = frozenset(
    {"api", "access", "private", "secret", "signing", "encryption", "master", "account", "license", "auth", "service",
     "shared", "ssh", "client", "deploy", "storage", "munge", "ngc", "wandb", "hmac"}
)  # fmt: skip
# the last word says that the value is about a secret, not the secret itself
_ABOUT = frozenset(
    {"file", "files", "path", "paths", "dir", "directory", "name", "names", "url", "uri", "endpoint", "host", "type",
     "ttl", "expiry", "expires", "expiration", "lifetime", "timeout", "age", "length", "len", "min", "max", "policy",
     "count", "counts", "required", "enabled", "disabled", "algorithm", "alg", "ref", "selector", "manager", "address",
     "sock", "socket", "usage", "limit", "version", "provider", "scope", "scopes", "mode", "method", "class", "status"}
)  # fmt: skip
# words that make tokens units of text
_OF_TEXT = frozenset(
    {"max", "min", "num", "n", "number", "total", "count", "counts", "per", "avg", "mean", "median", "prompt",
     "completion", "input", "output", "batched", "batch", "generated", "generation", "cached", "throughput", "rate",
     "limit", "length", "len", "size", "budget", "vocab", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special",
     "stop", "next", "first", "last", "time", "latency", "embedding", "embeddings", "second", "seconds", "train",
     "trained", "training", "processed", "seen", "sec", "s", "parallelism", "ids"}
)  # fmt: skip
# a desktop's session is no login secret
_DESKTOP = frozenset({"xdg", "desktop", "dbus", "manager", "type", "bus", "class", "gdm", "tmux"})


@lru_cache(maxsize=4096)
def secrecy(key: str) -> Secrecy:
    """Return how surely the value under ``key`` is a secret.

    Words are told apart by case and punctuation, so that ``TOKENIZERS_PARALLELISM`` does not hold the word token.
    """
    words = [word.lower().rstrip("0123456789") or word for word in _SPLIT.split(key) if word]
    if not words or words[-1] in _ABOUT or (words[-1] == "id" and words[0] in _OF_TEXT):
        return Secrecy.NO
    if words in (["pwd"], ["oldpwd"], ["old", "pwd"]):
        return Secrecy.NO  # the shell's working directory
    found = max((_of_word(word) for word in words), default=Secrecy.NO)
    if found < Secrecy.STRONG and any(
        after in ("key", "keys") and before in _BEFORE_KEY for before, after in pairwise(words)
    ):
        found = Secrecy.STRONG
    if found is Secrecy.NO:
        return found
    secret = [word for word in words if _of_word(word)]
    if all(word in ("token", "tokens") for word in secret) and _OF_TEXT & set(words):
        return Secrecy.NO
    if set(secret) <= {"session", "sess"} and _DESKTOP & set(words):
        return Secrecy.NO
    return found


def _of_word(word: str) -> Secrecy:
    if word in _HEADERS or word.endswith(("authorization", "cookie")):
        return Secrecy.HEADER
    if word in _STRONG or word.endswith(_ENDINGS):
        return Secrecy.STRONG
    if word in _WEAK or word.endswith(("token", "tokens")):
        return Secrecy.WEAK
    return Secrecy.VAGUE if word == "auth" else Secrecy.NO
