"""What becomes of one setting of another product's connector, as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: Settings of ours by key, each with the key of theirs that it comes from. Raises ConfigError.
Derive = Callable[[Mapping[str, str]], dict[str, tuple[str, str]]]


@dataclass(frozen=True)
class ForeignSetting:
    """`ours` is our key, None where the setting has no meaning here. `values` are theirs in lower case, and what ours
    is for each; any other value is refused. `advice` is what to use instead; with neither `ours` nor `values` the
    setting is refused."""

    ours: str | None = None
    values: Mapping[str, str] | None = None
    advice: str = ""


@dataclass(frozen=True)
class ForeignConnector:
    """`ours` is our class. `derive` gives settings that take more than one of theirs, `defaults` theirs where ours
    differ. A key of `settings` that ends in * stands for all that begin so."""

    ours: str
    settings: Mapping[str, ForeignSetting]
    defaults: Mapping[str, str] = field(default_factory=dict)
    derive: Derive | None = None

    def setting_of(self, key: str) -> ForeignSetting | None:
        """Return None for a key that is not theirs: the worker's, or one that they ignore, too."""
        if (exact := self.settings.get(key)) is not None:
            return exact
        return next((s for name, s in self.settings.items() if name.endswith("*") and key.startswith(name[:-1])), None)


def same(*names: str) -> dict[str, ForeignSetting]:
    return {name: ForeignSetting(name) for name in names}


def renamed(ours: str, values: Mapping[str, str] | None = None, advice: str = "") -> ForeignSetting:
    return ForeignSetting(ours, values, advice)


def implied(*values: str, advice: str = "") -> ForeignSetting:
    """Return a setting whose `values` are how ours always works; without values any value is left out."""
    return ForeignSetting(None, dict.fromkeys(values, "") if values else {"*": ""}, advice)


def refused(advice: str) -> ForeignSetting:
    return ForeignSetting(None, None, advice)
