package dev.ashlar.server.jobs;

import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.EventRow;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Where an event is in the outbox. */
record EventPosition(long position, int number) implements Comparable<EventPosition> {
  /** Before all events. */
  static final EventPosition START = new EventPosition(0, 0);

  private static final Comparator<EventPosition> ORDER =
      Comparator.comparingLong(EventPosition::position).thenComparingInt(EventPosition::number);

  static EventPosition of(EventRow event) {
    return new EventPosition(event.getPosition(), event.getNumber());
  }

  /** For a query of what comes after it; null: of everything. */
  @Nullable EventRow row() {
    return position == 0
        ? null
        : EventRow.newBuilder().setPosition(position).setNumber(number).build();
  }

  AckEvents.Event acknowledgement() {
    return AckEvents.Event.newBuilder().setPosition(position).setNumber(number).build();
  }

  @Override
  public int compareTo(EventPosition other) {
    return ORDER.compare(this, other);
  }
}
