package dev.ashlar.metadata.server;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutCredential;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** So many commands that peers let go of the beginning of their logs. */
final class PurgedLog {
  /**
   * The log keeps the last thousand entries, and lets go of whole files of 4 MiB, and of a thousand
   * entries at a time at least.
   */
  private static final int ENTRIES = 2600;

  private static final int ENTRY_BYTES = 8000;
  private static final Pattern LOG_FILE = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  private PurgedLog() {}

  static void fill(MetadataClient client) throws Exception {
    for (int i = 0; i < ENTRIES; i++) {
      CredentialRow row =
          CredentialRow.newBuilder()
              .setAccessKey("key" + i % 10)
              .setSecretKey("s".repeat(ENTRY_BYTES))
              .build();
      client.submit(
          Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    }
  }

  /** Returns when the peer has a checkpoint in place of the beginning of its log. */
  static void await(LoopbackGroup group, int place) throws Exception {
    await(group.folder(place), () -> group.peer(place).checkpoint(Duration.ofMinutes(1)));
  }

  /**
   * Likewise.
   *
   * @param checkpoint takes one
   */
  static void await(Path folder, Runnable checkpoint) throws Exception {
    while (firstIndex(folder) < ENTRIES / 10) {
      checkpoint.run();
      Thread.sleep(10);
    }
  }

  private static long firstIndex(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder.resolve("raft"))) {
      return tree.map(path -> LOG_FILE.matcher(path.getFileName().toString()))
          .filter(Matcher::matches)
          .mapToLong(name -> Long.parseLong(name.group(1)))
          .min()
          .orElse(0);
    } catch (UncheckedIOException e) {
      return 0; // a file went away meanwhile
    }
  }
}
