package dev.ashlar.metadata.consensus.log;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.SlotFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A peer's term and its vote in that term. Ratis keeps both in {@code raft-meta}, as text without a
 * checksum. What the peer has told others is also in the file {@code vote} of its folder, with a
 * checksum, so that a flipped bit is noticed and the peer cannot vote twice in a term.
 *
 * @param votedFor empty: no vote given
 */
public record Vote(long term, String votedFor) {
  static final String FILE = "vote";
  private static final Logger LOG = LoggerFactory.getLogger(Vote.class);
  private static final String MAGIC = "AshVote1";
  private static final String RATIS_FILE = "raft-meta";

  public static SlotFile file(Path folder) {
    return new SlotFile(folder.resolve(FILE), MAGIC);
  }

  public byte[] toBytes() {
    byte[] name = votedFor.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Long.BYTES + name.length).putLong(term).put(name).array();
  }

  static Vote of(byte[] bytes) throws IOException {
    if (bytes.length < Long.BYTES) {
      throw new IOException("a vote of " + bytes.length + " bytes");
    }
    ByteBuffer content = ByteBuffer.wrap(bytes);
    long term = content.getLong();
    return new Vote(term, StandardCharsets.UTF_8.decode(content).toString());
  }

  /**
   * Before Ratis opens its files: makes them agree with what the peer has told others.
   *
   * @param current the directory of Ratis' files
   * @throws IOException when neither file can be read, so that the promised vote is unknown
   */
  static void restore(Path folder, Path current) throws IOException {
    Optional<Vote> told;
    try {
      Optional<byte[]> bytes = file(folder).read();
      told = bytes.isPresent() ? Optional.of(of(bytes.get())) : Optional.empty();
    } catch (IOException e) {
      LOG.warn(
          "{}; the vote is read from {} instead.", e.getMessage(), current.resolve(RATIS_FILE));
      told = Optional.empty();
    }
    Vote kept;
    try {
      kept = ofRatis(current);
    } catch (IOException e) {
      if (told.isEmpty()) {
        throw e;
      }
      LOG.warn("{}; it is restored from {}.", e.getMessage(), folder.resolve(FILE));
      told.get().writeForRatis(current);
      return;
    }
    if (told.isPresent() && !kept.keeps(told.get())) {
      LOG.warn(
          "{} contains {}, but the peer has promised {}; the promise is restored.",
          current.resolve(RATIS_FILE),
          kept,
          told.get());
      told.get().writeForRatis(current);
    }
  }

  /** Whether a peer with this vote keeps what it told others. */
  private boolean keeps(Vote told) {
    return term > told.term
        || (term == told.term && (told.votedFor.isEmpty() || votedFor.equals(told.votedFor)));
  }

  private static Vote ofRatis(Path current) throws IOException {
    Path file = current.resolve(RATIS_FILE);
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
      String votedFor = properties.getProperty("votedFor");
      long term = Long.parseLong(properties.getProperty("term", ""));
      if (votedFor == null || term < 0) {
        throw new IOException("no term and vote found");
      }
      return new Vote(term, votedFor);
    } catch (IllegalArgumentException | IOException e) {
      throw new IOException(file + " is damaged: " + e.getMessage(), e);
    }
  }

  /**
   * Writes the term that a peer begins with that has not voted yet.
   *
   * @param current the directory of Ratis' files
   */
  public static void writeFirst(Path current, long term) throws IOException {
    new Vote(term, "").writeForRatis(current);
  }

  private void writeForRatis(Path current) throws IOException {
    Path file = current.resolve(RATIS_FILE);
    String text = String.format("term=%d%nvotedFor=%s%n", term, votedFor);
    Path unfinished = current.resolve(RATIS_FILE + ".tmp");
    DurableFiles.replace(file, unfinished, text.getBytes(StandardCharsets.UTF_8));
  }
}
