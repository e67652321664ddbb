"""The process that compiles: `python -m broker.registry.protobuf.worker`, one request after another on stdin.

Each is compiled in a child of its own, with limits: whatever a text does to the compiler ends with that child. A
request and an answer are a length of four bytes and as many bytes of JSON.
"""

import base64
import json
import os
import re
import resource
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

_CPU_S = 10
_MEMORY_BYTES = 1024 * 1024 * 1024
_WRITTEN_BYTES = 64 * 1024 * 1024
_TOLD_BYTES_MAX = 4_000
#: What the compiler's libraries log beside its messages.
_LOG_LINE = re.compile(r"^(?:WARNING: All log messages before|[IWEF]\d{4} \d\d).*\n?", re.MULTILINE)


def main() -> None:
    from grpc_tools import protoc

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (request := _read(sys.stdin.buffer)) is not None:
        _write(sys.stdout.buffer, _compile_in_child(protoc, request))


def _read(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(4)
    return json.loads(stream.read(int.from_bytes(head))) if len(head) == 4 else None


def _write(stream: BinaryIO, answer: dict[str, str]) -> None:
    data = json.dumps(answer).encode()
    stream.write(len(data).to_bytes(4) + data)
    stream.flush()


def _compile_in_child(protoc: Any, request: dict[str, Any]) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="registry-protoc-") as name:
        directory = Path(name)
        child = os.fork()
        if child == 0:
            try:
                os._exit(_compile(protoc, request, directory))
            finally:
                os._exit(70)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            return {"descriptors": base64.b64encode((directory / "descriptors").read_bytes()).decode()}
        output = (directory / "told").read_bytes()[:_TOLD_BYTES_MAX].decode(errors="replace").strip()
        packages = Path(protoc.__file__).parent.parent
        output = _LOG_LINE.sub("", output.replace(f"{directory / 'files'}/", "").replace(f"{packages}/", ""))
        return {"error": output or "the compiler gave up: it takes too long or too much memory"}


def _compile(protoc: Any, request: dict[str, Any], directory: Path) -> int:
    for path, text in request["files"].items():
        file = directory / "files" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    output = os.open(directory / "told", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_WRITTEN_BYTES, _WRITTEN_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Of what is installed beside the compiler, its own imports and Google's alone: an import must not have the compiler
    # read, and tell of, other files.
    own = Path(protoc.__file__).parent
    includes = [directory / "files", own / "_proto", f"google={own.parent / 'google'}"]
    status: int = protoc.main(
        ["protoc", *(f"-I{include}" for include in includes), "--include_imports",
         f"--descriptor_set_out={directory / 'descriptors'}", request["main"]]
    )  # fmt: skip
    return status


if __name__ == "__main__":
    main()
