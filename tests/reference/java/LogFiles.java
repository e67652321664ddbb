import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AbortedTxn;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.apache.kafka.tools.DumpLogSegments;

/** Logs and the files beside them, written, read, recovered and compacted by Kafka's own storage. */
final class LogFiles {
    private static final BrokerTopicStats STATS = new BrokerTopicStats();
    private static final KafkaScheduler SCHEDULER = new KafkaScheduler(1);
    static {
        SCHEDULER.startup();
    }

    private LogFiles() {}

    static void evaluate(JsonNode given, ObjectNode made) throws Exception {
        Path root = Files.createTempDirectory("reference");
        try {
            Path directory = Files.createDirectory(root.resolve("t-0"));
            switch (given.get("op").asText()) {
                case "log-written": written(given, directory, made); break;
                case "log-opened": write(given, directory); opened(given, directory, made); break;
                case "log-compacted": compacted(given, directory, made); break;
                case "log-dumped": write(given, directory); dumped(given, directory, made); break;
                case "checkpoint": checkpoint(given, root, made); break;
                default: throw new IllegalArgumentException(given.get("op").asText());
            }
        } finally {
            remove(root.toFile());
        }
    }

    private static void remove(File file) {
        File[] inside = file.listFiles();
        if (inside != null) for (File part : inside) remove(part);
        file.delete();
    }

    private static void write(JsonNode given, Path directory) throws IOException {
        for (var fields = given.get("files").fields(); fields.hasNext(); ) {
            Map.Entry<String, JsonNode> file = fields.next();
            Files.write(directory.resolve(file.getKey()), Base64.getDecoder().decode(file.getValue().asText()));
        }
    }

    /** The wall clock stands where the case says. */
    private static final class FixedTime implements Time {
        private final long now;

        FixedTime(long now) { this.now = now; }
        @Override public long milliseconds() { return now; }
        @Override public long nanoseconds() { return now * 1_000_000; }
        @Override public long hiResClockMs() { return now; }
        @Override public void sleep(long ms) { }
        @Override public void waitObject(Object object, java.util.function.Supplier<Boolean> condition, long deadline) { }
        @Override public org.apache.kafka.common.utils.Timer timer(long timeoutMs) { return Time.SYSTEM.timer(timeoutMs); }
        @Override public org.apache.kafka.common.utils.Timer timer(java.time.Duration timeout) { return Time.SYSTEM.timer(timeout); }
    }

    private static UnifiedLog open(JsonNode given, Path directory, boolean isClean) throws IOException {
        Map<String, String> settings = new HashMap<>();
        given.get("config").fields().forEachRemaining(pair -> settings.put(pair.getKey(), pair.getValue().asText()));
        Time time = new FixedTime(given.get("now").asLong());
        return UnifiedLog.create(directory.toFile(), new LogConfig(settings), given.path("log_start").asLong(),
            given.path("recovery_point").asLong(), SCHEDULER, STATS, time, 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(10), isClean,
            Optional.<Uuid>empty(), new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }

    private static void append(JsonNode given, UnifiedLog log) {
        for (JsonNode batch : given.get("batches")) {
            byte[] bytes = Base64.getDecoder().decode(batch.asText());
            int epoch = ByteBuffer.wrap(bytes).getInt(12);
            log.appendAsFollower(MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)), epoch);
        }
    }

    /** What Kafka writes of batches of a leader, and what it reads of what Barnabas has written of them. */
    private static void written(JsonNode given, Path directory, ObjectNode made) throws IOException {
        UnifiedLog log = open(given, directory, true);
        append(given, log);
        epochs(log, made);
        log.activeSegment().onBecomeInactiveSegment();
        log.close();
        files(directory, made);
        Path other = Files.createDirectory(directory.resolveSibling("t-1"));
        write(given, other);
        opened(given, other, made.putObject("read"));
    }

    private static void opened(JsonNode given, Path directory, ObjectNode made) throws IOException {
        UnifiedLog log = open(given, directory, given.path("is_clean").asBoolean());
        made.put("start", log.logStartOffset()).put("end", log.logEndOffset());
        ArrayNode segments = made.putArray("segments");
        for (LogSegment segment : log.logSegments()) segments.addArray().add(segment.baseOffset()).add(segment.size());
        epochs(log, made);
        log.activeSegment().onBecomeInactiveSegment();
        log.close();
        files(directory, made);
    }

    private static void epochs(UnifiedLog log, ObjectNode made) {
        ArrayNode epochs = made.putArray("epochs");
        for (EpochEntry entry : log.leaderEpochCache().epochEntries())
            epochs.addArray().add(entry.epoch()).add(entry.startOffset());
    }

    /** Logs by a checksum, indexes as they are, of the snapshots what the last one holds, unless that is nothing. */
    private static void files(Path directory, ObjectNode made) throws IOException {
        ObjectNode files = made.putObject("files");
        File[] present = directory.toFile().listFiles(File::isFile);
        Arrays.sort(present);
        File snapshot = null;
        for (File file : present) {
            String name = file.getName();
            if (name.endsWith(".snapshot")) snapshot = file;
            if (!name.endsWith(".log") && !name.endsWith("index")) continue;
            byte[] bytes = Files.readAllBytes(file.toPath());
            if (name.endsWith(".log")) {
                CRC32 sum = new CRC32();
                sum.update(bytes);
                files.put(name, bytes.length + " " + sum.getValue());
            } else {
                int entryBytes = name.endsWith(".index") ? 8 : name.endsWith(".timeindex") ? 12 : 34;
                int used = bytes.length;
                while (used > 0 && bytes[used - 1] == 0) used--;
                used = (used + entryBytes - 1) / entryBytes * entryBytes;
                if (used > 0) files.put(name, Reference.hex(Arrays.copyOf(bytes, used)));
            }
        }
        if (snapshot != null) producers(snapshot, made);
        boolean hasAny = made.path("producers").size() > 0;
        if (hasAny) made.put("producers_at", snapshot.getName());
        else made.remove("producers");
    }

    private static void producers(File snapshot, ObjectNode made) throws IOException {
        List<ProducerStateEntry> entries = new ArrayList<>(ProducerStateManager.readSnapshot(snapshot));
        entries.sort(Comparator.comparingLong(ProducerStateEntry::producerId));
        ArrayNode producers = made.putArray("producers");
        for (ProducerStateEntry entry : entries) {
            BatchMetadata last = entry.batchMetadata().stream().findFirst().orElse(null);
            producers.addArray().add(entry.producerId()).add(entry.producerEpoch()).add(last == null ? -1 : last.lastSeq())
                .add(entry.lastDataOffset()).add(last == null ? 0 : last.offsetDelta()).add(entry.lastTimestamp())
                .add(entry.coordinatorEpoch()).add(entry.currentTxnFirstOffset().orElse(-1));
        }
    }

    private static void compacted(JsonNode given, Path directory, ObjectNode made) throws Exception {
        UnifiedLog log = open(given, directory, true);
        append(given, log);
        log.updateHighWatermark(log.logEndOffset());
        ArrayNode passes = made.putArray("passes"), horizons = made.putArray("marker_horizons");
        long dirtyFrom = 0;
        for (JsonNode now : given.get("passes")) {
            Time time = new FixedTime(now.asLong());
            Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(1 << 20), 1 << 16, 1 << 24, 0.9,
                new Throttler(1e12, 300, "t", "t", time), time, partition -> { });
            long uncleanable = Math.min(log.lastStableOffset(), log.activeSegment().baseOffset());
            if (dirtyFrom < uncleanable)
                dirtyFrom = cleaner.clean(new LogToClean(log, dirtyFrom, uncleanable, true)).getKey();
            ObjectNode pass = passes.addObject();
            pass.put("clean_until", dirtyFrom);
            batches(log, pass.putArray("batches"), horizons.addArray());
            ArrayNode aborted = pass.putArray("aborted");
            for (AbortedTxn txn : log.collectAbortedTransactions(0, log.logEndOffset()))
                aborted.addArray().add(txn.producerId()).add(txn.firstOffset()).add(txn.lastOffset()).add(txn.lastStableOffset());
        }
        log.close();
    }

    private static void batches(UnifiedLog log, ArrayNode batches, ArrayNode markerHorizons) {
        for (LogSegment segment : log.logSegments())
            for (RecordBatch batch : segment.log().batches()) {
                ArrayNode node = batches.addArray();
                node.add(batch.baseOffset()).add(batch.lastOffset()).add(batch.partitionLeaderEpoch())
                    .add(batch.producerId()).add(batch.producerEpoch()).add(batch.baseSequence())
                    .add(batch.isTransactional()).add(batch.isControlBatch()).add(batch.compressionType().name)
                    .add(batch.maxTimestamp()).add(batch.timestampType().name);
                long horizon = batch.deleteHorizonMs().orElse(-1);
                if (batch.isControlBatch()) markerHorizons.addArray().add(batch.baseOffset()).add(horizon);
                else node.add(horizon);
                ArrayNode records = node.addArray();
                for (Record record : batch)
                    records.addArray().add(record.offset()).add(record.timestamp()).add(hex(record.key())).add(hex(record.value()));
            }
    }

    private static String hex(ByteBuffer bytes) {
        return bytes == null ? null : Reference.hex(org.apache.kafka.common.utils.Utils.toArray(bytes));
    }

    private static void dumped(JsonNode given, Path directory, ObjectNode made) throws IOException {
        List<String> arguments = new ArrayList<>();
        given.get("options").forEach(option -> arguments.add(option.asText()));
        arguments.add("--files");
        arguments.add(directory.resolve(given.get("file").asText()).toString());
        PrintStream out = System.out, err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream(), complained = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            DumpLogSegments.main(arguments.toArray(new String[0]));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        made.put("out", printed.toString(StandardCharsets.UTF_8).replace(directory + "/", ""));
        made.put("err", complained.toString(StandardCharsets.UTF_8).replace(directory + "/", ""));
    }

    private static void checkpoint(JsonNode given, Path root, ObjectNode made) throws Exception {
        byte[] content = Base64.getDecoder().decode(given.get("content").asText());
        File file = root.resolve("file").toFile();
        Files.write(file.toPath(), content);
        LogDirFailureChannel channel = new LogDirFailureChannel(10);
        switch (given.get("kind").asText()) {
            case "offsets": {
                ObjectNode offsets = made.putObject("offsets");
                new OffsetCheckpointFile(file, channel).read().forEach((partition, offset) -> offsets.put(partition.toString(), offset));
                break;
            }
            case "epochs": {
                ArrayNode epochs = made.putArray("epochs");
                for (EpochEntry entry : new LeaderEpochCheckpointFile(file, channel).read())
                    epochs.addArray().add(entry.epoch()).add(entry.startOffset());
                break;
            }
            case "metadata": made.put("topic_id", new PartitionMetadataFile(file, channel).read().topicId().toString()); break;
            case "snapshot": producers(file, made); break;
            default: throw new IllegalArgumentException(given.get("kind").asText());
        }
    }
}
