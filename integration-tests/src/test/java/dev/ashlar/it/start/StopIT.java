package dev.ashlar.it.start;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StopIT {
  private static final int CLIENTS = 8;
  private static final int BODY_BYTES = 64 << 10;

  /** Its answer has begun before the end, and ends while the server closes. */
  private static final Content LARGE = new Content(1, 4 << 20);

  @Test
  void aCleanEndLeavesACheckpointOfEveryMetadataFolder() throws IOException {
    ServerSpec spec = ServerSpec.named("stop").withMetadataFolders(3);
    try (ServerProcess server = ServerProcess.start(spec)) {
      server.stop();
      for (Path folder : server.metadataFolders()) {
        try (Stream<Path> files = Files.walk(folder)) {
          assertTrue(
              files.anyMatch(file -> file.getFileName().toString().startsWith("checkpoint-")),
              folder::toString);
        }
      }
    }
  }

  /** RocksDB would unpack its library of 15 MB there, and only a clean end would remove it. */
  @Test
  void aKilledServerLeavesNoLibraryInTheTemporaryFolder(@TempDir Path temporary)
      throws IOException {
    ServerSpec spec = ServerSpec.named("killed");
    String options = spec.javaOptions() + " -Djava.io.tmpdir=" + temporary;
    try (ServerProcess server = ServerProcess.start(spec.withJavaOptions(options))) {
      server.kill();
    }
    try (Stream<Path> left = Files.list(temporary)) {
      assertEquals(List.of(), left.filter(file -> file.toString().endsWith(".so")).toList());
    }
  }

  /** SIGTERM under load: each request that reached the server is answered, with success or 503. */
  @Test
  void everyRequestBeforeTheEndIsAnswered() throws Exception {
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("stop-load"))) {
      try (RawConnection first = new RawConnection(server)) {
        assertEquals(200, first.request("PUT", "/bucket", "", new byte[0]).status());
        assertEquals(200, first.request("PUT", "/bucket/large", "", LARGE.bytes()).status());
      }
      Map<String, Content> written = new ConcurrentHashMap<>();
      List<String> unanswered = new CopyOnWriteArrayList<>();
      AtomicInteger answers = new AtomicInteger();
      List<Thread> clients =
          IntStream.range(0, CLIENTS)
              .mapToObj(
                  n ->
                      Thread.ofVirtual()
                          .start(() -> writeUntilRefused(server, n, written, answers, unanswered)))
              .toList();
      Await.until("requests before the end", () -> answers.get() > 20 * CLIENTS);
      server.stop();
      for (Thread client : clients) {
        client.join();
      }
      assertEquals(List.of(), unanswered);

      server.start();
      try (RawConnection reader = new RawConnection(server)) {
        for (Map.Entry<String, Content> each : written.entrySet()) {
          RawConnection.Answer answer = reader.request("GET", each.getKey(), "", new byte[0]);
          assertEquals(200, answer.status(), each::getKey);
          assertArrayEquals(each.getValue().bytes(), answer.body(), each::getKey);
        }
      }
    }
  }

  private static boolean readLarge(RawConnection connection, List<String> unanswered)
      throws IOException {
    RawConnection.Answer answer = connection.request("GET", "/bucket/large", "", new byte[0]);
    if (answer.status() == 200 && answer.body().length != LARGE.length()) {
      unanswered.add("GET ends after " + answer.body().length + " bytes");
    } else if (answer.status() != 200 && answer.status() != 503) {
      unanswered.add("GET: " + answer);
    }
    return !"close".equals(answer.headers().get("connection"));
  }

  /** One request after the other on one connection, and a new one where the server closes it. */
  private static void writeUntilRefused(
      ServerProcess server,
      int client,
      Map<String, Content> written,
      AtomicInteger answers,
      List<String> unanswered) {
    int number = 0;
    while (true) {
      try (RawConnection connection = new RawConnection(server)) {
        boolean isKept = true;
        while (isKept) {
          String key = "/bucket/" + client + "-" + number++;
          Content content = new Content(number, BODY_BYTES);
          RawConnection.Answer answer = connection.request("PUT", key, "", content.bytes());
          if (answer.status() == 200) {
            written.put(key, content);
            answers.incrementAndGet();
          } else if (answer.status() != 503) {
            unanswered.add(key + ": " + answer);
          }
          isKept = !"close".equals(answer.headers().get("connection"));
          if (isKept && number % 4 == 0) {
            isKept = readLarge(connection, unanswered);
          }
        }
      } catch (ConnectException refused) {
        return;
      } catch (IOException e) {
        unanswered.add(client + "-" + number + ": " + e);
      }
    }
  }
}
