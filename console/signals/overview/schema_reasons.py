"""Producers whose schemas a registry refuses, and a registry that does not answer, as sentences. Pure."""

from collections.abc import Iterable, Sequence

from console.cluster.schemas.refused import RefusedSchema
from console.kit.common.figures import grouped
from console.signals.overview.health import HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction

#: Subjects with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
_NAME_LENGTH_MAX, _ERROR_LENGTH_MAX = 60, 300


def refused_schema_reasons(refused: Sequence[RefusedSchema]) -> Iterable[HealthReason]:
    yield from map(_refused, refused[:NAMED_MAX])
    if (more := len(refused) - NAMED_MAX) > 0:
        text = f"Schemas of {more} more subject{'' if more == 1 else 's'} are refused."
        action = NextAction("See the subjects", "schemas")
        yield HealthReason(HealthLevel.WARNING, "Schemas", text, action, key="more refused schemas", weight=more)


def registry_reasons(error: str) -> Iterable[HealthReason]:
    if error:
        text = "The schema registry does not answer: clients cannot register or look up schemas."
        action = NextAction("See whether it runs, and what it says", "schemas")
        evidence = error[:_ERROR_LENGTH_MAX]
        yield HealthReason(HealthLevel.WARNING, "Schema registry", text, action, evidence, key="registry silent")


def _refused(schema: RefusedSchema) -> HealthReason:
    name = schema.subject if len(schema.subject) <= _NAME_LENGTH_MAX else f"{schema.subject[:_NAME_LENGTH_MAX]}…"
    where = ("schema-subject", schema.subject) if schema.is_registered else ("schemas", None)
    return HealthReason(
        HealthLevel.WARNING,
        f"Subject {name}",
        f"A producer's schema for the subject {name} is refused again and again: {schema.why}.",
        NextAction("Read what is in the way; mend the producer's schema or the subject's compatibility", *where),
        f"{grouped(schema.count)} registrations refused with error {schema.code}",
        schema.first_ms,
        f"schema refused:{schema.subject[:300]}",
    )
