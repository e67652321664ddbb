"""Carrying out what a declaration comes to: part by part in order, each as its own page would, until one fails."""

from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from console.automation.declared.parts import DeclaredPlan, PlannedPart
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, MovedOnError, NotConfirmedError, Plan

NOT_BEGUN = "It was not begun."


@dataclass
class ApplyResult:
    """What of each part has become, in order."""

    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    not_begun: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not self.failed and not self.not_begun

    @property
    def sentence(self) -> str:
        """The result in a sentence, with what to do next."""
        count = len(self.done) + len(self.failed) + len(self.not_begun)
        sentences = [f"{len(self.done)} of {count} changes were made."]
        sentences += [f"{words} was not: {why}" for words, why in self.failed.items()]
        if self.not_begun:
            sentences.append(f"Not begun: {', '.join(self.not_begun[:10])}{' …' if len(self.not_begun) > 10 else ''}.")
        return " ".join(sentences)


def do_apply(actor: User, plan: Plan, made: DeclaredPlan, confirmation: Confirmation) -> ApplyResult:
    """Apply `plan`, the plan of `made`. Raises NotConfirmedError before anything is done, and GatewayError if nothing
    was.

    Each part has its own row in the audit, and the whole has one that names what was not done.
    """
    came_to = ApplyResult()

    def do() -> Refusals:
        parts = list(made.parts)
        while parts and came_to.is_whole:
            part = parts.pop(0)
            if why := _why_not(actor, part):
                came_to.failed[_label(part)] = why
                came_to.not_begun += map(_label, parts)
            else:
                came_to.done.append(_label(part))
        if not came_to.done:
            raise RefusedError("NOTHING_DONE", came_to.sentence)
        return came_to.failed | dict.fromkeys(came_to.not_begun, NOT_BEGUN)

    carry_out(actor, plan, confirmation, do)
    return came_to


def _label(part: PlannedPart) -> str:
    return f"{part.plan.action} {part.plan.object_name}"


def _why_not(actor: User, part: PlannedPart) -> str:
    """Carry it out; empty: it is done."""
    try:
        now = part.again() if part.again else part
        if digest_of(now.plan, actor) != digest_of(part.plan, actor):
            raise MovedOnError("What it was worked out from has changed meanwhile.")
        refused = now.do(actor, Confirmation(digest_of(now.plan, actor), now.plan.typed_name)) or {}
    except (NotConfirmedError, GatewayError, PermissionDenied) as error:
        return str(error)
    return "; ".join(f"{name}: {why}" for name, why in sorted(refused.items()))
