"""A TCP relay whose cable can be pulled: `cut()` closes every connection and refuses new ones until `mend()`."""

import asyncio
import contextlib


class SeverableProxy:
    """Relays 127.0.0.1:`port` to 127.0.0.1:`target_port`; use as an async context manager."""

    def __init__(self, target_port: int):
        self._target_port = target_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_cut = False

    async def __aenter__(self) -> "SeverableProxy":
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.cut()
        self._server.close()

    def cut(self) -> None:
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        self._is_cut = False

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        both = {writer, target_writer}
        self._writers |= both
        await asyncio.gather(_copy(reader, target_writer), _copy(target_reader, writer))
        self._writers -= both


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
