package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.server.event.FakeAmqpBroker.Fate;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Against a broker that knows only as much of AMQP as is needed here. */
class AmqpTargetTest {
  private final FakeAmqpBroker broker;
  private final AmqpTarget target;

  AmqpTargetTest() throws IOException {
    this.broker = new FakeAmqpBroker();
    this.target =
        AmqpTarget.of(
            "arn",
            "q",
            new TargetFields(
                new ObjectMapper()
                    .createObjectNode()
                    .put("url", "amqp://127.0.0.1:" + broker.port())
                    .put("exchange", "events")
                    .put("routingKey", "s3"),
                Path.of(".")));
  }

  @AfterEach
  void close() throws IOException {
    target.close();
    broker.close();
  }

  @Test
  void theBrokerConfirms() throws Exception {
    Sends.succeeds(target);
    Sends.succeeds(target);
    String message = "events s3 " + Sends.JSON;
    assertEquals(List.of(message, message), broker.published);
  }

  @Test
  void whatTheBrokerRefusesFails() throws Exception {
    broker.fate = Fate.REFUSED;
    String why = Sends.fails(target);
    assertTrue(why.contains("not confirmed"), why);
    broker.fate = Fate.CONFIRMED;
    Sends.succeeds(target);
  }

  @Test
  void whatNoQueueGetsFails() {
    broker.fate = Fate.RETURNED;
    String why = Sends.fails(target);
    assertTrue(why.contains("NO_ROUTE"), why);
  }

  @Test
  void itConnectsAgain() throws Exception {
    broker.fate = Fate.CUT_OFF;
    String why = Sends.fails(target);
    assertTrue(why.contains("connection"), why);
    broker.fate = Fate.CONFIRMED;
    Sends.succeeds(target);
  }

  @Test
  void nobodyThere() throws Exception {
    broker.close();
    String why = Sends.fails(target);
    assertTrue(why.contains("Connection refused"), why);
  }
}
