from broker.common.errors import ErrorCode, error_code_of


def test_a_code_that_nobody_knows_here_is_still_an_error():
    assert error_code_of(3) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert error_code_of(0) is ErrorCode.NONE
    assert error_code_of(29_999) is ErrorCode.UNKNOWN_SERVER_ERROR
