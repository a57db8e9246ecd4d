package dev.ashlar.it.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.it.harness.SigV4;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clients that vanish, dawdle or just sit there: memory stays bounded, others are served. */
class HostileClientIT {
  private static final int MIB = 1 << 20;
  private static final String LENT_BYTES = "ashlar_slabs_lent_bytes";
  private static final long RESIDENT_BYTES_MAX = 1L << 30;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final ServerProcess server =
      ServerProcess.start(ServerSpec.named("hostile").withOptions("--connections=12000"));
  private final byte[] small = new Content(1, 5_000).bytes();
  private final byte[] large = new Content(2, 32 * MIB).bytes();

  /** What the drives keep for their batches, at rest. */
  private long lentAtRest;

  @BeforeAll
  void fill() throws IOException {
    lentAtRest = Metrics.of(server).sum(LENT_BYTES);
    try (RawConnection connection = new RawConnection(server)) {
      assertEquals(200, connection.request("PUT", "/bucket", "", new byte[0]).status());
      assertEquals(200, connection.request("PUT", "/bucket/small", "", small).status());
      assertEquals(200, connection.request("PUT", "/bucket/large", "", large).status());
    }
  }

  @AfterAll
  void close() {
    server.close();
  }

  @Test
  void clientsThatVanishInTheMiddle() throws IOException {
    for (int i = 0; i < 100; i++) {
      try (RawConnection connection = new RawConnection(server)) {
        if (i % 2 == 0) {
          beginUpload(connection, 4 * MIB);
          connection.write(java.util.Arrays.copyOf(large, (i + 1) * 20_000));
        } else {
          connection.send("GET", "/bucket/large", "", new byte[0], Map.of());
          connection.in().readNBytes(i * 20_000);
        }
        connection.reset();
      }
    }
    assertServes();
    awaitNothingHeld();
    assertResident();
  }

  @Test
  void clientsThatReadSlowly() throws IOException {
    List<RawConnection> readers = new ArrayList<>();
    try {
      for (int i = 0; i < 60; i++) {
        RawConnection reader = new RawConnection(server, 4096);
        reader.send("GET", "/bucket/large", "", new byte[0], Map.of());
        readers.add(reader);
      }
      ServerProcess.pause(Duration.ofSeconds(2));
      assertServes();
      assertResident();
    } finally {
      closeAll(readers);
    }
    awaitNothingHeld();
  }

  /** More than memory has room for: some are told to slow down, none costs memory, all end. */
  @Test
  void clientsThatWriteSlowly() throws IOException {
    List<RawConnection> writers = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        RawConnection writer = new RawConnection(server);
        beginUpload(writer, 64 * MIB);
        writer.write(java.util.Arrays.copyOf(large, 100_000));
        writers.add(writer);
      }
      ServerProcess.pause(Duration.ofSeconds(2));
      assertResident();
      Metrics metrics = Metrics.of(server);
      long reserved = metrics.sum("ashlar_budget_reserved_bytes");
      assertTrue(reserved <= metrics.sum("ashlar_budget_limit_bytes"), reserved + " reserved");
    } catch (java.net.SocketException refused) {
      // a writer that was told to slow down and went on writing
    } finally {
      closeAll(writers);
    }
    awaitNothingHeld();
    assertServes();
  }

  @Test
  void tenThousandIdleConnections() throws IOException {
    int count = 10_000;
    assumeTrue(
        openFilesMax() > count + 1_000,
        "ulimit -n is " + openFilesMax() + ": too few for 10,000 connections");
    List<SocketChannel> idle = new ArrayList<>();
    try {
      var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
      for (int i = 0; i < count; i++) {
        idle.add(SocketChannel.open(address));
      }
      assertServes();
      assertResident();
    } finally {
      for (SocketChannel channel : idle) {
        channel.close();
      }
    }
    assertServes();
  }

  private void beginUpload(RawConnection connection, int length) throws IOException {
    Map<String, String> headers = Map.of("Host", connection.host(), "Content-Length", "" + length);
    SigV4 signer = new SigV4(Instant.now());
    connection.writeHead(
        "PUT",
        "/bucket/never",
        signer.sign("PUT", "/bucket/never", "", "UNSIGNED-PAYLOAD", headers));
  }

  private void assertServes() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      assertArrayEquals(small, connection.request("GET", "/bucket/small", "", new byte[0]).body());
      assertEquals(200, connection.request("PUT", "/bucket/again", "", small).status());
      assertEquals(404, connection.request("HEAD", "/bucket/never", "", new byte[0]).status());
    }
  }

  private void assertResident() {
    long resident = server.residentBytes();
    System.out.println("resident: " + (resident >> 20) + " MiB");
    assertTrue(resident < RESIDENT_BYTES_MAX, (resident >> 20) + " MiB resident");
  }

  /** Requests given up return all their memory. */
  private void awaitNothingHeld() {
    Instant deadline = Instant.now().plus(DEADLINE);
    while (true) {
      Metrics metrics = Metrics.of(server);
      long reserved = metrics.sum("ashlar_budget_reserved_bytes");
      long lent = metrics.sum(LENT_BYTES) - lentAtRest;
      if (reserved == 0 && lent <= 0) {
        return;
      }
      if (Instant.now().isAfter(deadline)) {
        throw new AssertionError(reserved + " bytes reserved, " + lent + " lent, with no client");
      }
      ServerProcess.pause(Duration.ofMillis(200));
    }
  }

  private static void closeAll(List<RawConnection> connections) throws IOException {
    for (RawConnection connection : connections) {
      connection.close();
    }
  }

  /** What this and, being our child, the server's process may open. */
  private static long openFilesMax() throws IOException {
    String line =
        Files.readAllLines(Path.of("/proc/self/limits")).stream()
            .filter(l -> l.startsWith("Max open files"))
            .findFirst()
            .orElseThrow();
    String numbers = line.substring("Max open files".length()).strip();
    return Long.parseLong(numbers, 0, numbers.indexOf(' '), 10);
  }
}
