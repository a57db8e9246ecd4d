package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code ashlar}, on JDKs that only say their name and what they were asked. */
class LauncherIT {
  private static final String FAKE_JAVA = "#!/bin/sh\necho \"$0 $* arenas=$MALLOC_ARENA_MAX\"\n";

  /** Tells the policy it is asked for, and what it is to run as a batch. */
  private static final String FAKE_CHRT =
      """
      #!/bin/sh
      if [ "$1" = -p ]; then
        echo "pid $2's current scheduling policy: $POLICY"
      elif [ "$1 $2" = "-b 0" ] && [ "$POLICY" != SCHED_OTHER_REFUSED ]; then
        [ "$3" = true ] || echo "batch"
        shift 2
        exec "$@"
      else
        exit 1
      fi
      """;

  @TempDir private Path home = Path.of("");

  @BeforeEach
  void aJdkThatIsNewerThanAnyInstalled() throws IOException {
    fakeJdk(home.resolve(".jdks/newest"), "99.0.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"help", "--help", "-h"})
  void helpNamesEveryCommand(String argument) throws IOException {
    Launch.Ended ended = run(Map.of(), argument);
    assertEquals(0, ended.code(), ended.output());
    for (String command : new String[] {"server", "test", "bench", "build", "java"}) {
      assertTrue(ended.output().contains("./ashlar " + command + " "), ended.output());
    }
  }

  @Test
  void anUnknownCommandIsAnErrorOfUsage() throws IOException {
    Launch.Ended ended = run(Map.of(), "sevrer");
    assertEquals(2, ended.code(), ended.output());
    assertTrue(ended.output().contains("there is no command sevrer"), ended.output());
  }

  @Test
  void javaHomeIsTakenWhenItIsNewEnough() throws IOException {
    Path own = fakeJdk(home.resolve("own"), "21.0.2");
    assertRunsOn(own, Map.of("JAVA_HOME", own.toString()));
  }

  @Test
  void javaHomeOfAnOldJdkIsPassedOver() throws IOException {
    Path old = fakeJdk(home.resolve("old"), "17.0.9");
    assertRunsOn(home.resolve(".jdks/newest"), Map.of("JAVA_HOME", old.toString()));
  }

  @Test
  void javaHomeWithoutACompilerIsPassedOver() throws IOException {
    Path runtimeOnly = fakeJdk(home.resolve("jre"), "25.0.1");
    Files.delete(runtimeOnly.resolve("bin/javac"));
    assertRunsOn(home.resolve(".jdks/newest"), Map.of("JAVA_HOME", runtimeOnly.toString()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/nowhere"})
  void javaHomeOfNothingIsPassedOver(String javaHome) throws IOException {
    assertRunsOn(home.resolve(".jdks/newest"), Map.of("JAVA_HOME", javaHome));
  }

  @Test
  void flagsFitTheJdkAndTheEnvironment() throws IOException {
    String on21 = flags("21.0.2", Map.of());
    assertTrue(on21.contains(" -Dashlar.derived=heap,direct "), on21);
    assertTrue(!on21.contains("unsafe-memory") && !on21.contains("CompactObject"), on21);
    assertTrue(on21.contains("arenas=2"), on21);
    String on25 = flags("25.0.1", Map.of("ASHLAR_HEAP", "1g", "ASHLAR_JAVA_OPTIONS", "-Da=b -Dc"));
    assertTrue(on25.contains(" -Xmx1g ") && on25.contains(" -Da=b -Dc -version "), on25);
    assertTrue(on25.contains("unsafe-memory") && on25.contains("CompactObject"), on25);
  }

  @Test
  void javaIsABatchUnlessTheOwnerChoseAPolicyOrItIsRefused() throws IOException {
    Path own = fakeJdk(home.resolve("own"), "21.0.2");
    program(own.resolve("bin/chrt"), FAKE_CHRT);
    String path = own.resolve("bin") + ":" + System.getenv("PATH");
    for (String policy : List.of("SCHED_OTHER", "SCHED_IDLE", "SCHED_OTHER_REFUSED")) {
      Map<String, String> environment =
          Map.of("JAVA_HOME", own.toString(), "PATH", path, "POLICY", policy);
      String said = run(environment, "java", "-version").output();
      assertTrue(said.contains(own + "/bin/java "), said);
      assertEquals(policy.equals("SCHED_OTHER"), said.startsWith("batch\n"), said);
    }
  }

  /** Nobody waits for a build to read which options there are. */
  @Test
  void helpAnswersAtOnceWhereABuildIs() throws IOException {
    fakeBuild();
    assertTrue(run(Map.of(), "bench", "curves", "--seed=1").output().contains("building"));
    touch("bench/target/bench-0.1.0-SNAPSHOT.jar");
    touch("server/target/server-0.1.0-SNAPSHOT.jar");
    touch("server/src/main/java/Changed.java");
    String help = run(Map.of(), "bench", "curves", "--help").output();
    assertTrue(help.startsWith(home + "/") && help.contains("Bench curves --help"), help);
    assertTrue(run(Map.of(), "server", "-h").output().startsWith(home + "/"));
    assertTrue(run(Map.of(), "bench", "curves").output().contains("building"));
  }

  @Test
  void aRehearsalThatFailsIsTriedAgainAtSomeLaterStarts() throws IOException {
    fakeBuild();
    touch("server/target/server-0.1.0-SNAPSHOT.jar");
    for (int start = 0; start < 5; start++) {
      String said = run(Map.of(), "server").output();
      assertEquals(start < 3, said.contains("the rehearsal failed"), said);
      assertTrue(said.contains("dev.ashlar.server.Main server"), said);
    }
    touch("server/src/main/java/Changed.java");
    assertTrue(run(Map.of(), "server").output().contains("the rehearsal failed"), "built anew");
  }

  @Test
  void anArchiveThatWasCopiedFromAnotherFolderIsRecordedAnew() throws IOException {
    fakeBuild();
    touch("server/target/server-0.1.0-SNAPSHOT.jar");
    run(Map.of(), "server");
    Path archive = home.resolve(".build/server-99.archive");
    Path folder = home.resolve(".build/server-99.archive.folder");
    Files.writeString(archive, "recorded");
    Files.writeString(folder, home.toString());
    assertFalse(run(Map.of(), "server").output().contains("recording"));
    Files.writeString(folder, "/another/place");
    assertTrue(run(Map.of(), "server").output().contains("recording"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"server", "cluster", "admin", "fsck", "import"})
  void everyCommandReadsTheArchiveOfTheRehearsal(String command) throws IOException {
    Path archive = home.resolve(".build/server-99-tests.archive");
    Files.createDirectories(archive.getParent());
    Files.writeString(archive, "recorded");
    String said = run(Map.of("ASHLAR_BUILT", "yes"), command).output();
    assertTrue(said.contains(" -XX:AOTCache=" + archive + " "), said);
    assertTrue(said.contains("dev.ashlar.server.Main " + command), said);
  }

  /** Builds of a moment, on a JDK whose rehearsals record nothing. */
  private void fakeBuild() throws IOException {
    program(home.resolve("mvnw"), "#!/bin/sh\n");
  }

  private void touch(String file) throws IOException {
    Path path = home.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, "");
  }

  private String flags(String version, Map<String, String> environment) throws IOException {
    Path jdk = fakeJdk(home.resolve("jdk-" + version), version);
    Map<String, String> all = new HashMap<>(environment);
    all.put("JAVA_HOME", jdk.toString());
    return assertRunsOn(jdk, all);
  }

  private String assertRunsOn(Path jdk, Map<String, String> environment) throws IOException {
    Launch.Ended ended = run(environment, "java", "-version");
    assertEquals(0, ended.code(), ended.output());
    assertTrue(ended.output().startsWith(jdk + "/bin/java "), ended.output());
    return ended.output();
  }

  private static Path fakeJdk(Path folder, String version) throws IOException {
    Files.createDirectories(folder.resolve("bin"));
    Files.writeString(folder.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    program(folder.resolve("bin/java"), FAKE_JAVA);
    program(folder.resolve("bin/javac"), FAKE_JAVA);
    return folder;
  }

  private static void program(Path file, String script) throws IOException {
    Files.writeString(file, script);
    assertTrue(file.toFile().setExecutable(true));
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
  }

  private Launch.Ended run(Map<String, String> environment, String... arguments)
      throws IOException {
    // A copy, so that what it writes beside itself is not in the sources.
    Path script = home.resolve("ashlar");
    for (String name : List.of("ashlar", "java-flags.sh", "jvm-sizes")) {
      copy(Launch.launcher().resolveSibling(name), home.resolve(name));
    }
    return Launch.ended(
        log -> {
          ProcessBuilder builder = new ProcessBuilder(script.toString());
          builder.command().addAll(List.of(arguments));
          builder.environment().keySet().removeIf(name -> name.startsWith("ASHLAR_"));
          builder.environment().remove("JAVA_HOME");
          builder.environment().put("HOME", home.toString());
          builder.environment().putAll(environment);
          return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        });
  }
}
