"""A small reverse proxy for tests: one host name outside, the console below a path of it, websockets included."""

import asyncio
import contextlib
import threading

_DEADLINE_S = 30


class ReverseProxy:
    """Listens on a free port of 127.0.0.1 in a thread of its own. `strips`: the prefix is taken off before it asks."""

    def __init__(self, console_port: int, prefix: str, *, strips: bool, scheme: str = "http"):
        self._console_port, self._prefix, self._strips, self._scheme = console_port, prefix, strips, scheme
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "ReverseProxy":
        self._thread.start()
        serving = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._server = serving.result(_DEADLINE_S)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(_DEADLINE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_DEADLINE_S)
        self._loop.close()

    async def _stop(self) -> None:
        """Until no task is left: one that a closed loop leaves behind ends in the middle of its own end."""
        self._server.close()
        await asyncio.sleep(0)  # who was accepted before has a task now
        while rest := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in rest:
                task.cancel()
            await asyncio.wait(rest)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request for each connection, or one websocket."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *fields = head.rstrip("\r\n").split("\r\n")
            method, path, version = line.split(" ")
            if path != self._prefix and not path.startswith(f"{self._prefix}/"):
                writer.write(b"HTTP/1.1 502 Not ours\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                await writer.drain()
                return
            path = path.removeprefix(self._prefix) if self._strips else path
            head = "\r\n".join([f"{method} {path} {version}", *self._fields(fields)]) + "\r\n\r\n"
            console_reader, console_writer = await asyncio.open_connection("127.0.0.1", self._console_port)
            with contextlib.closing(console_writer):
                console_writer.write(head.encode("latin-1"))
                await self._both_ways(reader, writer, console_reader, console_writer)

    def _fields(self, fields: list[str]) -> list[str]:
        is_websocket = any(field.lower() == "upgrade: websocket" for field in fields)
        kept = [field for field in fields if is_websocket or not field.lower().startswith("connection:")]
        added = [f"X-Forwarded-Proto: {self._scheme}", "X-Forwarded-For: 198.51.100.7"]
        return [*kept, *added, *([] if is_websocket else ["Connection: close"])]

    @staticmethod
    async def _both_ways(reader, writer, console_reader, console_writer) -> None:
        up = asyncio.create_task(_pump(reader, console_writer))
        try:
            await _pump(console_reader, writer)
        finally:
            up.cancel()
            await asyncio.gather(up, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
