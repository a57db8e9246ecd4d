package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksTable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of a checkpoint that Ratis sends to another peer. The receiver discards its own data for
 * it and cannot detect damage, so the file is verified before its first part is sent.
 */
final class OutgoingFile extends FileInfo {
  private static final Logger LOG = LoggerFactory.getLogger(OutgoingFile.class);

  /** Ratis retries at once, without this pause. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final Checkpoint checkpoint;
  private final OutgoingCheckpoints sent;
  private final Runnable onDamage;
  private volatile @Nullable MD5Hash digest;

  /**
   * @param onDamage called when the file turns out damaged and is not sent
   */
  OutgoingFile(Path file, Checkpoint checkpoint, OutgoingCheckpoints sent, Runnable onDamage) {
    super(file, null);
    this.checkpoint = checkpoint;
    this.sent = sent;
    this.onDamage = onDamage;
  }

  /** Ratis asks for the digest with each part that it sends. */
  @Override
  public MD5Hash getFileDigest() {
    sent.asked(checkpoint.position());
    MD5Hash known = digest;
    if (known != null) {
      return known;
    }
    try {
      requireWhole();
      MD5Hash computed = MD5FileUtil.computeMd5ForFile(getPath().toFile());
      digest = computed;
      return computed;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void requireWhole() throws IOException {
    if (!Files.exists(getPath())) {
      throw new NoSuchFileException(getPath() + " was replaced by a newer checkpoint");
    }
    try {
      if (!isWhole()) {
        LOG.error("{} is damaged and will not be sent to another peer.", getPath());
        onDamage.run();
        Thread.sleep(PAUSE);
        throw new IOException(getPath() + " is damaged");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("while " + getPath() + " was verified");
    }
  }

  private boolean isWhole() throws InterruptedException {
    String name = String.valueOf(getPath().getFileName());
    FileSums sums = FileSums.readOrNone(checkpoint.path());
    FileSums.Sum sum = sums.files().get(name);
    if (sum != null && sum.crc() != FileSums.UNKNOWN) {
      return sums.isWhole(checkpoint.path(), name, IoPacer.unlimited());
    }
    try {
      if (FileSums.isTable(name)) {
        RocksTable.verify(getPath());
      }
      return true;
    } catch (DamagedTablesException e) {
      LOG.debug("{}", getPath(), e);
      return false;
    }
  }
}
