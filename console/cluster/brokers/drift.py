"""Where a broker's settings drift: from the other brokers', and from what its file says. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.gateway.brokers.interface import BrokerSetting

#: What every broker has of its own: two of them with the same value would be the mistake.
OF_ONE_BROKER = frozenset(
    {
        "advertised.host.name",
        "advertised.listeners",
        "advertised.port",
        "broker.id",
        "broker.rack",
        "host.name",
        "listeners",
        "log.dir",
        "log.dirs",
        "metrics.listener",
        "node.id",
        "port",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.key.password",
    }
)
#: Changed on the page and not in a file.
_DYNAMIC = ("broker", "cluster")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting of one broker with what it differs from."""

    setting: BrokerSetting
    #: Other broker → its value, where it is another.
    elsewhere: Mapping[int, str | None]
    #: Of the file: what it says while something else counts; None: nothing of the kind.
    overruled: str | None = None
    #: What the file says since it was edited, and the broker will only know after a restart.
    unread: str | None = None

    @property
    def is_changed(self) -> bool:
        return self.setting.source != "default"

    @property
    def drifts(self) -> tuple[str, ...]:
        """A sentence for each."""
        drifts = []
        if self.elsewhere:
            others = ", ".join(f"{value or 'nothing'} on broker {item}" for item, value in self.elsewhere.items())
            drifts.append(f"Elsewhere: {others}.")
        if self.overruled is not None:
            drifts.append(
                f"Its file says {self.overruled or 'nothing'}; what was set while it runs counts before that."
            )
        if self.unread is not None:
            drifts.append(f"Its file now says {self.unread or 'nothing'}: that counts from its next start.")
        return tuple(drifts)


def setting_rows(
    broker_id: int,
    settings: Mapping[int, Iterable[BrokerSetting]],
    file_values: Mapping[str, str | None] | None = None,
) -> tuple[SettingRow, ...]:
    """Return the rows of one broker's settings among those of all. `file_values`: its file as it is now, if it can be
    read.
    """
    others = {
        item: {setting.name: setting for setting in views} for item, views in settings.items() if item != broker_id
    }
    return tuple(_row(setting, others, file_values) for setting in settings.get(broker_id, ()))


def _row(
    setting: BrokerSetting,
    others: Mapping[int, Mapping[str, BrokerSetting]],
    file_values: Mapping[str, str | None] | None,
) -> SettingRow:
    elsewhere = {}
    if setting.name not in OF_ONE_BROKER and not setting.is_sensitive:
        elsewhere = {
            item: settings[setting.name].value
            for item, settings in sorted(others.items())
            if setting.name in settings and settings[setting.name].value != setting.value
        }
    if setting.is_sensitive:
        return SettingRow(setting, elsewhere)
    return SettingRow(setting, elsewhere, _overruled(setting), _unread(setting, file_values))


def _overruled(setting: BrokerSetting) -> str | None:
    if (
        setting.source not in _DYNAMIC
        or "file" not in setting.values_by_source
        or setting.values_by_source["file"] == setting.value
    ):
        return None
    return setting.values_by_source["file"] or ""


def _unread(setting: BrokerSetting, file_values: Mapping[str, str | None] | None) -> str | None:
    if file_values is None or not setting.values_by_source:
        return None
    known_from_file = setting.values_by_source.get("file")
    written = file_values.get(setting.name)
    return None if written == known_from_file else written or ""
