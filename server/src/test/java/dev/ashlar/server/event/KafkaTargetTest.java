package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** With the mock of Kafka's own client: there is no broker here. */
class KafkaTargetTest {
  private final List<MockProducer<byte[], byte[]>> producers = new ArrayList<>();

  private MockProducer<byte[], byte[]> open(boolean isAcknowledging) {
    MockProducer<byte[], byte[]> producer =
        new MockProducer<>(
            isAcknowledging, null, new ByteArraySerializer(), new ByteArraySerializer());
    producers.add(producer);
    return producer;
  }

  @Test
  void aMessageIsARecordWithItsKey() throws Exception {
    try (KafkaTarget target = new KafkaTarget("arn", "k", "topic", () -> open(true))) {
      assertEquals(List.of(), producers, "it connects when there is something to send");
      Sends.succeeds(target);
      Sends.succeeds(target);
    }
    List<ProducerRecord<byte[], byte[]>> sent = producers.getFirst().history();
    assertEquals(2, sent.size());
    assertEquals("topic", sent.getFirst().topic());
    assertArrayEquals(Sends.KEY.getBytes(StandardCharsets.UTF_8), sent.getFirst().key());
    assertArrayEquals(Sends.JSON.getBytes(StandardCharsets.UTF_8), sent.getFirst().value());
    assertEquals(1, producers.size());
  }

  @Test
  void onlyTheBrokerAcknowledges() throws Exception {
    MockProducer<byte[], byte[]> producer = open(false);
    try (KafkaTarget target = new KafkaTarget("arn", "k", "topic", () -> producer)) {
      CompletableFuture<Void> first = target.send(Sends.message());
      CompletableFuture<Void> second = target.send(Sends.message());
      while (producer.history().size() < 2) {
        Thread.onSpinWait();
      }
      assertEquals(false, first.isDone());
      producer.completeNext();
      first.get(1, TimeUnit.MINUTES);
      producer.errorNext(new TimeoutException("too late"));
      assertTrue(
          String.valueOf(second.handle((nothing, failure) -> failure).get(1, TimeUnit.MINUTES))
              .contains("too late"));
    }
  }

  @Test
  void aProducerThatTakesNothingAnyMoreIsReplaced() throws Exception {
    try (KafkaTarget target =
        new KafkaTarget(
            "arn",
            "k",
            "topic",
            () -> {
              MockProducer<byte[], byte[]> producer = open(true);
              if (producers.size() == 1) {
                producer.sendException = new KafkaException("fenced");
              }
              return producer;
            })) {
      assertTrue(Sends.fails(target).contains("fenced"));
      Sends.succeeds(target);
    }
    assertTrue(producers.getFirst().closed());
    assertEquals(1, producers.getLast().history().size());
  }

  @Test
  void certificatesThatCannotBeReadAreToldAtTheStart() {
    TargetFields fields =
        new TargetFields(
            new ObjectMapper()
                .createObjectNode()
                .put("brokers", "127.0.0.1:1")
                .put("topic", "t")
                .put("tls", true)
                .put("ca", "missing.crt"),
            Path.of("targets.json"));
    assertThrows(IOException.class, () -> KafkaTarget.of("arn", "k", fields));
  }

  @Test
  void itAsksForTheSafestDelivery() throws Exception {
    Map<String, Object> config =
        KafkaTarget.config(
            "k",
            new TargetFields(
                new ObjectMapper()
                    .createObjectNode()
                    .put("brokers", "127.0.0.1:1")
                    .put("user", "u\"v")
                    .put("password", "p\\w"),
                Path.of(".")));
    assertEquals("all", config.get("acks"));
    assertEquals(true, config.get("enable.idempotence"));
    assertEquals("SASL_PLAINTEXT", config.get("security.protocol"));
    assertEquals("SCRAM-SHA-512", config.get("sasl.mechanism"));
    String login = String.valueOf(config.get("sasl.jaas.config"));
    assertTrue(login.endsWith("username=\"u\\\"v\" password=\"p\\\\w\";"), login);
    new KafkaProducer<byte[], byte[]>(config).close(); // the client accepts it
  }
}
