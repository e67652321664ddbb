"""The door to connectors, which are processes to rules: the right first, then whether there is one.

Who configures one has what its worker may do: read files there, and topics that are hidden here. So that is for
administrators. Of a connector in reach everything is shown but what would name a topic that is not, or quote a record.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from console.cluster.records.masked_source import hides_of
from console.ecosystem.connectors.models import Connector
from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require, require_on, require_somewhere

NAMES_BEYOND = "This connector concerns topics that your rights do not reach, so its offsets are not yours to see."


def access_connectors(user: User) -> QuerySet[Connector]:
    """Return the connectors in reach; PermissionDenied without the right to view any."""
    require_somewhere(user, Resource.PROCESS, Right.VIEW)
    return connectors_within(reach_of(user))


def access_connector(user: User, name: str, right: Right = Right.VIEW) -> Connector:
    """Return the connector as last seen. PermissionDenied without `right`, Http404 if there is none."""
    require_on(user, Resource.PROCESS, name, right)
    connector = Connector.objects.filter(name=name).first()
    if connector is None:
        raise Http404(f"There is no connector {name}.")
    return connector


def access_offsets(user: User, name: str, right: Right = Right.VIEW) -> Connector:
    """Return the connector as `access_connector`, for people who may see every topic, since offsets name topics."""
    connector = access_connector(user, name, right)
    if reach_of(user).is_limited(Resource.TOPIC):
        raise PermissionDenied(NAMES_BEYOND)
    return connector


def require_configuring(user: User) -> None:
    """Raise PermissionDenied unless the user may configure connectors."""
    require(user, Right.ADMINISTER)


def connectors_within(reach: Reach) -> QuerySet[Connector]:
    return Connector.objects.filter(within(reach, Resource.PROCESS, "name"))


def may_read_traces(reach: Reach, topics: Iterable[str]) -> bool:
    """Return whether traces may be read: they quote records, so all topics of the connector must be within reach."""
    topics = list(topics)
    if hides_of(reach, topics):
        return False
    if not reach.is_limited(Resource.TOPIC, Right.RECORDS):
        return True
    is_reader = all(Right.RECORDS in reach.rights_on(Resource.TOPIC, topic) for topic in topics)
    return bool(topics) and is_reader and not reach.is_limited(Resource.TOPIC)
