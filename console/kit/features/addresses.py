"""The addresses that verbs lead to."""

from urllib.parse import urlencode

from django.urls import reverse

from console.kit.features.verbs import PartitionIn, Verb


def address_of(verb: Verb, name: str, partition: int | None = None) -> str:
    """Return where `verb` is done to the object `name`, and to its `partition` where the verb takes one."""
    arguments: list[str | int] = [] if verb.query else [name, *verb.arguments]
    query: dict[str, str | int] = {verb.query: name} if verb.query else {}
    query.update(verb.fixed)
    if partition is not None and verb.partition_in is PartitionIn.PATH:
        arguments.append(partition)
    elif partition is not None:
        query["partition"] = partition
    behind = (f"?{urlencode(query)}" if query else "") + (f"#{verb.fragment}" if verb.fragment else "")
    return reverse(verb.route, args=arguments) + behind
