"""The first line of a plan: safe, harmful, or to be looked at; and the colour of the button below it."""

import re

import pytest
from django.template.loader import render_to_string

from console.kit.plans.plan import Plan, PlanLine

PLAN = {"action": "try", "object_type": "topic", "object_name": "orders", "lines": (PlanLine("a", 1, 2),), "read": ()}


def shown(**values) -> str:
    return re.sub(r"\s+", " ", render_to_string("plans/verdict.html", {"plan": Plan(**PLAN | values)}))


@pytest.mark.parametrize(
    ("values", "tone", "is_harmful"),
    [
        ({"undo": "do it again."}, "", False),
        ({"safe_because": "Only a note changes."}, "ok", False),
        ({}, "", False),
        ({"typed_name": "orders", "undo": "do it again."}, "warning", True),
        ({"losses": ("10 records are skipped.",), "undo": "put them back."}, "critical", True),
    ],
)
def test_the_tone_and_the_button_follow_from_what_is_lost(values, tone, is_harmful):
    plan = Plan(**PLAN | values)
    assert (plan.tone, plan.is_harmful) == (tone, is_harmful)


def test_a_loss_comes_first_and_irreversible_is_said_once():
    text = shown(losses=("10 records are lost.", "And more."))
    assert text.index("10 records are lost.") < text.index("Irreversible.")
    assert text.count("Irreversible.") == 1
    assert "Safe" not in text


def test_only_a_plan_that_says_why_is_called_safe():
    assert "Safe.</strong> Only a note changes." in shown(safe_because="Only a note changes.")
    assert "Safe." not in shown(undo="do it again.")
    assert "Check what it touches." in shown(undo="do it again.")
    assert "Safe." not in shown(safe_because="Only a note changes.", typed_name="orders")
    assert "Safe." not in shown(safe_because="Only a note changes.", losses=("10 records are lost.",))


def test_an_obstacle_is_the_verdict_and_no_plan_has_none():
    assert "Not possible now. </strong> It moves." in shown(obstacle="It moves.").replace(".</strong>", ". </strong>")
    assert "Safe" not in shown(obstacle="It moves.", undo="x.")
    assert render_to_string("plans/verdict.html", {}).strip() == ""
    assert shown(lines=()).strip() == ""
