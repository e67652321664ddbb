"""`connect-mirror-maker`: become the dedicated mirror of Kafka 2.4 and later, or leave it behind."""

from broker.cli.frame.declaration import Arguments, Command, Example, Option
from broker.cli.servers.launching import DAEMON, start_own


def run(arguments: Arguments) -> None:
    only = arguments["clusters"] or []
    clusters = ["--clusters", *only] if only else []
    start_own(arguments, ("mirror-maker", arguments.words[0], *clusters), "mirrorMaker.out")


COMMAND = Command(
    name="connect-mirror-maker",
    summary="Keep copies of topics in other clusters: records, settings, groups' offsets.",
    run=run,
    words=("mm2.properties",),
    words_required=1,
    options=(
        DAEMON,
        Option("clusters", "Only flows to these clusters.", "ALIAS", takes_rest=True),
    ),
    examples=(
        Example(
            "connect-mirror-maker config/connect-mirror-maker.properties",
            "flows that are enabled in the file, until Ctrl-C",
        ),
    ),
    notes=(
        "A copy is called SOURCE.topic, or keeps its name with replication.policy.class=IdentityReplicationPolicy; "
        "records never come back to a cluster they have been in, whatever they are called. "
        "TARGET.exactly.once.source.support=enabled writes each record once. Started on several machines one works on "
        "a flow, and the others wait for its end. `kafka-mirror-groups` moves a consumer group there and back.",
    ),
)
