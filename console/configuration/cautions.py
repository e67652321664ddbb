"""What a new value of a topic's setting comes to, where the value itself does not say. Pure."""

from dataclasses import replace

from console.configuration.target import Target

UNCLEAN = (
    "A replica that is not in sync may lead as soon as none in sync is left: what it lacks is lost for good, "
    "acknowledged records too."
)


def with_cautions(target: Target, name: str, value: str, replication_factor: int) -> Target:
    """`target`, a topic, told what follows if `name` becomes `value`."""
    if name == "unclean.leader.election.enable" and value.lower() == "true":
        return replace(target, losses=(*target.losses, UNCLEAN))
    if name == "min.insync.replicas" and value.isdecimal():
        return replace(target, touches=(*target.touches, *_of_min_isr(int(value), replication_factor)))
    if name == "max.message.bytes":
        return replace(target, touches=(*target.touches, "Consumers must be able to take a batch of that size."))
    return target


def _of_min_isr(least: int, replicas: int) -> tuple[str, ...]:
    if least > replicas:
        return (f"No acks=all producer can write any more: a partition has {_copies(replicas)}, not {least}.",)
    if least == replicas and replicas > 1:
        return (f"It has {_copies(replicas)}: one dead broker stops every acks=all producer of its partitions.",)
    if least == 1 and replicas > 1:
        return ("A record may be acknowledged while one broker alone holds it, and is lost with that broker.",)
    return ()


def _copies(replicas: int) -> str:
    return f"{replicas} replica{'s' * (replicas > 1)}"
