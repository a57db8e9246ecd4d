package dev.ashlar.server.event;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.gateway.notification.EventTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads the file of {@code --event-targets}: a JSON list of targets. A target's client is loaded
 * only if there is such a target, and connects only when there is something to send.
 */
public final class TargetsFile {
  private static final int TARGETS_MAX = 100;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

  /** What clients of S3 take for an ARN. */
  private static final Pattern ARN =
      Pattern.compile("arn:[a-z0-9-]+:[a-z0-9-]+:[A-Za-z0-9-]*:[A-Za-z0-9_.-]*:[A-Za-z0-9_.:/-]+");

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private TargetsFile() {}

  /**
   * @throws IllegalArgumentException if the content is wrong; the message names the file, the entry
   *     and the field, never a secret
   */
  public static EventTargets read(Path file) throws IOException {
    String text = Files.readString(file);
    try {
      return parse(text, file);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static EventTargets parse(String text, Path file) throws IOException {
    JsonNode list = tree(text);
    if (!list.isArray() || list.size() > TARGETS_MAX) {
      throw new IllegalArgumentException(
          "a JSON list of at most " + TARGETS_MAX + " targets is expected");
    }
    List<EventTarget> targets = new ArrayList<>();
    Set<String> arns = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      try {
        EventTarget target = target(new TargetFields(list.get(i), file));
        targets.add(target);
        if (!arns.add(target.arn())) {
          throw new IllegalArgumentException("another target has this ARN, too");
        }
      } catch (IllegalArgumentException e) {
        targets.forEach(EventTarget::close);
        throw new IllegalArgumentException("target " + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    return EventTargets.of(targets);
  }

  private static JsonNode tree(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      // The text around the fault may be a secret, so it is neither quoted nor kept as a cause.
      throw new IllegalArgumentException(
          "no JSON: the fault is in line "
              + e.getLocation().getLineNr()
              + ", column "
              + e.getLocation().getColumnNr());
    }
  }

  private static EventTarget target(TargetFields fields) throws IOException {
    String name = fields.required("name");
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("name: 1 to 64 of A-Z, a-z, 0-9, _, . and - are expected");
    }
    String type = fields.required("type");
    String arn = fields.optional("arn", "arn:ashlar:sqs::" + name + ":" + type);
    if (!ARN.matcher(arn).matches()) {
      throw new IllegalArgumentException(
          "arn: such as arn:aws:sqs:REGION:ACCOUNT:NAME is expected");
    }
    return switch (type) {
      case "webhook" -> WebhookTarget.of(arn, fields);
      case "kafka" -> KafkaTarget.of(arn, name, fields);
      case "nats" -> NatsTarget.of(arn, name, fields);
      case "amqp" -> AmqpTarget.of(arn, name, fields);
      case "discard" -> DiscardTarget.of(arn, fields);
      default ->
          throw new IllegalArgumentException(
              "type: webhook, kafka, nats, amqp or discard is expected");
    };
  }
}
