package dev.ashlar.it.docs;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the shell commands of README, getting started and the pages for operators, as a reader does:
 * those of a page one after the other, in one shell and one folder, but on free ports. Several
 * pages are run at once. A comment before a block of commands says how: {@code <!-- test: start
 * -->} for one that starts a server, {@code <!-- test: run -->} for others.
 */
@Execution(ExecutionMode.CONCURRENT)
class DocsCommandsIT {
  private static final Path ROOT = Launch.launcher().resolveSibling("");
  private static final String START = "start";
  private static final String RUN = "run";

  /** The first lines of the blocks that are not run, and why. */
  private static final Map<String, String> NOT_RUN =
      Map.ofEntries(
          entry(
              "rclone config create minio s3 provider=Minio endpoint=http://minio.example.com:9000 \\",
              "it needs two stores; ProgramsIT runs such commands of rclone"),
          entry(
              "export ASHLAR_SOURCE_ACCESS_KEY=minio-root ASHLAR_SOURCE_SECRET_KEY=...",
              "it needs a second store; ImportIT imports from one"),
          entry(
              "export ASHLAR_SOURCE_ACCESS_KEY=ceph-key ASHLAR_SOURCE_SECRET_KEY=...",
              "it needs a Ceph; ImportIT imports from another store"),
          entry(
              "mc admin cluster iam export minio",
              "it needs a MinIO with users; ImportIamIT imports such a file"),
          entry(
              "./ashlar import s3:// --from https://minio.example.com:9000 --follow --mirror --until-lag 60",
              "it needs a second store; ImportIT follows one"),
          entry(
              "docker build -f packaging/Dockerfile -t ashlar .",
              "it needs Docker; the chart's test runs an image made by packaging/build"),
          entry(
              "packaging/build oci ashlar.tar localhost/ashlar:dev",
              "the chart's test does it, where there is a Kubernetes to load the image into"),
          entry("packaging/build deb ashlar.deb", "packaging/test-debian installs such a package"),
          entry(
              "sudo chown ashlar: /mnt/d1/ashlar",
              "it needs systemd; packaging/test-debian does what the units do"),
          entry(
              "echo \"m1=$(head -c 32 /dev/urandom | base64)\" > /etc/ashlar/master-keys",
              "it writes to /etc; OperatorToolsIT starts a server with such a file"),
          entry(
              "vault secrets enable transit",
              "it needs Vault; VaultKeysTest talks to a server that answers like it"),
          entry(
              "./ashlar cluster --nodes 6 --metadata 3 --gateways 2",
              "ClusterIT starts such a cluster with ports and folders of its own"),
          entry(
              "./mvnw -Psbom -DskipTests -pl server -am package",
              "it builds everything anew; the scanner asks a database on the internet"),
          entry(
              "./ashlar test           # builds everything and runs every test, real clients included",
              "this test is a part of it"));

  /** The chart's test runs what this page says, where there is a Kubernetes. */
  private static final String OF_KUBERNETES = "kubernetes.md";

  /**
   * Commands of a page.
   *
   * @param mode how they are run; empty: the page does not say
   */
  private record Block(Path page, String mode, String text) {
    String firstLine() {
      return text.lines().findFirst().orElse("");
    }
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    pages.add(ROOT.resolve("README.md"));
    pages.add(ROOT.resolve("docs/getting-started.md"));
    try (Stream<Path> operate = Files.list(ROOT.resolve("docs/operate"))) {
      operate.filter(page -> !page.endsWith(OF_KUBERNETES)).sorted().forEach(pages::add);
    }
    return pages;
  }

  private static List<Block> blocks(Path page) throws IOException {
    List<Block> blocks = new ArrayList<>();
    String mode = "";
    StringBuilder block = null;
    for (String line : Files.readAllLines(page)) {
      if (block != null && line.equals("```")) {
        blocks.add(new Block(page, mode, block.toString()));
        block = null;
        mode = "";
      } else if (block != null) {
        block.append(line).append('\n');
      } else if (line.startsWith("<!-- test: ")) {
        mode = line.substring("<!-- test: ".length(), line.indexOf(" -->"));
      } else if (line.equals("```sh")) {
        block = new StringBuilder();
      }
    }
    return blocks;
  }

  static List<Path> pagesThatRun() throws IOException {
    List<Path> run = new ArrayList<>();
    for (Path page : pages()) {
      if (blocks(page).stream().anyMatch(block -> !block.mode().isEmpty())) {
        run.add(page);
      }
    }
    return run;
  }

  @ParameterizedTest
  @MethodSource("pagesThatRun")
  void commandsRun(Path page, @TempDir Path folder) throws Exception {
    try (DocsShell shell = new DocsShell(folder)) {
      Files.copy(ROOT.resolve("README.md"), folder.resolve("README.md"));
      for (Block block : blocks(page)) {
        if (block.mode().equals(START)) {
          shell.start(block.text());
        } else if (block.mode().equals(RUN)) {
          shell.run(block.text());
        }
      }
    }
  }

  @Test
  void everyBlockRunsOrIsNamedAsOneThatDoesNot() throws IOException {
    List<Block> all = new ArrayList<>();
    for (Path page : pages()) {
      all.addAll(blocks(page));
    }
    Set<String> run = new HashSet<>();
    Set<String> named = new HashSet<>();
    for (Block block : all) {
      if (!block.mode().isEmpty()) {
        assertTrue(Set.of(START, RUN).contains(block.mode()), block::toString);
        run.add(block.text());
      }
    }
    for (Block block : all) {
      boolean isNamed = NOT_RUN.containsKey(block.firstLine());
      assertTrue(isNamed || run.contains(block.text()), block::toString);
      if (isNamed) {
        named.add(block.firstLine());
      }
    }
    assertEquals(NOT_RUN.keySet(), named);
  }
}
