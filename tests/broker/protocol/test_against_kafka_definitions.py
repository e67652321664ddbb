"""Every message against the definition that Kafka 4.4 is generated from: names, types, tags and who may be null."""

import pytest

from broker.protocol.api_keys import OWN_APIS_FROM
from broker.protocol.messages import MESSAGES
from tests.broker.protocol.kafka_definitions import CLIENTS, definitions, fields_of_kafka, fields_of_ours, versions

pytestmark = pytest.mark.versions

OF_KAFKA = [message for api, pair in MESSAGES.items() if api < OWN_APIS_FROM for message in pair]


#: What Kafka called something before 4.4, as clients do.
EARLIER_NAMES = {"TxnOffsetCommitRequest": {"generation_id_or_member_epoch": "generation_id"}}


def by_our_names(fields, message):
    """Our names of times say that they are milliseconds."""
    earlier = EARLIER_NAMES.get(message.__name__, {})
    return {field._replace(path=earlier.get(field.path, field.path).removesuffix("_ms")) for field in fields}


@pytest.mark.parametrize("message", OF_KAFKA, ids=lambda message: message.__name__)
def test_every_version_has_the_fields_of_kafka_4_4(message):
    definition = definitions(CLIENTS)[message.__name__]
    for version in versions(definition["validVersions"]):
        if message.versions[0] <= version <= message.versions[1]:
            assert message.is_flexible(version) == (version in versions(definition["flexibleVersions"]))
            ours = by_our_names(fields_of_ours(message, version), message)
            assert ours == by_our_names(fields_of_kafka(definition, version), message), version
