"""What REST answers to who asks amiss, and for a plugin that raises whatever it likes while it is asked."""

import threading
from types import SimpleNamespace

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from broker.common.request_bodies import RequestBodies, SharedBodies
from broker.connect.api import ConfigDef, SourceConnector
from broker.connect.herder.collaborators import Alone
from broker.connect.herder.herder import Herder
from broker.connect.plugins import Plugin, catalog
from broker.connect.rest import app
from broker.connect.rest.app import ConnectRest
from broker.connect.rest.serving import _server
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States

PROPS = {"key.converter": "StringConverter", "value.converter": "StringConverter", "offset.storage.file.filename": "/x"}
RAISED: dict[str, BaseException] = {}
ENDED = threading.Event()


class WordlessError(Exception):
    def __str__(self):
        raise LookupError("none")


class Raising(SourceConnector):
    CONFIG = ConfigDef()

    def start(self, props, context):
        return

    def task_configs(self, max_tasks):
        return []

    def validate(self, props):
        if props["raises"] == "nothing, ever":
            ENDED.wait(60)
            return []
        raise RAISED[props["raises"]]


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(catalog, "_entry_points", lambda: (Plugin("Raising", f"{__name__}:Raising"),))
    states = States()
    herder = Herder(read_settings(PROPS, STANDALONE), "w:1", Configurations(), states, StoredOffsets())
    herder.config_log, herder.state_log = MemoryLog(herder.on_config), MemoryLog(states.apply)
    herder.start()
    try:
        yield TestClient(ConnectRest(herder, lambda: "", None, None).app(has_admin=True))
    finally:
        herder.stop()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (LookupError("thrown"), "LookupError: thrown"),
        (SystemExit(3), "SystemExit: 3"),
        (WordlessError(), "WordlessError: <it cannot say: LookupError>"),
        (ValueError("half \ud800"), "ValueError: half \\ud800"),
        (ValueError("x" * 3_000_000), f"ValueError: {'x' * 2048}"),
    ],
)
def test_whatever_a_plugin_raises_is_one_sentence(client, monkeypatch, error, sentence):
    monkeypatch.setitem(RAISED, "it", error)
    answer = client.put("/connectors/c/config", json={"connector.class": "Raising", "raises": "it"})
    assert (answer.status_code, answer.json()) == (500, {"error_code": 500, "message": sentence})
    assert client.get("/connectors").json() == []


def test_a_plugin_that_hangs_is_left_and_others_are_asked(client, monkeypatch):
    config = {"connector.class": "Raising", "raises": "nothing, ever"}
    try:
        with monkeypatch.context() as short:
            short.setattr(app, "REQUEST_TIMEOUT_S", 0.01)
            hung = client.put("/connector-plugins/Raising/config/validate", json=config)
        assert client.get("/connectors").json() == []
    finally:
        ENDED.set()
    assert (hung.status_code, hung.json()["error_code"]) == (500, 500)
    assert "Request timed out" in hung.json()["message"]


def test_a_worker_says_whether_it_is_in_its_group():
    group = Alone()
    rest = ConnectRest(SimpleNamespace(group=group, levels=None), lambda: "", None, None)
    for served in (rest.app(has_admin=True), rest.app(has_admin=False), rest.admin_app()):
        healths = []
        for generation, holds in ((-1, True), (3, True), (3, False)):
            group.generation, group.holds = generation, lambda holds=holds: holds
            answer = TestClient(served).get("/health")
            healths.append((answer.status_code, answer.json()["status"]))
        assert healths == [(503, "starting"), (200, "healthy"), (500, "unhealthy")]


def test_a_body_that_is_no_configuration_by_its_length_is_413(client):
    answer = client.put("/connectors/c/config", json={"connector.class": "FileStreamSource", "pad": "x" * 1024 * 1024})
    assert (answer.status_code, answer.json()["error_code"]) == (413, 413)


def test_values_are_read_alike_by_who_validates_and_who_creates(client):
    config = {"connector.class": "FileStreamSource", "topic": "t", "tasks.max": 1, "errors.log.enable": True, "x": {}}
    body = client.put("/connector-plugins/FileStreamSource/config/validate", json={"name": "c", **config}).json()
    validated = {config["value"]["name"]: config["value"]["value"] for config in body["configs"]}
    made = client.put("/connectors/c/config", json=config).json()["config"]
    assert body["error_count"] == 0
    assert {key: validated.get(key) for key in ("tasks.max", "errors.log.enable")} == {
        "tasks.max": made["tasks.max"], "errors.log.enable": made["errors.log.enable"],
    }  # fmt: skip


@pytest.fixture
def during_a_patch(monkeypatch):
    """during_a_patch(call): it is made once, while the next configuration is validated."""

    def arrange(call) -> None:
        calls, validate = [call], app.require_valid

        def require_valid(config, settings):
            validate(config, settings)
            while calls:
                calls.pop()()

        monkeypatch.setattr(app, "require_valid", require_valid)

    return arrange


def test_of_two_patches_at_once_both_count(client, during_a_patch):
    """Both were acknowledged: neither may write over the other what it had read before."""
    config = {"connector.class": "FileStreamSource", "topic": "t", "a": "0", "b": "0"}
    client.put("/connectors/c/config", json=config)
    during_a_patch(lambda: client.patch("/connectors/c/config", json={"b": "2"}))
    assert client.patch("/connectors/c/config", json={"a": "1"}).status_code == 200
    made = client.get("/connectors/c/config").json()
    assert (made["a"], made["b"]) == ("1", "2")


def test_a_connector_that_is_deleted_during_a_patch_stays_deleted(client, during_a_patch):
    client.put("/connectors/c/config", json={"connector.class": "FileStreamSource", "topic": "t"})
    during_a_patch(lambda: client.delete("/connectors/c"))
    assert client.patch("/connectors/c/config", json={"a": "1"}).status_code == 404
    assert client.get("/connectors").json() == []


@pytest.mark.parametrize(
    "quoted",
    [
        "a%0Ab",
        "a%00",
        "%1B%5B2J",
        "%7F",
        "%C2%9B2J",
        "%C2%85",
        "a%E2%80%AEb",
        "%E2%81%A6a",
        "a%E2%80%8B",
        "a%E2%80%A8b",
    ],
)
def test_a_name_has_no_control_or_format_characters(client, quoted):
    """Names come to logs and pages, and logs to terminals. Kafka refuses ISO control characters alone."""
    answer = client.put(f"/connectors/{quoted}/config", json={"connector.class": "FileStreamSource", "topic": "t"})
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert client.get("/connectors").json() == []


@pytest.mark.parametrize("name", [".", "..", "a\u202eb", "\u2066", ""])
def test_a_name_that_no_connector_may_have_is_refused_wherever_it_is_given(client, name):
    config = {"name": name, "connector.class": "FileStreamSource", "topic": "t"}
    answer = client.post("/connectors", json={"name": name, "config": config})
    assert answer.status_code == 400
    body = client.put("/connector-plugins/FileStreamSource/config/validate", json=config).json()
    assert [config["value"]["name"] for config in body["configs"] if config["value"]["errors"]] == ["name"]
    assert client.get("/connectors").json() == []


@pytest.mark.parametrize("name", ["a b", "größe", "订单", "a.b", "...", "a/b", "👍"])
def test_other_names_are_as_in_kafka(client, name):
    config = {"name": name, "connector.class": "FileStreamSource", "topic": "t"}
    assert client.post("/connectors", json={"name": name, "config": config}).status_code == 201


def test_more_tasks_than_a_topic_has_partitions_are_no_configuration(client):
    """A plugin makes a list of as many, which would end the worker, and the next one that runs the connector."""
    config = {"connector.class": "FileStreamSink", "topics": "t", "file": "/tmp/x", "tasks.max": "2000000000"}
    answer = client.put("/connectors/c/config", json=config)
    assert answer.status_code == 400
    assert "tasks.max" in answer.json()["message"]


@pytest.mark.parametrize("task", ["-1", "+0", "%D9%A0", "1e0", "9" * 6_000, "0x0"])
def test_what_is_no_number_of_a_task_restarts_nothing(client, task):
    """-1 stands for the connector itself inside the worker."""
    client.put("/connectors/c/config", json={"connector.class": "FileStreamSource", "topic": "t"})
    assert client.post(f"/connectors/c/tasks/{task}/restart").status_code == 404


async def test_a_client_that_goes_in_the_middle_of_its_body_writes_no_traceback(client):
    """60 bytes of a request would be 4 KB of the log."""
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    async def send(_message):
        """No client reads it."""

    scope = {"type": "http", "method": "POST", "path": "/connectors", "raw_path": b"/connectors", "query_string": b""}
    scope |= {"headers": [(b"content-length", b"9")], "client": ("10.0.0.1", 1), "server": ("w", 1), "scheme": "http"}
    await SharedBodies(client.app)(scope, receive, send)
    assert not messages


def test_a_body_that_has_no_room_among_the_others_is_to_come_again_later(client):
    client = TestClient(SharedBodies(client.app, RequestBodies(size=0, floor=0)))
    answer = client.post("/connectors", json={"name": "x" * 100_000})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "later" in answer.json()["message"]
    assert client.post("/connectors", json={"name": "x"}).status_code == 400


def test_every_listener_counts_the_answers_that_are_not_read(monkeypatch):
    monkeypatch.setattr("broker.connect.rest.serving.SharedAnswers", lambda app, refusal: (app, refusal))
    app, refusal = _server(JSONResponse({}), None).config.app
    assert isinstance(app, SharedBodies)
    assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "5")
