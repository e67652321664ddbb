"""The header of a stream job's pages."""

from console.ecosystem.streams.presenters import ShownStream
from console.kit.access.reach import Reach
from console.kit.common.figures import grouped, rate
from console.kit.features.headers import HeaderFacts, KeyFigure

#: A stream job is removed with its checkpoint.
_OF_PROCESSES = frozenset({"Remove process…"})


def facts(stream: ShownStream, _reach: Reach) -> HeaderFacts:
    """Return the facts of the stream job, the figures as its driver tells them."""
    return HeaderFacts(
        name=stream.name,
        note=stream.job,
        word=stream.process.state,
        tone=stream.shown.tone,
        figures=(
            KeyFigure("Arrives / s", rate(stream.arrived), "arrived", "Records in the topics that it reads"),
            KeyFigure("Processed / s", rate(stream.processed), "processed", "Rows"),
            KeyFigure("Lag", grouped(stream.lag), "lag", "Records not read"),
        ),
        process_kind=stream.process.kind,
        main="Reset checkpoint…",
        without=_OF_PROCESSES,
        live_id=f"figures-stream-{stream.name}",
    )
