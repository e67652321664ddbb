"""Rules as a file of comma-separated values: as the page of rules writes them, or Kafka Security Manager. Pure."""

import csv
import io
import re
from collections.abc import Iterator, Mapping

from console.kit.gateway.acls.interface import ANY_HOST, CLUSTER_NAME, OPERATIONS, AclRule, java_host, rule_refusal

BYTES_MAX = 4 * 1024 * 1024
ROWS_MAX = 20_000
PROBLEMS_SHOWN = 10
#: Titles of either, in small letters → field.
_TITLES = {
    "resource": "resource", "resourcetype": "resource", "name": "name", "resourcename": "name",
    "pattern": "pattern", "patterntype": "pattern", "principal": "principal", "kafkaprincipal": "principal",
    "permission": "permission", "permissiontype": "permission", "operation": "operation", "host": "host",
}  # fmt: skip
_OPTIONAL = frozenset({"pattern", "host"})
#: What our own files put before a cell that a spreadsheet would run.
_GUARDED = re.compile(r"^'(?=[=+\-@\t\r\n＝＋－＠])")


class RuleFileError(Exception):
    """What is wrong with it, a sentence each, with the number of the line."""

    def __init__(self, *problems: str):
        super().__init__(" ".join(problems))
        self.problems = problems


def rules_in(text: str) -> tuple[AclRule, ...]:
    """Raises RuleFileError."""
    problems: list[str] = []
    rules: dict[AclRule, None] = {}
    for line, row in _rows(text):
        if len(rules) >= ROWS_MAX:
            raise RuleFileError(f"A file has at most {ROWS_MAX:,} rules.")
        try:
            rules[_rule(row)] = None
        except ValueError as error:
            problems.append(f"Line {line}: {error}")
            if len(problems) == PROBLEMS_SHOWN:
                break
    if problems:
        raise RuleFileError(*problems)
    if not rules:
        raise RuleFileError("The file has no rule.")
    return tuple(rules)


def _rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), skipinitialspace=True, strict=True)
    try:
        fields = [_TITLES.get(re.sub(r"[\s_]", "", name).lower(), "") for name in next(reader, [])]
        if missing := set(_TITLES.values()) - _OPTIONAL - set(fields):
            raise RuleFileError(f"The first line names the columns; missing: {', '.join(sorted(missing))}.")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                pairs = zip(fields, (_GUARDED.sub("", cell) for cell in cells), strict=False)
                yield reader.line_num, {field: cell for field, cell in pairs if field}
    except csv.Error as error:
        raise RuleFileError(f"Line {reader.line_num}: {error}.") from None


def _rule(row: Mapping[str, str]) -> AclRule:
    """Raises ValueError with a sentence."""
    resource = _word(row, "resource", OPERATIONS)
    permission = _word(row, "permission", ("ALLOW", "DENY"))
    pattern = _word({"pattern": row.get("pattern") or "LITERAL"}, "pattern", ("LITERAL", "PREFIXED"))
    operation = _word(row, "operation", ("ALL", *OPERATIONS[resource]))
    name = CLUSTER_NAME if resource == "CLUSTER" else row.get("name", "")
    host = java_host(row.get("host", "")) or ANY_HOST
    rule = AclRule(resource, name, pattern, row.get("principal", ""), permission, operation, host)
    if refusal := rule_refusal(rule):
        raise ValueError(refusal)
    return rule


def _word(row: Mapping[str, str], field: str, known: Iterator[str] | Mapping[str, object] | tuple[str, ...]) -> str:
    """Normalize a word: TransactionalId and TRANSACTIONAL_ID are one."""
    typed = row.get(field, "")
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", typed).upper()
    if word not in known:
        raise ValueError(f"“{typed[:40]}” is no {field} there; it is one of {', '.join(known)}.")
    return word
