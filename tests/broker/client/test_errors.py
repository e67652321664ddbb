from broker.client.errors import told_code
from broker.common.errors import ErrorCode


def test_a_code_that_nobody_knows_here_is_still_an_error():
    assert told_code(3) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert told_code(0) is ErrorCode.NONE
    assert told_code(29_999) is ErrorCode.UNKNOWN_SERVER_ERROR
