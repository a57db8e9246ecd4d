package dev.ashlar.metadata.state.object;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.EventsQuery;
import dev.ashlar.protocol.message.OutboxRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What happened in buckets with notifications, until it has been sent. An event is written with the
 * rows that it tells of, so none is lost by a crash. Where the outbox is full, further events are
 * only counted: notifications must not stop writes.
 */
public final class Outbox {
  static final long EVENTS_MAX = 1_000_000;

  private Outbox() {}

  /**
   * Writes an event, if the bucket notifies of its kind.
   *
   * @param event without position, number, time, bucket and origin
   * @param number among the events of this command
   */
  static void add(ApplyContext context, BucketRow bucket, EventRow.Builder event, int number) {
    if ((bucket.getNotifiedEvents() & 1 << event.getKind().getNumber()) == 0) {
      return;
    }
    OutboxRow outbox = read(context.table());
    if (outbox.getEvents() >= EVENTS_MAX) {
      write(context, outbox.toBuilder().setLost(outbox.getLost() + 1));
      return;
    }
    event
        .setPosition(context.freshId())
        .setNumber(number)
        .setTimeMs(context.writtenMs())
        .setBucket(bucket.getName());
    if (context.command().hasOrigin()) {
      event.setOrigin(context.command().getOrigin());
    }
    context.table().put(Keys.event(context.freshId(), number), event.build().toByteArray());
    write(context, outbox.toBuilder().setEvents(outbox.getEvents() + 1));
  }

  public static CommandResult acknowledge(ApplyContext context, AckEvents command) {
    context.requireVersion(MetadataVersion.KEEPS_VERSIONS);
    long removed = 0;
    for (AckEvents.Event event : command.getEventsList()) {
      byte[] key = Keys.event(event.getPosition(), event.getNumber());
      if (context.table().get(key) != null) {
        context.table().delete(key);
        removed++;
      }
    }
    if (removed > 0) {
      OutboxRow outbox = read(context.table());
      write(context, outbox.toBuilder().setEvents(outbox.getEvents() - removed));
    }
    return ApplyContext.OK;
  }

  /** How many events the outbox holds, and how many it has lost. */
  public static OutboxRow read(Table table) {
    return table.row(Keys.outbox(), OutboxRow.parser()).orElse(OutboxRow.getDefaultInstance());
  }

  private static void write(ApplyContext context, OutboxRow.Builder outbox) {
    context.table().put(Keys.outbox(), outbox.build().toByteArray());
  }

  /** The oldest events, or those behind the one that the query names. */
  public static List<EventRow> page(Table table, EventsQuery query) {
    byte[] all = Keys.table('w');
    byte[] after = Keys.event(query.getAfterPosition(), query.getAfterNumber());
    byte[] from = query.getAfterPosition() == 0 ? all : Keys.behind(after);
    byte[] end = Keys.behind(all);
    List<EventRow> events = new ArrayList<>();
    if (Arrays.compareUnsigned(from, end) >= 0) {
      return events;
    }
    try (Table.Cursor cursor = table.cursor(from, end)) {
      for (; cursor.isValid() && events.size() < query.getMax(); cursor.next()) {
        events.add(Table.parse(cursor.value(), EventRow.parser()));
      }
    }
    return events;
  }
}
