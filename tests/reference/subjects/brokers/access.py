"""ACLs, quotas, SCRAM credentials, delegation tokens, and what a user without rights is answered."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, some, step

_NAMES = ["{n}r", "{n}s", "*", "kafka-cluster", ""]
_PRINCIPALS = ["User:{n}u", "User:*", "User:", "u", "Group:g", ""]
_HOSTS = ["*", "127.0.0.1", "", "::1", "host.name"]


def _acl(drawn: Random) -> dict:
    kind = mostly(drawn, drawn.choice([2, 3, 5]), 4, 6, 7, 0, 1, 9, chance=0.3)
    return {
        "resource_type": kind,
        "resource_name": "kafka-cluster" if kind == 4 and drawn.random() < 0.8 else mostly(drawn, "{n}r", *_NAMES),
        "resource_pattern_type": mostly(drawn, 3, 4, 0, 1, 2, 9),
        "principal": mostly(drawn, "User:{n}u", *_PRINCIPALS),
        "host": mostly(drawn, "*", *_HOSTS),
        "operation": mostly(drawn, drawn.choice([2, 3, 4, 5, 8]), 0, 1, 6, 9, 10, 12, 13, 99),
        "permission_type": mostly(drawn, 3, 2, 0, 1, 9),
    }


def _acls_made(drawn: Random) -> dict:
    acls = [_acl(drawn) for _ in range(mostly(drawn, drawn.randint(1, 2), 0))]
    return step(drawn, "CREATE_ACLS", creations=acls + (acls[:1] if drawn.random() < 0.1 else []))


def _filter(drawn: Random) -> dict:
    return {
        "resource_type_filter": mostly(drawn, drawn.choice([1, 2]), 0, 3, 4, 9),
        "resource_name_filter": mostly(drawn, drawn.choice([None, "{n}r"]), "", "*", "{n}rest"),
        "pattern_type_filter": mostly(drawn, drawn.choice([1, 2, 3]), 0, 4, 9),
        "principal_filter": mostly(drawn, None, *_PRINCIPALS),
        "host_filter": mostly(drawn, None, *_HOSTS),
        "operation": mostly(drawn, 1, 0, 2, 3, 99),
        "permission_type": mostly(drawn, 1, 0, 2, 3, 9),
    }


def _acls_described(drawn: Random) -> dict:
    return step(drawn, "DESCRIBE_ACLS", **_filter(drawn))


def _acls_deleted(drawn: Random) -> dict:
    return step(drawn, "DELETE_ACLS", filters=[_filter(drawn) for _ in range(mostly(drawn, 1, 0, 2))])


def acls(drawn: Random) -> list[dict]:
    """Return rules that are made, described and taken away."""
    steps = [_acls_made(drawn)]
    kinds = [_acls_made, _acls_described, _acls_deleted]
    steps += [kind(drawn) for kind in drawn.choices(kinds, [2, 3, 2], k=drawn.randint(1, 4))]
    every = {"resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1}
    every |= {"principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}
    return [*steps, step(drawn, "DESCRIBE_ACLS", **every)]


_KEYS = ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"]
_ODD_KEYS = ["connection_creation_rate", "bad", ""]


def _entity(drawn: Random) -> list[dict]:
    parts = [
        {"entity_type": "user", "entity_name": mostly(drawn, "{n}u", None, "", "a b")},
        {"entity_type": "client-id", "entity_name": mostly(drawn, "{n}c", None, "")},
        {"entity_type": "ip", "entity_name": mostly(drawn, "127.0.0.1", None, "x", "::1", "")},
        {"entity_type": "odd", "entity_name": "x"},
    ]
    picked = mostly(drawn, [parts[0]], [parts[1]], parts[:2], [parts[2]], [parts[3]], [], parts[1:3], chance=0.6)
    return [*picked, picked[0]] if picked and drawn.random() < 0.04 else picked


def _quotas_set(drawn: Random) -> dict:
    entries = []
    for _ in range(mostly(drawn, 1, 2, 0, chance=0.15)):
        entity = _entity(drawn)
        is_ip = any(part["entity_type"] == "ip" for part in entity)
        usual = ["connection_creation_rate"] if is_ip else _KEYS
        ops = [
            {
                "key": mostly(drawn, drawn.choice(usual), *_ODD_KEYS, *_KEYS, chance=0.15),
                "value": mostly(drawn, float(drawn.choice([10, 1000])), 0.0, -1.0, 0.5, 1e30, chance=0.3),
                "remove": mostly(drawn, False, True),
            }
            for _ in range(mostly(drawn, 1, 2, 0))
        ]
        entries.append({"entity": entity, "ops": ops})
    return step(drawn, "ALTER_CLIENT_QUOTAS", entries=entries, validate_only=mostly(drawn, False, True))


def _quotas_described(drawn: Random) -> dict:
    kinds = mostly(drawn, some(drawn, ["user", "client-id"], 0, 2), ["ip"], ["odd"], ["user", "user"], [""])
    components = []
    for kind in kinds:
        names = {"user": "{n}u", "client-id": "{n}c", "ip": "127.0.0.1"}
        match = drawn.choice([(0, names.get(kind, "x")), (1, None), (2, None)])
        match = mostly(drawn, match, (0, None), (1, "x"), (3, None), (0, ""), chance=0.1)
        components.append({"entity_type": kind, "match_type": match[0], "match": match[1]})
    return step(drawn, "DESCRIBE_CLIENT_QUOTAS", components=components, strict=mostly(drawn, False, True, chance=0.4))


def quotas(drawn: Random) -> list[dict]:
    """Return quotas that are set, described and taken away."""
    steps = [_quotas_set(drawn)]
    for kind in drawn.choices([_quotas_set, _quotas_described], k=drawn.randint(1, 3)):
        steps.append(kind(drawn))
    return [*steps, step(drawn, "DESCRIBE_CLIENT_QUOTAS", components=[], strict=False)]


_USERS = ["{n}u", "{n}v"]


def _user(drawn: Random) -> str:
    return mostly(drawn, drawn.choice(_USERS), "", "{n}a b", "{n},=", chance=0.1)


def _credentials_set(drawn: Random) -> dict:
    upsertions = [
        {
            "name": _user(drawn),
            "mechanism": mostly(drawn, drawn.choice([1, 2]), 0, 3, -1, chance=0.12),
            "iterations": mostly(drawn, 4096, 4095, 16384, 16385, 0, -1),
            "salt": mostly(drawn, "c2FsdA", ""),
            "salted_password": mostly(drawn, "p" * 32, "p" * 64, "p", "", chance=0.4),
        }
        for _ in range(mostly(drawn, 1, 2, 0))
    ]
    deletions = [
        {"name": _user(drawn), "mechanism": mostly(drawn, drawn.choice([1, 2]), 0, 3, chance=0.12)}
        for _ in range(mostly(drawn, 0, 1, 2, chance=0.5))
    ]
    return step(drawn, "ALTER_USER_SCRAM_CREDENTIALS", deletions=deletions, upsertions=upsertions)


def _credentials_described(drawn: Random) -> dict:
    users = mostly(drawn, [{"name": name} for name in some(drawn, [*_USERS, "{n}none", ""])], None, [])
    return step(drawn, "DESCRIBE_USER_SCRAM_CREDENTIALS", users=users)


def credentials(drawn: Random) -> list[dict]:
    """Return users that get passwords and lose them."""
    steps = []
    for kind in drawn.choices([_credentials_set, _credentials_described], [2, 1], k=drawn.randint(1, 4)):
        steps.append(kind(drawn))
    return [*steps, step(drawn, "DESCRIBE_USER_SCRAM_CREDENTIALS", users=None)]


def tokens(drawn: Random) -> list[dict]:
    """Return what brokers without a secret key for delegation tokens are asked."""
    hmac = mostly(drawn, "x", "")
    owner = {"principal_type": "User", "principal_name": "u"}
    steps = [
        step(drawn, "CREATE_DELEGATION_TOKEN", renewers=[], max_lifetime_ms=mostly(drawn, -1, 1000)),
        step(drawn, "RENEW_DELEGATION_TOKEN", hmac=hmac, renew_period_ms=mostly(drawn, -1, 1000)),
        step(drawn, "EXPIRE_DELEGATION_TOKEN", hmac=hmac, expiry_time_period_ms=mostly(drawn, -1, 1000)),
        step(drawn, "DESCRIBE_DELEGATION_TOKEN", owners=mostly(drawn, None, [], [owner])),
    ]
    user = mostly(drawn, None, "limited", chance=0.5)
    return [{**made, "user": user} for made in some(drawn, steps, 1, 3)]
