"""What of a declared connector is not so yet. A file holds no secret: it names one, or leaves what is there."""

from collections.abc import Collection, Iterator, Mapping

from django.contrib.auth.models import User
from django.views.decorators.debug import sensitive_variables

from console.automation.declared.declaration import ClusterDeclaration, DeclaredConnector
from console.automation.declared.now import ClusterNow
from console.automation.declared.parts import PlannedPart, Unplanned
from console.ecosystem.connectors.actions import do_configure, do_create, do_delete
from console.ecosystem.connectors.answers import ConnectorView
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.declarations import declared_secrets
from console.ecosystem.connectors.masking import MASK, masked_value, without
from console.ecosystem.connectors.places import group_of
from console.ecosystem.connectors.plan import ConnectorChange, configuration_plan
from console.ecosystem.connectors.sealing import print_of
from console.ecosystem.connectors.typed import resolved, secrets_of
from console.kit.access.internal_topics import internal_topics
from console.kit.access.reach import Resource
from console.kit.access.rights import NOT_ALL_NAMES, REFUSALS, Right, has_right, reach_of, sees_all_names
from console.kit.plans.plan import Confirmation

_BEYOND = "Your rights do not reach a connector of this name."
_TYPED_SECRET = (
    "A file has no secret in it: name a file that has it, as ${{file:…}}, or type it on the connector's page and write "
    "{mask} here, which leaves it as it is ({key})."
)
_ERRORS_MAX = 3


@sensitive_variables()
def connector_parts(person: User, declared: DeclaredConnector, now: ClusterNow) -> Iterator[PlannedPart | Unplanned]:
    """Yield the parts of declared connectors, whose old and new configurations name topics. Raises GatewayError."""
    words = f"connector {declared.name}"
    if Right.VIEW not in reach_of(person).rights_on(Resource.PROCESS, declared.name):
        yield Unplanned(words, _BEYOND)
        return
    if not sees_all_names(person):
        yield Unplanned(words, NOT_ALL_NAMES)
        return
    view = now.connectors.get(declared.name)
    if declared.is_absent:
        if view is not None:
            yield removal_part(person, view)
        return
    current = dict(view.config) if view else {}
    secrets = _declared_of(declared.config["connector.class"])
    if key := _typed_secret(declared.config, secrets):
        yield Unplanned(words, _TYPED_SECRET.format(mask=MASK, key=key))
        return
    config, problems = resolved(declared.config, current, declared=secrets)
    if problems:
        yield Unplanned(words, "; ".join(f"{key}: {why}" for key, why in sorted(problems.items())))
        return
    config["name"] = declared.name
    if config != {"name": declared.name, **current}:
        yield _configuration(person, declared, view, config, secrets)


def pruned_connectors(
    person: User, declaration: ClusterDeclaration, now: ClusterNow
) -> Iterator[PlannedPart | Unplanned]:
    """Yield deletions of undeclared connectors in scope that this person can see."""
    names, reach = {connector.name for connector in declaration.connectors}, reach_of(person)
    for name, view in now.connectors.items():
        is_meant = name not in names and declaration.within("connectors", name)
        if is_meant and sees_all_names(person) and Right.VIEW in reach.rights_on(Resource.PROCESS, name):
            yield removal_part(person, view)


def removal_part(person: User, view: ConnectorView) -> PlannedPart:
    declared = _declared_of(view.class_name)
    prints = {key: print_of(value) for key, value in view.config.items()}
    group = group_of(view.name, view.config) if view.kind == "sink" else ""
    change = ConnectorChange(view.name, view.config, None, declared, prints)
    plan = configuration_plan(change, connect_client().address, internal_topics(), group)

    def again() -> PlannedPart:
        return removal_part(person, connect_client().connector(view.name))

    return PlannedPart(
        plan,
        lambda actor, confirmation: do_delete(actor, plan, view.config, declared, confirmation),
        _refusal(person),
        again,
    )


@sensitive_variables()
def _configuration(
    person: User,
    declared: DeclaredConnector,
    view: ConnectorView | None,
    config: dict[str, str],
    secrets: Collection[str],
) -> PlannedPart | Unplanned:
    client, current, refusal = connect_client(), dict(view.config) if view else {}, _refusal(person)
    if not refusal:
        errors = client.validate(config["connector.class"], config).errors
        errors_shown = [f"{key}: {why}" for key, whys in sorted(errors.items()) for why in whys][:_ERRORS_MAX]
        if errors_shown:
            known = secrets_of(config, current, declared=secrets)
            return Unplanned(f"connector {declared.name}", without("; ".join(errors_shown), known))
    prints = {f"old {key}": print_of(value) for key, value in current.items()}
    change = ConnectorChange(declared.name, current or None, config, secrets, prints)
    plan = configuration_plan(change, client.address, internal_topics())

    def do(actor: User, confirmation: Confirmation) -> None:
        if view is None:
            do_create(actor, plan, config, confirmation)
        else:
            do_configure(actor, plan, current, config, secrets, confirmation)

    return PlannedPart(plan, do, refusal)


def _typed_secret(config: Mapping[str, str], secrets: Collection[str]) -> str:
    """Return the key whose value holds a secret that is not masked; empty: none does."""
    holds = (key for key, value in config.items() if MASK not in value and masked_value(key, value, secrets) != value)
    return next(holds, "")


def _declared_of(class_name: str) -> frozenset[str]:
    return declared_secrets().of([class_name]).get(class_name, frozenset())


def _refusal(person: User) -> str:
    """Return why the person may not declare connectors: that right includes the worker's credentials."""
    return "" if has_right(person, Right.ADMINISTER) else REFUSALS[Right.ADMINISTER]
