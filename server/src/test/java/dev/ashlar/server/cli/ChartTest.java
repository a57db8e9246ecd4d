package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.model.ByteSize;
import dev.ashlar.server.Main;
import dev.ashlar.server.config.OptionSources;
import dev.ashlar.server.config.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The Helm chart and the image, compared with the server that they start. */
class ChartTest {
  private static final Path CHART = Path.of("../helm/ashlar");
  private static final Path IMAGE = Path.of("../packaging");
  private static final Pattern VARIABLE = Pattern.compile("ASHLAR_[A-Z0-9_]*[A-Z0-9]");
  private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--([a-z][a-z0-9-]+)");

  private static final Pattern MEMORY =
      Pattern.compile(
          "ASHLAR_HEAP, value: \"(\\d+)m\".*?ASHLAR_DIRECT_MEMORY, value: \"(\\d+)m\".*?limits:"
              + "\\s+memory: (\\S+)",
          Pattern.DOTALL);

  /** An object that makes pods, and its name. */
  private static final Pattern POD_SET =
      Pattern.compile("kind: (?:StatefulSet|Deployment)\nmetadata:\n  name: (\\S+)");

  private static final Pattern POD_VARIABLE =
      Pattern.compile("- \\{name: (ASHLAR_\\w+), value: (.*)}\n");
  private static final Pattern EXPECT_DRIVES = Pattern.compile("expect-drives: \"(\\d+)\"");

  /** Of the process, besides heap and direct memory. */
  private static final int REST_MIB = 352;

  /** What the launcher, the log and the root credential read, and what only the build does. */
  private static final Set<String> OTHER_VARIABLES =
      Set.of(
          "ASHLAR_HEAP",
          "ASHLAR_DIRECT_MEMORY",
          "ASHLAR_JAVA_OPTIONS",
          "ASHLAR_ACCESS_KEY",
          "ASHLAR_SECRET_KEY");

  /** Of helm. */
  private static final Set<String> OTHER_FLAGS = Set.of("logs");

  private static final CommandSpec ALL = new CommandLine(Main.class).getCommandSpec();

  private static Set<String> options(String command) {
    Set<String> names = new TreeSet<>();
    for (OptionSpec option :
        Objects.requireNonNull(ALL.subcommands().get(command)).getCommandSpec().options()) {
      names.add(option.longestName());
    }
    return names;
  }

  private static Set<String> found(Pattern pattern, Path... files) throws IOException {
    Set<String> found = new TreeSet<>();
    for (Path file : files) {
      Matcher matcher = pattern.matcher(Files.readString(file));
      while (matcher.find()) {
        found.add(matcher.group());
      }
    }
    return found;
  }

  private static Path[] chartFiles() throws IOException {
    try (Stream<Path> files = Files.walk(CHART)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !file.endsWith("README.md"))
          .toArray(Path[]::new);
    }
  }

  private static Set<String> optionVariables() {
    return options("server").stream().map(OptionSources::variable).collect(Collectors.toSet());
  }

  @Test
  void everyVariableIsReadByTheServer() throws IOException {
    Set<String> variables = found(VARIABLE, chartFiles());
    variables.addAll(found(VARIABLE, IMAGE.resolve("Dockerfile")));
    assertTrue(variables.contains("ASHLAR_METADATA_NODES"), variables::toString);
    variables.removeAll(optionVariables());
    variables.removeAll(OTHER_VARIABLES);
    assertEquals(Set.of(), variables);
  }

  @Test
  void everyKindOfFailureDomainIsAnOption() throws IOException {
    JsonNode kinds = schema().findPath("failureDomains").findPath("kind").path("enum");
    assertFalse(kinds.isEmpty());
    for (JsonNode kind : kinds) {
      assertTrue(options("server").contains("--" + kind.asText()), kind::asText);
    }
  }

  @Test
  void everyFlagExists() throws IOException {
    Set<String> flags = found(FLAG, chartFiles());
    flags.removeAll(options("server"));
    flags.removeAll(options("admin"));
    flags.removeIf(flag -> OTHER_FLAGS.contains(flag.substring(2)));
    assertEquals(Set.of(), flags);
  }

  /** What the chart sets itself cannot be given as a further option, nor can secrets. */
  @Test
  void optionsOfTheChartAreNoFurtherOptions() throws IOException {
    Set<String> refused = new TreeSet<>();
    schema()
        .path("properties")
        .path("options")
        .path("propertyNames")
        .path("not")
        .path("enum")
        .forEach(name -> refused.add("--" + name.asText()));
    Set<String> unknown = new TreeSet<>(refused);
    unknown.removeAll(options("server"));
    unknown.removeIf(name -> OTHER_VARIABLES.contains(OptionSources.variable(name)));
    assertEquals(Set.of("--cluster-secret"), unknown);
    Set<String> set = found(VARIABLE, CHART.resolve("templates/_helpers.tpl"));
    Set<String> missing = new TreeSet<>(options("server"));
    missing.removeIf(option -> !set.contains(OptionSources.variable(option)));
    missing.removeAll(refused);
    assertEquals(Set.of(), missing);
  }

  private static JsonNode schema() throws IOException {
    return new ObjectMapper().readTree(CHART.resolve("values.schema.json").toFile());
  }

  /** The schema knows exactly the values that there are. */
  @Test
  void schemaHasEveryValue() throws IOException {
    for (Value value : values()) {
      JsonNode at = schema();
      for (String name : value.path().split("\\.", -1)) {
        at = at.has("$ref") ? definition(at) : at;
        at = at.path("properties").path(name);
      }
      assertFalse(at.isMissingNode(), value::path);
    }
  }

  private static JsonNode definition(JsonNode reference) throws IOException {
    String name = reference.path("$ref").asText().substring("#/definitions/".length());
    return schema().path("definitions").path(name);
  }

  /** Heap, direct memory and what is neither fit into the memory that each pod may use. */
  @Test
  void memoryOfEveryRenderingFits() throws IOException {
    int pods = 0;
    try (Stream<Path> renderings = Files.list(CHART.resolve("../test/golden"))) {
      for (Path rendering : (Iterable<Path>) renderings::iterator) {
        Matcher memory = MEMORY.matcher(Files.readString(rendering));
        while (memory.find()) {
          long used = Long.parseLong(memory.group(1)) + Long.parseLong(memory.group(2));
          long limit = ByteSize.parse(memory.group(3) + "B") >> 20;
          assertTrue(used + REST_MIB <= limit, () -> rendering + ": " + memory.group());
          pods++;
        }
      }
    }
    assertTrue(pods >= 12, "pods: " + pods);
  }

  /** The server accepts what each pod of the renderings gives it, as far as options go. */
  @Test
  void optionsOfEveryPodAreAccepted(@TempDir Path folder) throws IOException {
    Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef");
    int pods = 0;
    try (Stream<Path> renderings = Files.list(CHART.resolve("../test/golden"))) {
      for (Path rendering : (Iterable<Path>) renderings::iterator) {
        String all = Files.readString(rendering);
        for (String object : all.split("\n---\n", -1)) {
          Matcher set = POD_SET.matcher(object);
          if (set.find()) {
            Map<String, String> environment = environment(object, set.group(1) + "-0");
            environment.replace("ASHLAR_CLUSTER_SECRET_FILE", secret.toString());
            Matcher drives = EXPECT_DRIVES.matcher(all);
            if (object.contains("ASHLAR_EXPECT_DRIVES") && drives.find()) {
              environment.put("ASHLAR_EXPECT_DRIVES", drives.group(1));
            }
            ServerOptions options = ServerOptions.parse(environment);
            assertEquals(9001, options.service().managementListen().getFirst().endpoint().port());
            pods++;
          }
        }
      }
    }
    assertTrue(pods >= 12, "pods: " + pods);
  }

  private static Map<String, String> environment(String object, String pod) {
    Map<String, String> environment = new TreeMap<>();
    Matcher variable = POD_VARIABLE.matcher(object);
    while (variable.find()) {
      String value = variable.group(2).replaceAll("^\"|\"$", "");
      environment.put(variable.group(1), value.replace("$(POD_NAME)", pod));
    }
    return environment;
  }

  /**
   * A value of the chart.
   *
   * @param path its name with those of the maps that it is in, with dots between
   * @param comment what stands above it; empty: nothing
   */
  private record Value(String path, String value, String comment) {
    boolean isMap() {
      return value.isEmpty();
    }
  }

  private static List<Value> values() throws IOException {
    List<Value> values = new ArrayList<>();
    List<String> path = new ArrayList<>();
    List<String> comment = new ArrayList<>();
    for (String line : Files.readAllLines(CHART.resolve("values.yaml"))) {
      String text = line.strip();
      int depth = (line.length() - line.stripLeading().length()) / 2;
      if (text.startsWith("#")) {
        comment.add(text.substring(1).strip());
      } else if (!text.isEmpty() && !text.startsWith("-") && depth <= path.size()) {
        int colon = text.indexOf(':');
        path.subList(depth, path.size()).clear();
        path.add(text.substring(0, colon));
        values.add(
            new Value(
                String.join(".", path),
                text.substring(colon + 1).strip(),
                String.join(" ", comment)));
        comment.clear();
      }
    }
    return values;
  }

  /** With {@code -Dashlar.docs.write=true} it is written instead. */
  @Test
  void readmeIsMadeOfTheValues() throws IOException {
    StringBuilder page = new StringBuilder(Files.readString(CHART.resolve("../README.head")));
    for (Value value : values()) {
      if (value.isMap()) {
        if (!value.path().contains(".")) {
          page.append("\n## ").append(value.path()).append("\n\n");
        } else if (!value.comment().isEmpty()) {
          wrap(page, "- `" + value.path() + "`: " + value.comment());
        }
      } else {
        String text = "- `" + value.path() + "`, default `" + value.value() + "`";
        wrap(page, value.comment().isEmpty() ? text : text + ": " + value.comment());
      }
    }
    Path readme = CHART.resolve("README.md");
    if (Boolean.getBoolean("ashlar.docs.write")) {
      Files.writeString(readme, page);
    }
    assertEquals(page.toString(), Files.readString(readme));
  }

  private static void wrap(StringBuilder page, String text) {
    int width = 0;
    for (String word : text.split(" ", -1)) {
      if (width > 0 && width + 1 + word.length() > 118) {
        page.append("\n  ");
        width = 2;
      } else if (width > 0) {
        page.append(' ');
        width++;
      }
      page.append(word);
      width += word.length();
    }
    page.append('\n');
  }
}
