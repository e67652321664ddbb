"""`kafka-cluster`: the id of a cluster, and brokers that it shall forget."""

from broker.cli.frame.answers import check, int32
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, Example, Option
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.errors import ApiNotServed
from broker.protocol.messages.unregister_broker import UnregisterBrokerRequest


def _cluster_id(arguments: Arguments) -> None:
    with connected(arguments, "config") as cluster:
        cluster_id = cluster.describe_topics([]).cluster_id
    if wants_json(arguments):
        print_json({"clusterId": cluster_id})
    elif cluster_id:
        print(f"Cluster ID: {cluster_id}")
    else:
        print("No cluster ID found. The Kafka version is probably too old.")


def _unregister(arguments: Arguments) -> None:
    try:
        with connected(arguments, "config") as cluster:
            answer = cluster.ask_controller(UnregisterBrokerRequest(broker_id=arguments["id"]))
        check(answer.error_code, answer.error_message)
    except ApiNotServed:
        print("The target cluster does not support the broker unregistration API.")
        return
    if wants_json(arguments):
        print_json({"unregistered": arguments["id"]})
    else:
        print(f"Broker {arguments['id']} is no longer registered.")


COMMAND = Command(
    name="kafka-cluster",
    summary="Tell the id of a cluster, or have a KRaft cluster forget a broker.",
    run=_cluster_id,
    options=(
        BOOTSTRAP_SERVER,
        Option("config", COMMAND_CONFIG.help, COMMAND_CONFIG.value, older=("command-config",)),
        OUTPUT,
    ),
    subcommands=(
        Command(name="cluster-id", summary="The id.", run=_cluster_id),
        Command(
            name="unregister",
            summary="Forget a broker that will not come back.",
            run=_unregister,
            options=(Option("id", "Its id.", "ID", parse=int32, required=True),),
        ),
    ),
    examples=(Example("kafka-cluster cluster-id --bootstrap-server localhost:9092", "which cluster is this?"),),
)
