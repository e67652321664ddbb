"""The one door through which a view gets an object somebody asked for: right first, then existence."""

from django.http import Http404

from console.access.rights import Right, require
from console.brokers.models import Broker
from console.consumers.models import ConsumerGroup
from console.topics.models import Topic


def access_topic(user, name: str, right: Right) -> Topic:
    """The topic `name` if `user` holds `right`; PermissionDenied before Http404, so that names do not leak."""
    require(user, right)
    topic = Topic.objects.filter(name=name).first()
    if topic is None:
        raise Http404(f"There is no topic {name}.")
    return topic


def access_broker(user, broker_id: int, right: Right) -> Broker:
    """The broker with this number, as `access_topic`."""
    require(user, right)
    broker = Broker.objects.filter(broker_id=broker_id).first()
    if broker is None:
        raise Http404(f"No broker {broker_id} has been seen.")
    return broker


def access_group(user, name: str, right: Right) -> ConsumerGroup:
    """The consumer group `name`, as `access_topic`."""
    require(user, right)
    group = ConsumerGroup.objects.filter(name=name).first()
    if group is None:
        raise Http404(f"There is no consumer group {name}.")
    return group
