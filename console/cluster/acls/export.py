"""The pages of access lists as rows of a file. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.acls.rows import Choice, Matrix
from console.cluster.acls.words import told_by
from console.kit.gateway.acls.interface import AclRule, Denials, in_words

MATRIX_TITLES = ("Principal", "Resource", "Name", "Stands for", "Host", "Operation", "Allowed", "Certain", "Decided by")
RULE_TITLES = ("Resource", "Name", "Pattern", "Principal", "Permission", "Operation", "Host")
DENIAL_TITLES = ("Principal", "Denied", "Last", "Operation", "Resource", "Name", "Host")


def matrix_rows(matrix: Matrix, choice: Choice) -> Iterator[tuple[object, ...]]:
    for row in matrix:
        for each in row.decisions:
            what = (in_words(each.operation), each.is_allowed, each.is_certain, told_by(each))
            yield row.principal, choice.resource, row.name, row.stands_for, choice.host, *what


def rule_rows(rules: Iterable[AclRule]) -> Iterator[tuple[object, ...]]:
    for each in rules:
        yield each.resource, each.name, each.pattern, each.principal, each.permission, each.operation, each.host


def denial_rows(denials: Iterable[Denials]) -> Iterator[tuple[object, ...]]:
    for each in denials:
        at = datetime.fromtimestamp(each.last_at_ms / 1_000, UTC)
        done = in_words(each.last_operation)
        yield each.principal, each.count, at, done, each.last_resource, each.last_name, each.last_host
