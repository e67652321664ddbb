// Transactions of Kafka's own producer, with the offsets of a group; the versions it sends are for the broker to say.
// java -cp JARS Transactions.java BOOTSTRAP_SERVERS TOPIC

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

public class Transactions {
  public static void main(String[] words) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", words[0], "transactional.id", "java");
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      for (int n = 0; n < 3; n++) {
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(words[1], "value " + n)).get();
        var offsets = Map.of(new TopicPartition(words[1], 0), new OffsetAndMetadata(n + 1));
        producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata("copied"));
        if (n == 1) producer.abortTransaction(); else producer.commitTransaction();
      }
    }
    System.out.println("done");
  }
}
