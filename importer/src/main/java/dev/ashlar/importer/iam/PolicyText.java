package dev.ashlar.importer.iam;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * A policy without what Ashlar does not have: actions of MinIO's administration and key service.
 *
 * @param document empty: nothing is left
 * @param isShortened whether something was left out
 */
record PolicyText(Optional<String> document, boolean isShortened) {
  private static final String ACTION = "Action";
  private static final String NOT_ACTION = "NotAction";

  static PolicyText of(JsonNode policy) {
    ObjectNode copy = policy.deepCopy();
    boolean isShortened = false;
    ArrayNode statements = copy.arrayNode();
    JsonNode all = policy.path("Statement");
    for (JsonNode statement : all.isArray() ? all : copy.arrayNode().add(all)) {
      ObjectNode rest = statement.deepCopy();
      boolean hadExceptions = rest.has(NOT_ACTION);
      isShortened |= shorten(rest, ACTION);
      boolean isLessExcepted = shorten(rest, NOT_ACTION);
      if (isLessExcepted) {
        isShortened = true;
        keepExceptions(rest);
      }
      if (rest.has(ACTION) || hadExceptions) {
        statements.add(rest);
      }
    }
    copy.set("Statement", statements);
    copy.remove("ID");
    return new PolicyText(
        statements.isEmpty() ? Optional.empty() : Optional.of(copy.toString()), isShortened);
  }

  /**
   * Everything but MinIO's administration, and maybe more. A denial still denies the rest. What is
   * allowed must not become Ashlar's administration.
   */
  private static void keepExceptions(ObjectNode statement) {
    boolean isDenial = statement.path("Effect").asText().equals("Deny");
    if (!statement.has(NOT_ACTION)) {
      statement.put(ACTION, isDenial ? "*" : "s3:*");
    } else if (!isDenial) {
      ((ArrayNode) statement.get(NOT_ACTION)).add("iam:*");
    }
  }

  private static boolean shorten(ObjectNode statement, String field) {
    JsonNode actions = statement.path(field);
    if (actions.isMissingNode()) {
      return false;
    }
    ArrayNode rest = statement.arrayNode();
    for (JsonNode action : actions.isArray() ? actions : statement.arrayNode().add(actions)) {
      if (!action.asText().startsWith("admin:") && !action.asText().startsWith("kms:")) {
        rest.add(action);
      }
    }
    boolean isShortened = actions.isArray() ? rest.size() < actions.size() : rest.isEmpty();
    if (rest.isEmpty()) {
      statement.remove(field);
    } else if (isShortened) {
      statement.set(field, rest);
    }
    return isShortened;
  }
}
