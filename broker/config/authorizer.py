"""Settings of the authorizer: Kafka's keys, and a file for denials."""

from typing import NamedTuple

from broker.config.definition import accepting, parse_boolean, setting

#: The one authorizer there is, by Kafka's name and the one from before 2.4.
AUTHORIZERS = ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer")


class SuperUsers(NamedTuple):
    """Users who may do everything, each as `User:alice`; names may have commas in them (CN=alice,O=acme)."""

    principals: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ";".join(self.principals)


@accepting("a list as User:alice;User:bob")
def parse_super_users(text: str) -> SuperUsers:
    principals = tuple(part.strip() for part in text.split(";") if part.strip())
    if not all(separator and kind for kind, separator, _ in (principal.partition(":") for principal in principals)):
        raise ValueError(text)
    return SuperUsers(principals)


class AuthorizerKeys:
    """Values by attribute, as in `BrokerSettings`."""

    authorizer_class_name = setting(
        str,
        "",
        "Class of the authorizer. If set, ACLs in ZooKeeper decide what a user may do.",
        choices=("", *AUTHORIZERS),
    )
    super_users = setting(parse_super_users, SuperUsers(), "Super users, who may do everything: User:alice;User:bob.")
    allow_everyone_if_no_acl_found = setting(
        parse_boolean, False, "Whether a resource without any ACL is open to all users."
    )
    # Kafka says it in log4j.properties, of kafka.authorizer.logger.
    authorizer_log = setting(str, "", "A file for what was denied; unset: it stands in the broker's log.")
