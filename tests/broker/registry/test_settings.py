"""Settings of the registry: what another program wrote into its topic, and what a client may set."""

import pytest

from broker.registry.errors import RegistryError
from broker.registry.records import CompatibilityKey, ModeKey
from broker.registry.settings import config_record, effective_config, effective_mode
from broker.registry.store import SchemaStore


def test_what_a_config_record_says_besides_settings_is_ignored():
    """Records of Connect's topic, say, once stood in the answer of `/config`."""
    store = SchemaStore()
    garbage = {"state": "RUNNING", "trace": 5, "worker_id": "127.0.0.1:8083"}
    assert store.apply(CompatibilityKey(""), {"compatibilityLevel": "FULL", "normalize": True} | garbage) == ""
    assert store.config("") == {"compatibilityLevel": "FULL", "normalize": True}
    assert effective_config(store, "s", "BACKWARD") == {"compatibilityLevel": "FULL", "normalize": True}
    assert config_record(store, "", {"compatibility": "none"}).value == {
        "compatibilityLevel": "NONE", "normalize": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [{"compatibilityLevel": 5}, {"compatibilityLevel": "SOMETIMES"}, {"defaultMetadata": "x"}, {"normalize": "yes"}],
    ids=str,
)
def test_a_config_record_that_nobody_could_heed_changes_nothing(value):
    store = SchemaStore()
    assert store.apply(CompatibilityKey("s"), {"subject": "s", "compatibilityLevel": "FULL"}) == ""
    assert store.apply(CompatibilityKey("s"), value).startswith("its value cannot be read: ")
    assert store.config("s") == {"subject": "s", "compatibilityLevel": "FULL"}
    store.apply(CompatibilityKey("s"), None)
    assert store.config("s") is None


def test_a_mode_that_is_unknown_changes_nothing():
    store = SchemaStore()
    assert store.apply(ModeKey("s"), {"mode": "READONLY"}) == ""
    assert "unknown" in store.apply(ModeKey("s"), {"mode": "WHATEVER"})
    assert effective_mode(store, "s") == "READONLY"


@pytest.mark.parametrize(
    "value", [{"defaultMetadata": "x"}, {"overrideRuleSet": [1]}, {"compatibilityGroup": {}}], ids=str
)
def test_a_setting_of_another_type_is_refused_and_not_stored(value):
    """It would make each registration fail from then on."""
    with pytest.raises(RegistryError, match="must be") as refused:
        config_record(SchemaStore(), "s", value)
    assert refused.value.code == 422
