package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
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

/**
 * Enough commands to make peers purge the beginning of their logs. A log loses whole files of 4
 * MiB, and as many entries at a time as it keeps, at least.
 *
 * @param entries commands; one after the other, each is an entry of its own
 */
record PurgedLog(int entries, int entryBytes) {
  /** Of peers that keep the usual number of entries. */
  static final PurgedLog USUAL = new PurgedLog(2600, 8000);

  /** With which peers keep few, and take checkpoints often. */
  static final CheckpointLimits SHORT_LIMITS =
      new CheckpointLimits(100, 1 << 20).withEntriesKept(100);

  /** Of peers with these limits. */
  static final PurgedLog SHORT = new PurgedLog(500, 16_000);

  private static final Pattern LOG_FILE = Pattern.compile("log_(?:inprogress_)?(\\d+)(?:-\\d+)?");

  void fill(MetadataClient client) throws Exception {
    for (int i = 0; i < entries; i++) {
      CredentialRow row =
          CredentialRow.newBuilder()
              .setAccessKey("key" + i % 10)
              .setSecretKey("s".repeat(entryBytes))
              .build();
      client.submit(
          Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    }
  }

  /** Returns when the peer has a checkpoint in place of the beginning of its log. */
  void await(LoopbackGroup group, int place) throws Exception {
    await(group.folder(place), () -> group.peer(place).checkpoint(Duration.ofMinutes(1)));
  }

  /**
   * Likewise.
   *
   * @param checkpoint takes one
   */
  void await(Path folder, Runnable checkpoint) throws Exception {
    while (firstIndex(folder) < entries / 10) {
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
