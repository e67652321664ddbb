"""The door through which a view gets the topic or broker somebody asked for: right first, then existence."""

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404

from console.access.filters import within
from console.access.reach import Reach, Resource
from console.access.rights import Right, require, require_everything, require_on
from console.clusters.models import Broker, Topic

#: Of the worker on this machine, and whoever else keeps to Kafka's example.
CONNECT_CONFIGS = "connect-configs"


def access_topic(user: User, name: str, right: Right) -> Topic:
    """The topic `name` if `user` holds `right`; PermissionDenied before Http404, so that names do not leak."""
    require_on(user, Resource.TOPIC, name, right)
    topic = Topic.objects.filter(name=name).first()
    if topic is None:
        raise Http404(f"There is no topic {name}.")
    return topic


def access_records(user: User, name: str, right: Right = Right.RECORDS) -> Topic:
    """As `access_topic`, for what is in the topic's records: those of some topics tell of other people's objects."""
    topic = access_topic(user, name, right)
    if tells_of_others(topic):
        require_everything(user)
    return topic


def tells_of_others(topic: Topic) -> bool:
    """Kafka's own topics hold every group's commits and transactions; the demo's hold who looked at what; the one of a
    Connect group's configurations holds all connectors, and the key by which its workers know each other.
    """
    if topic.is_internal or topic.name.startswith("__") or topic.name == CONNECT_CONFIGS:
        return True
    return topic.name.split(".")[:2] == ["console", "access"]


def access_broker(user: User, broker_id: int, right: Right) -> Broker:
    """The broker with this number, as `access_topic`."""
    require(user, right)
    broker = Broker.objects.filter(broker_id=broker_id).first()
    if broker is None:
        raise Http404(f"No broker {broker_id} has been seen.")
    return broker


def topics_within(reach: Reach, right: Right = Right.VIEW) -> QuerySet[Topic]:
    return Topic.objects.filter(within(reach, Resource.TOPIC, "name", right))
