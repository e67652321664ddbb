"""The pages of access lists as rows of a file. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.acls.decision_text import deciding_text
from console.cluster.acls.rows import Choice, Matrix
from console.kit.gateway.acls.interface import AclRule, Denials, kafka_name

MATRIX_TITLES = ("Principal", "Resource", "Name", "Stands for", "Host", "Operation", "Allowed", "Certain", "Decided by")
RULE_TITLES = ("Resource", "Name", "Pattern", "Principal", "Permission", "Operation", "Host")
DENIAL_TITLES = ("Principal", "Denied", "Last", "Operation", "Resource", "Name", "Host")


def matrix_rows(matrix: Matrix, choice: Choice) -> Iterator[tuple[object, ...]]:
    for row in matrix:
        for decision in row.decisions:
            what = (kafka_name(decision.operation), decision.is_allowed, decision.is_certain, deciding_text(decision))
            yield row.principal, choice.resource, row.name, row.stands_for, choice.host, *what


def rule_rows(rules: Iterable[AclRule]) -> Iterator[tuple[object, ...]]:
    for rule in rules:
        yield rule.resource, rule.name, rule.pattern, rule.principal, rule.permission, rule.operation, rule.host


def denial_rows(denials: Iterable[Denials]) -> Iterator[tuple[object, ...]]:
    for denial in denials:
        at = datetime.fromtimestamp(denial.last_at_ms / 1_000, UTC)
        done = kafka_name(denial.last_operation)
        yield denial.principal, denial.count, at, done, denial.last_resource, denial.last_name, denial.last_host
