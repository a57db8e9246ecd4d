package dev.ashlar.server.event;

import dev.ashlar.gateway.notification.EventMessage;
import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.Options.HostnameResolveMode;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Publishes events to a subject of NATS. A stream of JetStream keeps and acknowledges them. */
final class NatsTarget extends ThreadedTarget {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

  private final Options options;
  private final String subject;
  private @Nullable Connection connection;
  private @Nullable JetStream stream;

  private NatsTarget(String arn, String name, Options options, String subject) {
    super(arn, name);
    this.options = options;
    this.subject = subject;
  }

  static NatsTarget of(String arn, String name, TargetFields fields) throws IOException {
    URI url = fields.url("url", List.of("nats", "tls"));
    Options.Builder options =
        Options.builder()
            .server(url.toString())
            .connectionName("ashlar-" + name)
            .connectionTimeout(CONNECT_MAX)
            .errorListener(new ErrorListener() {}) // what fails is told by each message
            .maxReconnects(-1);
    String token = fields.optional("token");
    String user = fields.optional("user");
    if (token != null) {
      options.token(token.toCharArray());
    } else if (user != null) {
      options.userInfo(user.toCharArray(), fields.required("password").toCharArray());
    }
    if (url.getScheme().equals("tls")) {
      options
          .sslContext(fields.tls())
          .dataPortType(VerifiedNatsPort.class.getName())
          .hostnameResolveMode(HostnameResolveMode.HappyEyeballs); // others forget the name
    }
    NatsTarget target = new NatsTarget(arn, name, options.build(), fields.required("subject"));
    fields.requireNoOthers();
    return target;
  }

  @Override
  void publish(EventMessage message, CompletableFuture<Void> sent)
      throws IOException, InterruptedException {
    var unused = // the callback tells
        stream()
            .publishAsync(subject, message.json())
            .whenComplete(
                (acknowledgement, failure) -> {
                  if (failure == null) {
                    sent.complete(null);
                  } else {
                    sent.completeExceptionally(failure);
                  }
                });
  }

  private JetStream stream() throws IOException, InterruptedException {
    JetStream before = stream;
    boolean isClosed = connection == null || connection.getStatus() == Connection.Status.CLOSED;
    if (before != null && !isClosed) { // a client that was refused twice has closed it for good
      return before;
    }
    disconnect();
    Connection opened = Nats.connect(options);
    connection = opened;
    JetStream open = opened.jetStream();
    stream = open;
    return open;
  }

  @Override
  void disconnect() throws InterruptedException {
    Connection before = connection;
    connection = null;
    stream = null;
    if (before != null) {
      before.close();
    }
  }
}
