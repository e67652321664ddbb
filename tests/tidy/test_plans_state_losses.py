"""Every plan states what is lost by it, and why nothing is where a page may call it safe."""

import ast
from collections.abc import Iterator

from tests.tidy.sources import nodes, product_files

_STATED = {"losses", "safe_because"}


def trees() -> dict[str, ast.Module]:
    return {path: tree for path, tree in product_files().items() if path.startswith("console/")}


def plan_classes() -> set[str]:
    """`Plan` and whatever is derived from it, by name."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees().values()
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef)
    }
    names, count = {"Plan"}, 0
    while len(names) > count:
        count = len(names)
        names |= {name for name, of in bases.items() if of & names}
    return names


def calls() -> Iterator[tuple[str, ast.Call, bool]]:
    """Where a plan is made; whether it is only asked the rules of changes about, and shown to nobody."""
    classes = plan_classes()
    for path, tree in trees().items():
        expressions = {
            id(argument)
            for node in nodes(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ask_rules"
            for argument in node.args
        }
        # Some classes of this name are no `Plan`: what they are made of has no action.
        own = {
            node.name
            for node in nodes(tree)
            if isinstance(node, ast.ClassDef) and "Plan" not in {getattr(base, "id", "") for base in node.bases}
        }
        for node in nodes(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes - own:
                yield f"{path}:{node.lineno}", node, id(node) in expressions


def missing_of(call: ast.Call) -> set[str]:
    """What it does not state; a plan that always loses something says so in a tuple with a sentence in it."""
    stated = {keyword.arg: keyword.value for keyword in call.keywords}
    losses = stated.get("losses")
    if isinstance(losses, ast.Tuple) and losses.elts and not isinstance(losses.elts[0], ast.Starred):
        return set()
    return _STATED - stated.keys()


def test_every_plan_states_its_losses_and_why_it_is_safe_or_that_it_is_not():
    missing = [f"{place}: {sorted(missing_of(call))}" for place, call, is_asked in calls() if not is_asked]
    assert [item for item in missing if not item.endswith("[]")] == []


def test_the_plans_of_the_console_are_looked_at():
    classes = plan_classes()
    assert {"Plan", "SettingsPlan", "QuotaPlan", "SwitchPlan", "DeletionOfMany", "CreationPlan"} <= classes
    assert len(list(calls())) > 50


def test_a_plan_without_a_word_of_losses_is_missed():
    assert missing_of(ast.parse("Plan(action='x')").body[0].value) == _STATED
    assert missing_of(ast.parse("Plan(losses=())").body[0].value) == {"safe_because"}
    assert not missing_of(ast.parse("Plan(losses=('all of it',))").body[0].value)
