from confluent_kafka import KafkaError

from console.kit.gateway.errors import ClusterUnreachableError, RefusedError, error_from_kafka


def test_a_broker_that_cannot_be_reached_is_no_refusal():
    for code in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN):
        assert isinstance(error_from_kafka(KafkaError(code)), ClusterUnreachableError)


def test_generic_words_of_the_library_give_way_to_a_sentence():
    error = error_from_kafka(KafkaError(KafkaError.TOPIC_ALREADY_EXISTS))

    assert isinstance(error, RefusedError)
    assert (error.code, str(error)) == ("TOPIC_ALREADY_EXISTS", "A topic of this name exists already.")


def test_what_the_broker_itself_said_is_kept():
    error = error_from_kafka(KafkaError(KafkaError.INVALID_CONFIG, "retention.ms must be at least -1"))

    assert str(error) == "retention.ms must be at least -1"


def test_a_code_nobody_knows_is_named_by_its_number():
    assert error_from_kafka(KafkaError(9_999, "new in this version")).code == "ERROR_9999"
