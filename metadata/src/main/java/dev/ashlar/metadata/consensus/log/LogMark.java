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
 * The log mark: an index up to which the peer's log was durable and committed. It is written about
 * once a second and at the end, so it may be behind the log. A log that ends before the mark has
 * lost entries, which would otherwise go unnoticed: zeros or a missing segment look like the end of
 * a log.
 */
public final class LogMark {
  static final String FILE = "log-mark";

  /** Created by an operator, with the index of the last present entry. */
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

  /** Raises the mark: everything up to this index is committed and durable. Never lowers it. */
  public synchronized void raise(long durable) throws IOException {
    if (durable > index) {
      set(durable);
    }
  }

  /** Sets the mark: the log is known to be correct as it is, up to this index. */
  public synchronized void set(long durable) throws IOException {
    file.write(ByteBuffer.allocate(Long.BYTES).putLong(durable).array());
    index = durable;
  }

  /** Describes the missing entries if this is the last one; empty: none is known to be missing. */
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

  /** Whether an operator has confirmed that the log may end with this entry. */
  boolean isConfirmed(long last) throws IOException {
    Path confirmation = folder.resolve(CONFIRMATION);
    return Files.exists(confirmation)
        && Files.readString(confirmation).strip().equals(Long.toString(last));
  }

  /** Called after the confirmation was recorded durably elsewhere; removes it. */
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
