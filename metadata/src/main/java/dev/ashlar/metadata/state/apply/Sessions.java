package dev.ashlar.metadata.state.apply;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DedupRow;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SessionRow;
import dev.ashlar.protocol.model.NodeLiveness;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The live sessions and the answers to their recent requests. One row holds the answers of one log
 * entry. It expires by log time, number or size; then the session's floor rises above its requests,
 * so that a later retry is refused and never executed again.
 */
public final class Sessions {
  public static final long KEEP_MS = 60_000;
  public static final int KEEP_REQUESTS_MAX = 16_384;
  static final long KEEP_BYTES_MAX = 8 << 20;

  private final Map<Long, Requests> live = new HashMap<>();
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private int keptRequests;
  private long keptBytes;

  /** The requests of one session, expired up to floor. */
  private static final class Requests {
    final long beganMs;
    final SeenRequests seen;
    long floor;

    Requests(SessionRow row) {
      beganMs = row.getBeganMs();
      floor = row.getRequestFloor();
      seen = new SeenRequests(floor);
    }

    void expire(long request) {
      if (request > floor) {
        floor = request;
        seen.forget(request);
      }
    }

    SessionRow row() {
      return SessionRow.newBuilder().setRequestFloor(floor).setBeganMs(beganMs).build();
    }
  }

  private record Entry(long logIndex, DedupRow row, int bytes) {}

  public static Sessions load(Table table) {
    Sessions sessions = new Sessions();
    table.forEach(
        Keys.table('S'),
        (key, value) ->
            sessions.live.put(
                Keys.idOf(key), new Requests(Table.parse(value, SessionRow.parser()))));
    table.forEach(
        Keys.table('R'),
        (key, value) ->
            sessions.add(
                new Entry(Keys.idOf(key), Table.parse(value, DedupRow.parser()), value.length)));
    return sessions;
  }

  public boolean isLive(long session) {
    return live.containsKey(session);
  }

  public CommandResult register(ApplyContext context) {
    long session = context.freshId();
    SessionRow row = SessionRow.newBuilder().setBeganMs(context.logTimeMs()).build();
    context.table().put(Keys.session(session), row.toByteArray());
    live.put(session, new Requests(row));
    return CommandResult.newBuilder().setSession(session).build();
  }

  /** Ends a session: nothing that it has written can be committed any more. */
  public void end(ApplyContext context, long session) {
    live.remove(session);
    context.table().delete(Keys.session(session));
  }

  /**
   * Ends old sessions that are not used: their processes stopped before they became nodes, or use
   * another session because they never received the answer with this one.
   */
  public void endUnused(ApplyContext context, Set<Long> used) {
    List<Long> unused = new ArrayList<>();
    live.forEach(
        (session, requests) -> {
          boolean isOld =
              context.sinceMs(requests.beganMs) + NodeLiveness.FORGOTTEN_MS < context.logTimeMs();
          if (isOld && !used.contains(session)) {
            unused.add(session);
          }
        });
    unused.forEach(session -> end(context, session));
  }

  /** The live sessions, ascending. */
  public static List<Long> all(Table table) {
    List<Long> all = new ArrayList<>();
    table.forEach(Keys.table('S'), (key, value) -> all.add(Keys.idOf(key)));
    return all;
  }

  public CommandResult end(ApplyContext context, EndSessions command) {
    for (Iterator<Long> ids = live.keySet().iterator(); ids.hasNext(); ) {
      long session = ids.next();
      if (Long.compareUnsigned(session, command.getBelow()) < 0) {
        ids.remove();
        context.table().delete(Keys.session(session));
      }
    }
    return ApplyContext.OK;
  }

  /**
   * An answer that makes executing the command unnecessary: an earlier one or a refusal; or null.
   */
  public @Nullable CommandResult answered(Command command, DedupRow.Builder present) {
    if (command.hasRegisterSession()) {
      return null;
    }
    Requests requests = live.get(command.getSession());
    if (requests == null) {
      // It may have been executed while the session was live: then its sender must not clean up.
      CommandResult earlier = earlier(command, present);
      return earlier == null ? refusal(ResultCode.STALE_REQUEST) : earlier;
    }
    if (command.getRequest() <= requests.floor) {
      return refusal(ResultCode.STALE_REQUEST);
    }
    return requests.seen.add(command.getRequest()) ? null : earlier(command, present);
  }

  private @Nullable CommandResult earlier(Command command, DedupRow.Builder present) {
    CommandResult earlier = find(present.buildPartial(), command);
    for (Iterator<Entry> i = entries.descendingIterator(); earlier == null && i.hasNext(); ) {
      earlier = find(i.next().row(), command);
    }
    return earlier;
  }

  private static @Nullable CommandResult find(DedupRow row, Command command) {
    for (int i = 0; i < row.getRequestsCount(); i++) {
      if (row.getRequests(i) == command.getRequest()
          && row.getSessions(i) == command.getSession()) {
        return row.getResults(i);
      }
    }
    return null;
  }

  private static CommandResult refusal(ResultCode code) {
    return CommandResult.newBuilder().setCode(code).build();
  }

  /** Stores the answers of a log entry and removes expired ones. */
  public void keep(Overlay table, long logIndex, DedupRow row) {
    if (row.getRequestsCount() > 0) {
      byte[] value = row.toByteArray();
      table.put(Keys.dedup(logIndex), value);
      add(new Entry(logIndex, row, value.length));
    }
    Map<Long, Requests> raised = new HashMap<>();
    for (Entry oldest = entries.peek(); isExpired(oldest, row); oldest = entries.peek()) {
      expire(table, entries.remove(), raised);
    }
    raised.forEach(
        (session, requests) -> table.put(Keys.session(session), requests.row().toByteArray()));
  }

  private boolean isExpired(@Nullable Entry oldest, DedupRow newest) {
    return oldest != null
        && (keptRequests > KEEP_REQUESTS_MAX
            || keptBytes > KEEP_BYTES_MAX
            || oldest.row().getTimeMs() + KEEP_MS < newest.getTimeMs());
  }

  private void add(Entry entry) {
    entries.add(entry);
    keptRequests += entry.row().getRequestsCount();
    keptBytes += entry.bytes();
    for (int i = 0; i < entry.row().getRequestsCount(); i++) {
      Requests requests = live.get(entry.row().getSessions(i));
      if (requests != null) {
        boolean unused = requests.seen.add(entry.row().getRequests(i));
      }
    }
  }

  private void expire(Overlay table, Entry entry, Map<Long, Requests> raised) {
    table.delete(Keys.dedup(entry.logIndex()));
    keptRequests -= entry.row().getRequestsCount();
    keptBytes -= entry.bytes();
    for (int i = 0; i < entry.row().getRequestsCount(); i++) {
      long session = entry.row().getSessions(i);
      Requests requests = live.get(session);
      if (requests != null) {
        requests.expire(entry.row().getRequests(i));
        raised.put(session, requests);
      }
    }
  }
}
