"""A browser's end of a websocket, spoken to an ASGI application without a server."""

from asgiref.testing import ApplicationCommunicator


class Websocket:
    """`receive_text` and `receive_close` fail the test after two seconds."""

    def __init__(self, application, path: str, query: str = "", headers=(), user=None):
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": query.encode(),
            "headers": list(headers),
            "subprotocols": [],
        }
        if user is not None:
            scope["user"] = user
        self._communicator = ApplicationCommunicator(application, scope)

    async def connect(self) -> bool:
        """True if the application accepted."""
        await self._communicator.send_input({"type": "websocket.connect"})
        return (await self._communicator.receive_output(2))["type"] == "websocket.accept"

    async def send_text(self, text: str) -> None:
        await self._communicator.send_input({"type": "websocket.receive", "text": text})

    async def receive_text(self) -> str:
        message = await self._communicator.receive_output(2)
        assert message["type"] == "websocket.send", message
        return message["text"]

    async def receive_close(self) -> int:
        message = await self._communicator.receive_output(2)
        assert message["type"] == "websocket.close", message
        return message["code"]

    async def disconnect(self) -> None:
        await self._communicator.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._communicator.wait(2)

    async def end(self) -> None:
        """Waits until the application has ended by itself; raises what it failed with."""
        await self._communicator.wait(2)
