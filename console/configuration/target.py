"""What may have settings of its own, and how a change of one is called, done and told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """`object_type` and `object_name` are the audit's; `option` names it to kafka-configs.sh."""

    object_type: str
    object_name: str
    #: Whose change it is in a sentence: "the topic", "broker 2", "all brokers".
    words: str
    option: str
    #: What follows from the change, and what is lost by it for good.
    touches: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    #: Why it cannot be changed at all; empty: it can.
    obstacle: str = ""


def topic_target(topic: str) -> Target:
    follow = "Every replica of the topic follows the new value at once; no record is touched by the change itself."
    return Target("topic", topic, "the topic", f"--topic {topic}", (follow,))
