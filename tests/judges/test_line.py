"""The line to an endpoint; what breaks on it is in test_llm.py."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from driftjudge.judges import line
from driftjudge.judges.line import BrokenLineError, DirectLine, ProxiedLine, open_line
from tests.judges import misbehaving as wire
from tests.judges.builders import run
from tests.judges.misbehaving import MisbehavingServer

BODY = b'{"model": "m", "messages": [{"content": "x"}]}'


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "no_proxy",
        "NO_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


async def _posted(url: str, times: int = 1) -> list[int]:
    opened = open_line(url, {"X-Mine": "yes", "Content-Length": "7", "Host": "elsewhere"}, 20.0)
    try:
        return [(await opened.post(BODY)).status for _ in range(times)]
    finally:
        await opened.aclose()


def test_headers_are_ours_except_for_those_of_the_protocol(server: MisbehavingServer) -> None:
    assert run(_posted(f"{server.url}/chat/completions")) == [200]
    (seen,) = server.seen
    assert seen.headers["x-mine"] == "yes"
    assert seen.headers["content-length"] == str(len(BODY))
    assert seen.headers["host"] == f"127.0.0.1:{server.port}"


def test_a_connection_the_server_closed_is_not_used_again(server: MisbehavingServer) -> None:
    server.next(wire.raw(wire.http(200, b"{}", {"Connection": "close"})))
    assert run(_posted(f"{server.url}/x", 3)) == [200, 200, 200]


def test_a_connection_that_was_idle_for_long_is_not_used_again(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "IDLE_SECONDS", -1.0)
    assert run(_posted(f"{server.url}/x", 2)) == [200, 200]


def test_an_answer_without_end_is_not_read_to_its_end(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "LARGEST_ANSWER", 1000)
    server.next(wire.raw(wire.http(200, b"x" * 5000)))
    with pytest.raises(BrokenLineError, match="more than 1000 bytes"):
        run(_posted(f"{server.url}/x"))


def test_a_proxy_is_used_where_the_environment_names_one(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    assert isinstance(open_line("http://endpoint.invalid/v1", {}, 1.0), ProxiedLine)
    assert run(_posted("http://endpoint.invalid/v1/chat/completions")) == [200]
    assert server.seen[0].path == "http://endpoint.invalid/v1/chat/completions"
    monkeypatch.setenv("no_proxy", "endpoint.invalid")
    assert isinstance(open_line("http://endpoint.invalid/v1", {}, 1.0), DirectLine)


def test_a_broken_proxy_is_a_broken_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(BrokenLineError) as caught:
        run(_posted("http://endpoint.invalid/v1"))
    assert not caught.value.sent


def _certificate(folder: Path) -> Path:
    """A certificate for loopback that signs itself, with its key, in one file."""
    x509 = pytest.importorskip("cryptography.x509", reason="cryptography is not installed")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1)
    )
    for extension in (
        x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]),
        x509.BasicConstraints(ca=True, path_length=None),
    ):
        made = made.add_extension(extension, critical=False)
    text = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    text += key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "loopback.pem"
    path.write_bytes(text)
    return path


def test_a_secure_line_is_open_to_whom_we_trust_and_to_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with MisbehavingServer(tls=context) as server:
        with pytest.raises(BrokenLineError, match="no secure connection") as caught:
            run(_posted(f"{server.url}/x"))
        assert not caught.value.sent
        assert server.seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert run(_posted(f"{server.url}/x", 2)) == [200, 200]
