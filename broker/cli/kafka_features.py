"""`kafka-features`: the levels that a cluster of KRaft has finalized, told and changed; one of ZooKeeper has none."""

from broker.cli.frame.answers import check
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.errors import ApiNotServed
from broker.protocol.messages.api_versions import OWN_SOFTWARE, ApiVersionsRequest
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpgradeType

_METADATA = "metadata.version"
#: metadata.version 1 is 3.0-IV1; those after it, as Kafka 3.9 counts them.
_RELEASES = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1"),
    *("3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0"),
    "3.9-IV0",
)
_HEADS = ("feature", "supportedMinVersion", "supportedMaxVersion", "finalizedVersionLevel")


def _describe(arguments: Arguments) -> None:
    with connected(arguments) as cluster:
        answer = cluster.ask_any(ApiVersionsRequest(client_software_name=OWN_SOFTWARE, client_software_version="1"))
    check(answer.error_code)
    finalized = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    rows = [
        (
            feature.name,
            *(_shown(feature.name, level) for level in (feature.min_version, feature.max_version)),
            _shown(feature.name, at),
        )
        for feature in sorted(answer.supported_features, key=lambda supported_feature: supported_feature.name)
        for at in [finalized.get(feature.name, 0)]
    ]
    epoch = answer.finalized_features_epoch
    if wants_json(arguments):
        print_json({"epoch": epoch, "features": [dict(zip(_HEADS, row, strict=True)) for row in rows]})
        return
    for name, lowest, highest, level in rows:
        print(
            f"Feature: {name}\tSupportedMinVersion: {lowest}\tSupportedMaxVersion: {highest}\t"
            f"FinalizedVersionLevel: {level}\tEpoch: {epoch if epoch >= 0 else '-'}"
        )


def _upgrade(arguments: Arguments) -> None:
    _change(arguments, _levels(arguments), UpgradeType.UPGRADE, "upgrade")


def _downgrade(arguments: Arguments) -> None:
    kind = UpgradeType.UNSAFE_DOWNGRADE if arguments["unsafe"] else UpgradeType.SAFE_DOWNGRADE
    _change(arguments, _levels(arguments), kind, "downgrade")


def _disable(arguments: Arguments) -> None:
    kind = UpgradeType.UNSAFE_DOWNGRADE if arguments["unsafe"] else UpgradeType.SAFE_DOWNGRADE
    _change(arguments, dict.fromkeys(arguments["feature"], 0), kind, "disable")


def _levels(arguments: Arguments) -> dict[str, int]:
    levels = dict(arguments["feature"])
    if arguments["metadata"]:
        levels[_METADATA] = arguments["metadata"]
    return levels


def _change(arguments: Arguments, levels: dict[str, int], kind: UpgradeType, verb: str) -> None:
    if not levels:
        raise UsageError("You must specify at least one feature")
    updates = [
        FeatureUpdateKey(
            feature=name,
            max_version_level=level,
            allow_downgrade=kind is not UpgradeType.UPGRADE,
            upgrade_type=kind,
        )
        for name, level in levels.items()
    ]
    request = UpdateFeaturesRequest(feature_updates=updates, validate_only=arguments["dry-run"])
    try:
        with connected(arguments) as cluster:
            answer = cluster.ask_controller(request)
    except ApiNotServed:
        raise CommandError("The target cluster has no feature levels that could be changed.") from None
    failed = {result.feature: result.error_message for result in answer.results if result.error_code}
    if answer.error_code and not failed:
        failed = dict.fromkeys(levels, answer.error_message)
    could_not, was = ("Can not", "can be") if arguments["dry-run"] else ("Could not", "was")
    for name, level in levels.items():
        to = f" to {level}" if level else ""
        if name in failed:
            print(f"{could_not} {verb} {name}{to}. {failed[name] or ''}")
        else:
            print(f"{name} {was} {verb}d{to}.")
    if failed:
        raise CommandError(f"{len(failed)} out of {len(levels)} operation(s) failed.")


def _shown(feature: str, level: int) -> str:
    return _RELEASES[level - 1] if feature == _METADATA and 0 < level <= len(_RELEASES) else str(level)


def _release(text: str) -> int:
    """Parse 3.7, 3.7-IV2 or the level itself; return the newest of what is named."""
    if text.isdecimal():
        return int(text)
    named = [at for at, name in enumerate(_RELEASES, 1) if name == text or name.startswith(f"{text}-")]
    if not named:
        raise ValueError(f"known are {_RELEASES[0]} to {_RELEASES[-1]}")
    return named[-1]


def _feature(text: str) -> tuple[str, int]:
    name, separator, level = text.partition("=")
    if not separator or not name or not level.isdecimal():
        raise ValueError("write it as feature=level")
    return name, int(level)


_DRY_RUN = Option("dry-run", "Only ask whether it could be done.")
_UNSAFE = Option("unsafe", "Also if metadata is lost.")
_CHANGES = (
    Option("metadata", "A release, for metadata.version.", "RELEASE", parse=_release),
    Option("feature", "A feature and its level.", "NAME=LEVEL", parse=_feature, repeatable=True),
    _DRY_RUN,
)

COMMAND = Command(
    name="kafka-features",
    summary="Tell and change the feature levels of a KRaft cluster.",
    run=_describe,
    options=(
        Option(
            "bootstrap-server",
            BOOTSTRAP_SERVER.help,
            BOOTSTRAP_SERVER.value,
            older=("bootstrap-servers", "bootstrap-controller"),
        ),
        COMMAND_CONFIG,
        OUTPUT,
    ),
    subcommands=(
        Command(name="describe", summary="What is supported and finalized.", run=_describe),
        Command(name="upgrade", summary="Raise levels.", run=_upgrade, options=_CHANGES),
        Command(name="downgrade", summary="Lower levels.", run=_downgrade, options=(*_CHANGES, _UNSAFE)),
        Command(
            name="disable",
            summary="Do without features.",
            run=_disable,
            options=(Option("feature", "A feature.", "NAME", repeatable=True), _DRY_RUN, _UNSAFE),
        ),
    ),
    examples=(
        Example("kafka-features --bootstrap-server localhost:9092 describe", "nothing, for ZooKeeper's clusters"),
    ),
)
