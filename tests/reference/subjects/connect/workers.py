"""Who is asked: a worker of Barnabas in this process, without brokers, and one of Kafka's with its broker."""

import contextlib
import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from broker.connect.herder.herder import Herder
from broker.connect.rest.app import ConnectRest
from broker.connect.settings import STANDALONE, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import MemoryLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States
from tests.apache_kafka import connect_worker, log_of, running_kafka
from tests.barnabas_cluster import await_true
from tests.reference.comparison import Reference
from tests.zookeeper_server import free_ports

#: (method, path, body as text or None) to (status, headers in lower case, body as text).
Ask = Callable[[str, str, str | None], tuple[int, dict[str, str], str]]
_STARTS_WITHIN_S = 120
_CONVERTERS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}


@contextlib.contextmanager
def our_worker() -> Iterator[None]:
    """Nothing has to run for our side."""
    yield


def ours(run: Callable[[dict, Ask], dict], *, is_started: bool = True) -> Callable[[dict], dict]:
    """Return what runs a case against a new worker, which has ended afterwards; to validate it need not run."""

    def ours_of_case(case: dict) -> dict:
        states = States()
        props = {**_CONVERTERS, "offset.storage.file.filename": "/nowhere", "bootstrap.servers": "127.0.0.1:1"}
        herder = Herder(read_settings(props, STANDALONE), "worker:1", Configurations(), states, StoredOffsets())
        herder.config_log, herder.state_log = MemoryLog(herder.on_config), MemoryLog(states.apply)
        herder.offset_log = MemoryLog(lambda *_: None)
        if is_started:
            herder.start()
        try:
            client = TestClient(ConnectRest(herder, lambda: "", None, None).app(has_admin=True), follow_redirects=False)
            return run(case, _asking(client))
        finally:
            if is_started:
                herder.stop()

    return ours_of_case


def _asking(client: TestClient) -> Ask:
    def ask(method: str, path: str, body: str | None) -> tuple[int, dict[str, str], str]:
        headers = {} if body is None else {"Content-Type": "application/json"}
        response = client.request(method, path, content=body, headers=headers)
        return response.status_code, {name.lower(): text for name, text in response.headers.items()}, response.text

    return ask


class KafkasWorker:
    """A distributed worker of Apache Kafka, asked over HTTP."""

    def __init__(self, url: str):
        self._url = url

    def outcomes(self, cases: list[dict]) -> list[dict]:
        """Return the outcome of each case, in their order."""
        from tests.reference.subjects.connect.dialogues import outcome_of
        from tests.reference.subjects.connect.validations import shortened

        return [(outcome_of if "steps" in case else shortened)(case, self.ask) for case in cases]

    def ask(self, method: str, path: str, body: str | None) -> tuple[int, dict[str, str], str]:
        request = urllib.request.Request(self._url + path, None if body is None else body.encode(), method=method)
        if body is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=90) as response:
                return response.status, {k.lower(): v for k, v in response.headers.items()}, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read().decode()


@contextlib.contextmanager
def kafkas_worker(_jvm: Reference) -> Iterator[KafkasWorker]:
    """Run a broker and a worker of Kafka; both have ended afterwards."""
    with tempfile.TemporaryDirectory() as directory, running_kafka(Path(directory) / "kafka") as servers:
        (port,) = free_ports(1)
        topics = {
            f"{kind}.storage.{name}": text
            for kind in ("config", "offset", "status")
            for name, text in (("topic", f"connect-{kind}"), ("replication.factor", "1"))
        }
        settings: dict[str, Any] = {
            **_CONVERTERS, **topics, "bootstrap.servers": servers, "group.id": "reference",
            "listeners": f"http://127.0.0.1:{port}", "offset.storage.partitions": "1", "status.storage.partitions": "1",
            "rest.advertised.host.name": "127.0.0.1",
        }  # fmt: skip
        place = Path(directory) / "worker"
        with connect_worker(place, settings):
            worker = KafkasWorker(f"http://127.0.0.1:{port}")
            await_true(lambda: _answers(worker), f"Kafka's worker answers: {log_of(place)}", _STARTS_WITHIN_S)
            yield worker


def _answers(worker: KafkasWorker) -> bool:
    with contextlib.suppress(OSError):
        return worker.ask("GET", "/connectors", None)[0] == 200
    return False


def document(text: str) -> Any:
    """Return a body's JSON; one that is none as its length alone."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return {"not json": len(text) > 0}
