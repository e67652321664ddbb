"""`kafka-delete-records`: forget what lies before an offset, partition by partition, as a JSON file says."""

from broker.cli.frame.answers import exception_of
from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option
from broker.cli.frame.json_files import entries, read_json
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.client.leaders import Leaders
from broker.client.record_deletion import delete_records
from broker.common.types import TopicPartition

#: -1 stands for all that is committed.
_OFFSET_MIN, _OFFSET_MAX = -1, (1 << 63) - 1


def run(arguments: Arguments) -> None:
    before = read_offsets(arguments["offset-json-file"])
    with connected(arguments) as cluster:
        if not wants_json(arguments):
            print("Executing records delete operation", flush=True)
        deletions = sorted(delete_records(Leaders(cluster), before).items())
    if wants_json(arguments):
        print_json(
            [
                {**partition._asdict(), "lowWatermark": deletion.low_watermark, "error": deletion.reason or None}
                for partition, deletion in deletions
            ]
        )
        return
    print("Records delete operation completed:")
    for partition, deletion in deletions:
        outcome = f"error: {exception_of(deletion.error)}: {deletion.reason}" if deletion.error else None
        print(f"partition: {partition}\t{outcome or f'low_watermark: {deletion.low_watermark}'}")


def read_offsets(path: str) -> dict[TopicPartition, int]:
    """Parse `{"partitions": [{"topic": "t", "partition": 0, "offset": 3}], "version": 1}`. Raises CommandError."""
    offsets: dict[TopicPartition, int] = {}
    twice = []
    for entry in entries(path, read_json(path), "partitions", topic=str, partition=int):
        partition, offset = TopicPartition(entry["topic"], entry["partition"]), entry.get("offset")
        if type(offset) is not int or not _OFFSET_MIN <= offset <= _OFFSET_MAX:
            raise CommandError(f'{path}: {partition} needs an "offset" from {_OFFSET_MIN} to {_OFFSET_MAX}.')
        if partition in offsets:
            twice.append(str(partition))
        offsets[partition] = offset
    if twice:
        raise CommandError(f"Offset json file contains duplicate topic partitions: {','.join(twice)}")
    return offsets


COMMAND = Command(
    name="kafka-delete-records",
    summary="Delete the records of partitions before an offset.",
    run=run,
    options=(
        *ADMIN,
        OUTPUT,
        Option(
            "offset-json-file",
            'What to delete: {"partitions":[{"topic":"t","partition":0,"offset":3}],"version":1}. '
            "Records before the offset go; -1 deletes all that is committed.",
            "FILE",
            required=True,
        ),
    ),
    examples=(
        Example(
            "kafka-delete-records --bootstrap-server localhost:9092 --offset-json-file before.json",
            "delete what the file says; a partition that refuses is printed with status 0, as by Kafka's own",
        ),
    ),
)
