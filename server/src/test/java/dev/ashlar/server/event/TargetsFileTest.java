package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.notification.EventTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetsFileTest {
  private static final String SECRET = "hunter2";

  @TempDir Path folder;

  private EventTargets read(String json) throws IOException {
    Path file = Files.writeString(folder.resolve("targets.json"), json.replace('\'', '"'));
    return TargetsFile.read(file);
  }

  private String refused(String json) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> read(json).close());
    for (Throwable each = e; each != null; each = each.getCause()) {
      assertFalse(String.valueOf(each.getMessage()).contains(SECRET), each::toString);
    }
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains("targets.json: "), message);
    return message.substring(message.indexOf(": ") + 2);
  }

  @Test
  void targetsOfAllTypes() throws Exception {
    String json =
        """
        [{'name': 'hook', 'type': 'webhook', 'url': 'https://h.test/events', 'token': 'hunter2'},
         {'name': 'k', 'type': 'kafka', 'brokers': 'k1.test:9092,k2.test:9092', 'topic': 't',
          'tls': true, 'user': 'u', 'password': 'hunter2', 'mechanism': 'PLAIN'},
         {'name': 'n', 'type': 'nats', 'url': 'nats://n.test:4222', 'subject': 's', 'user': 'u',
          'password': 'hunter2'},
         {'name': 'q', 'type': 'amqp', 'url': 'amqp://q.test/host', 'exchange': 'e', 'user': 'u',
          'password': 'hunter2'},
         {'name': 'gone', 'type': 'discard', 'arn': 'arn:minio:sqs::1:webhook'}]
        """;
    try (EventTargets targets = read(json)) {
      assertEquals(
          List.of(
              "arn:ashlar:sqs::hook:webhook",
              "arn:ashlar:sqs::k:kafka",
              "arn:ashlar:sqs::n:nats",
              "arn:ashlar:sqs::q:amqp",
              "arn:minio:sqs::1:webhook"),
          List.copyOf(targets.byArn().keySet()));
    }
    assertTrue(read("[]").byArn().isEmpty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | a JSON list of at most 100 targets is expected",
        "[{'name': 'hunter2] | no JSON: the fault is in line 1, column",
        "[1] | target 1: a JSON object is expected",
        "[{'type': 'discard'}] | target 1: name: is missing",
        "[{'name': 'a b', 'type': 'discard'}] | target 1: name: 1 to 64 of",
        "[{'name': 'a'}] | target 1: type: is missing",
        "[{'name': 'a', 'type': 'redis'}] | target 1: type: webhook, kafka",
        "[{'name': 'a', 'type': 'discard', 'arn': 'hunter2'}] | target 1: arn: such as",
        "[{'name': 'a', 'type': 'discard', 'hunter3': 1}] | target 1: unknown field",
        "[{'name': 'a', 'type': 'discard'}, {'name': 'a', 'type': 'discard'}] | target 2: another",
        "[{'name': 'a', 'type': 'webhook'}] | target 1: url: is missing",
        "[{'name': 'a', 'type': 'webhook', 'url': 'ftp://h'}] | target 1: url: http:// or https",
        "[{'name': 'a', 'type': 'webhook', 'url': 'http://u:hunter2@h'}] | target 1: url: http",
        "[{'name': 'a', 'type': 'webhook', 'url': 'http://h', 'token': 'hunter2\\n'}] | target 1: to",
        "[{'name': 'a', 'type': 'webhook', 'url': 'http://h', 'token': 5}] | target 1: token: a str",
        "[{'name': 'a', 'type': 'kafka', 'brokers': 'h:1'}] | target 1: topic: is missing",
        "[{'name': 'a', 'type': 'kafka', 'topic': 't', 'brokers': 'h:1', 'tls': 1}] | target 1: tls",
        "[{'name': 'a', 'type': 'kafka', 'topic': 't', 'brokers': 'h:1', 'ca': 'f'}] | target 1: ca",
        "[{'name': 'a', 'type': 'kafka', 'topic': 't', 'brokers': 'h:1', 'user': 'u'}] | target 1: pa",
        "[{'name': 'a', 'type': 'nats', 'url': 'nats://h'}] | target 1: subject: is missing",
        "[{'name': 'a', 'type': 'nats', 'url': 'h'}] | target 1: url: nats:// or tls://HOST",
        "[{'name': 'a', 'type': 'amqp', 'url': 'amqp://h'}] | target 1: exchange or routingKey",
      })
  void errorsNameTheFieldAndNoSecret(String json, String message) {
    String refused = refused(json);
    assertTrue(refused.startsWith(message), refused);
  }
}
