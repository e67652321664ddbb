"""Logs and what lies beside them, against Kafka's storage: written, opened after a stop, compacted, dumped, read."""

import base64
import contextlib
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from broker.cli.frame.running import run
from broker.cli.kafka_dump_log import COMMAND
from broker.common.errors import StartupError
from broker.common.types import TopicPartition
from broker.log.checkpoints import encode_topic_id, read_offset_checkpoint, read_partition_metadata
from broker.log.compaction.cleaner import CleanerPass
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.plan import plan_compaction
from broker.log.compaction.rebuild import delete_horizon_of
from broker.log.compaction.settings import CleanerSettings
from broker.log.config import LogConfig
from broker.log.leader_epoch_file import load_leader_epochs
from broker.log.log import Log
from broker.log.producer_snapshot_format import decode_snapshot
from broker.records.batch import (
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    Compression,
    iterate_headers,
    parse_batch_header,
    patch_batch,
)
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record, decode_records
from tests.manual_clock import ManualClock
from tests.produced_batches import sealed
from tests.reference.comparison import Subject
from tests.reference.subjects.log_cases import (
    make_checkpoint,
    make_compacted,
    make_dumped,
    make_opened,
    make_written,
)

_SUFFIX_OF_LOG = ".log"
_PARTITION = TopicPartition("t", 0)


# --- what a case stands for


def batch_of(spec: dict[str, Any], base_offset: int) -> bytearray:
    """Return the batch as its leader wrote it."""
    if "marker" in spec:
        marker = EndMarker(MarkerType[spec["marker"].upper()], spec["coordinator"])
        batch = build_marker(marker, spec["producer"], 0, spec["now"])
    else:
        batch = _data_batch(spec)
    patch_batch(batch, 0, base_offset, spec["epoch"])
    return batch


def _data_batch(spec: dict[str, Any]) -> bytearray:
    records = [
        Record(0, timestamp, _bytes(key), _bytes(value), [(name, _bytes(text)) for name, text in next(iter(rest), ())])
        for timestamp, key, value, *rest in spec["records"]
    ]
    identity = {}
    if "producer" in spec:
        identity = {"producer_id": spec["producer"], "producer_epoch": 0, "base_sequence": spec["sequence"]}
    batch = build_batch(
        records,
        compression=Compression[spec.get("codec", "none").upper()],
        is_transactional=spec.get("is_transactional", False),
        **identity,
    )
    header = parse_batch_header(batch)
    if spec.get("is_empty"):
        header = header._replace(batch_length=HEADER_BYTES - LENGTH_PREFIX_BYTES, records_count=0, base_timestamp=-1)
        batch = batch[:HEADER_BYTES]
    if "append_ms" in spec:
        header = header._replace(attributes=header.attributes | 0x08, max_timestamp=spec["append_ms"])
    HEADER.pack_into(batch, 0, *header)
    return sealed(batch)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def placed(specs: list[dict[str, Any]], start: int = 0) -> Iterator[bytearray]:
    """Yield the batches one behind the other, from offset `start` on."""
    for spec in specs:
        batch = batch_of(spec, start + spec.get("skip", 0))
        start = parse_batch_header(batch).next_offset
        yield batch


def config_of(case: dict) -> LogConfig:
    settings = case["config"]
    return LogConfig(
        segment_bytes=int(settings["internal.segment.bytes"]),
        index_interval_bytes=int(settings["index.interval.bytes"]),
        segment_index_bytes=int(settings.get("segment.index.bytes", 10_485_760)),
        cleanup_policy=(settings.get("cleanup.policy", "delete"),),
        delete_retention_ms=int(settings.get("delete.retention.ms", 86_400_000)),
    )


def laid_out(case: dict) -> dict[str, bytes]:
    """Return the files of the log that a case describes, damaged as it says."""
    files: dict[str, bytes] = {}
    end = 0
    names = []
    for specs in case["segments"]:
        batches = list(placed(specs, end))
        names.append(f"{end:020d}")
        files[names[-1] + _SUFFIX_OF_LOG] = b"".join(batches)
        end = parse_batch_header(batches[-1]).next_offset
    for name, content in _indexes(case, files).items():
        files.setdefault(name, content)
    for harm in case["harms"]:
        _damage(files, names, *harm)
    return files


def _indexes(case: dict, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return what a clean stop leaves beside these segments."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = _written(Path(temporary) / "t-0", files)
        log = Log.open(directory, config_of(case))
        log.store_clean_state()
        log.close()
        return {path.name: path.read_bytes() for path in directory.iterdir() if "synced" not in path.name}


def _damage(files: dict[str, bytes], names: list[str], kind: str, segment: int, place: int, how: int | str) -> None:
    name = names[segment] + _SUFFIX_OF_LOG
    content = files[name]
    at = len(content) * place // 1_000
    match kind:
        case "lose":
            files.pop(f"{names[segment]}.{how}", None)
        case "cut":
            files[name] = content[: len(content) - min(int(how), len(content))]
        case "flip" if content:
            files[name] = content[:at] + bytes([content[at] ^ int(how)]) + content[at + 1 :]
        case "zeros" | "junk":
            files[name] = content + (b"\0" if kind == "zeros" else b"\xab") * int(how)


def _written(directory: Path, files: dict[str, bytes]) -> Path:
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return directory


# --- what Barnabas makes of it


def ours(case: dict) -> dict:
    """Return what Barnabas makes of a case."""
    with tempfile.TemporaryDirectory() as temporary:
        return _OURS[case["op"]](case, Path(temporary))


def _ours_written(case: dict, root: Path) -> dict:
    log = _followed(case, root / "t-0")
    made = {"epochs": [list(entry) for entry in log.leader_epochs.entries]}
    made |= _left(log)
    return made | {"read": _reopened(case, root / "t-0")}


def _followed(case: dict, directory: Path) -> Log:
    log = Log.open(directory, config_of(case))
    for batch in placed(case["log"]):
        log.append_as_follower(batch, case["now"])
    return log


def _left(log: Log) -> dict:
    """Close the log and return what lies in its directory, as `LogFiles.files` does."""
    log.flush()
    log.store_clean_state()
    log.close()
    return _files(log.directory)


def _reopened(case: dict, directory: Path, *, is_clean: bool = False, recovery_point: int = 0) -> dict:
    log = Log.open(directory, config_of(case), is_clean=is_clean, recovery_point=recovery_point)
    made: dict[str, Any] = {"start": log.log_start_offset, "end": log.log_end_offset}
    made["segments"] = [[segment.base_offset, segment.size_bytes] for segment in log.segments]
    made["epochs"] = [list(entry) for entry in log.leader_epochs.entries]
    return made | _left(log)


def _files(directory: Path) -> dict:
    files: dict[str, str] = {}
    made: dict[str, Any] = {"files": files}
    snapshot = None
    for path in sorted(directory.iterdir()):
        if path.suffix == ".snapshot":
            snapshot = path
        elif path.suffix == _SUFFIX_OF_LOG:
            files[path.name] = f"{path.stat().st_size} {crc32(path.read_bytes())}"
        elif path.suffix.endswith("index") and (content := path.read_bytes()):
            files[path.name] = content.hex()
    if snapshot is not None and (producers := _producers(snapshot.read_bytes())):
        made |= {"producers": producers, "producers_at": snapshot.name}
    return made


def _producers(content: bytes) -> list[list[int]]:
    snapshot = decode_snapshot(content)
    if snapshot is None:
        raise StartupError("the snapshot is damaged")
    return sorted(list(entry) for entry, _ in snapshot.producers)


def _ours_opened(case: dict, root: Path) -> dict:
    files = laid_out(case)
    directory = _written(root / "t-0", files)
    return _reopened(case, directory, recovery_point=_recovery_point(case, files))


def _recovery_point(case: dict, files: dict[str, bytes]) -> int:
    bases = sorted(int(name.partition(".")[0]) for name in files if name.endswith(_SUFFIX_OF_LOG))
    return bases[case.get("recovery_point_segment", 0)]


def _ours_compacted(case: dict, root: Path) -> dict:
    log = _followed(case, root / "t-0")
    clock = ManualClock()
    settings = CleanerSettings(clock=clock, on_owner=lambda step: step(), sleep=lambda _: None)
    dirty_from, passes, horizons = 0, [], []
    for now_ms in case["passes"]:
        end_offset_max = log.last_stable_offset(log.log_end_offset)
        target = LogToClean.of(_PARTITION, log, end_offset_max, log.last_offsets_of_producers)
        plan = plan_compaction(target.facts(dirty_from), dirty_from, end_offset_max, log.config, now_ms)
        if plan.end_offset > dirty_from:
            dirty_from = CleanerPass(target, plan, settings, now_ms).run().end_offset
        aborted = [list(entry) for entry in log.aborted_transactions(0, log.log_end_offset)]
        batches, marker_horizons = _batches(log)
        passes.append({"clean_until": dirty_from, "batches": batches, "aborted": aborted})
        horizons.append(marker_horizons)
    log.close()
    return {"passes": passes, "marker_horizons": horizons}


def _batches(log: Log) -> tuple[list[list[Any]], list[list[int]]]:
    """Return all batches, and by offset until when the markers among them stay."""
    batches, marker_horizons = [], []
    for segment in log.segments:
        data = segment.files.log.read_bytes()
        for at, header in iterate_headers(data):
            records = [
                [record.offset, record.timestamp_ms, _hex(record.key), _hex(record.value)]
                for record in decode_records(data[at : at + header.size_bytes])
            ]
            horizon = delete_horizon_of(header)
            horizon = -1 if horizon is None else horizon
            if header.is_control:
                marker_horizons.append([header.base_offset, horizon])
            batches.append([
                *(header.base_offset, header.last_offset, header.partition_leader_epoch, header.producer_id),
                *(header.producer_epoch, header.base_sequence, header.is_transactional, header.is_control),
                *(header.compression.name.lower(), header.max_timestamp, _timestamp_type(header.attributes)),
                *(() if header.is_control else (horizon,)),
                records,
            ])  # fmt: skip
    return batches, marker_horizons


def _hex(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).hex()


def _timestamp_type(attributes: int) -> str:
    return "LogAppendTime" if attributes & 0x08 else "CreateTime"


def _ours_dumped(case: dict, root: Path) -> dict:
    files = laid_out(case)
    directory = _written(root / "t-0", files)
    path = directory / _dumped_file(case, files)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run(COMMAND, [*case["options"], "--files", str(path)])
    return {"out": out.getvalue().replace(f"{directory}/", ""), "err": err.getvalue().replace(f"{directory}/", "")}


def _dumped_file(case: dict, files: dict[str, bytes]) -> str:
    return max(name for name in files if name.endswith("." + case["suffix"]))


def _ours_checkpoint(case: dict, root: Path) -> dict:
    path = root / ("leader-epoch-checkpoint" if case["kind"] == "epochs" else "file")
    path.write_bytes(case["text"].encode())
    try:
        match case["kind"]:
            case "offsets":
                return {"offsets": {str(partition): at for partition, at in read_offset_checkpoint(path).items()}}
            case "metadata":
                topic_id = read_partition_metadata(path)
                return {"topic_id": "AAAAAAAAAAAAAAAAAAAAAA" if topic_id is None else encode_topic_id(topic_id)}
        epochs = load_leader_epochs(root)
        return {"refused": "value"} if epochs is None else {"epochs": [list(entry) for entry in epochs.entries]}
    except StartupError:
        return {"refused": "value"}


_OURS = {
    "log-written": _ours_written,
    "log-opened": _ours_opened,
    "log-compacted": _ours_compacted,
    "log-dumped": _ours_dumped,
    "checkpoint": _ours_checkpoint,
}


# --- the case as the reference is given it


def given(case: dict) -> dict:
    """Return the case with the bytes that it stands for."""
    match case["op"]:
        case "log-written":
            with tempfile.TemporaryDirectory() as temporary:
                log = _followed(case, Path(temporary) / "t-0")
                _left(log)
                files = {path.name: path.read_bytes() for path in log.directory.iterdir() if "synced" not in path.name}
            return _for_java(case) | {"batches": _packed(placed(case["log"])), "files": _texts(files)}
        case "log-opened":
            files = laid_out(case)
            return _for_java(case) | {"files": _texts(files), "recovery_point": _recovery_point(case, files)}
        case "log-dumped":
            files = laid_out(case)
            return _for_java(case) | {"files": _texts(files), "file": _dumped_file(case, files)}
        case "log-compacted":
            return _for_java(case) | {"batches": _packed(placed(case["log"]))}
    return {**case, "content": base64.b64encode(case["text"].encode()).decode()}


def _for_java(case: dict) -> dict:
    return {name: item for name, item in case.items() if name not in ("log", "segments", "harms")}


def _packed(batches: Iterator[bytearray]) -> list[str]:
    return [base64.b64encode(batch).decode() for batch in batches]


def _texts(files: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(content).decode() for name, content in files.items()}


FILES = (
    Subject("logs_written", make_written, ours, 400, given=given),
    Subject("logs_opened", make_opened, ours, 800, given=given),
    Subject("logs_compacted", make_compacted, ours, 400, given=given),
    Subject("logs_dumped", make_dumped, ours, 600, given=given),
    Subject("checkpoints", make_checkpoint, ours, 2_000, given=given),
)
