"""What requests met is scraped by API and error."""

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.runtime.request_times import RequestTimes
from broker.server.metrics import ErrorMetrics


def test_errors_are_counted_by_api_and_name_also_those_nobody_here_knows():
    times = RequestTimes()
    for code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 9_999):
        times.of(ApiKey.METADATA).note_error(code)
    (family,) = ErrorMetrics(times).collect()
    counts = {(sample.labels["api"], sample.labels["error"]): sample.value for sample in family.samples}
    assert counts == {("metadata", "UNKNOWN_TOPIC_OR_PARTITION"): 2, ("metadata", "9999"): 1}
