"""The one door through which a view gets an object somebody asked for: right first, then existence."""

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from console.access.filters import within
from console.access.reach import Reach, Resource
from console.access.rights import Right, reach_of, require, require_everything, require_on
from console.brokers.models import Broker
from console.consumers.models import ConsumerGroup, GroupPlace
from console.topics.models import Topic

READS_BEYOND = "This group also reads topics that your rights do not reach, so it is not yours to change."


def access_topic(user, name: str, right: Right) -> Topic:
    """The topic `name` if `user` holds `right`; PermissionDenied before Http404, so that names do not leak."""
    require_on(user, Resource.TOPIC, name, right)
    topic = Topic.objects.filter(name=name).first()
    if topic is None:
        raise Http404(f"There is no topic {name}.")
    return topic


def access_records(user, name: str, right: Right = Right.RECORDS) -> Topic:
    """As `access_topic`, for what is in the topic's records: those of some topics tell of other people's objects."""
    topic = access_topic(user, name, right)
    if tells_of_others(topic):
        require_everything(user)
    return topic


def tells_of_others(topic: Topic) -> bool:
    """Kafka's own topics hold every group's commits and transactions; the demo's hold who looked at what."""
    return topic.is_internal or topic.name.startswith("__") or topic.name.split(".")[:2] == ["console", "access"]


def access_broker(user, broker_id: int, right: Right) -> Broker:
    """The broker with this number, as `access_topic`."""
    require(user, right)
    broker = Broker.objects.filter(broker_id=broker_id).first()
    if broker is None:
        raise Http404(f"No broker {broker_id} has been seen.")
    return broker


def access_group(user, name: str, right: Right) -> ConsumerGroup:
    """The consumer group `name`, as `access_topic`. With `OPERATE` every topic it reads has to be in reach too."""
    require_on(user, Resource.GROUP, name, right)
    reach = reach_of(user)
    group = groups_within(reach).filter(name=name).first()
    if group is None:
        raise Http404(f"There is no consumer group {name}.")
    if right is not Right.VIEW and reads_beyond(group, reach):
        raise PermissionDenied(READS_BEYOND)
    return group


def reads_beyond(group: ConsumerGroup, reach: Reach) -> bool:
    """It also reads topics that are not in reach; its sums hold their figures."""
    is_limited = reach.is_limited(Resource.TOPIC)
    return is_limited and group.places.exclude(within(reach, Resource.TOPIC, "topic")).exists()


def topics_within(reach: Reach, right: Right = Right.VIEW) -> QuerySet[Topic]:
    return Topic.objects.filter(within(reach, Resource.TOPIC, "name", right))


def groups_within(reach: Reach) -> QuerySet[ConsumerGroup]:
    """Groups in reach that read something in reach, or nothing: of others the figures would tell of hidden topics."""
    groups = ConsumerGroup.objects.filter(within(reach, Resource.GROUP, "name"))
    if not reach.is_limited(Resource.TOPIC):
        return groups
    return groups.filter(Q(pk__in=places_within(reach).values("group")) | Q(places__isnull=True))


def places_within(reach: Reach) -> QuerySet[GroupPlace]:
    seen = within(reach, Resource.TOPIC, "topic") & within(reach, Resource.GROUP, "group__name")
    return GroupPlace.objects.filter(seen)
