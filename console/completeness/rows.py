"""A verdict as the columns of a topic. Pure."""

from typing import Any

from console.gateway.message_audit import TROUBLES, Finding, Verdict, sentence

WINDOWS_KEPT, FINDINGS_KEPT = 180, 50
#: A partition of each finding, to look at; all of them are in its sentence.
_SENTENCE_LENGTH_MAX = 500


def columns(verdict: Verdict) -> dict[str, Any]:
    found = [each for each in verdict.findings if each.state in TROUBLES]
    newest = sorted(found, key=lambda each: each.window, reverse=True)[:FINDINGS_KEPT]
    return {
        "complete_until_ms": verdict.complete_until,
        "window_ms": verdict.window_ms,
        "windows": [
            [row.window, str(row.state), {name: [tally.count, tally.bytes] for name, tally in row.tiers.items()}]
            for row in verdict.rows[-WINDOWS_KEPT:]
        ],
        "findings": [_found(each) for each in newest],
        "finding_count": len(found),
        "late_count": len(verdict.late),
    }


def _found(finding: Finding) -> list[Any]:
    told = sentence(finding)[:_SENTENCE_LENGTH_MAX]
    partition = finding.partitions[0] if finding.partitions else None
    return [finding.window, finding.tier, str(finding.state), partition, finding.first_offset, told]
