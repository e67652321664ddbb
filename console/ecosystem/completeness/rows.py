"""A verdict as the columns of a topic. Pure."""

from typing import Any

from broker.audit.groups import GroupMove
from broker.audit.increment import AuditTier
from broker.audit.report import sentence, told_move
from broker.audit.states import TROUBLES
from broker.audit.verdict import AuditVerdict, Finding

WINDOWS_KEPT, FINDINGS_KEPT, MOVES_KEPT = 180, 50, 20
#: Said among the findings of groups, and no finding.
WENT_BACK, SET_FORWARD = MOVES = ("went back", "set forward")
#: A partition of each finding, to look at; all of them are in its sentence.
_SENTENCE_LENGTH_MAX = 500


def columns(verdict: AuditVerdict) -> dict[str, Any]:
    findings = [finding for finding in verdict.findings if finding.state in TROUBLES]
    newest = sorted(findings, key=lambda finding: finding.window, reverse=True)[:FINDINGS_KEPT]
    return {
        "complete_until_ms": verdict.complete_until,
        "window_ms": verdict.window_ms,
        "windows": [
            [row.window, str(row.state), {name: [tally.count, tally.bytes] for name, tally in row.tiers.items()}]
            for row in verdict.rows[-WINDOWS_KEPT:]
        ],
        "findings": [*map(_finding_row, newest), *map(_moved, verdict.moves[: -MOVES_KEPT - 1 : -1])],
        "finding_count": len(findings),
        "late_count": len(verdict.late),
    }


def _finding_row(finding: Finding) -> list[Any]:
    text = sentence(finding)[:_SENTENCE_LENGTH_MAX]
    partition = finding.partitions[0] if finding.partitions else None
    return [finding.window, finding.tier, str(finding.state), partition, finding.first_offset, text]


def _moved(move: GroupMove) -> list[Any]:
    text = told_move(move)[:_SENTENCE_LENGTH_MAX]
    how = WENT_BACK if move.is_back else SET_FORWARD
    return [move.at_ms, f"{AuditTier.COMMITTED} {move.group}", how, move.partition, move.start, text]
