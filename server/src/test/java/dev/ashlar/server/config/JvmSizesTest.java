package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script {@code jvm-sizes}, on machines and in containers that are only files. */
class JvmSizesTest {
  private static final Path SCRIPT = Path.of("../jvm-sizes").toAbsolutePath().normalize();

  @TempDir private Path root = Path.of("");

  @BeforeEach
  void onAMachineOf64ProcessorsAnd256Gibibytes() throws IOException {
    machine(64, 256 << 10);
    write("proc/self/cgroup", "0::/\n");
  }

  private void machine(int processors, long mib) throws IOException {
    write("sys/devices/system/cpu/online", "0-" + (processors - 1) + "\n");
    write("proc/self/status", "Name:\tsh\nCpus_allowed_list:\t0-1023\nMems_allowed_list:\t0\n");
    write("proc/meminfo", "MemTotal:       " + mib * 1024 + " kB\nMemFree: 1 kB\n");
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private String sizes(Map<String, String> environment) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("sh", SCRIPT.toString(), root.toString());
    builder.environment().keySet().removeIf(name -> name.startsWith("ASHLAR_"));
    builder.environment().putAll(environment);
    Process script = builder.redirectErrorStream(true).start();
    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, script.waitFor(), said);
    return said.strip();
  }

  private void assertSizes(int heapMib, int directMib) throws IOException, InterruptedException {
    assertEquals(
        "-Xmx%sm -XX:MaxDirectMemorySize=%sm -Dashlar.derived=heap,direct"
            .formatted(heapMib, directMib),
        sizes(Map.of()));
  }

  /** The table of docs/operate/sizing.md. */
  @ParameterizedTest
  @CsvSource({
    "1, 512, 96, 128",
    "2, 1024, 192, 256",
    "2, 2048, 384, 512",
    "2, 4096, 384, 512",
    "2, 24576, 384, 512",
    "8, 16384, 1024, 2048",
    "8, 32768, 1024, 2048",
    "64, 16384, 1024, 2048",
    "64, 262144, 8192, 16384",
    "256, 2097152, 8192, 16384",
  })
  void followTheMachine(int processors, long mib, int heapMib, int directMib) throws Exception {
    machine(processors, mib);
    assertSizes(heapMib, directMib);
  }

  @Test
  void theProcessorsThatAreAllowedCount() throws Exception {
    write("proc/self/status", "Cpus_allowed_list:\t0-2,8,10-13\n");
    assertSizes(1024, 2048);
  }

  @Test
  void limitsOfAContainerOfVersion2Count() throws Exception {
    write("sys/fs/cgroup/memory.max", "34359738368\n");
    write("sys/fs/cgroup/cpu.max", "750000 100000\n");
    assertSizes(1024, 2048);
  }

  @Test
  void limitsOfTheGroupsAroundItsOwnCount() throws Exception {
    write("proc/self/cgroup", "0::/kubepods.slice/pod.slice/container.scope\n");
    write("sys/fs/cgroup/kubepods.slice/memory.max", "4294967296\n");
    write("sys/fs/cgroup/kubepods.slice/pod.slice/memory.max", "max\n");
    write("sys/fs/cgroup/kubepods.slice/pod.slice/cpu.max", "200000 100000\n");
    write("sys/fs/cgroup/kubepods.slice/pod.slice/container.scope/memory.max", "max\n");
    write("sys/fs/cgroup/kubepods.slice/pod.slice/container.scope/cpu.max", "max 100000\n");
    assertSizes(384, 512);
  }

  /** The name is the host's, and what is mounted begins at the container's own group. */
  @Test
  void limitsOfAGroupThatIsMountedUnderAnotherNameCount() throws Exception {
    write("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
    write("sys/fs/cgroup/memory.max", "1073741824\n");
    assertSizes(192, 256);
  }

  @Test
  void limitsOfVersion1Count() throws Exception {
    String groups = "5:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123\n1:name=systemd:/\n0::/\n";
    write("proc/self/cgroup", groups);
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes", "34359738368\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "400000\n");
    write("sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us", "100000\n");
    assertSizes(512, 1024);
  }

  @Test
  void whatIsGivenHasPrecedence() throws Exception {
    assertEquals(
        List.of(
            "-Xmx1g -XX:MaxDirectMemorySize=16384m -Dashlar.derived=direct",
            "-Xmx8192m -XX:MaxDirectMemorySize=3g -Dashlar.derived=heap",
            "-Xmx1g -XX:MaxDirectMemorySize=3g -Dashlar.derived="),
        List.of(
            sizes(Map.of("ASHLAR_HEAP", "1g")),
            sizes(Map.of("ASHLAR_DIRECT_MEMORY", "3g")),
            sizes(Map.of("ASHLAR_HEAP", "1g", "ASHLAR_DIRECT_MEMORY", "3g"))));
  }
}
