package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
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
    int tries = 0;
    while (server.published.size() < 2) {
      if (tries++ == 100) {
        throw new AssertionError("it does not connect again");
      }
      try {
        Sends.succeeds(target);
      } catch (Exception e) {
        Thread.sleep(100);
      }
    }
  }
}
