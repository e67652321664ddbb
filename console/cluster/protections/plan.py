"""The end of a topic's protection as a plan. Pure."""

from console.kit.plans.plan import Plan, PlanLine

REMOVE = "remove protection"


def removal_plan(topic: str, what: str, why: str, named_now: str) -> Plan:
    """Plan a removal. `named_now`: where the configuration is that still names the topic; empty: there is none."""
    internal = what == "internal topic"
    loss = (
        f"Every user who may read {topic} then reads the records that a service keeps there, secrets among them."
        if internal
        else f"Every user who may read {topic} then sees what the {what} hide: its records are as they were written."
    )
    return Plan(
        action=REMOVE,
        object_type="topic",
        object_name=topic,
        lines=(PlanLine(what, why, None),),
        read=(),
        losses=(loss,),
        typed_name=topic,
        obstacle=f"It still protects the topic: {named_now}. Remove that first." if named_now else "",
    )
