package dev.ashlar.gateway.lifecycle;

import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.Tag;
import java.util.List;

/** What a listing does not tell of a version. */
public record VersionFacts(List<Tag> tags, ObjectLock lock) {
  public static final VersionFacts NONE =
      new VersionFacts(List.of(), ObjectLock.getDefaultInstance());

  /** Reads the facts of a version. It is called only if they make a difference. */
  public interface Source<E extends Exception> {
    VersionFacts read() throws E;
  }

  boolean isLocked(long nowMs) {
    return lock.getLegalHold()
        || (lock.getMode() != ObjectLock.Mode.NONE && lock.getRetainUntilMs() > nowMs);
  }
}
