package dev.ashlar.server.event;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Publishes events to a Kafka topic, as records whose key is that of the message. */
final class KafkaTarget extends ThreadedTarget {
  private static final int BLOCK_MS = 10_000;
  private static final int REQUEST_MS = 10_000;
  private static final int DELIVERY_MS = 25_000;
  private static final String MECHANISMS = "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512";

  private final String topic;
  private final Supplier<Producer<byte[], byte[]>> connection;
  private @Nullable Producer<byte[], byte[]> producer;

  KafkaTarget(
      String arn, String name, String topic, Supplier<Producer<byte[], byte[]>> connection) {
    super(arn, name);
    this.topic = topic;
    this.connection = connection;
  }

  static KafkaTarget of(String arn, String name, TargetFields fields) throws IOException {
    String topic = fields.required("topic");
    Map<String, Object> config = config(name, fields);
    fields.requireNoOthers();
    return new KafkaTarget(arn, name, topic, () -> new KafkaProducer<>(config));
  }

  static Map<String, Object> config(String name, TargetFields fields) throws IOException {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, fields.required("brokers"));
    config.put(ProducerConfig.CLIENT_ID_CONFIG, "ashlar-" + name);
    config.put(ProducerConfig.ACKS_CONFIG, "all");
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MS);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_MS);
    config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_MS);
    config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    config.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    boolean isTls = fields.flag("tls");
    Path authorities = fields.authorities();
    if (authorities != null) {
      if (!isTls) {
        throw new IllegalArgumentException("ca: needs \"tls\": true");
      }
      Authorities.read(authorities); // a file that cannot be read is told at the start
      config.put("ssl.truststore.type", "PEM");
      config.put("ssl.truststore.location", authorities.toString());
    }
    String user = fields.optional("user");
    if (user != null) {
      String mechanism = fields.optional("mechanism", "SCRAM-SHA-512");
      config.put("sasl.mechanism", mechanism);
      config.put("sasl.jaas.config", login(mechanism, user, fields.required("password")));
    }
    String security = user == null ? "" : "SASL_";
    config.put("security.protocol", security + (isTls ? "SSL" : "PLAINTEXT"));
    return config;
  }

  private static String login(String mechanism, String user, String password) {
    String module =
        switch (mechanism) {
          case "PLAIN" -> "org.apache.kafka.common.security.plain.PlainLoginModule";
          case "SCRAM-SHA-256", "SCRAM-SHA-512" ->
              "org.apache.kafka.common.security.scram.ScramLoginModule";
          default ->
              throw new IllegalArgumentException("mechanism: " + MECHANISMS + " is expected");
        };
    return module
        + " required username=\""
        + escaped(user)
        + "\" password=\""
        + escaped(password)
        + "\";";
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"");
  }

  @Override
  void publish(EventMessage message, CompletableFuture<Void> sent) {
    Producer<byte[], byte[]> to = producer;
    if (to == null) {
      to = connection.get();
      producer = to;
    }
    Producer<byte[], byte[]> used = to;
    byte[] key = message.key().getBytes(StandardCharsets.UTF_8);
    try {
      var unused = // the callback tells
          used.send(
              new ProducerRecord<>(topic, key, message.json()),
              (metadata, failure) -> {
                if (failure == null) {
                  sent.complete(null);
                } else {
                  sent.completeExceptionally(failure);
                }
              });
    } catch (RuntimeException e) {
      disconnect(); // it takes no record any more
      throw e;
    }
  }

  @Override
  void disconnect() {
    Producer<byte[], byte[]> before = producer;
    producer = null;
    if (before != null) {
      before.close(Duration.ZERO);
    }
  }
}
