from __future__ import annotations

import base64
import json
import re
import signal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fourplane.evidence.redaction import redact, redact_bytes, redact_value
from fourplane.evidence.redaction_keys import Secrecy, secrecy

# made up for these tests; assembled, so that no scanner takes this file for a leak
ALNUM = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL"
TOKENS = {
    "aws-key": "AK" + "IA" + "ABCDEFGHIJ234567",
    "github-token": "gh" + "p_" + ALNUM + "1234",
    "gitlab-token": "gl" + "pat-" + ALNUM[:20],
    "huggingface-token": "h" + "f_" + ALNUM,
    "openai-key": "s" + "k-proj-" + ALNUM,
    "slack-token": "xo" + "xb-1234567890-" + ALNUM,
    "google-key": "AI" + "za" + ALNUM + "abc",
    "ngc-key": "nv" + "api-" + ALNUM,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + ALNUM,
    "vault-token": "hv" + "s." + ALNUM,
    "registry-token": "np" + "m_" + ALNUM + "abcd",
}
S = "hush-Hush7"


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("frame", ["{}", "x {} y", "a='{}'", "({}),", "https://h/p/{}/q", '{{"a": "{}"}}', "\n{}\n"])
def test_tokens_are_known_by_their_form(kind: str, frame: str) -> None:
    found = redact(frame.format(TOKENS[kind]))
    assert found.text == frame.format(f"[redacted:{kind}]")
    assert (found.count, found.kinds) == (1, {kind: 1})


@pytest.mark.parametrize(
    "text",
    [
        f"HF_TOKEN={S}",
        f"export AWS_SECRET_ACCESS_KEY={S}",
        f"  DB_PASSWORD = '{S}'",
        f"PGPASSWORD={S} with spaces {S}",
        f'docker run -e "API_KEY={S}" image',
        f"docker run --env SESSION={S} image",
        f'{{"clientSecret":"{S}","n":3}}',
        f'{{"auth": {{"password": "{S}"}}}}',
        f'{{\\"password\\": \\"{S}\\", \\"x\\": 1}}',
        f"{{'token': '{S}'}}",
        f"password: {S}",
        f"  - private_key: {S}",
        f"password: |\n  {S}\n\n  {S}\nnext: 1",
        f"password: >-\r\n  {S}\r\nnext: 1\r\n",
        f"- name: HF_TOKEN\n  value: {S}",
        f'{{"name": "HF_TOKEN",\n   "value": "{S}"}}',
        f"Authorization: Bearer {S}",
        f"> authorization:Basic {S}",
        f"curl -H 'Authorization: token {S}' https://host",
        f'curl -H "Cookie: a=b; c={S}" https://host',
        f"Set-Cookie: id={S}; HttpOnly",
        "proxy: Basic " + base64.b64encode(f"me:{S}".encode()).decode(),
        f"bearer {S}",
        f"https://me:{S}@host/path",
        f"redis://:{S}@host:6379/0",
        f"postgres://me:a@{S}@host/db",
        f"GET https://b.s3.example/x?a=1&X-Amz-Signature={S}&b=2",
        f"https://x.blob.example/c?sv=1&sig={S}",
        f"tool --password {S} --n 3",
        f"tool --password={S} --n 3",
        f"tool --api-key '{S}'",
        f'["tool", "--token", "{S}", "x"]',
        f"sshpass -p {S} ssh host",
        f"os.environ['API_KEY'] = '{S}'",
        f"SLURM_JWT={S}",
        f"AccountKey={S};EndpointSuffix=x",
        f"client-key-data: {S}",
        f"secret => '{S}'",
        f'password = "{S}',
        f"MYTOKEN={S}",
        f"accessToken: '{S}'",
    ],
)
def test_values_under_the_name_of_a_secret_go(text: str) -> None:
    found = redact(text)
    assert S not in found.text
    assert base64.b64encode(f"me:{S}".encode()).decode() not in found.text
    assert found.count >= 1 and found.count == sum(found.kinds.values())
    assert found.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "NCCL_DEBUG=INFO",
        "NCCL_IB_HCA=mlx5_0:1",
        "TOKENIZERS_PARALLELISM=false",
        "MAX_TOKENS=4096",
        "tokens_per_second: 120",
        "max_num_batched_tokens=8192",
        '{"prompt_tokens": 12, "total_tokens": 40}',
        "tokens: 120",
        "tokens = 120 tok/s",
        "time_to_first_token: 12.3 ms",
        "eos_token: </s>",
        "PWD=/home/me",
        "OLDPWD=/home/me",
        "XDG_SESSION_ID=3",
        "XDG_SESSION_TYPE=tty",
        "session: 3",
        "AuthType=auth/munge",
        "AccountingStorageType=accounting_storage/slurmdbd",
        "PASSWORD_FILE=/run/secrets/db",
        "secretName: regcred",
        "password: null",
        '{"token": ""}',
        "PASSWORD=",
        "monkey=banana",
        "keyboard: us",
        "Model name: AMD EPYC 7763 64-Core Processor",
        "basic functionality of the bearer interface",
        "task-manager-with-a-very-long-name-indeed",
        "ssh://git@host/repo",
        "http://[::1]:8080/x",
        "https://host:8443/p?x=1&page=2",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-4b8e2a1c-1111-2222-3333-444455556666)",
        "PCI 0000:1b:00.0 speed 32.0 GT/s width 16",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "std::token::next(x)",
        "usage: tool [--n N]",
        "secrets are not stored here",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    found = redact(text)
    assert (found.text, found.count, found.kinds) == (text, 0, {})


@pytest.mark.parametrize(
    ("key", "level"),
    [
        ("HF_TOKEN", Secrecy.WEAK),
        ("hfToken", Secrecy.WEAK),
        ("PASSWORD2", Secrecy.STRONG),
        ("AWS_ACCESS_KEY_ID", Secrecy.STRONG),
        ("x-api-key", Secrecy.STRONG),
        ("Proxy-Authorization", Secrecy.HEADER),
        ("public_key", Secrecy.NO),
        ("token_count", Secrecy.NO),
        ("TOKEN_FILE", Secrecy.NO),
        ("tokenization", Secrecy.NO),
        ("", Secrecy.NO),
        ("___", Secrecy.NO),
    ],
)
def test_names_are_told_apart_by_words(key: str, level: Secrecy) -> None:
    assert secrecy(key) is level


PEM = "-----{} {}PRIVATE KEY-----"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\nab=="


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_private_keys_go_and_lines_stay(kind: str) -> None:
    text = f"before\n{PEM.format('BEGIN', kind)}\n{BODY}\n{PEM.format('END', kind)}\nafter"
    found = redact(text)
    assert found.text.split("\n") == ["before", *["[redacted:private-key]"] * 5, "after"]
    assert found.kinds == {"private-key": 1}


def test_a_private_key_that_is_cut_off_goes_up_to_the_next_ordinary_line() -> None:
    head = PEM.format("BEGIN", "RSA ")
    text = f"a {head}\nProc-Type: 4,ENCRYPTED\n\n{BODY}\ndone, went on\nrate: 12"
    lines = redact(text).text.split("\n")
    assert len(lines) == 8 and lines[-2:] == ["done, went on", "rate: 12"] and lines[0] == "a [redacted:private-key]"
    assert not any(part in redact(text).text for part in BODY.split("\n"))
    assert BODY.split("\n")[1] not in redact(f"{head}\n{BODY}").text
    in_a_log = "\n".join(f"Dec 01 n1 app: {line}" for line in (head, *BODY.split("\n")[:2]))
    assert BODY.split("\n")[0] not in redact(in_a_log).text


def test_a_private_key_inside_json_goes() -> None:
    key = PEM.format("BEGIN", "") + "\\n" + BODY.replace("\n", "\\n") + "\\n" + PEM.format("END", "")
    found = redact(f'{{"a": 1, "key_pem": "{key}", "b": 2}}')
    assert json.loads(found.text) == {"a": 1, "key_pem": "[redacted:private-key]", "b": 2}


def test_a_whole_environment() -> None:
    text = f"HOME=/home/me\nHF_TOKEN={S}\nNCCL_DEBUG=INFO\nDB_PASSWORD=with space {S}\nPATH=/bin:/usr/bin\n"
    expected = text.replace(f"HF_TOKEN={S}", "HF_TOKEN=[redacted:key-value]")
    expected = expected.replace(f"with space {S}", "[redacted:key-value]")
    assert redact(text).text == expected


def test_values_in_json_objects_know_their_names() -> None:
    found = redact_value(
        {
            "env": {"HF_TOKEN": S, "N": 3, "DB_PASSWORD": 1234, "tokens": 12, "secrets": [S, S]},
            "pod": [{"name": "API_KEY", "value": S}, {"name": "MODE", "value": "fast"}],
            "argv": ["tool", "--password", S, "--token", "--n", "3"],
            f"TOKEN={S}": None,
            "flag": True,
        }
    )
    assert S not in json.dumps(found.value) and "1234" not in json.dumps(found.value)
    assert found.value["env"]["N"] == 3 and found.value["env"]["tokens"] == 12
    assert found.value["pod"][1] == {"name": "MODE", "value": "fast"}
    assert found.value["argv"] == ["tool", "--password", "[redacted:argument]", "--token", "--n", "3"]
    assert found.count == 7 and found.value["flag"] is True
    again = redact_value(found.value)
    assert (again.value, again.count) == (found.value, 0)


def test_bytes_are_decoded_the_same_way_every_time() -> None:
    assert redact_bytes(b"a\xff\xfe TOKEN=abc\xff\n").text == "a\ufffd\ufffd TOKEN=[redacted:key-value]\n"


PARTS = st.sampled_from(
    [*TOKENS.values(), PEM.format("BEGIN", "RSA "), PEM.format("END", "RSA "), "[redacted:key-value]", "[redacted:",
     "]", "password", "TOKEN", "token", "session", "auth", "Authorization", "Cookie", "name", "value", "--password",
     "sshpass -p ", "://", "https://", "?sig=", "&", "@", ":", ": ", "=", "=>", '"', "'", "`", "\\", '\\"', " ", "\t",
     "\n", "\r\n", "-", ".", ",", ";", ")", "{", "}", "[", "|", ">", "user", "Bearer ", "Basic ", "abc", "12", "\x00",
     "\ufffd", "é", "\u2028"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PARTS, max_size=14).map("".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing_and_lines_stay(text: str) -> None:
    once = redact(text)
    assert once.text.count("\n") == text.count("\n")
    assert (once.count == 0) == (once.text == text)
    twice = redact(once.text)
    assert (twice.text, twice.count) == (once.text, 0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="abcXYZ019", min_size=8, max_size=16), min_size=1, max_size=4, unique=True), TEXTS)
def test_lines_without_a_secret_are_kept_as_they_are(words: list[str], noise: str) -> None:
    assume(not re.search(r"PRIVATE|[|>]", noise))
    plain = "\n".join(f"line {word}" for word in words)
    found = redact(f"{plain}\n{noise}\n{plain}")
    assert found.text.startswith(plain + "\n")


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["HF_TOKEN", "DB_PASSWORD", "apiKey", "client_secret", "AWS_SECRET_ACCESS_KEY"]),
    st.text(
        alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\"'`"), min_size=10, max_size=40
    ),
)
def test_a_value_of_an_environment_never_survives(key: str, value: str) -> None:
    pieces = re.findall(r"[A-Za-z0-9]{4,}", value)
    assume(re.search(r"[A-Za-z]{3}", value) and not value.startswith(("{", "[")))
    listed = json.dumps({"Env": [f"{key}={value}"]})
    for text in (f"A=1\n{key}={value}\nB=2", f'run -e "{key}={value}" x', listed):
        found = redact(text)
        rest = found.text.replace("[redacted:key-value]", "").replace(key, "")
        assert value not in found.text and not any(piece in rest for piece in pieces)


LONG = 100_000
ADVERSARIES = {
    "letters": "a" * LONG,
    "names": "token " * (LONG // 6),
    "assignments": "auth=!" * (LONG // 6),
    "quotes": 'token="' * (LONG // 7),
    "escaped": 'token: \\"' * (LONG // 9),
    "schemes": "://a:" * (LONG // 5),
    "at signs": "://a:" + "@" * LONG,
    "spaces": "password" + " " * LONG,
    "backslashes": "password: " + "\\" * LONG,
    "dashes": "-" * LONG,
    "begins": PEM.format("BEGIN", "") * (LONG // 27),
    "begin lines": (PEM.format("BEGIN", "") + "\n") * (LONG // 28),
    "blocks": "password: |\n a\n" * (LONG // 14),
    "keys": "sk-" * (LONG // 3),
    "dots": "eyJ" + "." * LONG,
    "jwts": "eyJ" * (LONG // 3),
    "options": "--token " * (LONG // 8),
    "pairs": "name: a\n" * (LONG // 8),
    "lists": "token: [" * (LONG // 8),
    "blank lines": "password: |\n" + "\n" * LONG,
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_no_text_makes_the_search_hang(name: str) -> None:
    """Each takes a fraction of a second; a search in quadratic time would take minutes, and the guard ends it."""

    def hung(_signal: int, _frame: object) -> None:
        raise AssertionError("the search hangs")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(15)
    try:
        found = redact(ADVERSARIES[name])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert found.text.count("\n") == ADVERSARIES[name].count("\n")
