"""Protobuf without a registry: `protobuf.toml` says which message a topic's records are, by files that lie beside it.

    [[messages]]
    topics = "orders*"          # a pattern as those of names are
    part = "value"              # or key; value if it is left out
    file = "orders.desc"        # a descriptor set of protoc, or a .proto, in the directory protobuf/
    message = "shop.Order"

Both are an administrator's, so they are trusted; the records are not.
"""

import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from broker.common.extras import missing_part
from console.kit.common.owned_files import FileError, read_rules_bytes, read_rules_text

RULES_MAX = 200
FILES_MAX = 200
FILE_BYTES_MAX = 8 * 1024 * 1024
#: A message holds some thirty times its bytes once it is read.
MESSAGE_BYTES_MAX = 1024 * 1024
COMPILE_SECONDS = 20.0
_KEYS = {"topics", "part", "file", "message"}


class MappingError(Exception):
    """The sentence says what in the files cannot be used, or why a record is not the message it is said to be."""


@dataclass(frozen=True, slots=True)
class ProtobufRule:
    topics: str
    part: str
    file: str
    message: str


def parse_rules(text: str) -> tuple[ProtobufRule, ...]:
    """Raises MappingError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MappingError(f"it is no TOML: {error}") from None
    listed = document.pop("messages", [])
    if document or not isinstance(listed, list) or len(listed) > RULES_MAX:
        raise MappingError(f"there are at most {RULES_MAX} tables, [[messages]] each, and nothing else.")
    return tuple(_rule(value, f"message {number}") for number, value in enumerate(listed, start=1))


def _rule(table: object, where: str) -> ProtobufRule:
    if not isinstance(table, dict) or table.keys() - _KEYS:
        raise MappingError(f"{where}: there are {', '.join(sorted(_KEYS))}, and nothing else.")
    rule = ProtobufRule(**{"part": "value", "topics": "", "file": "", "message": ""} | table)
    if not all(isinstance(name, str) and name for name in (rule.topics, rule.file, rule.message)):
        raise MappingError(f"{where}: topics, file and message must be texts.")
    if rule.part not in ("key", "value"):
        raise MappingError(f"{where}: part must be key or value.")
    if Path(rule.file).name != rule.file or Path(rule.file).suffix not in (".desc", ".proto"):
        raise MappingError(f"{where}: file must be the name of a .desc or .proto in the directory protobuf.")
    return rule


class Messages:
    """What the files say now; message types are made when the first record asks for one. Thread-safe."""

    def __init__(self, rules: tuple[ProtobufRule, ...], directory: Path):
        self._rules, self._directory = rules, directory
        self._lock = threading.Lock()
        self._files: dict[str, Any] = {}

    def rule_of(self, topic: str, part: str) -> ProtobufRule | None:
        """Return the first rule that fits; None without one."""
        return next((rule for rule in self._rules if rule.part == part and fnmatchcase(topic, rule.topics)), None)

    def read(self, rule: ProtobufRule, data: bytes) -> tuple[dict[str, Any], bool]:
        """Decode `data`, and return whether it has fields unknown to the message. Raises MappingError."""
        from google.protobuf import json_format, message_factory
        from google.protobuf.message import DecodeError
        from google.protobuf.unknown_fields import UnknownFieldSet

        if len(data) > MESSAGE_BYTES_MAX:
            raise MappingError(f"it is longer than {MESSAGE_BYTES_MAX} bytes")
        try:
            message = message_factory.GetMessageClass(self._pool(rule.file).FindMessageTypeByName(rule.message))()
        except KeyError:
            raise MappingError(f"{rule.file} has no message {rule.message}") from None
        try:
            message.ParseFromString(data)
            document = json_format.MessageToDict(message, preserving_proto_field_name=True)
        except (DecodeError, ValueError, TypeError, RecursionError) as error:
            raise MappingError(f"it is no {rule.message}: {error!s:.200}") from None
        return document, len(UnknownFieldSet(message)) > 0

    def _pool(self, file: str) -> Any:
        with self._lock:
            if file not in self._files:
                try:
                    self._files[file] = _pool_of(self._directory / file)
                except MappingError as error:
                    self._files[file] = error
            pool = self._files[file]
        if isinstance(pool, MappingError):
            raise pool
        return pool


def _pool_of(path: Path) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.message import DecodeError

    from console.cluster.schemas.protobuf import add_file

    pool = descriptor_pool.DescriptorPool()
    try:
        data = read_rules_bytes(path, FILE_BYTES_MAX)
        if path.suffix == ".proto":
            data = _compiled(path)
        for proto in descriptor_pb2.FileDescriptorSet.FromString(data).file:
            add_file(pool, proto, proto.name)
    except FileError as error:
        raise MappingError(str(error)) from None
    except (TypeError, KeyError, ValueError, DecodeError) as error:
        raise MappingError(f"{path.name} cannot be used: {error!s:.200}") from None
    return pool


def _compiled(path: Path) -> bytes:
    """Return the descriptors by protoc, in a process of its own."""
    if missing := missing_part("registry"):
        raise MappingError(f"{path.name} cannot be compiled. {missing}")
    with tempfile.TemporaryDirectory(prefix="barnabas-protoc-") as name:
        out = Path(name) / "descriptors"
        options = [f"-I{path.parent}", "--include_imports", f"--descriptor_set_out={out}", str(path)]
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-m", "grpc_tools.protoc", *options], stdin=subprocess.DEVNULL,
                capture_output=True, timeout=COMPILE_SECONDS, env={}, cwd="/", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise MappingError(f"{path.name} takes longer than {COMPILE_SECONDS:g} s to compile") from None
        if done.returncode:
            output = done.stderr.decode(errors="replace").strip().replace(f"{path.parent}/", "")
            raise MappingError(f"{path.name} cannot be compiled: {output:.300}")
        return out.read_bytes()


_lock = threading.Lock()
_kept: tuple[object, Messages | MappingError] | None = None


def messages_of(path: Path) -> Messages:
    """Return the mappings of the current file `path`, with the directory `protobuf` beside it. Raises MappingError."""
    global _kept
    directory = path.with_name("protobuf")
    stamp = (path, _stamp(path), _stamps(directory))
    with _lock:
        if _kept is None or _kept[0] != stamp:
            _kept = stamp, _made(path, directory)
        messages = _kept[1]
    if isinstance(messages, MappingError):
        raise messages
    return messages


def _made(path: Path, directory: Path) -> Messages | MappingError:
    try:
        return Messages(parse_rules(read_rules_text(path)) if path.exists() else (), directory)
    except MappingError as error:
        return MappingError(f"{path.name} cannot be used: {error}")
    except FileError as error:
        return MappingError(str(error))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_mode


def _stamps(directory: Path) -> Mapping[str, object]:
    """Return stamps of the first FILES_MAX files, because a .proto may import others."""
    try:
        paths = sorted(directory.iterdir())[:FILES_MAX]
    except OSError:
        return {}
    return {path.name: _stamp(path) for path in paths}
