"""What somebody might try who is not let in, or who writes names and records for others to look at."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from asgiref.testing import ApplicationCommunicator
from django.test import Client
from django.urls import reverse

from console.asgi import application
from console.shell.web.request_limits import BODY_BYTES_MAX, RequestLimits
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup
from tests.console.ecosystem.connectors.lying_server import connector
from tests.console.kit.access.test_every_address import CLOSED, _objects, address_of  # noqa: F401
from tests.console.websocket import Websocket
from tests.examples import some

EVIL = "\"'><img src=x onerror=alert(1)>{{ 7*7 }}=1+1"
MARKUP = "<img src=x"
#: Of files: a browser keeps them and draws none of them, so what is in them stays as it was written.
FILE_TYPES = {"application/yaml", "application/x-ndjson"}

CONNECTOR_PAGES = [
    "connector", *(f"connector-{name}" for name in ("details", "configure", "delete", "offsets", "reset-offsets"))
]  # fmt: skip


def hostile_connector(connect) -> None:
    """Everything that a worker may say says it."""
    config = {"file": EVIL, EVIL: EVIL, "topics": EVIL}
    connect.connectors[EVIL] = connector(EVIL, EVIL, tasks=((EVIL, EVIL), ("FAILED", f"{EVIL}Error: {EVIL}")), **config)
    address = f"/connectors/{quote(EVIL, safe='')}"
    connect.answers["GET", address] = (200, connect.connectors[EVIL]["info"])
    connect.answers["GET", f"{address}/status"] = (200, connect.connectors[EVIL]["status"])
    offsets = {"offsets": [{"partition": {EVIL: EVIL}, "offset": {EVIL: EVIL}}]}
    connect.answers["GET", f"{address}/offsets"] = (200, offsets)
    connect.answers["GET", f"{address}/topics"] = (403, {"error_code": 403, "message": EVIL})
    connect.answers["GET", "/"] = (200, {"version": EVIL, "kafka_cluster_id": "fake-cluster"})
    connect.answers["GET", "/connector-plugins"] = (200, [{"class": f"a.{EVIL}", "type": "sink", "version": EVIL}])
    key = {"name": EVIL, "type": EVIL, "group": EVIL, "documentation": EVIL, "default_value": EVIL, "importance": EVIL}
    connect.answers["GET", "/connector-plugins/FileSourceConnector/config"] = (200, [key])
    value = {"name": EVIL, "recommended_values": [EVIL], "errors": [EVIL]}
    checked = {"configs": [{"definition": key, "value": value}]}
    connect.answers["PUT", "/connector-plugins/FileSourceConnector/config/validate"] = (200, checked)


def scope(method: str = "POST", path: str = "/login/", headers: tuple = (), query: bytes = b"") -> dict:
    fields = {"type": "http", "method": method, "path": path, "query_string": query, "http_version": "1.1"}
    return fields | {"headers": [(b"host", b"localhost"), *headers], "client": ("127.0.0.1", 1), "scheme": "http"}


async def status_of(communicator: ApplicationCommunicator) -> int:
    message = await communicator.receive_output(5)
    assert message["type"] == "http.response.start"
    return message["status"]


async def test_a_body_without_end_is_refused_before_it_fills_the_disk():
    communicator = ApplicationCommunicator(application, scope())
    for _ in range(BODY_BYTES_MAX // 1_000_000 + 1):
        await communicator.send_input({"type": "http.request", "body": b"x" * 1_000_000, "more_body": True})

    assert await status_of(communicator) == 413


async def test_a_body_that_is_announced_too_long_is_not_read():
    length = (b"content-length", str(BODY_BYTES_MAX + 1).encode())
    assert await status_of(ApplicationCommunicator(application, scope(headers=(length,)))) == 413


@pytest.mark.parametrize("path", ["/api/v1/plans", "/api/v1/mcp", "/clusters/west/api/v1/plans/apply"])
@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_program_is_told_in_json_how_much_it_may_send(path, is_announced, settings):
    body = b"x" * 3_900_000
    headers = ((b"content-length", str(len(body)).encode()),) if is_announced else ()
    communicator = ApplicationCommunicator(application, scope(path=path, headers=headers))
    await communicator.send_input({"type": "http.request", "body": body, "more_body": False})
    start, answer = await communicator.receive_output(5), await communicator.receive_output(5)
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (413, b"application/problem+json")
    document = json.loads(answer["body"])
    assert document["status"] == 413
    assert f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes" in document["detail"]


async def test_a_form_of_ordinary_length_passes():
    async def read_all(_scope, receive, send):
        while (await receive()).get("more_body"):
            await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    communicator = ApplicationCommunicator(RequestLimits(read_all), scope())
    await communicator.send_input({"type": "http.request", "body": b"x" * BODY_BYTES_MAX, "more_body": False})
    assert await status_of(communicator) == 204


@pytest.mark.parametrize(("path", "query"), [("/topics/\0/", b""), ("/topics/", b"search=%00")])
async def test_nul_in_an_address_never_reaches_the_database(path, query):
    assert await status_of(ApplicationCommunicator(application, scope("GET", path, (), query))) == 400


async def test_nul_in_the_address_of_a_websocket_is_refused():
    assert not await Websocket(application, "/ws/records/", "topic=%00&mode=tail").connect()


def test_every_page_is_closed_to_frames_caches_and_foreign_files(administrator, client_of):
    client = client_of(administrator)
    weak = {}
    for name in some(CLOSED):
        headers = client.get(address_of(name)).headers
        is_strong = (
            headers.get("X-Frame-Options") == "DENY"
            and "no-store" in headers.get("Cache-Control", "")
            and headers.get("X-Content-Type-Options") == "nosniff"
            and headers.get("Referrer-Policy") == "same-origin"
            and headers.get("Cross-Origin-Opener-Policy") == "same-origin"
            and "default-src 'none'" in headers.get("Content-Security-Policy", "")
            and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        )
        weak |= {} if is_strong else {name: dict(headers)}
    assert weak == {}


def test_names_and_records_written_by_others_are_text_on_every_page(
    administrator, client_of, cluster, collect, connect, collector
):
    cluster.produce_record("orders", 0, EVIL.encode(), EVIL.encode(), ((EVIL, EVIL.encode()),))
    cluster.commit(EVIL, "orders", 0, 0)
    hostile_connector(connect)
    collect()
    collector.look("connectors")
    assert ConsumerGroup.objects.filter(name=EVIL).exists()
    client = client_of(administrator)
    client.post(reverse("own-password"), {"old_password": EVIL})
    addresses = [address_of(name) for name in CLOSED]
    addresses += [reverse(name, args=[EVIL]) for name in ("group", "group-reset", "group-delete")]
    addresses += [reverse(name, args=[EVIL]) for name in CONNECTOR_PAGES]
    query = f"?search={EVIL}&page={EVIL}&sort={EVIL}&kind={EVIL}&since={EVIL}"
    addresses += [f"{address}{query}" for address in some(addresses, one_in=3)]
    answers = {address: client.get(address) for address in addresses}
    files = {address for address, item in answers.items() if "attachment" in item.get("Content-Disposition", "")}
    assert {answers[file]["Content-Type"].partition(";")[0] for file in files} <= FILE_TYPES
    assert {answers[file]["X-Content-Type-Options"] for file in files} == {"nosniff"}
    seen = {address: item.content.decode() for address, item in answers.items() if address not in files}

    assert {address for address, text in seen.items() if MARKUP in text} == set()
    assert sum("&lt;img src=x" in text for text in seen.values()) > 10


def test_a_file_of_hostile_names_holds_no_formula(administrator, client_of, cluster, collect):
    for name in ("=cmd|' /C calc'!A0", "+1", "@SUM(1)", "\t=1", "＝1"):
        cluster.commit(name, "orders", 0, 0)
    collect()
    response = client_of(administrator).get(reverse("consumers") + "?format=csv")
    lines = b"".join(response.streaming_content).decode().splitlines()

    assert len(lines) >= 6
    assert [line for line in lines if line.lstrip('"').startswith(("=", "+", "@", "\t", "＝"))] == []


@pytest.mark.parametrize("page", ["0", "-1", "99999999999999999999", "x", "1e9", "٣"])
def test_no_page_number_is_a_fault(page, viewer, client_of):
    for name in ("topics", "consumers", "placement", "history"):
        assert client_of(viewer).get(reverse(name), {"page": page}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "[", "a b"])
def test_only_our_own_names_are_answered(host, db):
    assert Client(headers={"host": host}).get("/login/").status_code == 400


def test_a_form_with_too_many_fields_is_refused(administrator, client_of):
    fields = {"resource": ["topic"] * 2_000, "pattern": ["x"] * 2_000, "level": ["viewer"] * 2_000}
    assert client_of(administrator).post(reverse("user", args=[administrator.pk]), fields).status_code == 400


def settings_of(directory: Path, expression: str, **variables: str):
    code = f"import json; from django.conf import settings as s; print(json.dumps({expression}))"
    environment = {"PATH": os.environ["PATH"], "BARNABAS_DATA": str(directory), **variables}
    environment["DJANGO_SETTINGS_MODULE"] = "console.settings"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[4], env=environment, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def test_cookies_of_a_console_behind_tls_never_go_in_the_clear(tmp_path):
    flags = "[s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SESSION_COOKIE_HTTPONLY, s.CSRF_COOKIE_HTTPONLY, "
    flags += "[str(each) for each in s.TRUSTED_PROXIES]]"
    values = settings_of(tmp_path, flags, BARNABAS_TLS_PROXY="1")
    assert values == [True, True, True, True, ["127.0.0.1/32", "::1/128"]]


@pytest.mark.parametrize(
    ("variables", "prefix", "path", "hsts"),
    [
        ({}, "", "/", 0),
        ({"BARNABAS_TLS_PROXY": "1"}, "__Host-", "/", 31_536_000),
        ({"BARNABAS_TLS_PROXY": "1", "BARNABAS_PATH_PREFIX": "/kafka"}, "__Secure-", "/kafka/", 31_536_000),
    ],
)
def test_behind_tls_cookies_are_bound_to_it_by_their_names(tmp_path, variables, prefix, path, hsts):
    """`__Host-` needs the path / (RFC 6265bis); below a prefix cookies of other applications must not be ours."""
    names = "[s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.BROWSER_COOKIE_NAME]"
    values = settings_of(tmp_path, f"[{names}, s.SESSION_COOKIE_PATH, s.SECURE_HSTS_SECONDS]", **variables)
    assert values == [[f"{prefix}barnabas_{name}" for name in ("session", "csrf", "browser")], path, hsts]


def test_the_password_is_on_no_page_after_it_was_typed(viewer):
    typed = "a password nobody should read"
    assert typed not in Client().post("/login/", {"username": "viewer", "password": typed}).content.decode()


def test_nobody_learns_by_the_refusal_whether_a_topic_exists(outsider, client_of):
    Topic.objects.get_or_create(name="payments")
    client = client_of(outsider)
    answers = [client.get(reverse("topic", args=[name])) for name in ("payments", "paymentz")]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert len({answer.context["sentence"] for answer in answers}) == 1
