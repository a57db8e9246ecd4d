package dev.ashlar.metadata.consensus.log;

import dev.ashlar.metadata.consensus.file.SlotFile;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An index up to which a peer is known to have held its log durably, committed and so for good. It
 * is written beside the log, not with each entry but about once a second and at the end, so it may
 * be behind. A log that ends before it has lost entries: zeros at its end look like its end, and so
 * does a segment that is gone.
 */
public final class LogMark {
  static final String FILE = "log-mark";

  /** Made by an operator, with the index of the last entry that is there. */
  public static final String CONFIRMATION = "accept-log-end";

  private static final Logger LOG = LoggerFactory.getLogger(LogMark.class);
  private static final String MAGIC = "AshMark1";
  private static final long NONE = -1;

  private final Path folder;
  private final SlotFile file;
  private long index;

  public LogMark(Path folder) {
    this.folder = folder;
    this.file = new SlotFile(folder.resolve(FILE), MAGIC);
    this.index = read();
  }

  private long read() {
    try {
      Optional<byte[]> content = file.read();
      return content.map(bytes -> ByteBuffer.wrap(bytes).getLong()).orElse(NONE);
    } catch (IOException | BufferUnderflowException e) {
      LOG.warn("{}: cannot check whether the log has lost its end.", e.getMessage());
      return NONE;
    }
  }

  /** Everything up to this index is committed and durable. The mark never goes back by it. */
  public synchronized void raise(long durable) throws IOException {
    if (durable > index) {
      set(durable);
    }
  }

  /** The log is known to be right as it is, up to this index. */
  public synchronized void set(long durable) throws IOException {
    file.write(ByteBuffer.allocate(Long.BYTES).putLong(durable).array());
    index = durable;
  }

  /** What is missing where the last entry is this one; empty: nothing that is known. */
  Optional<String> missing(long last) {
    return last >= index
        ? Optional.empty()
        : Optional.of(
            String.format(
                "its log ends at entry %d, but entry %d was acknowledged: %d entries are "
                    + "missing. If other peers have them, the folder is rebuilt. Otherwise restore a "
                    + "copy of this folder; or, to lose these entries permanently, write %d into the "
                    + "file %s and restart",
                last, index, index - last, last, folder.resolve(CONFIRMATION)));
  }

  /** Whether an operator has said that the log may end with this entry. */
  boolean isConfirmed(long last) throws IOException {
    Path confirmation = folder.resolve(CONFIRMATION);
    return Files.exists(confirmation)
        && Files.readString(confirmation).strip().equals(Long.toString(last));
  }

  /** What was confirmed is recorded durably: until then another start must find it confirmed. */
  public synchronized void useConfirmation(long last) throws IOException {
    Path confirmation = folder.resolve(CONFIRMATION);
    LOG.warn(
        "The metadata log in {} ends at entry {}; {} later entries are given up, as "
            + "confirmed by {}.",
        folder,
        last,
        Math.max(0, index - last),
        confirmation);
    if (last < index) {
      set(last);
    }
    Files.delete(confirmation);
  }
}
