"""The place of one response in the order of its connection: answers leave in the order they were asked for."""

from collections.abc import Iterable, Iterator, Sequence

from broker.net.send_queue import Part

Parts = Sequence[Part]


class Slot:
    """Kept from a request's arrival until its answer has left."""

    __slots__ = ("parts", "request_bytes")

    def __init__(self, request_bytes: int) -> None:
        #: None until it is answered.
        self.parts: Parts | None = None
        #: What the request may hold in memory until it is answered.
        self.request_bytes = request_bytes


def filled_parts(slots: Iterable[Slot]) -> Iterator[Part]:
    """Yield the parts of the slots before the first whose answer is late."""
    for slot in slots:
        if slot.parts is None:
            return
        yield from slot.parts
