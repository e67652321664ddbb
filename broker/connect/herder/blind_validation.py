"""Validation of a configuration with references: what it tells does not depend on what the references stand for.

The caller of a validation chooses the references, the keys and the texts that errors quote, and need not be allowed to
read a secret. Replacing secrets in errors would answer guesses, and misses parts and encodings. So the configuration
is validated twice, with its references as they are written and with their values: what the first says is public, and
of the second only whether it is refused, for each key that has references.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from broker.connect.api import ConnectError
from broker.connect.traces import sentence_of

Props = Mapping[str, Any]
Infos = dict[str, Any]


def blind_infos(raw: Props, resolved: Props, validate: Callable[[Props], Infos]) -> Infos:
    """Return ConfigInfos of `raw` without the values of its references, which `resolved` has. Raises ConnectError."""
    referring = {key: text for key, text in raw.items() if text != resolved[key]}
    try:
        secret = validate(resolved)
    except Exception as error:  # of a plugin, too
        _raise_public(lambda: validate(raw), sentence_of(error))
        raise ConnectError(_refusal(referring.items())) from None
    try:
        # Everyone may list the plugins, so the name of one that was found is public.
        public = validate({**raw, "connector.class": resolved["connector.class"]})
    except Exception:  # of a plugin that cannot read the references themselves
        raise ConnectError(_refusal(referring.items())) from None
    return _merged(public, secret, referring)


def _raise_public(validate: Callable[[], Infos], sentence: str) -> None:
    """Raise the error that a validation of the references themselves raises, if it says the same."""
    try:
        validate()
    except Exception as error:  # of a plugin, too
        if sentence_of(error) == sentence:
            raise


def _merged(public: Infos, secret: Infos, referring: Mapping[str, str]) -> Infos:
    secret_errors = {config["value"]["name"]: config["value"]["errors"] for config in secret["configs"]}
    values = {config["value"]["name"]: config["value"] for config in public["configs"]}
    first = next((name for name in referring if name in values), next(iter(values)))
    refused = set()
    for name, errors in secret_errors.items():
        if any(error not in values.get(name, {}).get("errors", ()) for error in errors):
            refused.add(name if name in referring and name in values else first)
    for name, value in values.items():
        value["errors"] = [error for error in value["errors"] if error in secret_errors.get(name, ())]
        value["value"] = referring.get(name, value["value"])
        if name in refused:
            own = {name: referring[name]} if name in referring else referring
            value["errors"].append(_refusal(own.items()))
    return public | {"error_count": sum(len(value["errors"]) for value in values.values())}


def _refusal(referring: Iterable[tuple[str, str]]) -> str:
    return "; ".join(
        f"Invalid value {text} for configuration {key}: the referenced value is refused, alone or together with "
        f"other values (the reason may quote it, and is not shown)"
        for key, text in referring
    )
