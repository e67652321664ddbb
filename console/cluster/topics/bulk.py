"""Changes of many topics that are made of a plan for each topic; features declare theirs as hooks of `CHANGES`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from console.cluster.notes.actions import write_note
from console.cluster.notes.models import OWNER_LENGTH_MAX
from console.cluster.notes.note_text import NotePlan, change_plan
from console.cluster.notes.queries import said_of
from console.cluster.topics.enlargement import EnlargementPlan, enlargement_plan
from console.cluster.topics.forms import AddPartitionsForm
from console.cluster.topics.queries import groups_of
from console.kit.access.reach import Reach
from console.kit.common.current_cluster import here
from console.kit.common.hook_point import HookPoint
from console.kit.gateway.connect import cluster_gateway
from console.kit.plans.plan import Plan
from console.state.clusters.models import Topic


@dataclass(frozen=True, slots=True)
class BulkWish:
    """What a person typed beside the choice of the change."""

    setting: str
    value: str


class TopicChange(Protocol):
    """One change of many topics. `key` stands in addresses, `label` in the list of choices, `verb` on the button."""

    key: str
    label: str
    verb: str
    #: The audit's word for it.
    action: str
    #: Topics of one plan: the cluster is asked about each while the page is drawn.
    topics_max: int

    def settle(self, wish: BulkWish) -> BulkWish:
        """Return what was typed as the plan takes it, the same at each look. Raises ValueError with a sentence."""
        ...

    def subject(self, wish: BulkWish) -> str:
        """Return what of the topics is changed, such as a setting's name."""
        ...

    def plan(self, topic: Topic, wish: BulkWish, reach: Reach) -> Plan | None:
        """Plan the change of one topic; None if it needs none. Raises GatewayError."""
        ...

    def apply(self, plan: Plan) -> None:
        """Make the change of one topic. Raises GatewayError."""
        ...

    def old_value(self, plan: Plan) -> str | None:
        """Return the value that takes the change of one topic back; None if nothing does."""
        ...


#: The key of the change that a setting of retention takes as well.
RETENTION = "retention"

#: Each is a class without arguments.
CHANGES = HookPoint[Callable[[], TopicChange]]("console.cluster.topics.bulk.CHANGES")


def changes() -> Mapping[str, TopicChange]:
    """Return the declared changes by key, in the order of the features."""
    made = [change() for change in CHANGES]
    return {change.key: change for change in made}


class MorePartitions:
    key, label, verb = "partitions", "add partitions, up to the value in all", "Add the partitions"
    action = "add partitions to topics"
    topics_max = 200

    def settle(self, wish: BulkWish) -> BulkWish:
        form = AddPartitionsForm({"partition_count": wish.value})
        if not form.is_valid():
            raise ValueError(f"Partitions then: {form.errors['partition_count'][0]}")
        return BulkWish("", str(form.cleaned_data["partition_count"]))

    def subject(self, wish: BulkWish) -> str:
        return "partition_count"

    def plan(self, topic: Topic, wish: BulkWish, reach: Reach) -> Plan | None:
        count = int(wish.value)
        if count <= topic.partition_count:
            return None
        return enlargement_plan(topic, count, len(groups_of(topic.name, reach)), here.BOOTSTRAP_SERVERS)

    def apply(self, plan: Plan) -> None:
        assert isinstance(plan, EnlargementPlan)
        cluster_gateway().add_partitions(plan.object_name, plan.partition_count)

    def old_value(self, plan: Plan) -> str | None:
        return None


class OwnerOfTopics:
    key, label, verb = "owner", "name their owner: the value", "Name the owner"
    action = "describe topics"
    topics_max = 200

    def settle(self, wish: BulkWish) -> BulkWish:
        owner = wish.value.strip()
        if len(owner) > OWNER_LENGTH_MAX:
            raise ValueError(f"An owner has at most {OWNER_LENGTH_MAX} characters.")
        return BulkWish("", owner)

    def subject(self, wish: BulkWish) -> str:
        return "owner"

    def plan(self, topic: Topic, wish: BulkWish, reach: Reach) -> Plan | None:
        now = said_of(topic.name)
        return change_plan(topic.name, now, replace(now, owner=wish.value))

    def apply(self, plan: Plan) -> None:
        assert isinstance(plan, NotePlan)
        write_note(plan.object_name, plan.then)

    def old_value(self, plan: Plan) -> str | None:
        return str(plan.lines[0].old)
