package dev.ashlar.server.admin;

import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.server.jobs.DeliveryState;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How far the events of buckets are delivered. */
record EventPage(MetadataClient metadata, Supplier<@Nullable DeliveryState> delivery) {
  /**
   * The outbox and the targets.
   *
   * @param waiting events in the outbox
   * @param lost events that were not written because it was full, since the store was created
   * @param oldestMs when the oldest event in it happened; 0: there is none
   * @param delivering whether this gateway delivers; if not, it knows nothing of the targets
   * @param unknown events at hand whose target is not configured
   * @param unknownTargets ARNs of some of these
   */
  record EventsInfo(
      long waiting,
      long lost,
      long oldestMs,
      boolean delivering,
      List<DeliveryState.Target> targets,
      long unknown,
      List<String> unknownTargets) {}

  EventsInfo info() throws MetadataUnavailableException {
    EventsPage page = metadata.events(null, 1);
    DeliveryState state = delivery.get();
    return new EventsInfo(
        page.outbox().getEvents(),
        page.outbox().getLost(),
        page.events().isEmpty() ? 0 : page.events().getFirst().getTimeMs(),
        state != null,
        state == null ? List.of() : state.targets(),
        state == null ? 0 : state.unknown(),
        state == null ? List.of() : state.unknownTargets());
  }
}
