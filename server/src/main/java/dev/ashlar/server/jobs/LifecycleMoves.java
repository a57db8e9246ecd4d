package dev.ashlar.server.jobs;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.NotMovedException;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.server.jobs.ListedVersions.Listed;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Moves the versions of a page that are due to other storage classes, several at once. A version
 * that cannot be moved is tried again by the next scan.
 */
final class LifecycleMoves implements VersionMover.Follower {
  private static final int VERSIONS_AT_ONCE = 4;

  private final LifecycleJob.Parts parts;
  private final String bucket;
  private final Until until;
  private final List<VersionMover.Order> orders = new ArrayList<>();
  private final Set<VersionMover.Order> tried = ConcurrentHashMap.newKeySet();
  private final AtomicLong moved = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong changed = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicReference<End> end = new AtomicReference<>(End.ALL);
  private final AtomicReference<@Nullable MetadataUnavailableException> unavailable =
      new AtomicReference<>();

  /** How the moves of a page ended. */
  enum End {
    /** All were tried. */
    ALL,
    /** The time was over. */
    STOPPED,
    /** The drives are full. */
    FULL
  }

  /** Whether there is time for more. */
  interface Until {
    boolean isOver();
  }

  LifecycleMoves(LifecycleJob.Parts parts, String bucket, Until until) {
    this.parts = parts;
    this.bucket = bucket;
    this.until = until;
  }

  /**
   * @param storageClass its name
   */
  void add(Listed listed, String storageClass) {
    VersionEntry entry = listed.entry();
    orders.add(
        new VersionMover.Order(
            bucket,
            entry.getName(),
            VersionId.ref(entry),
            entry.getVersion(),
            PlacedProfile.storedClass(storageClass)));
  }

  End carryOut() throws MetadataUnavailableException, InterruptedException {
    AtOnce.run(orders, VERSIONS_AT_ONCE, this::move);
    MetadataUnavailableException cause = unavailable.get();
    if (cause != null) {
      throw cause;
    }
    return Objects.requireNonNull(end.get());
  }

  private boolean move(VersionMover.Order order) throws InterruptedException {
    try {
      switch (parts.mover().move(order, this)) {
        case MOVED -> moved.incrementAndGet();
        case GONE -> changed.incrementAndGet();
        case STOPPED -> end.compareAndSet(End.ALL, End.STOPPED);
        case UNCHANGED -> {
          // Somebody else was faster.
        }
      }
    } catch (MetadataUnavailableException e) {
      unavailable.set(e);
    } catch (DataUnavailableException e) {
      if (e.reason() == Reason.FULL) {
        end.set(End.FULL);
      } else {
        failed(order, e);
      }
    } catch (NotMovedException | UnavailableException e) {
      failed(order, e);
    }
    boolean goesOn = end.get() == End.ALL && unavailable.get() == null;
    if (goesOn) {
      tried.add(order);
    }
    return goesOn;
  }

  /** The last key before the first version that was not tried; empty: none. */
  String triedKey() {
    String before = "";
    String key = "";
    for (VersionMover.Order order : orders) {
      if (!order.key().equals(key)) {
        before = key;
        key = order.key();
      }
      if (!tried.contains(order)) {
        return before;
      }
    }
    return key;
  }

  private void failed(VersionMover.Order order, Exception why) {
    failed.incrementAndGet();
    parts
        .failures()
        .log(
            "Version %x of %s/%s is not moved to storage class %s: %s. The next scan tries again."
                .formatted(
                    order.position(),
                    bucket,
                    order.key(),
                    PlacedProfile.className(order.storageClass()),
                    why.getMessage()));
  }

  @Override
  public ByteRateLimiter rate() {
    return parts.moveRate();
  }

  @Override
  public boolean goesOn() {
    return !until.isOver();
  }

  @Override
  public void moved(long more) {
    bytes.addAndGet(more);
  }

  long movedVersions() {
    return moved.get();
  }

  long movedBytes() {
    return bytes.get();
  }

  long changedVersions() {
    return changed.get();
  }

  long failedVersions() {
    return failed.get();
  }
}
