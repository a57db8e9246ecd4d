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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checkpoints that are being sent to other peers. These and the log after them have to stay
 * until they have arrived. A checkpoint that no peer has asked for in a while, or that takes too
 * long altogether, no longer counts.
 */
final class OutgoingCheckpoints {
  private static final Logger LOG = LoggerFactory.getLogger(OutgoingCheckpoints.class);

  /** Ratis gives up a part after a minute, and asks for it again. */
  private static final long SILENCE_NANOS = Duration.ofMinutes(2).toNanos();

  /** Ratis retries at once, without this pause. */
  private static final Duration DAMAGE_PAUSE = Duration.ofSeconds(1);

  private static final long WHOLE_NANOS = Duration.ofHours(4).toNanos();

  private final Map<TermIndex, Sending> all = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  private record Sending(long beginNanos, long askedNanos) {}

  OutgoingCheckpoints(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Called before a part of the checkpoint is sent. After a silence the transfer counts as a new
   * one.
   */
  void asked(TermIndex checkpoint) {
    long now = nanos.getAsLong();
    all.compute(
        checkpoint,
        (key, before) ->
            before == null || now - before.askedNanos() >= SILENCE_NANOS
                ? new Sending(now, now)
                : new Sending(before.beginNanos(), now));
  }

  boolean isSent(TermIndex checkpoint) {
    Sending sending = all.get(checkpoint);
    return sending != null && isSent(sending);
  }

  private boolean isSent(Sending sending) {
    long now = nanos.getAsLong();
    return now - sending.askedNanos() < SILENCE_NANOS && now - sending.beginNanos() < WHOLE_NANOS;
  }

  /**
   * The log entry of the earliest checkpoint that is being sent; {@link Long#MAX_VALUE}: none is.
   */
  long firstIndex() {
    return all.entrySet().stream()
        .filter(sending -> isSent(sending.getValue()))
        .mapToLong(sending -> sending.getKey().getIndex())
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * Gives up all transfers, because there is no space to keep their checkpoints. They begin again
   * with the latest checkpoint.
   */
  void giveUp() {
    long longAgo = nanos.getAsLong() - WHOLE_NANOS;
    all.replaceAll((key, sending) -> new Sending(longAgo, sending.askedNanos()));
  }

  /** The checkpoint was removed. */
  void removed(TermIndex checkpoint) {
    all.remove(checkpoint);
  }

  /**
   * A file of a checkpoint, for Ratis to send.
   *
   * @param onDamage called when the file turns out damaged and is not sent
   */
  FileInfo file(Path file, Checkpoint checkpoint, Runnable onDamage) {
    return new OutgoingFile(file, checkpoint, onDamage);
  }

  /**
   * A file of a checkpoint that Ratis sends to another peer. The receiver discards its own data for
   * it and cannot detect damage, so the file is verified before its first part is sent.
   */
  private final class OutgoingFile extends FileInfo {
    private final Checkpoint checkpoint;
    private final Runnable onDamage;
    private volatile @Nullable MD5Hash digest;

    OutgoingFile(Path file, Checkpoint checkpoint, Runnable onDamage) {
      super(file, null);
      this.checkpoint = checkpoint;
      this.onDamage = onDamage;
    }

    /** Ratis asks for the digest with each part that it sends. */
    @Override
    public MD5Hash getFileDigest() {
      asked(checkpoint.position());
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
          Thread.sleep(DAMAGE_PAUSE);
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
}
