package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.consensus.folder.FolderStatus.Standing.LEFT_OUT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Rule 9: a peer whose log cannot be written any more acknowledges nothing, and the others go on.
 * The log's directory is taken away, so that its next segment can be neither finished nor begun.
 */
@Isolated("writes so much that the commits of others could be late")
@Tag("slow")
class LogFailureTest {
  private static final int WRITERS = 8;
  private static final int COMMANDS_PER_WRITER = 6;
  private static final int COMMAND_BYTES = 400_000; // together several segments of 4 MiB

  @TempDir Path root = Path.of("");
  private FiveFolders folders = new FiveFolders(root);
  private final ConcurrentLinkedQueue<String> answered = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void inRoot() {
    folders = new FiveFolders(root);
  }

  @AfterEach
  void closeResources() {
    folders.close();
  }

  private void write(MetadataServer server, String upload) throws Exception {
    UploadRow row =
        UploadRow.newBuilder()
            .setBucket("b")
            .setKey("k")
            .setUploadId(upload)
            .setAttributes(ObjectAttributes.newBuilder().putHeaders("x", "x".repeat(COMMAND_BYTES)))
            .build();
    ResultCode code =
        server
            .client()
            .submit(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(row)))
            .getCode();
    assertEquals(ResultCode.OK, code);
    answered.add(upload);
  }

  /** Writes from several threads; after the first commands the log of a peer fails. */
  private void writeWhileLogFails(MetadataServer server, int place) throws Exception {
    server.client().submit(TestBlobs.createBucket("b"));
    List<Thread> writers = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      String prefix = writer + "-";
      writers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < COMMANDS_PER_WRITER; i++) {
                        write(server, prefix + i);
                      }
                    } catch (Exception e) {
                      throw new IllegalStateException(e);
                    }
                  }));
    }
    while (answered.size() < 3) {
      Thread.sleep(1);
    }
    Path current = folders.raft(place).resolve("current");
    Files.move(current, current.resolveSibling("gone"));
    for (Thread writer : writers) {
      writer.join();
    }
  }

  private void check(MetadataServer server) throws Exception {
    for (String upload : answered) {
      assertTrue(server.client().upload("b", "k", upload).isPresent(), upload);
    }
  }

  private void failLogOf(int place) throws Exception {
    try (MetadataServer server = folders.open()) {
      writeWhileLogFails(server, place);
      assertEquals(WRITERS * COMMANDS_PER_WRITER, answered.size());
      check(server);
      // If all was written before the directory was gone, it is missed by what comes then.
      for (int i = 0; FiveFolders.standings(server).get(place - 1) != LEFT_OUT; i++) {
        write(server, "later-" + i);
        Thread.sleep(20);
      }
    }
    try (MetadataServer server = folders.open()) {
      check(server);
      assertEquals(LEFT_OUT, FiveFolders.standings(server).get(place - 1));
    }
  }

  @Test
  void aFollowersLogFails() throws Exception {
    failLogOf(4);
  }

  @Test
  void theLeadersLogFails() throws Exception {
    failLogOf(1);
  }
}
