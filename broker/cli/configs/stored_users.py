"""SCRAM credentials of users straight in ZooKeeper: for the first user of a cluster, when nobody can log in yet, and
while no broker runs. What is written is what a broker would write.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from broker.cli.configs.config_changes import SCRAM, Changes, scram_deletions
from broker.cli.configs.config_entities import USERS, Entity
from broker.cli.configs.quotas import new_upsertion
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.zookeeper import ZooKeeperAccess
from broker.common.errors import ApiError

if TYPE_CHECKING:
    from broker.zookeeper.session import ZooKeeperSession


def is_about_credentials(entities: Sequence[Entity], changes: Changes | None) -> bool:
    """Nothing else of the change needs a broker."""
    is_one_user = [each.type for each in entities] == [USERS] and bool(entities[0].name)
    return is_one_user and changes is not None and bool(changes.of_scram()) and not changes.of_others()


def alter_stored(zookeeper: ZooKeeperAccess, user: str, changes: Changes) -> None:
    """Raises CommandError."""
    from broker.common.clock import SystemClock
    from broker.security.sanitized_names import sanitized
    from broker.security.sasl.stored_credentials import changes_of
    from broker.zookeeper.store import ClusterStore

    upsertions = [new_upsertion(user, key, text) for key, text in changes.added.items()]
    (change,) = changes_of(scram_deletions(user, changes), upsertions).values()
    if isinstance(change, ApiError):
        raise CommandError(f"Error while executing config command: {change}")

    async def write(session: "ZooKeeperSession") -> None:
        for parent in ("/config/users", "/config/changes"):
            await session.ensure(parent)
        await ClusterStore(session, SystemClock()).change_config(USERS, sanitized(user), change.apply)

    try:
        zookeeper.read(write, f"what {' and '.join(SCRAM)} are of {user}")
    except ApiError as error:
        raise CommandError(f"Error while executing config command: {error}") from None
