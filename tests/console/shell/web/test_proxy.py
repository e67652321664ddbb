"""Whom the web process believes about who asks, and the path it hangs below. Pure."""

import pytest

from console.shell.web.proxy import BehindProxy, read_networks, read_prefix


async def scope_of(
    client: str, *headers: tuple[str, str], path: str = "/", prefix: str = "", kind: str = "http"
) -> dict:
    seen = {}

    async def application(scope, receive, send):
        seen.update(scope)

    scope = {"type": kind, "scheme": {"http": "http", "websocket": "ws"}[kind], "path": path, "raw_path": path.encode()}
    scope |= {"client": (client, 1234), "headers": [(name.encode(), value.encode()) for name, value in headers]}
    await BehindProxy(application, read_networks(["10.0.0.0/8", "::1"], "X"), prefix)(scope, None, None)
    return seen


async def test_a_stranger_is_not_believed():
    scope = await scope_of("203.0.113.9", ("x-forwarded-for", "1.2.3.4"), ("x-forwarded-proto", "https"), ("host", "h"))

    assert (scope["client"][0], scope["scheme"]) == ("203.0.113.9", "http")
    assert scope["headers"] == [(b"host", b"h")]


async def test_a_trusted_proxy_says_who_asks_and_how():
    scope = await scope_of("10.0.0.1", ("x-forwarded-for", "198.51.100.7"), ("x-forwarded-proto", "https"))

    assert (scope["client"][0], scope["scheme"]) == ("198.51.100.7", "https")


@pytest.mark.parametrize(
    ("addresses", "believed"),
    [
        (["1.2.3.4, 198.51.100.7"], "198.51.100.7"),
        (["1.2.3.4", "198.51.100.7, 10.0.0.2"], "198.51.100.7"),
        (["10.0.0.9"], "10.0.0.1"),
        (["unknown"], "10.0.0.1"),
        (["198.51.100.7, nonsense"], "10.0.0.1"),
        ([""], "10.0.0.1"),
        (["2001:db8::5"], "2001:db8::5"),
    ],
)
async def test_only_what_a_trusted_proxy_wrote_counts(addresses, believed):
    scope = await scope_of("10.0.0.1", *[("x-forwarded-for", item) for item in addresses])

    assert scope["client"][0] == believed


@pytest.mark.parametrize(("proto", "scheme"), [("https", "wss"), ("http", "ws"), ("ftp", "ws"), ("http, HTTPS", "wss")])
async def test_a_websocket_is_encrypted_if_the_proxy_says_so(proto, scheme):
    assert (await scope_of("10.0.0.1", ("x-forwarded-proto", proto), kind="websocket"))["scheme"] == scheme


@pytest.mark.parametrize(
    ("path", "seen"),
    [("/topics/", "/kafka/topics/"), ("/kafka/topics/", "/kafka/topics/"), ("/kafkaesque/", "/kafka/kafkaesque/")],
)
async def test_a_proxy_may_leave_the_prefix_or_take_it_away(path, seen):
    assert (await scope_of("10.0.0.1", path=path, prefix="kafka/"))["path"] == seen


@pytest.mark.parametrize(
    ("text", "prefix"), [("", ""), ("/", ""), ("/kafka", "kafka/"), ("kafka/eu/", "kafka/eu/"), ("//a//b", "a/b/")]
)
def test_a_prefix_is_written_as_one_likes(text, prefix):
    assert read_prefix(text, "X") == prefix


@pytest.mark.parametrize("text", ["/a b", "/..", "/<str:x>", "/a?b", "/%2e", "/é"])
def test_a_prefix_that_cannot_be_is_one_sentence(text):
    with pytest.raises(SystemExit, match=r"X=.* must be a path"):
        read_prefix(text, "X")


def test_a_network_that_cannot_be_is_one_sentence():
    with pytest.raises(SystemExit, match=r"X: '10\.0\.0\.1/40' does not appear"):
        read_networks(["10.0.0.1/40"], "X")
