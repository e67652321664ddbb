"""Texts to descriptors by protoc, in a process that is kept: starting one takes longer than compiling."""

import base64
import contextlib
import json
import os
import re
import subprocess
import threading
from collections.abc import Mapping

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from broker.common.errors import BarnabasError
from broker.common.installation import module_command, with_code_path
from broker.common.limits import REGISTRY_COMPILED_MAX
from broker.common.readable import readable
from broker.common.security_limits import REGISTRY_KEPT_TEXTS_MAX
from broker.registry.errors import InvalidSchema, RegistryError
from broker.registry.protobuf.map_entries import describe_map_entries, without_map_entries
from broker.registry.text_cache import TextCache

#: The path of the schema itself, which has none.
MAIN = "default.proto"
_TIMEOUT_S = 30.0
_PATH = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]{0,300}")

_kept: TextCache[tuple[tuple[str, str], ...], bytes] = TextCache(REGISTRY_COMPILED_MAX, REGISTRY_KEPT_TEXTS_MAX)
_turn = threading.Lock()
_process: subprocess.Popen[bytes] | None = None


class _CompilerGone(BarnabasError):
    pass


def is_path(path: str) -> bool:
    """Return whether an import may have the path: a relative one of plain names."""
    return bool(_PATH.fullmatch(path)) and ".." not in path.split("/") and not path.startswith("/")


def compile_files(files: Mapping[str, str]) -> list[FileDescriptorProto]:
    """Compile MAIN and all it imports, each before what imports it. Raises InvalidSchema with the compiler's words."""
    for path in files:
        if not is_path(path):
            raise InvalidSchema(f"{path[:100]!r} is no path to import")
    plain = {path: without_map_entries(text) for path, text in files.items()}
    texts = {path: item.text for path, item in plain.items()}
    compiled = list(FileDescriptorSet.FromString(_compiled(tuple(sorted(texts.items())))).file)
    for file in compiled:
        if file.name in plain:
            describe_map_entries(file, plain[file.name].entries)
    return compiled


def _compiled(files: tuple[tuple[str, str], ...]) -> bytes:
    kept = _kept.get(files)
    if kept is not None:
        return kept
    request = json.dumps({"files": dict(files), "main": MAIN}).encode()
    for is_last in (False, True):
        try:
            answer = _ask(request)
            break
        except _CompilerGone:
            if is_last:
                raise RegistryError(50002, "The compiler of Protobuf schemas does not answer") from None
    if "error" in answer:
        raise InvalidSchema(answer["error"])
    descriptors = base64.b64decode(answer["descriptors"])
    _kept.keep(files, descriptors, sum(len(text) for _, text in files))
    return descriptors


def _ask(request: bytes) -> dict[str, str]:
    global _process
    with _turn:
        if _process is None or _process.poll() is not None:
            _process = subprocess.Popen(
                module_command("broker.registry.protobuf.worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=with_code_path(os.environ),
            )
        try:
            assert _process.stdin is not None
            _process.stdin.write(len(request).to_bytes(4) + request)
            _process.stdin.flush()
            return dict(json.loads(_read(_process, int.from_bytes(_read(_process, 4)))))
        except (OSError, ValueError, _CompilerGone):
            process, _process = _process, None
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
            raise _CompilerGone from None


def _read(process: subprocess.Popen[bytes], count: int) -> bytes:
    assert process.stdout is not None
    data = b""
    while len(data) < count:
        if not readable(process.stdout.fileno(), _TIMEOUT_S):
            raise _CompilerGone
        chunk = process.stdout.read1(count - len(data))  # type: ignore[attr-defined]  # Popen makes buffered readers
        if not chunk:
            raise _CompilerGone
        data += chunk
    return data


def close() -> None:
    """End the process, if there is one."""
    global _process
    with _turn:
        if _process is not None and _process.stdin is not None:
            with contextlib.suppress(OSError):
                _process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                _process.wait(1.0)
            _process.kill()
            _process.wait()
            _process = None
