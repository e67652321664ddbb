"""`kafka-dump-log`: print the files of a partition's directory, of a broker that runs or not, ours or Kafka's."""

import json
import struct
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from broker.cli.frame.answers import at_least_one
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, ProgressLine, wants_json
from broker.log.dump import Decoder, SegmentDump
from broker.log.dump_indexes import IndexDump, snapshot_rows, transaction_rows
from broker.log.dump_rows import DumpRow

_NUMBERS = {"Short": ">h", "Integer": ">i", "Long": ">q", "Float": ">f", "Double": ">d"}
_DECODERS = ("offsets-decoder", "transaction-log-decoder")
_NOT_KEPT = "records of such a log are not known here; their keys and values are shown as they are."


def run(arguments: Arguments) -> None:
    """Print the segments; damage is named and no failure, as in Kafka."""
    dump(arguments)


def dump(arguments: Arguments) -> bool:
    """Print the files and return whether all of them are whole. Raises CommandError for a file that cannot be read."""
    files = [Path(part) for text in (arguments["files"] or "", *arguments.words) for part in text.split(",") if part]
    if not files:
        raise UsageError('Missing required argument "[files]"')
    decoder = _decoder(arguments)
    is_whole = True
    for path in files:
        kind = _KINDS.get(path.suffix)
        if not path.exists():
            raise CommandError(f"{path} cannot be read: No such file or directory.")
        if not wants_json(arguments):
            print(f"Dumping {path}")
        if kind is None:
            sys.stdout.flush()
            print(f"Ignoring unknown file {path}", file=sys.stderr)
            continue
        try:
            is_whole &= kind(path, arguments, decoder)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    return is_whole


def _log(path: Path, arguments: Arguments, decoder: Decoder | None) -> bool:
    if path.suffix == ".checkpoint":
        offset, _, epoch = path.stem.partition("-")
        end, number = _number(path, offset), _number(path, epoch)
        begin = DumpRow.saying(f"Snapshot end offset: {end}, epoch: {number}", snapshotEndOffset=end, epoch=number)
    else:
        start = _number(path, path.stem)
        begin = DumpRow.saying(f"Log starting offset: {start}", logStartingOffset=start)
    _print([begin], path, arguments)
    with_records = decoder is not None or arguments["deep-iteration"]
    dumped = SegmentDump(
        path,
        with_records=with_records,
        decoder=decoder,
        with_metadata=not arguments["skip-record-metadata"],
        bytes_max=arguments["max-bytes"],
    )
    size = path.stat().st_size
    with ProgressLine() as progress:
        for row in dumped.rows():
            _print([row], path, arguments)
            if not sys.stdout.isatty():
                progress.show(f"{path.name}: {dumped.position:,} of {size:,} bytes")
    gaps = [f"  {before} is followed by {after}" for before, after in dumped.gaps]
    _complain(f"Non-consecutive offsets in {path}", gaps)
    return not dumped.is_damaged


def _offset_index(path: Path, arguments: Arguments, _decoder: Decoder | None) -> bool:
    index = _index(path, arguments)
    _print(index.offset_rows(), path, arguments)
    _complain(
        f"Mismatches in :{path}", [f"  Index offset: {says}, log offset: {is_}" for says, is_ in index.mismatches]
    )
    return not index.mismatches


def _time_index(path: Path, arguments: Arguments, _decoder: Decoder | None) -> bool:
    index = _index(path, arguments)
    _print(index.time_rows(), path, arguments)
    mismatches = [f"  Index timestamp: {says}, log timestamp: {is_}" for says, is_ in index.mismatches]
    _complain(f"Found timestamp mismatch in :{path}", mismatches)
    disorder = [
        f"  Index timestamp: {now}, Previously indexed timestamp: {before}" for before, now in index.out_of_order
    ]
    _complain(f"Found out of order timestamp in :{path}", disorder)
    _complain(
        f"The following indexed offsets are not found in :{path}",
        [f"Indexed offset: {says}, found log offset: {there}" for says, there in index.not_found],
    )
    return not (index.mismatches or index.out_of_order or index.not_found)


def _index(path: Path, arguments: Arguments) -> IndexDump:
    _number(path, path.stem)
    index = IndexDump(path, verify_only=arguments["verify-index-only"], sanity_only=arguments["index-sanity-check"])
    if not index.log.exists() and not index.sanity_only:
        print(f"{index.log} is not there, so the index is compared with nothing.", file=sys.stderr)
    return index


def _transaction_index(path: Path, arguments: Arguments, _decoder: Decoder | None) -> bool:
    _print(transaction_rows(path), path, arguments)
    return True


def _snapshot(path: Path, arguments: Arguments, _decoder: Decoder | None) -> bool:
    rows = snapshot_rows(path)
    if rows is None:
        _complain(f"Snapshot {path} is damaged: its checksum does not match.", [""])
        return False
    _print(rows, path, arguments)
    return True


_KINDS: dict[str, Callable[[Path, Arguments, Decoder | None], bool]] = {
    ".log": _log,
    ".checkpoint": _log,
    ".index": _offset_index,
    ".timeindex": _time_index,
    ".txnindex": _transaction_index,
    ".snapshot": _snapshot,
}


def _print(rows: Iterable[DumpRow], path: Path, arguments: Arguments) -> None:
    """Print rows; as JSON each row is an object on a line of its own: a file may have millions."""
    for row in rows:
        print(json.dumps({"file": str(path), **row}, ensure_ascii=False) if wants_json(arguments) else row)


def _complain(head: str, lines: list[str]) -> None:
    if lines:
        sys.stdout.flush()
        print("\n".join([head, *filter(None, lines)]), file=sys.stderr)


def _number(path: Path, text: str) -> int:
    if not text.isdecimal():
        raise CommandError(f"{path} is none of a partition's files: those are named by the offset they begin with.")
    return int(text)


def _decoder(arguments: Arguments) -> Decoder | None:
    """Return the decoder of keys and values; None if they are not to be shown."""
    chosen = [name for name in _DECODERS if arguments[name]]
    if chosen:
        from broker.cli.logs.coordinator_records import dumped_offsets_record, transaction_record

        return dumped_offsets_record if chosen[0] == "offsets-decoder" else transaction_record
    if not any(
        arguments[name] for name in ("print-data-log", "cluster-metadata-decoder", "remote-log-metadata-decoder")
    ):
        return None
    key, value = _text_of(arguments["key-decoder-class"]), _text_of(arguments["value-decoder-class"])
    return lambda of_key, of_value: (key(of_key), value(of_value))


def _text_of(decoder_class: str) -> Callable[[bytes | None], str | None]:
    """Return how Kafka's decoder class turns bytes into text. Raises UsageError for an unknown class."""
    name = decoder_class.rpartition(".")[2].removesuffix("Decoder").removesuffix("Deserializer")
    if name in ("String", "Default"):
        return lambda data: None if data is None else data.decode(errors="replace")
    if name not in _NUMBERS:
        known = ", ".join(("String", *_NUMBERS))
        raise UsageError(f"{decoder_class} is not known here; there are decoders of {known}")
    return partial(_number_of, struct.Struct(_NUMBERS[name]))


def _number_of(layout: struct.Struct, data: bytes | None) -> str | None:
    if data is None:
        return None
    if len(data) != layout.size:
        return f"<{len(data)} bytes, not {layout.size}>"
    return str(layout.unpack(data)[0])


COMMAND = Command(
    name="kafka-dump-log",
    summary="Print what is in the files of a partition's log.",
    run=run,
    words=("file",),
    words_repeat=True,
    options=(
        OUTPUT,
        Option(
            "files",
            "The files, which may as well stand without an option: .log .index .timeindex .snapshot .txnindex "
            ".checkpoint.",
            "FILE,…",
        ),
        Option("print-data-log", "Print keys and values of the records.", older=("records",)),
        Option("deep-iteration", "Print a line for each record, without key and value."),
        Option("skip-record-metadata", "Of records, print only keys and values."),
        Option("max-bytes", "Read only the first bytes, this many, of a .log.", "N", parse=at_least_one),
        Option("verify-index-only", "Of an index, print only where it and the log do not agree."),
        Option("index-sanity-check", "Only look whether an index can be true, without its log."),
        Option("key-decoder-class", "What keys are.", "CLASS", default="kafka.serializer.StringDecoder"),
        Option("value-decoder-class", "What values are.", "CLASS", default="kafka.serializer.StringDecoder"),
        Option("offsets-decoder", "The log is of __consumer_offsets: print its records as JSON."),
        Option("transaction-log-decoder", "The log is of __transaction_state: print its records as JSON."),
        Option("cluster-metadata-decoder", "", without_effect=_NOT_KEPT),
        Option("remote-log-metadata-decoder", "", without_effect=_NOT_KEPT),
        Option("max-message-size", "", "N", parse=at_least_one, without_effect="batches of any size are read."),
    ),
    examples=(
        Example("kafka-dump-log --files data/broker-1/orders-0/00000000000000000000.log --print-data-log", "records"),
        Example(
            "kafka-dump-log --files data/broker-1/__consumer_offsets-3/00000000000000000000.log --offsets-decoder",
            "what consumer groups have committed",
        ),
    ),
)
