"""The door through which a view gets the topic or broker somebody asked for: right first, then existence."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from console.kit.access.filters import named_in, within
from console.kit.access.internal_names import NOT_WRITTEN, ONLY_ADMINISTRATORS, origins_by_name
from console.kit.access.internal_topics import internal_topics, is_internal
from console.kit.access.patterns import matches
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, has_right, reach_of, require, require_everything, require_on
from console.state.clusters.models import Broker, Topic

#: What the message audit's stream job says of each window of whatever topics there are.
AUDIT_WINDOWS = "barnabas.audit.windows"
_OF_OTHERS = ("__*", AUDIT_WINDOWS, "console.access", "console.access.*")


def access_topic(user: User, name: str, right: Right) -> Topic:
    """Return the topic `name` if `user` holds `right`; PermissionDenied before Http404, so that names do not leak."""
    require_on(user, Resource.TOPIC, name, right)
    topic = Topic.objects.filter(name=name).first()
    if topic is None:
        raise Http404(f"There is no topic {name}.")
    return topic


def access_records(user: User, name: str) -> Topic:
    """Return the topic as `access_topic`, for its records."""
    topic = access_topic(user, name, Right.RECORDS)
    if topic.is_internal and not has_right(user, Right.ADMINISTER):
        raise PermissionDenied(ONLY_ADMINISTRATORS)
    if tells_of_others(topic):
        require_everything(user)
    return topic


def access_writing(user: User, name: str) -> Topic:
    """Return the topic as `access_topic`, for appending a record: internal topics are refused."""
    topic = access_topic(user, name, Right.OPERATE)
    if refusal := refusal_to_write(topic):
        raise PermissionDenied(refusal)
    if tells_of_others(topic):
        require_everything(user)
    return topic


def access_changing(user: User, name: str) -> Topic:
    """Return the topic as `access_topic`, for changing or deleting it, its settings or its records."""
    require_changing(user, name)
    return access_topic(user, name, Right.OPERATE)


def require_changing(user: User, name: str) -> None:
    """Raise PermissionDenied unless `user` may change a topic of that name, whether or not there is one."""
    require_on(user, Resource.TOPIC, name, Right.OPERATE)
    if not reach_of(user).may_change_topic(name):
        raise PermissionDenied(ONLY_ADMINISTRATORS)


def refusal_to_write(topic: Topic) -> str:
    """Return why people may not append records to `topic`; empty if they may."""
    return NOT_WRITTEN if topic.is_internal or is_internal(topic.name) else ""


def rights_on_topic(reach: Reach, topic: Topic) -> frozenset[Right]:
    """Return what a person with this reach may do to `topic`, as `access_records` and `access_changing` have it."""
    rights = reach.rights_on(Resource.TOPIC, topic.name)
    if not reach.may_change_topic(topic.name):
        rights -= {Right.OPERATE}
    if not reach.is_unbound and (topic.is_internal or (reach.is_limited_somewhere and tells_of_others(topic))):
        rights -= {Right.RECORDS}
    return rights


def tells_of_others(topic: Topic) -> bool:
    """Return whether the topic reveals other names: Kafka's own topics hold every group's commits and transactions; the
    demo's hold who looked at what. So do their copies.
    """
    names = (topic.name, *origins_by_name(topic.name))
    return topic.is_internal or any(matches(pattern, name) for pattern in _OF_OTHERS for name in names)


def access_broker(user: User, broker_id: int, right: Right) -> Broker:
    """Return the broker with this number, as `access_topic`."""
    require(user, right)
    broker = Broker.objects.filter(broker_id=broker_id).first()
    if broker is None:
        raise Http404(f"No broker {broker_id} has been seen.")
    return broker


def changeable_topics(reach: Reach) -> QuerySet[Topic]:
    """Return the topics that `access_changing` allows in this reach."""
    topics = topics_within(reach, Right.OPERATE)
    return topics if reach.is_unbound else topics.exclude(named_in(reach.internal, "name"))


def writable_topics(reach: Reach) -> QuerySet[Topic]:
    """Return the topics that `access_writing` allows in this reach."""
    topics = topics_within(reach, Right.OPERATE).filter(is_internal=False)
    return topics.exclude(named_in(internal_topics(), "name"))


def topics_within(reach: Reach, right: Right = Right.VIEW) -> QuerySet[Topic]:
    return Topic.objects.filter(within(reach, Resource.TOPIC, "name", right))
