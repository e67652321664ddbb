"""Changes of a registry as plans: what is registered, compared with or lost, and how it is taken back. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.cluster.schemas.registry import CompatibilityVerdict, RegisteredText
from console.kit.plans.plan import Plan, PlanLine

REGISTER, SET, DELETE = "register schema", "change schema settings", "delete schema"
DEFAULTS = "all subjects"


def register_plan(
    subject: str,
    schema: RegisteredText,
    live: Sequence[int],
    registered: RegisteredText | None,
    verdict: CompatibilityVerdict,
    level: str,
) -> Plan:
    """Plan a registration. `live`: existing versions; `registered`: the version that has this very schema already."""
    if registered is not None:
        return Plan(REGISTER, "subject", subject, (), (), losses=(), safe_because="", undo="nothing changes.")
    compared = f"Compatibility {level}: " + (
        "it is not compared with what is there." if level == "NONE" else "what is there was compared, and it fits."
    )
    references = [f"{reference.name} {reference.subject} {reference.version}" for reference in schema.references]
    return Plan(
        action=REGISTER,
        object_type="subject",
        object_name=subject,
        lines=(
            PlanLine("version", live[-1] if live else None, "the next"),
            PlanLine("type", None, schema.type),
            PlanLine("schema", None, f"{len(schema.text)} letters, SHA-256 {_digest(schema.text)[:16]}"),
            *((PlanLine("references", None, ", ".join(references)),) if references else ()),
        ),
        read=(subject, _digest(schema.text), schema.type, *references, level, *map(str, live)),
        touches=(
            *((compared,) if live else ("The subject is new: there is nothing to compare with.",)),
            "Producers that take the latest version write with it from then on.",
        ),
        losses=(),
        safe_because="" if level == "NONE" else "It fits what is there, and what is there stays.",
        undo="delete the version: softly, then for good. Records that were written with it meanwhile need it.",
        obstacle="" if verdict.is_compatible else "The registry would refuse it: it does not fit what is there.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectPlan(Plan):
    """A change of what a subject has of its own; `subject` is empty for the defaults of all."""

    subject: str
    #: `compatibility`, `mode` → its new value, None to take the subject's own away.
    changes: Mapping[str, str | None]


def settings_plan(
    subject: str, old: tuple[str | None, str | None], wanted: tuple[str | None, str | None], what_holds: tuple[str, str]
) -> SubjectPlan:
    """Plan level and mode of a subject, or of all (empty); None is the default, and `what_holds` is its present
    value.
    """
    names = ("compatibility", "mode")
    lines = tuple(
        PlanLine(name, before, after) for name, before, after in zip(names, old, wanted, strict=True) if before != after
    )
    touches = []
    if any(line.name == "compatibility" for line in lines):
        touches.append(f"It is {wanted[0] or what_holds[0]} from the next registration on; what is there stays.")
    if any(line.name == "mode" for line in lines):
        touches.append(_of_mode(wanted[1] or what_holds[1]))
    if not subject:
        touches.append("It applies to every subject that has no setting of its own.")
    back = ", ".join(f"{line.name} to {line.old or 'the default'}" for line in lines)
    return SubjectPlan(
        subject=subject,
        changes={name: after for name, before, after in zip(names, old, wanted, strict=True) if before != after},
        action=SET,
        object_type="subject",
        object_name=subject or DEFAULTS,
        lines=lines,
        read=(subject, *(str(item) for item in old)),
        touches=tuple(touches),
        losses=(),
        safe_because="",  # what a level or a mode lets in, or keeps out, shows with the next registration
        undo=f"set {back}." if lines else "",
    )


def delete_plan(
    subject: str, number: int | None, doomed: Sequence[int], *, permanent: bool, ids: Sequence[int]
) -> Plan:
    """Plan a deletion. `number`: of one version, or None for all there are. `doomed`: those that go."""
    name = subject if number is None else f"{subject} version {number}"
    state = "deleted" if permanent else "there"
    losses = (
        "The text is gone for good, and its records cannot be decoded any more once no other subject has the id.",
    )
    return Plan(
        action=f"{DELETE} for good" if permanent else DELETE,
        object_type="subject",
        object_name=name,
        lines=tuple(PlanLine(f"version {number}", state, "gone" if permanent else "deleted") for number in doomed),
        read=(subject, str(number), str(permanent), *map(str, doomed), *map(str, ids)),
        touches=()
        if permanent
        else (
            "Its records can still be decoded: its id stays known until it is deleted for good.",
            f"{_of(number)} is not found any more by clients that ask for it by subject: serializers with "
            "use.latest.version or without auto.register.schemas fail, and readers of that version get an error.",
        ),
        losses=losses if permanent else (),
        safe_because="",  # clients that ask for the version by subject fail
        undo=""
        if permanent
        else "restore it, until it is gone for good: it gets its id back, and a new version number.",
        typed_name=name if permanent else "",
    )


def _of(number: int | None) -> str:
    return "The subject" if number is None else f"Version {number}"


def _of_mode(mode: str) -> str:
    return {
        "READONLY": "Nothing can be registered or deleted any more.",
        "IMPORT": "Schemas come in with ids of their own, and compatibility is not looked at.",
    }.get(mode, "Schemas can be registered and deleted.")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
