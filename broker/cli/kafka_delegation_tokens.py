"""`kafka-delegation-tokens`: secrets by which the programs of a user log in for a while (KIP-48)."""

import base64
import binascii
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from broker.cli.frame.answers import check, int64
from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.protocol.messages import AnyResponse
from broker.protocol.schema import Request

if TYPE_CHECKING:
    from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenResponse
    from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse

    _Changed = TypeVar("_Changed", RenewDelegationTokenResponse, ExpireDelegationTokenResponse)

_ACTIONS = ("create", "renew", "expire", "describe")
_NEEDED = {
    "create": ("max-life-time-period",),
    "renew": ("hmac", "renew-time-period"),
    "expire": ("hmac", "expiry-time-period"),
    "describe": (),
}
_OTHERS = {
    "create": ("owner-principal", "renewer-principal"),
    "renew": (),
    "expire": (),
    "describe": ("owner-principal",),
}
#: What belongs to some action and no other.
_OF_ACTIONS = {name for names in (*_NEEDED.values(), *_OTHERS.values()) for name in names}

_ROW = "{:<15} {:<30} {:<15} {:<15} {:<25} {:<15} {:<15} {:<15}"
_TITLES = ("TOKENID", "HMAC", "OWNER", "REQUESTER", "RENEWERS", "ISSUEDATE", "EXPIRYDATE", "MAXDATE")

Principal = tuple[str, str]


def run(arguments: Arguments) -> None:
    action = next(action for action in _ACTIONS if arguments[action])
    missing = [name for name in _NEEDED[action] if not arguments.given(name)]
    if missing:
        raise UsageError(f'Missing required argument "[{", ".join(missing)}]"')
    for name in arguments.order:
        if name in _OF_ACTIONS.difference(_NEEDED[action], _OTHERS[action]):
            raise UsageError(f'Option "[{action}]" can\'t be used with option "[{name}]"')
    _DO[action](arguments)


def _create(arguments: Arguments) -> None:
    from broker.protocol.messages.create_delegation_token import CreatableRenewer, CreateDelegationTokenRequest

    owners, renewers = arguments["owner-principal"], arguments["renewer-principal"]
    owner = owners[0] if owners else (None, None)
    period_ms = arguments["max-life-time-period"]
    _print_unless_json(
        arguments,
        f"Calling create token operation with renewers :{_principals(renewers)} , max-life-time-period :{period_ms}",
    )
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewer(principal_type=kind, principal_name=name) for kind, name in renewers],
        max_lifetime_ms=period_ms,
    )
    if owners:
        request.owner_principal_type, request.owner_principal_name = owner
    answer = _ask(arguments, request)
    check(answer.error_code)
    token = _token(answer, [{"type": kind, "name": name} for kind, name in renewers])
    if wants_json(arguments):
        print_json(token)
    else:
        print(f"Created delegation token with tokenId : {answer.token_id}")
        print(table([token]), end="")


def _renew(arguments: Arguments) -> None:
    from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest

    period_ms = arguments["renew-time-period"]
    request = RenewDelegationTokenRequest(hmac=_hmac(arguments), renew_period_ms=period_ms)
    _change(arguments, request, "renew", f"renew-time-period :{period_ms}")


def _expire(arguments: Arguments) -> None:
    from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest

    period_ms = arguments["expiry-time-period"]
    request = ExpireDelegationTokenRequest(hmac=_hmac(arguments), expiry_time_period_ms=period_ms)
    _change(arguments, request, "expire", f"expire-time-period :{period_ms}")


def _change(
    arguments: Arguments,
    request: "Request[_Changed]",
    what: str,
    period: str,
) -> None:
    _print_unless_json(arguments, f"Calling {what} token operation with hmac :{arguments['hmac']} , {period}")
    answer = _ask(arguments, request)
    check(answer.error_code)
    if wants_json(arguments):
        print_json({"expiryTimestamp": answer.expiry_timestamp_ms})
    else:
        print(f"Completed {what} operation. New expiry date : {_date(answer.expiry_timestamp_ms)}")


def _describe(arguments: Arguments) -> None:
    from broker.protocol.messages.describe_delegation_token import (
        DescribeDelegationTokenOwner,
        DescribeDelegationTokenRequest,
    )

    owners = arguments["owner-principal"]
    if owners:
        _print_unless_json(arguments, f"Calling describe token operation for owners: {_principals(owners)}")
    else:
        _print_unless_json(arguments, "Calling describe token operation for current user.")
    token_owners = [DescribeDelegationTokenOwner(principal_type=kind, principal_name=name) for kind, name in owners]
    answer = _ask(arguments, DescribeDelegationTokenRequest(owners=token_owners or None))
    check(answer.error_code)
    tokens = [
        _token(token, [{"type": one.principal_type, "name": one.principal_name} for one in token.renewers])
        for token in answer.tokens
    ]
    if wants_json(arguments):
        print_json(tokens)
    else:
        print(f"Total number of tokens : {len(tokens)}{table(tokens)}", end="")


def _print_unless_json(arguments: Arguments, sentence: str) -> None:
    if not wants_json(arguments):
        print(sentence, flush=True)


def _ask(arguments: Arguments, request: Request[AnyResponse]) -> AnyResponse:
    with connected(arguments) as cluster:
        return cluster.ask_any(request)


def _hmac(arguments: Arguments) -> bytes:
    try:
        return base64.b64decode(arguments["hmac"], validate=True)
    except (ValueError, binascii.Error):
        raise CommandError("--hmac: it is the text of base64 that --create has printed.") from None


def _token(token: Any, renewers: list[dict[str, str]]) -> dict[str, Any]:
    """Return the token as JSON; before version 3 the requester is not told and is taken to be the owner."""
    owner = {"type": token.principal_type, "name": token.principal_name}
    requester = {"type": token.token_requester_principal_type, "name": token.token_requester_principal_name}
    return {
        "tokenId": token.token_id,
        "hmac": base64.b64encode(token.hmac).decode(),
        "owner": owner,
        "tokenRequester": requester if requester["name"] else owner,
        "renewers": renewers,
        "issueTimestamp": token.issue_timestamp_ms,
        "expiryTimestamp": token.expiry_timestamp_ms,
        "maxTimestamp": token.max_timestamp_ms,
    }


def table(tokens: Iterable[dict[str, Any]]) -> str:
    """Format the table as Kafka's command does, with an empty line before each line."""
    lines = [_ROW.format(*_TITLES)]
    for token in tokens:
        owner, requester = ("{type}:{name}".format(**token[key]) for key in ("owner", "tokenRequester"))
        renewers = _principals((renewer["type"], renewer["name"]) for renewer in token["renewers"])
        dates = (_date(token[key]) for key in ("issueTimestamp", "expiryTimestamp", "maxTimestamp"))
        lines.append(_ROW.format(token["tokenId"], token["hmac"], owner, requester, renewers, *dates))
    return "".join(f"\n{line}\n" for line in lines)


def _principals(principals: Iterable[Principal]) -> str:
    return f"[{', '.join(f'{kind}:{name}' for kind, name in principals)}]"


def _date(ms: int) -> str:
    """Format a date in the local time zone, as Kafka's tool."""
    return f"{datetime.fromtimestamp(ms / 1000).astimezone():%Y-%m-%dT%H:%M}"


def _principal(text: str) -> Principal:
    kind, colon, name = text.strip().partition(":")
    if not (kind and colon and name):
        raise ValueError("expected a string in format principalType:principalName")
    return kind, name


_DO = {"create": _create, "renew": _renew, "expire": _expire, "describe": _describe}

COMMAND = Command(
    name="kafka-delegation-tokens",
    summary="Make, renew, end or list the tokens by which programs log in for a user.",
    run=run,
    exactly_one_of=(_ACTIONS,),
    options=(
        *ADMIN,
        OUTPUT,
        Option("create", "Make a token; it is printed with its secret, the HMAC."),
        Option("renew", "Have a token live on, as far as its end."),
        Option("expire", "Have a token end sooner, or at once."),
        Option("describe", "List the tokens of --owner-principal, or all that you may know of."),
        Option(
            "owner-principal",
            "Owner of the tokens; for --create the user who logs in by it, if not you.",
            "TYPE:NAME",
            parse=_principal,
            repeatable=True,
        ),
        Option(
            "renewer-principal",
            "Further users who may renew or expire the token.",
            "TYPE:NAME",
            parse=_principal,
            repeatable=True,
        ),
        Option(
            "max-life-time-period",
            "Milliseconds until its end, however often it is renewed; -1: delegation.token.max.lifetime.ms.",
            "MS",
            parse=int64,
        ),
        Option(
            "renew-time-period",
            "Milliseconds until it expires from now on; -1: delegation.token.expiry.time.ms.",
            "MS",
            parse=int64,
        ),
        Option("expiry-time-period", "Milliseconds until it expires from now on; -1: at once.", "MS", parse=int64),
        Option("hmac", "The secret of the token, as it was printed.", "BASE64"),
    ),
    examples=(
        Example(
            "kafka-delegation-tokens --bootstrap-server localhost:9093 --command-config alice.properties --create "
            "--max-life-time-period -1 --renewer-principal User:bob",
            "make a token for yourself, which bob may renew",
        ),
        Example(
            "kafka-delegation-tokens --bootstrap-server localhost:9093 --command-config alice.properties --describe",
            "list the tokens you may know of",
        ),
    ),
    notes=(
        "A client logs in by SCRAM with the token's id as user, its HMAC as password and tokenauth=true.",
        "A client needs a login, and not by a token.",
    ),
)
