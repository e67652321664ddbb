"""What the header of a connector's pages tells of it."""

from console.ecosystem.connectors.presenters import ShownConnector
from console.kit.access.reach import Reach
from console.kit.common.figures import grouped, rate
from console.kit.features.headers import HeaderFacts, KeyFigure

_PAUSE, _RESUME, _STOP, _CONFIGURE = "Pause…", "Resume…", "Stop…", "Configure…"
_RESTART, _RESTART_FAILED = "Restart…", "Restart what failed…"


def facts(connector: ShownConnector, _reach: Reach) -> HeaderFacts:
    """Return the facts of the connector. Its main action is what its state asks for."""
    row = connector.row
    main, without = _actions(row.state, is_failed=row.is_failed, to_configure=connector.is_certain_to_fail_again)
    if connector.lag is not None or row.kind == "sink":
        flow = KeyFigure("Lag", grouped(connector.lag), "lag", f"Records that {row.group} has not read")
    else:
        flow = KeyFigure("Messages / s", rate(connector.rate), "rate", "Into its topics, by all producers")
    return HeaderFacts(
        name=row.name,
        note=row.kind,
        word=connector.word.lower(),
        tone=connector.tone,
        figures=(
            KeyFigure("Tasks running", f"{grouped(row.running_count)} of {grouped(row.task_count)}", "tasks"),
            KeyFigure("Tasks failed", grouped(row.failed_count), "failed", "", "critical" if row.failed_count else ""),
            flow,
        ),
        main=main,
        without=frozenset(without),
    )


def _actions(state: str, *, is_failed: bool, to_configure: bool) -> tuple[str, set[str]]:
    """Return the title of the main action, and those that make no sense in `state`."""
    if state in ("PAUSED", "STOPPED"):
        return _RESUME, {_PAUSE, _RESTART, _RESTART_FAILED, *({_STOP} if state == "STOPPED" else ())}
    if is_failed:
        return _CONFIGURE if to_configure else _RESTART_FAILED, {_RESUME}
    return _RESTART, {_RESUME, _RESTART_FAILED}
