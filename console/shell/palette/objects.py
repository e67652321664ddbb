"""Objects by name, each with what a person may do to it: nothing beyond the person's reach is found."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Case, Model, Q, QuerySet, When
from django.urls import reverse
from django.utils.http import urlencode

from console.cluster.credentials.models import ScramUser
from console.cluster.quotas.models import QuotaRow
from console.ecosystem.connectors.access import connectors_within
from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right
from console.kit.features.verbs import ObjectKind
from console.kit.gateway.quotas.interface import DEFAULT
from console.processes.header import not_offered
from console.processes.models import ManagedProcess
from console.shell.palette.phrases import number_in
from console.state.client_applications.queries import CONSOLE_CLIENT_ID, traffic_within
from console.state.clusters.access import rights_on_topic, topics_within
from console.state.clusters.models import Broker
from console.state.consumers.access import groups_within, reads_beyond

EACH_MAX = 6

_Row = TypeVar("_Row", bound=Model)


@dataclass(frozen=True, slots=True)
class PaletteObject:
    """`address` is empty for an object without a page of its own. `process_kind` is that of a process.

    Verbs with a button in `without` are not offered, as in the header of the object's pages.
    """

    kind: ObjectKind
    name: str
    title: str
    address: str
    rights: frozenset[Right]
    partition_count: int = 0
    process_kind: str = ""
    without: frozenset[str] = frozenset()


Finder = Callable[[str, Reach], Iterator[PaletteObject]]


def find_objects(kind: ObjectKind, name: str, reach: Reach) -> Iterator[PaletteObject]:
    """Yield at most EACH_MAX objects of `kind`, those whose names begin with `name` before those that hold it."""
    return _FINDERS[kind](name, reach)


def _topics(name: str, reach: Reach) -> Iterator[PaletteObject]:
    for topic in _nearest(topics_within(reach), "name", name):
        address = reverse("topic", args=[topic.name])
        rights = rights_on_topic(reach, topic)
        yield PaletteObject(ObjectKind.TOPIC, topic.name, topic.name, address, rights, topic.partition_count)


def _groups(name: str, reach: Reach) -> Iterator[PaletteObject]:
    for group in _nearest(groups_within(reach), "name", name):
        rights = reach.rights_on(Resource.GROUP, group.name)
        if reads_beyond(group, reach):
            rights &= {Right.VIEW}
        yield PaletteObject(ObjectKind.GROUP, group.name, group.name, reverse("group", args=[group.name]), rights)


def _brokers(name: str, reach: Reach) -> Iterator[PaletteObject]:
    """Yield brokers by number, or by host."""
    if Right.VIEW not in reach.rights_anywhere:
        return
    number = number_in(name.removeprefix("broker-").removeprefix("broker"))
    chosen = Q(host__icontains=name) if number is None else Q(broker_id=number)
    rights = reach.role | {Right.VIEW}
    for broker in Broker.objects.filter(chosen)[:EACH_MAX]:
        address = reverse("broker", args=[broker.broker_id])
        title = f"{broker.broker_id} {broker.host}"
        yield PaletteObject(ObjectKind.BROKER, str(broker.broker_id), title, address, rights)


def _processes(name: str, reach: Reach) -> Iterator[PaletteObject]:
    processes = ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"))
    for process in _nearest(processes, "name", name):
        rights, address = reach.rights_on(Resource.PROCESS, process.name), reverse("process", args=[process.name])
        yield PaletteObject(
            ObjectKind.PROCESS,
            process.name,
            process.name,
            address,
            rights,
            process_kind=process.kind,
            without=not_offered(process, reach),
        )


def _connectors(name: str, reach: Reach) -> Iterator[PaletteObject]:
    for connector in _nearest(connectors_within(reach), "name", name):
        rights, address = reach.rights_on(Resource.PROCESS, connector.name), reverse("connector", args=[connector.name])
        yield PaletteObject(ObjectKind.CONNECTOR, connector.name, connector.name, address, rights)


def _principals(name: str, reach: Reach) -> Iterator[PaletteObject]:
    """Yield users with a SCRAM credential, and users and client ids with a quota: these pages name topics and groups
    too.
    """
    if not reach.sees_all_names or Right.VIEW not in reach.role:
        return
    users = ScramUser.objects.filter(name__icontains=name).values_list("name", flat=True)[:EACH_MAX]
    entities = [row.entity for row in QuotaRow.objects.filter(words__icontains=name)[:EACH_MAX]]
    texts = (text for entity in entities for text in (entity.user, entity.client_id))
    named = {text for text in texts if text and text != DEFAULT and name in text.lower()}
    for principal in sorted({*users, *named}, key=lambda text: (not text.lower().startswith(name), text))[:EACH_MAX]:
        yield PaletteObject(ObjectKind.PRINCIPAL, principal, principal, "", reach.role)


def groups_of_client(name: str, reach: Reach) -> Iterator[tuple[str, str]]:
    """Yield group and client id of the groups with a member whose client id begins with `name`."""
    for group in groups_within(reach).filter(members__icontains=name).order_by("name")[:EACH_MAX]:
        client_ids = (member[1] for member in group.members)
        if client_id := next((text for text in client_ids if text.lower().startswith(name)), None):
            yield group.name, client_id


def clients_called(name: str, reach: Reach) -> Iterator[tuple[str, str]]:
    """Yield client id and address of the clients of topics in reach whose client id holds `name`."""
    clients = traffic_within(reach).filter(client_id__icontains=name).exclude(client_id__startswith=CONSOLE_CLIENT_ID)
    for client_id in clients.order_by("client_id").values_list("client_id", flat=True).distinct()[:EACH_MAX]:
        yield client_id, f"{reverse('client-applications')}?{urlencode({'search': client_id})}"


def _nearest(rows: QuerySet[_Row], field: str, text: str) -> list[_Row]:
    """Return rows whose name begins so before those that only hold it."""
    place = Case(When(**{f"{field}__istartswith": text}, then=0), default=1)
    return list(rows.filter(**{f"{field}__icontains": text}).order_by(place, field)[:EACH_MAX])


_FINDERS: Mapping[ObjectKind, Finder] = {
    ObjectKind.TOPIC: _topics,
    ObjectKind.GROUP: _groups,
    ObjectKind.BROKER: _brokers,
    ObjectKind.PROCESS: _processes,
    ObjectKind.CONNECTOR: _connectors,
    ObjectKind.PRINCIPAL: _principals,
}
#: The kinds that are looked for by a name alone, in this order.
FOUND_BY_NAME = tuple(_FINDERS)
