"""Whose fault it is, in three families, and the table of Kafka's error codes.

ProtocolError: the peer broke the protocol; its connection is closed. ApiError: the answer is "no", with a code that
goes into the response. InvariantViolation: we are wrong; stop loudly. StartupError: an operator must change something.
"""

from enum import IntEnum


class ErrorCode(IntEnum):
    """Kafka's protocol error codes: number, whether a client may retry, and the sentence a person reads.

    `ErrorCode(5)` looks one up; ValueError if there is none.
    """

    def __new__(cls, code: int, retriable: bool = False, meaning: str = "") -> "ErrorCode":
        member = int.__new__(cls, code)
        member._value_ = code
        member.retriable = retriable
        member.meaning = meaning
        return member

    retriable: bool
    meaning: str

    UNKNOWN_SERVER_ERROR = -1, False, "The broker met a condition it did not expect; its log says which."
    NONE = 0, False, "No error."
    OFFSET_OUT_OF_RANGE = 1, False, "The offset is not between the first and the next offset of the partition."
    CORRUPT_MESSAGE = 2, True, "The record batch failed its CRC or is malformed; nothing was written."
    UNKNOWN_TOPIC_OR_PARTITION = 3, True, "This server does not host this topic-partition."
    INVALID_FETCH_SIZE = 4, False, "The fetch size must not be negative."
    LEADER_NOT_AVAILABLE = 5, True, "The partition has no leader at the moment."
    NOT_LEADER_OR_FOLLOWER = 6, True, "This broker is not the leader or not a replica of the partition."
    REQUEST_TIMED_OUT = 7, True, "The request was not completed within its own timeout."
    BROKER_NOT_AVAILABLE = 8, False, "The broker is not available."
    REPLICA_NOT_AVAILABLE = 9, True, "A replica of the partition is not available."
    MESSAGE_TOO_LARGE = 10, False, "The record batch is larger than message.max.bytes or max.message.bytes."
    STALE_CONTROLLER_EPOCH = 11, False, "A newer controller has been elected."
    OFFSET_METADATA_TOO_LARGE = 12, False, "The metadata of the commit is longer than offset.metadata.max.bytes."
    NETWORK_EXCEPTION = 13, True, "The connection closed before the response arrived."
    COORDINATOR_LOAD_IN_PROGRESS = 14, True, "The coordinator is still loading its partition; try again."
    COORDINATOR_NOT_AVAILABLE = 15, True, "The coordinator's partition has no leader at the moment."
    NOT_COORDINATOR = 16, True, "Another broker coordinates this group or transactional id."
    INVALID_TOPIC_EXCEPTION = 17, False, "A topic name is 1 to 249 letters, digits, '.', '_' or '-', not '.' or '..'."
    RECORD_LIST_TOO_LARGE = 18, False, "The request holds more record batches than a segment may hold."
    NOT_ENOUGH_REPLICAS = 19, True, "Fewer in-sync replicas than min.insync.replicas; nothing was written."
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, True, "Written, but by fewer in-sync replicas than min.insync.replicas."
    INVALID_REQUIRED_ACKS = 21, False, "acks must be -1 (all), 0 or 1."
    ILLEGAL_GENERATION = 22, False, "The member's generation is not the group's."
    INCONSISTENT_GROUP_PROTOCOL = 23, False, "The member shares no protocol with the rest of the group."
    INVALID_GROUP_ID = 24, False, "The group id must not be empty."
    UNKNOWN_MEMBER_ID = 25, False, "The group does not know this member."
    INVALID_SESSION_TIMEOUT = 26, False, "The session timeout is outside group.min/max.session.timeout.ms."
    REBALANCE_IN_PROGRESS = 27, False, "The group is rebalancing; join again."
    INVALID_COMMIT_OFFSET_SIZE = 28, False, "The offset commit is too large for one record batch."
    TOPIC_AUTHORIZATION_FAILED = 29, False, "Topic authorization failed."
    GROUP_AUTHORIZATION_FAILED = 30, False, "Group authorization failed."
    CLUSTER_AUTHORIZATION_FAILED = 31, False, "Cluster authorization failed."
    INVALID_TIMESTAMP = 32, False, "A record's timestamp is outside the allowed range."
    UNSUPPORTED_SASL_MECHANISM = 33, False, "The broker does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = 34, False, "The request does not fit the state of the authentication."
    UNSUPPORTED_VERSION = 35, False, "The broker does not serve this version of the API."
    TOPIC_ALREADY_EXISTS = 36, False, "A topic of this name exists already."
    INVALID_PARTITIONS = 37, False, "The number of partitions must be at least 1 and within the broker's limit."
    INVALID_REPLICATION_FACTOR = 38, False, "The replication factor must be from 1 to what the cluster offers."
    INVALID_REPLICA_ASSIGNMENT = 39, False, "The replica assignment names unknown brokers or is inconsistent."
    INVALID_CONFIG = 40, False, "A configuration value is not valid."
    NOT_CONTROLLER = 41, True, "This broker is not the controller."
    INVALID_REQUEST = 42, False, "The request contradicts itself."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, False, "The partition's message format does not support the request."
    POLICY_VIOLATION = 44, False, "A policy of the cluster forbids the request."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, False, "The producer's sequence number leaves a gap."
    DUPLICATE_SEQUENCE_NUMBER = 46, False, "The producer's sequence number was used before."
    INVALID_PRODUCER_EPOCH = 47, False, "A newer producer with the same id has taken over."
    INVALID_TXN_STATE = 48, False, "The transaction is not in a state that allows the request."
    INVALID_PRODUCER_ID_MAPPING = 49, False, "The producer id does not belong to the transactional id."
    INVALID_TRANSACTION_TIMEOUT = 50, False, "The transaction timeout is larger than transaction.max.timeout.ms."
    CONCURRENT_TRANSACTIONS = 51, True, "The previous transaction of this id is still being completed."
    TRANSACTION_COORDINATOR_FENCED = 52, False, "A newer transaction coordinator has taken over."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, False, "Transactional Id authorization failed."
    SECURITY_DISABLED = 54, False, "Security is not enabled on this cluster."
    OPERATION_NOT_ATTEMPTED = 55, False, "Not attempted, because another part of the same request failed."
    KAFKA_STORAGE_ERROR = 56, True, "The log directory of the partition is offline."
    LOG_DIR_NOT_FOUND = 57, False, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, False, "Authentication failed."
    UNKNOWN_PRODUCER_ID = 59, False, "The broker holds no state for this producer id."
    REASSIGNMENT_IN_PROGRESS = 60, False, "A reassignment of the partition is in progress."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, False, "Brokers make delegation tokens if delegation.token.secret.key is set."
    DELEGATION_TOKEN_NOT_FOUND = 62, False, "There is no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, False, "Only its owner and its renewers may change a delegation token."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (
        64,
        False,
        "Delegation tokens are only issued to clients that are authenticated, and not by a token.",
    )
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, False, "Not authorised to make delegation tokens for that owner."
    DELEGATION_TOKEN_EXPIRED = 66, False, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, False, "The type of a principal must be User."
    NON_EMPTY_GROUP = 68, False, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, False, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, True, "The broker does not know the fetch session."
    INVALID_FETCH_SESSION_EPOCH = 71, True, "The fetch session's epoch is not the next one."
    LISTENER_NOT_FOUND = 72, True, "The leader has no listener of the name the request came in on."
    TOPIC_DELETION_DISABLED = 73, False, "delete.topic.enable is false on this cluster."
    FENCED_LEADER_EPOCH = 74, True, "The request's leader epoch is older than the broker's."
    UNKNOWN_LEADER_EPOCH = 75, True, "The request's leader epoch is newer than the broker's."
    UNSUPPORTED_COMPRESSION_TYPE = 76, False, "The client's version cannot read this compression type."
    STALE_BROKER_EPOCH = 77, False, "The broker has registered again since."
    OFFSET_NOT_AVAILABLE = 78, True, "A new leader has not yet caught up with the high watermark."
    MEMBER_ID_REQUIRED = 79, False, "Join again with the member id of this answer."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, True, "The preferred leader is not available."
    GROUP_MAX_SIZE_REACHED = 81, False, "The group has group.max.size members already."
    FENCED_INSTANCE_ID = 82, False, "Another member has taken over this group.instance.id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, True, "No replica is eligible to lead the partition."
    ELECTION_NOT_NEEDED = 84, True, "Leader election not needed for topic partition."
    NO_REASSIGNMENT_IN_PROGRESS = 85, False, "No reassignment of the partition is in progress."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, False, "The group is subscribed to the topic."
    INVALID_RECORD = 87, False, "A record of the batch was rejected."
    UNSTABLE_OFFSET_COMMIT = 88, True, "Offsets of an unfinished transaction are pending."
    THROTTLING_QUOTA_EXCEEDED = 89, True, "The quota has been exceeded."
    PRODUCER_FENCED = 90, False, "A newer producer with the same transactional id has taken over."
    RESOURCE_NOT_FOUND = 91, False, "There is no such resource."
    DUPLICATE_RESOURCE = 92, False, "The resource is named twice in the request."
    UNACCEPTABLE_CREDENTIAL = 93, False, "The credential does not meet the requirements."
    INVALID_UPDATE_VERSION = 95, False, "The given update version was invalid."
    UNKNOWN_TOPIC_ID = 100, True, "This server does not host this topic ID."
    BROKER_ID_NOT_REGISTERED = 102, False, "The given broker ID was not registered."
    INCONSISTENT_TOPIC_ID = 103, True, "The topic id is not the one the log was written under."
    TRANSACTIONAL_ID_NOT_FOUND = 105, False, "There is no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, True, "The fetch session mixes topic names and topic ids."
    INELIGIBLE_REPLICA = 107, False, "The replica may not join the in-sync replicas."
    NEW_LEADER_ELECTED = 108, False, "A new leader has been elected; ask the new one."
    FENCED_MEMBER_EPOCH = 110, False, "The member has another epoch; it must abandon its partitions and rejoin."
    UNRELEASED_INSTANCE_ID = 111, False, "The group.instance.id is still used by another member of the group."
    UNSUPPORTED_ASSIGNOR = 112, False, "The group coordinator does not have this assignor."
    STALE_MEMBER_EPOCH = 113, False, "The member has a newer epoch than the request."
    MISMATCHED_ENDPOINT_TYPE = 114, False, "The request was sent to an endpoint of the wrong type."
    UNSUPPORTED_ENDPOINT_TYPE = 115, False, "This endpoint type is not supported yet."
    UNKNOWN_SUBSCRIPTION_ID = 117, False, "The client metrics subscription is not known."
    TELEMETRY_TOO_LARGE = 118, False, "Client sent a push telemetry request larger than telemetry.max.bytes."
    TRANSACTION_ABORTABLE = 120, False, "The transaction must be aborted; the producer may then go on."
    INVALID_REGULAR_EXPRESSION = 128, False, "The regular expression of the subscription is not valid."
    REBOOTSTRAP_REQUIRED = 129, False, "The address belongs to another broker by now; bootstrap again."


def error_code_of(number: int) -> ErrorCode:
    """Return the error code that another program answered, UNKNOWN_SERVER_ERROR for one that is not known here."""
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


class BarnabasError(Exception):
    """Root of every error this product raises on purpose."""


class ProtocolError(BarnabasError):
    """The peer sent bytes that break the protocol. The connection is closed; the message says what was wrong."""


class ApiError(BarnabasError):
    """The request is answered with `code`; `message` says what to change."""

    def __init__(self, code: ErrorCode, message: str | None = None):
        super().__init__(message or code.meaning)
        self.code = code
        self.message = message or code.meaning


class RecordsRefused(ApiError):
    """Single records of a batch are at fault: by position in the batch, what is wrong with each (KIP-467)."""

    def __init__(self, code: ErrorCode, message: str, records: dict[int, str]):
        super().__init__(code, message)
        self.records = records


class InvariantViolation(BarnabasError):
    """A promise of ours is broken. Whatever owns the broken state must stop."""


class StartupError(BarnabasError):
    """The process cannot start; the message is one sentence saying what to change.

    The exit status is EX_CONFIG of sysexits.h: whoever starts processes need not try again before somebody has.
    """

    exit_status = 78


class NotNowError(StartupError):
    """The process cannot start as things are, but what is in its way may pass by itself: another try is worth while."""

    exit_status = 1
