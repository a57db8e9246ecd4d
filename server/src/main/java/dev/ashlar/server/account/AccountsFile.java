package dev.ashlar.server.account;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Reads the file of {@code --accounts}: a JSON list of accounts. */
public final class AccountsFile {
  private static final Set<String> REQUIRED = Set.of("id", "name", "accessKey", "secretKey");
  private static final Set<String> OPTIONAL = Set.of("email", "canonicalId");

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private AccountsFile() {}

  /**
   * @throws IllegalArgumentException if the content is wrong; the message names the file, the entry
   *     and the field
   */
  public static List<AccountSpec> read(Path file) throws IOException {
    String text = Files.readString(file);
    try {
      return parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  static List<AccountSpec> parse(String text) {
    JsonNode list = tree(text);
    if (!list.isArray()) {
      throw new IllegalArgumentException("a JSON list of accounts is expected");
    }
    List<AccountSpec> accounts = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      try {
        accounts.add(account(list.get(i)));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("account " + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    requireUnique(accounts, "id", AccountSpec::id);
    requireUnique(accounts, "accessKey", AccountSpec::accessKey);
    requireUnique(accounts, "canonicalId", AccountSpec::canonicalId);
    requireUnique(accounts, "email", account -> account.email().toLowerCase(Locale.ROOT));
    return accounts;
  }

  private static JsonNode tree(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      // The text around the fault may be a secret, so it is not quoted.
      throw new IllegalArgumentException(
          "no JSON: the fault is in line "
              + e.getLocation().getLineNr()
              + ", column "
              + e.getLocation().getColumnNr(),
          e);
    }
  }

  private static AccountSpec account(JsonNode entry) {
    if (!entry.isObject()) {
      throw new IllegalArgumentException("a JSON object is expected");
    }
    Map<String, String> fields = new HashMap<>();
    for (Map.Entry<String, JsonNode> field : entry.properties()) {
      String name = field.getKey();
      if (!REQUIRED.contains(name) && !OPTIONAL.contains(name)) {
        throw new IllegalArgumentException("unknown field \"" + name + "\"");
      }
      if (!field.getValue().isTextual()) {
        throw new IllegalArgumentException(name + ": a string is expected");
      }
      fields.put(name, field.getValue().textValue());
    }
    REQUIRED.stream()
        .sorted()
        .filter(name -> !fields.containsKey(name))
        .findFirst()
        .ifPresent(
            name -> {
              throw new IllegalArgumentException(name + ": is missing");
            });
    return new AccountSpec(
        fields.getOrDefault("id", ""),
        fields.getOrDefault("name", ""),
        fields.getOrDefault("email", ""),
        fields.getOrDefault("canonicalId", ""),
        fields.getOrDefault("accessKey", ""),
        fields.getOrDefault("secretKey", ""));
  }

  private static void requireUnique(
      List<AccountSpec> accounts, String field, Function<AccountSpec, String> value) {
    Map<String, Integer> seen = new HashMap<>();
    for (int i = 0; i < accounts.size(); i++) {
      String own = value.apply(accounts.get(i));
      Integer other = own.isEmpty() ? null : seen.put(own, i + 1);
      if (other != null) {
        throw new IllegalArgumentException(
            "account " + (i + 1) + ": " + field + ": is that of account " + other);
      }
    }
  }
}
