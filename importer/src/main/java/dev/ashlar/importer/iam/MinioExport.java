package dev.ashlar.importer.iam;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * What {@code mc admin cluster iam export} writes. It contains the secrets of all users.
 *
 * @param policies documents by name
 * @param users by access key
 * @param services service accounts by access key
 * @param groups by name
 * @param userPolicies names of policies by user
 * @param groupPolicies names of policies by group
 */
public record MinioExport(
    Map<String, JsonNode> policies,
    Map<String, User> users,
    Map<String, Service> services,
    Map<String, Group> groups,
    Map<String, List<String>> userPolicies,
    Map<String, List<String>> groupPolicies) {
  private static final int FILE_BYTES_MAX = 64 << 20;
  private static final String ENABLED = "enabled";
  private static final String DISABLED = "disabled";
  private static final JsonMapper JSON = new JsonMapper();

  /** A user, whose name is the access key. */
  public record User(String secretKey, boolean isEnabled) {
    @Override
    public String toString() {
      return "User[isEnabled=" + isEnabled + "]";
    }
  }

  /**
   * A service account: another access key of a user.
   *
   * @param isRestricted whether a policy of its own takes rights away
   * @param isTemporary whether it expires
   */
  public record Service(
      String parent,
      String secretKey,
      boolean isEnabled,
      boolean isRestricted,
      boolean isTemporary) {
    @Override
    public String toString() {
      return "Service[parent=" + parent + "]";
    }
  }

  /** Users with common policies. */
  public record Group(List<String> members, boolean isEnabled) {}

  /**
   * @throws IOException if it is no such export; the message quotes nothing of it
   */
  public static MinioExport read(Path file) throws IOException {
    try (ZipFile zip = new ZipFile(file.toFile())) {
      return new MinioExport(
          policies(json(zip, "policies.json")),
          users(json(zip, "users.json")),
          services(json(zip, "svcaccts.json")),
          groups(json(zip, "groups.json")),
          mappings(json(zip, "user_mappings.json")),
          mappings(json(zip, "group_mappings.json")));
    } catch (IOException e) {
      throw new IOException(file + " is no export of MinIO's IAM: " + e.getMessage(), e);
    }
  }

  private static JsonNode json(ZipFile zip, String name) throws IOException {
    ZipEntry entry = zip.getEntry("iam-assets/" + name);
    if (entry == null) {
      if (name.equals("users.json")) {
        throw new IOException("it has no iam-assets/" + name);
      }
      return JsonNodeFactory.instance.objectNode();
    }
    try (InputStream content = zip.getInputStream(entry)) {
      byte[] bytes = content.readNBytes(FILE_BYTES_MAX + 1);
      if (bytes.length > FILE_BYTES_MAX) {
        throw new IOException(name + " is larger than 64 MiB");
      }
      JsonNode found = JSON.readTree(bytes);
      return found.isObject() ? found : JsonNodeFactory.instance.objectNode();
    } catch (JsonProcessingException e) {
      // The text around the fault may be a secret, so neither message nor cause has it.
      throw new IOException(name + " has a fault in line " + e.getLocation().getLineNr());
    }
  }

  private static Map<String, JsonNode> policies(JsonNode all) {
    Map<String, JsonNode> policies = new TreeMap<>();
    all.properties().forEach(each -> policies.put(each.getKey(), each.getValue()));
    return policies;
  }

  private static Map<String, User> users(JsonNode all) {
    Map<String, User> users = new TreeMap<>();
    all.properties()
        .forEach(
            each ->
                users.put(
                    each.getKey(),
                    new User(
                        each.getValue().path("secretKey").asText(),
                        ENABLED.equals(each.getValue().path("status").asText()))));
    return users;
  }

  private static Map<String, Service> services(JsonNode all) {
    Map<String, Service> services = new TreeMap<>();
    all.properties().forEach(each -> services.put(each.getKey(), service(each.getValue())));
    return services;
  }

  private static Service service(JsonNode from) {
    return new Service(
        from.path("parent").asText(),
        from.path("secretKey").asText(),
        // MinIO's own states are "on" and "off".
        !List.of("off", DISABLED).contains(from.path("status").asText()),
        from.hasNonNull("sessionPolicy")
            || from.path("claims").path("sa-policy").asText().equals("embedded-policy"),
        from.hasNonNull("expiration")
            && !from.path("expiration").asText().startsWith("1970-01-01"));
  }

  private static Map<String, Group> groups(JsonNode all) {
    Map<String, Group> groups = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : all.properties()) {
      List<String> members = new ArrayList<>();
      each.getValue().path("members").forEach(member -> members.add(member.asText()));
      groups.put(
          each.getKey(),
          new Group(members, !DISABLED.equals(each.getValue().path("status").asText())));
    }
    return groups;
  }

  private static Map<String, List<String>> mappings(JsonNode all) {
    Map<String, List<String>> mappings = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : all.properties()) {
      List<String> names = new ArrayList<>();
      for (String name : each.getValue().path("policy").asText().split(",", -1)) {
        if (!name.isBlank()) {
          names.add(name.strip());
        }
      }
      mappings.put(each.getKey(), names);
    }
    return mappings;
  }

  @Override
  public String toString() {
    return "MinioExport[users=" + users.keySet() + "]";
  }
}
