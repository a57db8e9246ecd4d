package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Against a server that knows only as much of NATS as is needed here. */
class NatsTargetTest {
  private final FakeNatsServer server;
  private final NatsTarget target;

  NatsTargetTest() throws IOException {
    this.server = new FakeNatsServer();
    this.target =
        NatsTarget.of(
            "arn",
            "n",
            new TargetFields(
                new ObjectMapper()
                    .createObjectNode()
                    .put("url", "nats://127.0.0.1:" + server.port())
                    .put("subject", "events")
                    .put("user", "u")
                    .put("password", "hunter2"),
                Path.of(".")));
  }

  @AfterEach
  void close() throws IOException {
    target.close();
    server.close();
  }

  @Test
  void theStreamAcknowledges() throws Exception {
    Sends.succeeds(target);
    assertEquals(List.of("events " + Sends.JSON), server.published);
    assertTrue(server.connect.contains("\"user\":\"u\""), server.connect);
  }

  @Test
  void whatNoStreamTakesFails() {
    server.answer = "{\"error\":{\"code\":503,\"description\":\"no room\"}}";
    String why = Sends.fails(target);
    assertTrue(why.contains("no room"), why);
  }

  @Test
  void itConnectsAgain() throws Exception {
    Sends.succeeds(target);
    server.dropConnections();
    untilItSucceeds();
  }

  /** Then the client gives up. */
  @Test
  @Tag("slow")
  void itConnectsAgainAfterTwoRefusals() throws Exception {
    Sends.succeeds(target);
    server.isRefusing = true;
    server.dropConnections();
    int waits = 0;
    while (server.refused.get() < 2) {
      if (waits++ == 600) {
        throw new AssertionError("it does not try again");
      }
      Thread.sleep(100);
    }
    server.isRefusing = false;
    untilItSucceeds();
  }

  private void untilItSucceeds() throws InterruptedException {
    int tries = 0;
    while (server.published.size() < 2) {
      if (tries++ == 100) {
        throw new AssertionError("it does not connect again");
      }
      try {
        target.send(Sends.message()).get(1, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        Thread.sleep(100);
      }
    }
  }
}
