"""Every API, asked by a user who has no right to anything, or to describe only."""

from random import Random

from tests.reference.subjects.brokers import access, configs, groups, placement, records, topics, transactions
from tests.reference.subjects.brokers.drawing import step

_ROOMS = [
    *(topics.dialogue, configs.dialogue, records.dialogue, groups.dialogue, transactions.dialogue, placement.dialogue),
    *(access.acls, access.quotas, access.credentials, access.tokens),
]
_RIGHTS = [(2, "{n}a", 8), (2, "{n}a", 3), (2, "{n}a", 4), (4, "kafka-cluster", 8), (5, "{n}x", 8), (3, "{n}g", 8)]


def _is_whole(body: object) -> bool:
    return "'$'" not in str(body)


def dialogue(drawn: Random) -> list[dict]:
    """Return one to three requests of any room, by a user with one right at most."""
    steps: list[dict] = [topics.create(drawn, "{n}a")]
    if drawn.random() < 0.4:
        kind, name, operation = drawn.choice(_RIGHTS)
        rule = {"resource_type": kind, "resource_name": name, "resource_pattern_type": 3, "host": "*"}
        rule |= {"principal": "User:limited", "operation": operation, "permission_type": 3}
        steps.append(step(drawn, "CREATE_ACLS", creations=[rule]))
    for _ in range(drawn.randint(1, 3)):
        whole = [made for made in drawn.choice(_ROOMS)(drawn) if "api" in made and _is_whole(made)]
        made = drawn.choice(whole)
        if made["body"].get("users", ()) is None:
            made["body"]["users"] = []  # Kafka does not answer the refused question for all users
        steps.append({"api": made["api"], "version": made["version"], "body": made["body"], "user": "limited"})
    return steps
