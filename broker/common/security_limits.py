"""What is bounded of those who are not trusted yet, and of what is kept about who may do what, each with its reason."""

#: Connections that came too often from one address and are held before they are closed, so that their client tries
#: again later; each costs a descriptor. Who comes beyond is closed at once.
DELAYED_CONNECTIONS_MAX = 200

#: Bytes of answers that are encrypted for one connection before others have their turn: a tenth of a millisecond.
TLS_BYTES_AT_ONCE_MAX = 128 * 1024

#: What TLS may have to say to a peer that does not read, besides the answers: some forty answers to key updates. Nobody
#: asks for more than one at a time.
TLS_CONTROL_BYTES_MAX = 1_024

#: TLS handshakes under way on one listener, 30 KB each; beyond it the oldest is given up. At a thousand a second, which
#: is what a core can do, an honest one has a second.
TLS_HANDSHAKES_MAX = 1_000
#: How long one may take.
TLS_HANDSHAKE_S_MAX = 10.0
#: How often the stores of TLS are looked at for changes: two calls of stat each.
TLS_STORES_LOOKED_AT_EVERY_S = 5.0
#: Bytes a client may send for its handshake: certificates of a long chain have 10 KB.
TLS_HANDSHAKE_BYTES_MAX = 64 * 1024

#: Bytes of one token of a login by a password; SCRAM's have about 150. It is read on the loop.
SASL_TOKEN_BYTES_MAX = 4 * 1024

#: Bytes of the salt in a user's credential: Kafka's have 26, librdkafka's 64. It is sent to whoever names the user.
CREDENTIAL_SALT_BYTES_MAX = 1_024

#: How long a login may take, from the connection on: clients need a tenth of a second, over half the world one.
LOGIN_S_MAX = 10.0

#: Addresses whose failed logins are remembered, 0.2 KB each; beyond it the one whose last is longest ago is forgotten …
FAILED_LOGIN_ADDRESSES_MAX = 10_000
#: … as is one that tries nothing for as long.
FAILED_LOGIN_FORGOTTEN_MS = 60_000
#: How many times connection.failed.authentication.delay.ms a failed login may wait for its answer, a power of two:
#: 3.2 s by default, well within what clients wait for.
FAILED_LOGIN_DELAY_FACTOR_MAX = 32

#: Users and client ids whose quotas are measured, each quota on its own, 1 KB each; the same for addresses. Anybody may
#: make up client ids. Beyond it those are forgotten that have used nothing lately, then the oldest.
QUOTA_SENSORS_MAX = 10_000

#: Pairs of user and client id whose sensors are looked up once; beyond it they are looked up again.
QUOTA_METERS_MAX = 10_000

#: Silence after which what somebody has used is forgotten, Kafka's.
QUOTA_SENSOR_IDLE_S = 3_600

#: Quotas whose use is told to who asks or scrapes: those nearest to their bounds.
QUOTA_USES_TOLD_MAX = 100

#: Delegation tokens there may be, and what one requester may have of them: whoever has logged in may make some without
#: a right for it, and every broker remembers all of them.
DELEGATION_TOKENS_MAX = 10_000
DELEGATION_TOKENS_OF_ONE_MAX = 1_000

#: A token as it is stored: a few renewers with long names. Brokers hold 12 MB of the most there may be.
DELEGATION_TOKEN_BYTES_MAX = 4 * 1024

#: Decisions of the authorizer remembered by all principals together, some 0.2 KB each: 20 MB. A thousand principals
#: that do two things with fifty topics each fit; beyond it all are forgotten, and made anew as they are asked for.
DECISIONS_REMEMBERED_MAX = 100_000
#: Letters of a name about which a decision is remembered. Names of topics are not longer, and a name that is asked
#: about once must not cost memory for as long as the connection lasts.
DECISION_NAME_LENGTH_MAX = 249

#: A bearer token, 1 to 4 KB as a rule: one of this size takes two milliseconds of a thread, and whoever can connect may
#: show any number. Its header has an algorithm and the id of a key.
BEARER_TOKEN_BYTES_MAX = 16 * 1024
BEARER_HEADER_BYTES_MAX = 4 * 1024

#: The id of a key, as Kafka bounds it.
KEY_ID_LENGTH_MAX = 1_000

#: A set of keys as a server sends it: those of large issuers take 20 KB. Whatever is longer is not read to its end.
KEY_SET_BYTES_MAX = 256 * 1024
KEYS_IN_SET_MAX = 100

#: All that reading a set of keys may take, from the name of the server to the last byte.
KEY_SET_TIMEOUT_S = 5.0

#: Ids that no set had, remembered so long, as Kafka does: nobody makes a broker ask again and again by inventing them.
UNKNOWN_KEY_IDS_MAX = 16
UNKNOWN_KEY_ID_MS = 60_000

#: And sets of keys that are read because of an unknown id are at least so far apart.
KEY_SET_ASKED_AGAIN_MS = 1_000

assert FAILED_LOGIN_DELAY_FACTOR_MAX.bit_count() == 1, "delays are doubled up to it"

#: How long before its end a certificate is told of: time for an authority that is people.
CERTIFICATE_ENDS_SOON_DAYS = 30
#: How often, for each context: it is seen in each day's log, and fills none.
CERTIFICATE_WARNED_OF_EVERY_S = 86_400

#: What a REST client may send that is not a request's body: its address and headers, trailers, extensions of chunks.
REQUEST_HEAD_BYTES_MAX = 64 * 1024
#: Requests that wait on one connection for the answer to the one before; one of 18 bytes takes 2 KB.
PIPELINED_REQUESTS_MAX = 100
#: Tasks of a connector: as many as a topic may have partitions. A plugin makes a configuration of each.
CONNECTOR_TASKS_MAX = 10_000
#: Transformations of a connector, and predicates: a validation takes some five milliseconds for each, and more the more
#: there are.
CONNECTOR_ALIASES_MAX = 100
#: Of a file that a configuration refers to by a config provider: secrets, certificates.
CONFIG_PROVIDER_FILE_BYTES_MAX = 1024 * 1024
#: References in one configuration, and all they stand for: each is looked up again at every start of a task, and a
#: short text must not become one of gigabytes.
CONFIG_REFERENCES_MAX = 1_000
CONFIG_RESOLVED_CHARACTERS_MAX = 4 * 1024 * 1024
#: The name of a file in a configuration: PATH_MAX of Linux.
CONFIG_PATH_LENGTH_MAX = 4_096

#: What a schema refers to, all texts together: four of the largest (REGISTRY_SCHEMA_BYTES_MAX).
REGISTRY_REFERENCED_BYTES_MAX = 4 * 900_000
#: Characters of the schemas that are kept parsed, and of those that are kept compiled: some twenty times as many bytes
#: of memory (measured: 15 to 21).
REGISTRY_KEPT_TEXTS_MAX = 8 * 1024 * 1024
#: Of memory, for all schemas with their metadata and rules, and all settings: what is beyond is refused, as all of it
#: stays there. A tenth of it is 15,000 schemas of 3 KB.
REGISTRY_HELD_BYTES_MAX = 512 * 1024 * 1024
#: Pairs of values that are compared to see whether lists of a JSON schema have one twice; some seconds.
REGISTRY_UNIQUE_PAIRS_MAX = 2_000_000
#: Schemas of one client that wait to be parsed or compared.
REGISTRY_JOBS_WAITING_MAX = 100
#: Subjects whose refused registrations are told to who watches a registry.
REGISTRY_REFUSALS_KEPT_MAX = 100

#: The bodies of all requests that a REST listener reads or has not answered. The first bytes of each count for nothing:
#: nearly all bodies are no longer, and never wait for room. A newcomer gets one of the longest.
REST_BODIES_BYTES_MAX = 64 * 1024 * 1024
REST_BODY_UNCOUNTED_BYTES = 64 * 1024
REST_BODIES_NEWCOMER_BYTES = 2 * 1024 * 1024

#: Answers of a REST listener, and pages of the console, that their clients have not taken: the longest parts of some
#: thirty. Short ones, as nearly
#: all are, count for nothing. A newcomer gets one of the longest.
REST_ANSWERS_BYTES_MAX = 64 * 1024 * 1024
REST_ANSWERS_NEWCOMER_BYTES = 2 * 1024 * 1024
#: What counts of a list that is made as fast as it is read: an entry, a schema with its metadata at most.
REST_ANSWER_STREAMED_BYTES = 2 * 1024 * 1024

#: What another worker or the leading registry answers to a forwarded request. The longest lists 10,000 tasks.
FORWARDED_ANSWER_BYTES_MAX = 16 * 1024 * 1024

#: Letters that are kept of the name and of the version of a client's library (KIP-511).
CLIENT_SOFTWARE_LENGTH_MAX = 64

#: Counters of what clients write and read, one for each client, topic and direction, 0.7 KB each with the client.
CLIENT_TRAFFIC_COUNTERS_MAX = 20_000
#: Of these a client gets from the reserve: an application with three topics to read and two to write.
CLIENT_TRAFFIC_NEWCOMER_COUNTERS = 5
#: Rates are told of the last one to two of these: a client that stops is at 0 within half a minute.
CLIENT_TRAFFIC_WINDOW_MS = 15_000
#: A client that has neither written nor read for so long is no longer told of: a job that runs each quarter of an hour
#: stays.
CLIENT_TRAFFIC_FORGOTTEN_MS = 20 * 60_000

#: Of the partitions that waiting fetches look at (DELAYED_FETCH_PARTITIONS_MAX) a client gets so many from the reserve:
#: one that reads a few topics of a broker.
DELAYED_FETCH_NEWCOMER_PARTITIONS = 100
