"""The rows that were played, as a table for a person."""

from collections.abc import Sequence
from pathlib import Path

from tests.faults.matrix.run import Played

_ROOT = Path(__file__).parents[3]
TABLE = _ROOT / "tests" / "output" / "faults.txt"
_HEADINGS = ("row", "fault", "seed", "load: ok / unknown / failed", "whole again", "figures", "took", "checks")
_VIOLATIONS_SHOWN_MAX = 5
#: Rows whose load has transactions, so that I7 was asked.
_TRANSACTIONAL = {22, 23}


def write_table(played: Sequence[Played]) -> str:
    """The table and below it what was violated; it is in TABLE as well."""
    lines = [_HEADINGS, *(_line(item) for item in played)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    text = "\n".join([*shown, *(violation for row in played for violation in _violations(row))]) + "\n"
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(text)
    return text


def outcome(played: Played) -> str:
    """Return what became of one row, in a line, and its first violations below."""
    (*_, took, checks) = _line(played)
    return "\n".join([f"row {played.row.number}: {', '.join(filter(None, (checks, took)))}", *_violations(played)])


def _line(played: Played) -> tuple[str, ...]:
    counts, violations = played.verdict.counts, played.verdict.violations
    if played.missing:
        return (str(played.row.number), played.row.fault, *[""] * 5, f"not played: needs {played.missing}")
    held = "limits, I10" if played.row.alone else "I1-I6 I8-I10"
    if played.row.number in _TRANSACTIONAL:
        held = "I1-I10"
    load = " / ".join(f"{counts[f'produce {outcome}']:,}" for outcome in ("ok", "unknown", "failed"))
    return (
        str(played.row.number),
        played.row.fault,
        str(played.seed),
        load,
        f"{played.recovery_s:.1f} s",
        ", ".join(f"{name} {seconds:.1f} s" for name, seconds in played.measured.items()),
        f"{played.took_s:.0f} s",
        f"{len(violations)} VIOLATIONS" if violations else f"{held} hold",
    )


def _violations(played: Played) -> list[str]:
    """The first few of a row."""
    violations = played.verdict.violations
    shown = [f"row {played.row.number}, seed {played.seed}: {item}" for item in violations[:_VIOLATIONS_SHOWN_MAX]]
    more = len(violations) - len(shown)
    return [*shown, *([f"row {played.row.number}: … and {more} more"] if more else [])]
