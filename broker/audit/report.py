"""The verdict of an audit as lines of text and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from broker.audit.groups import GroupMove
from broker.audit.states import WindowState
from broker.audit.tally import NO_WINDOW
from broker.audit.verdict import AuditVerdict, Finding

_WORDS = {
    WindowState.MISSING: "{count} counted at {above} missing at {tier}",
    WindowState.DUPLICATE: "{count} more at {tier} than at {above}",
    WindowState.MISMATCH: "as many at {tier} as at {above}, but not the same, among {count}",
    WindowState.REORDERED: "{count} out of order between {above} and {tier}",
}


def clock(moment_ms: int | None) -> str:
    """Format a time in UTC, to the second."""
    if moment_ms is None or moment_ms == NO_WINDOW:
        return "no time" if moment_ms is not None else "-"
    return f"{datetime.fromtimestamp(moment_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def sentence(finding: Finding) -> str:
    words = _WORDS[finding.state].format(count=finding.count, above=finding.above, tier=finding.tier)
    numbers = ", ".join(map(str, finding.partitions))
    where = f"partitions {numbers}, offsets {finding.first_offset} to {finding.last_offset}"
    return f"{finding.topic}, window {clock(finding.window)}: {words} ({where})"


def told_move(move: GroupMove) -> str:
    how = "went back over" if move.is_back else "was set forward, by a client that is no member, past"
    where = f"partition {move.partition}, offsets {move.start} to {move.end - 1}"
    return f"{move.topic}, {clock(move.at_ms)}: group {move.group} {how} {where}"


def report_lines(verdict: AuditVerdict, windows_max: int) -> Iterator[str]:
    """Yield the newest `windows_max` windows as a matrix, then what was found."""
    names = list(dict.fromkeys(name for row in verdict.rows for name in row.tiers))
    yield f"{verdict.topic}: complete until {clock(verdict.complete_until)} UTC"
    yield "  ".join(["window".ljust(19), *(name.rjust(12) for name in names), "state"])
    for row in verdict.rows[-windows_max:]:
        counts = [str(row.tiers[name].count) if name in row.tiers else "-" for name in names]
        cells = [count.rjust(max(12, len(name))) for count, name in zip(counts, names, strict=True)]
        yield "  ".join([clock(row.window).ljust(19), *cells, row.state])
    yield from (f"! {sentence(finding)}" for finding in verdict.findings)
    yield from (f"! {verdict.topic}, window {clock(number)}: late, a tier lags" for number in verdict.late)
    yield from (f"~ {told_move(move)}" for move in verdict.moves)


def as_json(verdict: AuditVerdict) -> dict[str, Any]:
    return asdict(verdict)
