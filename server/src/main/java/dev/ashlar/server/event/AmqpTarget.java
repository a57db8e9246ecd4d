package dev.ashlar.server.event;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.ashlar.gateway.notification.EventMessage;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes events as persistent messages to an exchange of AMQP. The broker confirms each of them.
 * A message that no queue gets fails.
 */
final class AmqpTarget extends ThreadedTarget {
  private static final int CONNECT_MS = 10_000;
  private static final int PERSISTENT = 2;

  private final ConnectionFactory factory;
  private final String name;
  private final String exchange;
  private final String routingKey;
  private @Nullable Connection connection;
  private @Nullable OpenChannel channel;

  /** A channel with the messages that are not confirmed yet, by their number. */
  private record OpenChannel(
      Channel channel, ConcurrentNavigableMap<Long, CompletableFuture<Void>> unconfirmed) {
    void confirm(long number, boolean isMultiple, @Nullable String failure) {
      var confirmed =
          isMultiple
              ? unconfirmed.headMap(number, true)
              : unconfirmed.subMap(number, true, number, true);
      for (CompletableFuture<Void> sent : new ArrayList<>(confirmed.values())) {
        if (failure == null) {
          sent.complete(null);
        } else {
          sent.completeExceptionally(new IOException(failure));
        }
      }
      confirmed.clear();
    }

    /** Comes before its confirmation. */
    void returned(@Nullable String number, String reason) {
      CompletableFuture<Void> sent = number == null ? null : unconfirmed.get(Long.valueOf(number));
      if (sent != null) {
        sent.completeExceptionally(new IOException("returned: " + reason));
      }
    }
  }

  private AmqpTarget(
      String arn, String name, ConnectionFactory factory, String exchange, String routingKey) {
    super(arn, name);
    this.name = name;
    this.factory = factory;
    this.exchange = exchange;
    this.routingKey = routingKey;
  }

  static AmqpTarget of(String arn, String name, TargetFields fields) throws IOException {
    URI url = fields.url("url", List.of("amqp", "amqps"));
    ConnectionFactory factory = new ConnectionFactory();
    boolean isTls = url.getScheme().equals("amqps");
    factory.setHost(url.getHost());
    if (isTls) {
      factory.useSslProtocol(fields.tls());
      factory.enableHostnameVerification();
    }
    factory.setPort(
        url.getPort() >= 0
            ? url.getPort()
            : isTls
                ? ConnectionFactory.DEFAULT_AMQP_OVER_SSL_PORT
                : ConnectionFactory.DEFAULT_AMQP_PORT);
    String path = url.getPath();
    if (path != null && path.length() > 1) {
      factory.setVirtualHost(path.substring(1));
    }
    String user = fields.optional("user");
    if (user != null) {
      factory.setUsername(user);
      factory.setPassword(fields.required("password"));
    }
    factory.setConnectionTimeout(CONNECT_MS);
    factory.setAutomaticRecoveryEnabled(false); // the next message connects again
    String exchange = fields.optional("exchange", "");
    String routingKey = fields.optional("routingKey", "");
    if (exchange.isEmpty() && routingKey.isEmpty()) {
      throw new IllegalArgumentException("exchange or routingKey: is missing");
    }
    fields.requireNoOthers();
    return new AmqpTarget(arn, name, factory, exchange, routingKey);
  }

  @Override
  void publish(EventMessage message, CompletableFuture<Void> sent)
      throws IOException, TimeoutException {
    OpenChannel open = open();
    long number = open.channel.getNextPublishSeqNo();
    open.unconfirmed.put(number, sent);
    BasicProperties properties =
        new BasicProperties.Builder()
            .contentType("application/json")
            .deliveryMode(PERSISTENT)
            .messageId(Long.toString(number))
            .build();
    open.channel.basicPublish(exchange, routingKey, true, properties, message.json());
  }

  private OpenChannel open() throws IOException, TimeoutException {
    OpenChannel before = channel;
    if (before != null && before.channel.isOpen()) {
      return before;
    }
    disconnect();
    Connection opened = factory.newConnection("ashlar-" + name);
    connection = opened;
    Channel fresh = opened.createChannel();
    if (fresh == null) {
      throw new IOException("the broker gives no channel");
    }
    OpenChannel now = new OpenChannel(fresh, new ConcurrentSkipListMap<>());
    fresh.addConfirmListener(
        (number, isMultiple) -> now.confirm(number, isMultiple, null),
        (number, isMultiple) -> now.confirm(number, isMultiple, "not confirmed by the broker"));
    fresh.addReturnListener(
        returned -> now.returned(returned.getProperties().getMessageId(), returned.getReplyText()));
    fresh.addShutdownListener(
        cause -> now.confirm(Long.MAX_VALUE, true, "the connection has ended"));
    fresh.confirmSelect();
    channel = now;
    return now;
  }

  @Override
  void disconnect() {
    Connection before = connection;
    connection = null;
    channel = null;
    if (before != null) {
      before.abort(CONNECT_MS);
    }
  }
}
