"""The demo's sources and the documents as connectors of the worker that `up` has started: made, or made to be as they
should, at each start. What a person added to their configuration stays, and one that was paused stays paused.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from console.ecosystem.connectors.answers import OffsetView
from console.ecosystem.connectors.client import ConnectClient
from console.processes.job_users import DOCUMENTS_TOPIC, METRICS_TOPIC, REQUESTS_TOPIC
from console.processes.setup import Setup

Config = dict[str, str]

_FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
_METRICS = "barnabas.connect.HostMetricsSourceConnector"
_TEXT = "org.apache.kafka.connect.storage.StringConverter"
_TRANSFORMS = "org.apache.kafka.connect.transforms."
_DOCUMENTS = "documents-"
_OURS = {METRICS_TOPIC: _METRICS, REQUESTS_TOPIC: _FILE, DOCUMENTS_TOPIC: _FILE}
_EVERY = {
    "tasks.max": "1",
    "key.converter": _TEXT,
    "value.converter": _TEXT,
    "topic.creation.default.partitions": "1",
    "topic.creation.default.replication.factor": "-1",
}


def wanted_sources(setup: Setup, request_log: Path) -> dict[str, Config]:
    """Return configurations of connectors, by name."""
    configs: dict[str, Config] = {}
    if setup.demo:
        json_values = {
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }
        often = {"interval.ms": "2000"}
        configs["host-metrics"] = {
            **_EVERY,
            **json_values,
            "connector.class": _METRICS,
            "topic": METRICS_TOPIC,
            **often,
        }
        configs["console-access"] = _lines_of(request_log, REQUESTS_TOPIC)
    for path in sorted(setup.documents):
        configs[_free_name(path, configs)] = _lines_of(path, DOCUMENTS_TOPIC) | _of_document(path)
    return configs


def _free_name(path: Path, taken: Mapping[str, Config]) -> str:
    name = _DOCUMENTS + re.sub(r"[^A-Za-z0-9._-]", "_", path.name)
    names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _lines_of(path: Path, topic: str) -> Config:
    return {**_EVERY, "connector.class": _FILE, "file": str(path), "topic": topic}


def _of_document(path: Path) -> Config:
    """Return the connector's configuration; its key is the file's name, and a last line without an end counts after a
    pause.
    """
    chain = {
        "line": ("HoistField$Value", {"field": "line"}),
        "name": ("InsertField$Value", {"static.field": "file", "static.value": path.name}),
        "key": ("ValueToKey", {"fields": "file"}),
        "key-text": ("ExtractField$Key", {"field": "file"}),
        "line-text": ("ExtractField$Value", {"field": "line"}),
    }
    config = {"last.line.rest.ms": "5000", "transforms": ",".join(chain)}
    for alias, (kind, own) in chain.items():
        config[f"transforms.{alias}.type"] = _TRANSFORMS + kind
        config |= {f"transforms.{alias}.{key}": value for key, value in own.items()}
    return config


class SourceKeeper:
    """Over the worker's REST. Every method raises GatewayError."""

    def __init__(self, client: ConnectClient, old_offsets: Path):
        self._client = client
        self._old_offsets = old_offsets

    def keep(self, wanted: Mapping[str, Config]) -> list[str]:
        """Make them so; what was wanted at an earlier start and is no more is deleted. The names of those there are."""
        known = {connector.name: dict(connector.config) for connector in self._client.connectors().connectors}
        for name in known:
            if name not in wanted and _is_ours(name, known[name]):
                self._client.delete(name)
        for name, config in wanted.items():
            self._keep(name, config, known.get(name))
        return list(wanted)

    def _keep(self, name: str, config: Config, known: Config | None) -> None:
        old = read_old_offsets(self._old_offsets, name, config)
        if old is not None:
            self._take_over(name, config, known, old)
            return
        whole = {**(known or {}), **config, "name": name}
        if whole != known:
            self._client.configure(name, whole)

    def _take_over(self, name: str, config: Config, known: Config | None, old: OffsetView) -> None:
        """Start the connector at the old worker's offsets, which are written first."""
        if known is None:
            self._client.create(name, config, "STOPPED")
        self._client.stop(name)
        self._client.alter_offsets(name, [old])
        forget_old_offset(self._old_offsets, config["file"])
        self._client.resume(name)


def _is_ours(name: str, config: Mapping[str, str]) -> bool:
    """Return whether the connector is the demo's, by its configuration: a person's may have the same name."""
    is_named = name in ("host-metrics", "console-access") or name.startswith(_DOCUMENTS)
    return is_named and _OURS.get(config.get("topic", "")) == config.get("connector.class")


def old_offsets_file() -> Path:
    """Return the offsets file of the earlier worker, before sources were connectors."""
    return settings.DATA_DIR / "connect" / "offsets.json"


def read_old_offsets(file: Path, name: str, config: Config) -> OffsetView | None:
    """Return the old offset of a connector's file; those of documents were one."""
    kept = _read(file).get("documents" if name.startswith(_DOCUMENTS) else name, {})
    offset = kept.get(config["file"]) if isinstance(kept, dict) and "file" in config else None
    return OffsetView({"filename": config["file"]}, offset) if isinstance(offset, dict) else None


def forget_old_offset(file: Path, path: str) -> None:
    """Forget the old offset, which the connector has taken over."""
    kept = _read(file)
    left = {name: {k: v for k, v in own.items() if k != path} for name, own in kept.items() if isinstance(own, dict)}
    if not any(left.values()):
        file.unlink(missing_ok=True)
        return
    draft = file.with_name(f"{file.name}.new")
    draft.write_text(json.dumps(left))
    draft.replace(file)


def _read(file: Path) -> dict[str, dict[str, object]]:
    try:
        kept = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
