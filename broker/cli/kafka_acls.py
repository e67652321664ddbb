"""`kafka-acls`: list, add and remove ACLs of topics, groups and the cluster."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from broker.cli.acls.acl_arguments import (
    check_arguments,
    operation,
    pattern_type,
    principal,
    resources,
    to_add,
    to_remove,
)
from broker.cli.acls.acl_keepers import AclKeeper, Brokers, InZooKeeper, Rules
from broker.cli.acls.acl_listing import as_json, lines_of, text_of_pattern
from broker.cli.frame.answers import exception_of
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.frame.zookeeper import ZK_TLS, ZooKeeperAccess
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.common.errors import ApiError
from broker.security.acls.filters import PatternFilter
from broker.security.acls.model import AclEntry, Pattern, PatternType
from broker.security.operations import AclOperation

_FAILED = "Error while executing ACL command: "
_OLD_WORDS = (
    "Warning: support for ACL configuration directly through the authorizer is deprecated and will be removed in a "
    "future release. Please use --bootstrap-server instead to set ACLs through the admin client."
)
_CONNECT_KEY, _DIGEST_KEY = "zookeeper.connect", "zookeeper.digest.file"


def run(arguments: Arguments) -> None:
    check_arguments(arguments)
    meant = to_add(arguments) if arguments["add"] else to_remove(arguments) if arguments["remove"] else {}
    try:
        with _keeper(arguments) as keeper:
            for resource, entries in meant.items():
                if arguments["add"]:
                    _add(keeper, resource, entries, arguments)
                else:
                    _remove(keeper, resource, entries, arguments)
            _list(keeper, arguments)
    except ApiError as error:
        raise CommandError(f"{_FAILED}{exception_of(error.code)}: {error}", on_stdout=True) from None
    except (ApiNotServed, BrokerUnreachable) as error:
        raise CommandError(f"{_FAILED}{error}", on_stdout=True) from None


@contextmanager
def _keeper(arguments: Arguments) -> Iterator[AclKeeper]:
    properties = dict(text.partition("=")[::2] for text in arguments["authorizer-properties"])
    connect = arguments["zookeeper"] or properties.get(_CONNECT_KEY)
    if arguments["bootstrap-server"] and (properties or arguments["zookeeper"]):
        raise UsageError("Only one of --bootstrap-server or --authorizer must be specified")
    if arguments["bootstrap-server"]:
        with connected(arguments) as cluster:
            yield Brokers(cluster)
    elif connect:
        print(_OLD_WORDS, file=sys.stderr)
        files = (properties.get(_DIGEST_KEY, ""), arguments["zk-tls-config-file"] or "")
        yield InZooKeeper(ZooKeeperAccess(connect, *files))
    else:
        raise UsageError("One of --bootstrap-server or --authorizer-properties zookeeper.connect=… must be specified")


def _add(keeper: AclKeeper, resource: PatternFilter, entries: Sequence[AclEntry], arguments: Arguments) -> None:
    pattern = Pattern(resource.kind, resource.name or "", resource.type)
    if not wants_json(arguments):
        print(f"Adding ACLs for resource `{text_of_pattern(pattern)}`: {lines_of(entries)}")
    keeper.add(pattern, entries)


def _remove(keeper: AclKeeper, resource: PatternFilter, entries: Sequence[AclEntry], arguments: Arguments) -> None:
    named = text_of_pattern(resource)
    question = f"Are you sure you want to delete all ACLs for resource filter `{named}`? (y/n)"
    if entries:
        question = f"Are you sure you want to remove ACLs: {lines_of(entries)} from resource filter `{named}`? (y/n)"
    if arguments["force"] or _is_sure(question, arguments):
        keeper.remove(resource, entries)


def _is_sure(question: str, arguments: Arguments) -> bool:
    print(question, file=sys.stderr if wants_json(arguments) else sys.stdout, flush=True)
    return sys.stdin.readline().strip().lower() == "y"


def _list(keeper: AclKeeper, arguments: Arguments) -> None:
    rules: dict[Pattern, list[AclEntry]] = {}
    for wanted in resources(arguments) or [PatternFilter()]:
        rules |= {pattern: list(entries) for pattern, entries in keeper.matching(wanted).items()}
    principals = list(dict.fromkeys(arguments["principal"]))
    if wants_json(arguments):
        print_json(as_json(_of(rules, principals) if principals else rules))
        return
    if not principals:
        _print(rules)
    for value in principals:
        print(f"ACLs for principal `{value}`")
        _print(_of(rules, [value]))


def _of(rules: Rules, principals: Sequence[str]) -> Rules:
    kept = {pattern: [one for one in entries if one.principal in principals] for pattern, entries in rules.items()}
    return {pattern: entries for pattern, entries in kept.items() if entries}


def _print(rules: Rules) -> None:
    for pattern, entries in rules.items():
        print(f"Current ACLs for resource `{text_of_pattern(pattern)}`: {lines_of(entries)}")


COMMAND = Command(
    name="kafka-acls",
    summary="List, add or remove ACLs of topics, groups, transactional ids and the cluster.",
    run=run,
    exactly_one_of=(("add", "remove", "list"),),
    options=(
        BOOTSTRAP_SERVER,
        COMMAND_CONFIG,
        Option(
            "authorizer-properties",
            "As before Kafka 2.1: rules are kept in this ZooKeeper: zookeeper.connect=HOST:PORT,…[/CHROOT]; "
            "zookeeper.digest.file=FILE with user:password of the brokers where zookeeper.set.acl protects them.",
            "KEY=VALUE",
            repeatable=True,
        ),
        Option("zookeeper", "Short for --authorizer-properties zookeeper.connect=….", "HOST:PORT,…[/CHROOT]"),
        ZK_TLS,
        Option("authorizer", "", "CLASS", without_effect="there is one authorizer, Kafka's AclAuthorizer."),
        OUTPUT,
        Option("add", "Add rules."),
        Option("remove", "Take rules away: those named, or without a principal all of the resources."),
        Option("list", "Tell the rules, of the resources named or all."),
        Option("topic", "A topic, * is every one.", "TOPIC", repeatable=True),
        Option("group", "A consumer group, * is every one.", "GROUP", repeatable=True),
        Option("cluster", "The cluster itself."),
        Option("transactional-id", "A transactional id, * is every one.", "ID", repeatable=True),
        Option("delegation-token", "A delegation token.", "ID", repeatable=True),
        Option("user-principal", "A user, whose tokens are meant.", "PRINCIPAL", repeatable=True),
        Option(
            "resource-pattern-type",
            "How names are meant: literal, prefixed; to list or remove also match (all about the name), any.",
            "TYPE",
            parse=pattern_type,
            default=PatternType.LITERAL,
        ),
        Option(
            "allow-principal",
            "Principal to allow: User:alice; User:* is every user.",
            "PRINCIPAL",
            principal,
            repeatable=True,
        ),
        Option(
            "deny-principal", "Principal to deny, which wins over any allow.", "PRINCIPAL", principal, repeatable=True
        ),
        Option("allow-host", "From which address, * is every one, as without it.", "ADDRESS", repeatable=True),
        Option("deny-host", "From which address not.", "ADDRESS", repeatable=True),
        Option(
            "operation", "What; All without it.", "OPERATION", operation, default=(AclOperation.ALL,), repeatable=True
        ),
        Option("producer", "Short for what a producer needs: Write, Describe, Create on its topics."),
        Option("consumer", "Short for what a consumer needs: Read, Describe on its topics, Read on its group."),
        Option("idempotent", "With --producer: IdempotentWrite on the cluster, which brokers before 3.0 ask for."),
        Option("principal", "With --list: of these only.", "PRINCIPAL", principal, repeatable=True),
        Option("force", "Take away without asking."),
    ),
    examples=(
        Example(
            "kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:alice --producer --topic orders",
            "let alice write to a topic",
        ),
        Example(
            "kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:bob --consumer --topic orders- "
            "--group billing --resource-pattern-type prefixed",
            "let bob read all topics and groups whose names begin so",
        ),
        Example(
            "kafka-acls --bootstrap-server localhost:9092 --list --topic orders --resource-pattern-type match",
            "every rule that concerns a topic",
        ),
        Example(
            "kafka-acls --authorizer-properties zookeeper.connect=localhost:2181 --add --allow-principal User:admin "
            "--operation All --cluster",
            "the first administrator, before any user has the right",
        ),
    ),
)
