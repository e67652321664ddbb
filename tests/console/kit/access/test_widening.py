"""No parameter widens what a request does: each page and each action is sent the parameters of all others.

Pages and actions are those that the routes and the API list, parameters those that the code reads, so new ones are
tried by themselves. A digest and a typed name are taken as right, whatever they are, so that rights alone stand between
a person and a change. `watched` notes every change and lets none come to pass.
"""

import json

import pytest
from django.test import Client
from django.utils import timezone

from console.cluster.brokers.doors import opens_a_door
from console.kit.access.api_tokens import SCOPES, make_token
from console.kit.access.internal_topics import is_internal
from console.kit.access.models import ReadOnlyMode
from console.kit.audit.record import chain_key
from console.kit.plans import apply
from console.kit.plans.posted import CONFIRMATION_FIELDS
from console.shell.api import actions, door, router
from console.shell.api.actions import ACTIONS, BadParameter, path_of
from console.shell.api.reads import READS
from tests.console.kit.access.changes_watch import Changes, watched
from tests.console.kit.access.parameters_pool import EXAMPLES, HIDDEN, INTERNAL, USUAL, names, pool
from tests.console.kit.access.test_every_address import (
    ARGUMENTS,
    CHANGES,
    CLOSED,
    COMPARES,
    OWN,
    ROUTES,
    _objects,  # noqa: F401  (the stage)
    address_of,
)
from tests.examples import some

ROLES = ["viewer", "reader", "operator", "admin"]
#: Person → the role by which the matrix of rights is read.
PEOPLE = {"outsider": "", "viewer": "viewer", "reader": "reader", "limited_reader": "reader", "operator": "operator"}
PEOPLE |= {"limited": "operator", "tenant": "operator", "administrator": "admin"}
BY_ROUTE = {action.page: EXAMPLES.get(action.name, {}) for action in ACTIONS.values()}
BY_ROUTE |= {action.confirms: EXAMPLES.get(action.name, {}) for action in ACTIONS.values() if action.confirms}


@pytest.fixture(autouse=True)
def _stage(cluster, collect, monkeypatch, settings):
    """Besides the usual one: what is hidden, what is internal, and nothing that a digest keeps from being done."""
    chain_key()  # is made when it is first needed, as is the key of sessions
    str(settings.SECRET_KEY)
    cluster.acls.has_authorizer = True
    for name in (HIDDEN, INTERNAL, "orders-once"):
        cluster.create_topic(name, 1, 1)
    cluster.commit("secret-readers", HIDDEN, 0, 0)
    collect()

    def confirmed(plan, _confirmation, _digest) -> None:
        if plan.obstacle:
            raise apply.NotConfirmedError(plan.obstacle)

    monkeypatch.setattr(apply, "check", confirmed)


def may_change(role: str, route: str, method: str) -> bool:
    """By the matrix of `test_every_address`: the least role that may change something there."""
    if method == "get" or (not role and route not in OWN):
        return False
    least = CHANGES.get(route, "admin") if route in CHANGES else None
    return route in OWN or (least is not None and ROLES.index(role) >= ROLES.index(least))


def beyond(changes: Changes, person: str) -> list[str]:
    """Changes that this person has made and may make nowhere."""
    role, problems = PEOPLE[person], []
    for what, of, words in changes.noted:
        is_hidden = person in ("limited", "tenant", "limited_reader") and what != "row" and "secret-" in words
        is_written = of.endswith("produce_record") and any(is_internal(word) for word in _words(words))
        is_door = of.endswith("change_settings") and any(map(opens_a_door, _words(words)))
        is_internal_change = of.rpartition(".")[2] in ("delete_topic", "change_topic_settings", "delete_records")
        is_internal_change = is_internal_change and any(is_internal(word) for word in _words(words))
        if is_hidden or is_written or (role != "admin" and (is_door or is_internal_change)):
            problems.append(f"{what} {of} {words[:200]}")
    return problems


def _words(text: str) -> list[str]:
    return text.replace("'", " ").replace(",", " ").replace("(", " ").replace(")", " ").replace(":", " ").split()


def sent_to_pages(client: Client, connect, person: str, method: str, sent, routes=CLOSED) -> dict[str, list[str]]:
    """By address, what was changed that may not be."""
    problems = {}
    for route in some(routes):
        if route == "logout":
            continue
        with watched(connect) as changes:
            getattr(client, method)(address_of(route), sent(route))
        wrong = beyond(changes, person)
        if not may_change(PEOPLE[person], route, method):
            wrong += changes.kinds
        if wrong:
            problems[f"{method} {route}"] = wrong
    return problems


def everything(route: str, *, hidden: bool = False) -> dict[str, object]:
    """The parameters of all pages; those of this one as its example has them, unless something hidden is asked for."""
    return pool(hidden) | ({} if hidden else BY_ROUTE.get(route, {})) | {"digest": "-"}


# -- pages

GATE = [("limited", "post", True), ("reader", "post", False)]
EVERY = [(person, method, hidden) for person in PEOPLE for method in ("get", "post") for hidden in (False, True)]


@pytest.mark.parametrize(
    ("person", "method", "hidden"), [*GATE, *(pytest.param(*e, marks=pytest.mark.long) for e in EVERY if e not in GATE)]
)
def test_a_page_that_is_sent_the_parameters_of_all_others_changes_what_its_role_may(
    person, method, hidden, request, client_of, connect
):
    client = client_of(request.getfixturevalue(person))
    client.raise_request_exception = False
    wrong = sent_to_pages(client, connect, person, method, lambda route: everything(route, hidden=hidden))
    assert wrong == {}


#: Sent together they may keep each other from being read: a form that is wrong in one field is not taken.
PARTS = 12


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("person", ["reader", "limited"])
def test_a_page_that_is_sent_some_parameters_of_others_changes_what_its_role_may(person, request, client_of, connect):
    client, wrong = client_of(request.getfixturevalue(person)), {}
    client.raise_request_exception = False
    everything_there_is = sorted(pool(hidden=True).items())
    for number in range(PARTS):
        some = dict(everything_there_is[number::PARTS])

        def sent(route: str, some: dict[str, str] = some) -> dict[str, object]:
            return {**BY_ROUTE.get(route, {}), **some, "digest": "-"}

        result = sent_to_pages(client, connect, person, "post", sent, sorted(CHANGES))
        wrong |= {f"{number}: {address}": changes for address, changes in result.items()}
    assert wrong == {}


# -- the API

#: Actions whose example makes no plan on this stage, as things are there.
WITHOUT_PLAN = {
    *("keep-topics", "abort-transaction", "approve-change", "undo-moves", "call-off-moves", "throttle-batches"),
    *("call-off-batch", "change-rules", "register-schema", "change-subject", "change-schemas", "delete-schema"),
    *("restore-schema", "confirm-healing", "change-ensemble", "rolling-restart", "decommission", "begin-drill"),
    *("reset-stream", "alter-connector-offsets", "reset-connector-offsets", "move-between-directories", "add-broker"),
    *("balance-brokers", "demote-broker", "spread-replicas", "produce-tombstone", "elect-leaders", "discard-change"),
    "change-client-metrics",
}


def program_of(person, scopes) -> Client:
    _, secret = make_token(person, f"t{timezone.now().timestamp()}", sorted(scopes), 1, timezone.now())
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    client.raise_request_exception = False
    return client


def example_of(action) -> dict[str, object]:
    arguments = ARGUMENTS.get(action.page.partition("-")[0], {})
    path = {name: str(arguments.get(name, USUAL.get(name, "1"))) for name in action.path}
    return path | EXAMPLES.get(action.name, {})


def ask(client: Client, path: str, **body):
    return client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")


def call_tool(client: Client, name: str, **arguments):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return ask(client, "mcp", **message)


def fields_of_confirmation(_action) -> list[dict[str, str]]:
    return [{name: USUAL.get(name, "-") for name in sorted(CONFIRMATION_FIELDS)}]


def each_field(action) -> list[dict[str, str]]:
    """Those of a confirmation one by one, and of all others those that the action takes."""
    collected = [{name: USUAL.get(name, "-")} for name in sorted(CONFIRMATION_FIELDS)]
    for name in sorted(names() - CONFIRMATION_FIELDS):
        try:
            path_of(action, {**example_of(action), name: "1"})
        except BadParameter:
            continue
        collected.append({name: pool(hidden=True)[name]})
    return collected


def changed_by_planning(client: Client, connect, fields, actions) -> tuple[dict[str, list[str]], set[str]]:
    """What was changed, by what was sent; and the actions of which a plan was made."""
    wrong, planned = {}, set()
    for action in actions:
        for more in [{}, *fields(action)]:
            with watched(connect) as changes:
                body = {"action": action.name, "parameters": example_of(action) | more}
                answer = ask(client, "plans", **body)
                if more:
                    call_tool(client, "plan", **body)
                    ask(client, "plans/apply", **body, digest="-", typed_name="x")
            if changes.noted:
                wrong[f"{action.name} {more}"] = changes.kinds
            if answer.status_code == 200:
                planned.add(action.name)
    return wrong, planned


@pytest.mark.parametrize("is_read_only", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("fields", [fields_of_confirmation, pytest.param(each_field, marks=pytest.mark.long)])
def test_a_token_that_plans_changes_nothing_whatever_it_sends(administrator, connect, fields, is_read_only):
    """Of an administrator, who may do everything: the scope alone keeps the token from it."""
    if is_read_only:
        ReadOnlyMode.objects.create(scope="console", by_name="root", reason="an audit")
    client = program_of(administrator, {"read", "records", "plan"})
    wrong, planned = changed_by_planning(client, connect, fields, ACTIONS.values())
    assert wrong == {}
    without = {action.name for action in ACTIONS.values() if not action.is_at_once} - planned
    assert without - WITHOUT_PLAN == set(), "an example for each new action, so that it is tried with a plan"


@pytest.mark.parametrize("person", ["limited", pytest.param("operator", marks=pytest.mark.long)])
def test_a_token_that_applies_changes_what_its_person_may(person, request, connect):
    client, wrong = program_of(request.getfixturevalue(person), SCOPES), {}
    for action in some(ACTIONS.values()):
        for hidden in (False, True):
            parameters = example_of(action)
            if hidden:
                swapped = {"orders": HIDDEN, "readers": "secret-readers", "lines": "secret-job"}
                parameters = {name: swapped.get(str(value), value) for name, value in parameters.items()}
            if action.name == "change-broker" and hidden:
                parameters |= {"setting": "listeners", "value": USUAL["value"]}
            with watched(connect) as changes:
                ask(client, "plans/apply", action=action.name, parameters=parameters, digest="-", typed_name="x")
            refused = beyond(changes, person)
            if not may_change("operator", action.route, "post"):
                refused += changes.kinds
            if refused:
                wrong[f"{action.name} {hidden}"] = refused
    assert wrong == {}


def test_reading_changes_nothing_whatever_it_is_sent(administrator, connect):
    client, wrong = program_of(administrator, SCOPES), {}
    arguments = {"name": "orders", "group": "readers", "broker_id": 1, "partition": 0, "number": 1}
    paths = [read.path.replace("int:", "").replace("path:", "").format(**arguments) for read in READS]
    paths += ["health", "token", "declaration", "actions", "metrics", "openapi.json"]
    for path in paths:
        with watched(connect) as changes:
            client.get(f"/api/v1/{path}", pool())
            client.get(f"/api/v1/{path}", pool(hidden=True))
        if changes.noted:
            wrong[path] = changes.kinds
    assert wrong == {}


def test_every_operation_of_the_api_is_tried_here():
    """A new one that is posted to has to be: reading ones are among READS."""
    operations = {
        (method, path)
        for path, methods in router.api.get_openapi_schema(path_prefix="")["paths"].items()
        for method in methods
    }
    assert {path for method, path in operations if method != "get"} == {"/plans", "/plans/apply"}
    assert {name for name, route in ROUTES.items() if str(route.pattern).startswith("api/")} >= set()


def test_what_is_compared_is_the_only_thing_that_viewers_post():
    assert {"declaration"} == COMPARES


# -- that it finds something


def test_a_view_that_takes_a_parameter_for_a_confirmation_is_found(administrator, connect, monkeypatch):
    """As `add-stream` did, which passed a digest among its parameters on to its page."""
    monkeypatch.setattr(actions, "refuse_confirmation_fields", lambda _names: None)
    monkeypatch.setattr(door, "look", lambda person, path, query, form: door.ask(person, path, query, form))
    client = program_of(administrator, {"plan"})
    wrong, _ = changed_by_planning(client, connect, fields_of_confirmation, [ACTIONS["add-stream"]])
    assert wrong.keys() == {f"add-stream {fields_of_confirmation(None)[0]}"}
    assert any("doubles" in kind for kinds in wrong.values() for kind in kinds), "the job's directory was made"
