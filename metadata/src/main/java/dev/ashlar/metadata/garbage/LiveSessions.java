package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.message.Registry;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The sessions that were live at some time; a session that has ended never lives again.
 *
 * @param sessions the live ones
 * @param newest the greatest of them: later ones may have begun since
 */
public record LiveSessions(Set<Long> sessions, long newest) {
  public LiveSessions {
    sessions = Set.copyOf(sessions);
  }

  public static LiveSessions of(Registry registry) {
    List<Long> all = registry.getSessionsList();
    return new LiveSessions(Set.copyOf(all), all.isEmpty() ? 0 : all.getLast());
  }

  /** Whether nothing of this session can be committed any more. */
  public boolean isDead(long session) {
    return Long.compareUnsigned(session, newest) < 0 && !sessions.contains(session);
  }

  /** The sessions of an earlier time that have ended since. */
  public Set<Long> endedSince(LiveSessions earlier) {
    Set<Long> ended = new TreeSet<>(earlier.sessions);
    ended.removeAll(sessions);
    return ended;
  }
}
