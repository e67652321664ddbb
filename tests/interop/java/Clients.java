// What Kafka's own producer, consumer and admin make of the cluster; each thing that holds is a line.
// java -cp JARS Clients.java BOOTSTRAP_SERVERS

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.serialization.*;

public class Clients {
  static String servers;
  static Admin admin;

  static void told(String name, Callable<Object> what) {
    try {
      System.out.println(name + " = " + what.call());
    } catch (Throwable error) {
      Throwable cause = error;
      while (cause.getCause() != null) cause = cause.getCause();
      System.out.println(name + " ! " + cause.getClass().getSimpleName() + ": " + cause.getMessage());
    }
  }

  static Map<String, Object> with(Object... pairs) {
    Map<String, Object> found = new java.util.HashMap<>(Map.of("bootstrap.servers", servers));
    for (int at = 0; at < pairs.length; at += 2) found.put((String) pairs[at], pairs[at + 1]);
    return found;
  }

  static KafkaProducer<String, String> producer(Object... pairs) {
    return new KafkaProducer<>(with(pairs), new StringSerializer(), new StringSerializer());
  }

  static int read(String topic, int wanted, Object... pairs) {
    Map<String, Object> config = with(pairs);
    config.put("auto.offset.reset", "earliest");
    try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
      if (config.containsKey("group.id")) consumer.subscribe(List.of(topic));
      else consumer.assign(consumer.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).toList());
      int found = 0;
      long end = System.nanoTime() + 30_000_000_000L;
      while (found < wanted && System.nanoTime() < end) found += consumer.poll(Duration.ofMillis(200)).count();
      if (config.containsKey("group.id")) consumer.commitSync();
      return found;
    }
  }

  static Object produced(String codec) throws Exception {
    try (var producer = producer("compression.type", codec, "linger.ms", 20)) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (int n = 0; n < 500; n++) sent.add(producer.send(new ProducerRecord<>("java", "k" + n % 9, "v".repeat(50) + n)));
      for (var each : sent) each.get();
      return sent.size();
    }
  }

  static Object transactions() throws Exception {
    try (var producer = producer("transactional.id", "java-1")) {
      producer.initTransactions();
      for (int n = 0; n < 8; n++) {
        producer.beginTransaction();
        for (int m = 0; m < 10; m++) producer.send(new ProducerRecord<>("java-txn", "k", n + "-" + m));
        producer.sendOffsetsToTransaction(
            Map.of(new TopicPartition("java", 0), new OffsetAndMetadata(n)), new ConsumerGroupMetadata("java-of-txn"));
        if (n % 4 == 3) producer.abortTransaction(); else producer.commitTransaction();
      }
      return read("java-txn", 60, "isolation.level", "read_committed") + " of 60, group at "
          + admin.listConsumerGroupOffsets("java-of-txn").partitionsToOffsetAndMetadata().get().get(new TopicPartition("java", 0)).offset();
    }
  }

  public static void main(String[] words) throws Exception {
    servers = words[0];
    admin = Admin.create(with());
    var topic = new ConfigResource(ConfigResource.Type.TOPIC, "java");
    var partition = new TopicPartition("java", 0);
    told("nodes", () -> admin.describeCluster().nodes().get().size());
    told("made", () -> admin.createTopics(List.of(new NewTopic("java", 3, (short) 1), new NewTopic("java-txn", 2, (short) 1))).all().get());
    told("made again", () -> admin.createTopics(List.of(new NewTopic("java", Optional.empty(), Optional.empty()))).all().get());
    told("described", () -> admin.describeTopics(List.of("java")).allTopicNames().get().get("java").partitions().size());
    told("described by id", () -> {
      Uuid id = admin.describeTopics(List.of("java")).allTopicNames().get().get("java").topicId();
      return admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds().get().get(id).name();
    });
    told("configured", () -> admin.incrementalAlterConfigs(Map.of(topic, List.of(
        new AlterConfigOp(new ConfigEntry("retention.ms", "100000"), AlterConfigOp.OpType.SET)))).all().get());
    told("configuration", () -> admin.describeConfigs(List.of(topic)).all().get().get(topic).get("retention.ms").value());
    for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) told("produced " + codec, () -> produced(codec));
    told("too large", () -> { try (var p = producer("max.request.size", 9_000_000)) { return p.send(new ProducerRecord<>("java", "x".repeat(2_000_000))).get(); } });
    told("read", () -> read("java", 2500, "group.id", "java-group"));
    told("read by a cooperative static member", () -> read("java", 2500, "group.id", "java-static", "group.instance.id", "one",
        "partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"));
    told("transactions", Clients::transactions);
    told("transaction", () -> admin.describeTransactions(List.of("java-1")).all().get().get("java-1").state());
    told("fenced", () -> admin.fenceProducers(List.of("java-1")).all().get());
    told("groups", () -> {
      Set<String> found = new TreeSet<>();
      admin.listGroups().all().get().forEach(each -> found.add(each.groupId() + " " + each.groupState().map(Object::toString).orElse("")));
      return found;
    });
    told("lag", () -> {
      long at = admin.listConsumerGroupOffsets("java-group").partitionsToOffsetAndMetadata().get().get(partition).offset();
      return admin.listOffsets(Map.of(partition, OffsetSpec.latest())).all().get().get(partition).offset() - at;
    });
    told("reset", () -> admin.alterConsumerGroupOffsets("java-group", Map.of(partition, new OffsetAndMetadata(1))).all().get());
    told("read again", () -> read("java", 1, "group.id", "java-group") > 0);
    told("credentials", () -> admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
        "java", new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), "secret"))).all().get());
    told("user", () -> admin.describeUserScramCredentials().all().get().keySet());
    told("quota", () -> admin.alterClientQuotas(List.of(new ClientQuotaAlteration(new ClientQuotaEntity(Map.of("user", "java")),
        List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1e6))))).all().get());
    told("quotas", () -> admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get().size());
    told("log directories", () -> admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).size());
    told("records deleted", () -> admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(2))).all().get());
    told("groups deleted", () -> admin.deleteConsumerGroups(List.of("java-group", "java-of-txn")).all().get());
    told("deleted", () -> admin.deleteTopics(List.of("java", "java-txn")).all().get());
    admin.close();
  }
}
