package dev.ashlar.server.jobs;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.EventRow;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps room in the outbox for the events of every account. There is one outbox, and what does not
 * fit is lost, whoever has filled it. So when it is nearly full, accounts with more than their
 * share lose their newest events. All have the same share, the greatest with which there is room
 * for some time again. Nothing is removed while a restore from a backup is not accepted.
 */
public final class OutboxShares implements PeriodicJobs.Job {
  /** There is room for so many more that a round comes in time. */
  private static final long EVENTS_MAX = 900_000;

  /** Of what may wait, so much is left. Else the next event would begin the next removal. */
  private static final int KEPT_PERCENT = 90;

  private static final int PAGE = 1_000;
  private static final Logger LOG = LoggerFactory.getLogger(OutboxShares.class);

  private final MetadataClient metadata;
  private final long eventsMax;
  private final Counter shed;

  public OutboxShares(MetadataClient metadata, MeterRegistry registry) {
    this(metadata, registry, EVENTS_MAX);
  }

  /**
   * @param eventsMax so many may wait; if more do, nine tenths of it are left
   */
  OutboxShares(MetadataClient metadata, MeterRegistry registry, long eventsMax) {
    this.metadata = metadata;
    this.eventsMax = eventsMax;
    this.shed =
        Counter.builder("ashlar.events.shed")
            .description(
                "Events that were removed from an outbox that was nearly full, because their account"
                    + " had more than its share")
            .register(registry);
  }

  @Override
  public boolean run() throws MetadataUnavailableException, InterruptedException {
    long waiting = metadata.events(null, 1).outbox().getEvents();
    if (waiting > eventsMax && !metadata.registry().getRestored()) {
      Round round = new Round(waiting);
      round.count();
      round.shed();
    }
    return false;
  }

  /**
   * The greatest number with which accounts have at most {@code max} together, if each has no more
   * than that.
   *
   * @param counts what they have now, together more than {@code max}
   */
  static long share(Collection<Long> counts, long max) {
    long left = max;
    int accounts = counts.size();
    for (long count : counts.stream().sorted().toList()) {
      if (count > left / accounts) {
        break;
      }
      left -= count;
      accounts--;
    }
    return left / accounts;
  }

  /** What is known in one look at the outbox. */
  private final class Round {
    private final long waiting;
    private final Map<String, BucketRow> buckets = new HashMap<>();
    private final Map<String, Long> counts = new TreeMap<>();

    /**
     * @param waiting so many events are looked at: others come meanwhile
     */
    Round(long waiting) {
      this.waiting = waiting;
    }

    private interface Look {
      void at(EventRow event) throws MetadataUnavailableException;
    }

    private void each(Look look) throws MetadataUnavailableException, InterruptedException {
      EventRow last = null;
      for (long seen = 0; seen < waiting; ) {
        if (Thread.interrupted()) {
          throw new InterruptedException("event shares");
        }
        List<EventRow> page = metadata.events(last, PAGE).events();
        for (EventRow event : page) {
          look.at(event);
        }
        if (page.isEmpty()) {
          return;
        }
        last = page.getLast();
        seen += page.size();
      }
    }

    void count() throws MetadataUnavailableException, InterruptedException {
      each(event -> counts.merge(account(event), 1L, Long::sum));
    }

    void shed() throws MetadataUnavailableException, InterruptedException {
      if (counts.values().stream().mapToLong(Long::longValue).sum() <= eventsMax) {
        return; // the others were sent meanwhile
      }
      long share = share(counts.values(), eventsMax * KEPT_PERCENT / 100);
      Map<String, Long> kept = new HashMap<>();
      List<EventRow> beyond = new ArrayList<>();
      each(
          event -> {
            if (kept.merge(account(event), 1L, Long::sum) > share) {
              beyond.add(event);
            }
            if (beyond.size() == PAGE) {
              remove(beyond);
            }
          });
      remove(beyond);
      counts.values().removeIf(count -> count <= share);
      LOG.warn(
          "{} events wait for their targets, and events were removed: accounts {} have more than"
              + " their share of {}.",
          waiting,
          counts.keySet(),
          share);
    }

    private void remove(List<EventRow> events) throws MetadataUnavailableException {
      AckEvents.Builder command = AckEvents.newBuilder();
      events.forEach(event -> command.addEvents(EventPosition.of(event).acknowledgement()));
      metadata.submit(Command.newBuilder().setAckEvents(command));
      shed.increment(events.size());
      events.clear();
    }

    /** The owner of its bucket; empty: that is gone, even if another one has the name now. */
    private String account(EventRow event) throws MetadataUnavailableException {
      String name = event.getBucket();
      BucketRow bucket = buckets.get(name);
      if (bucket == null) {
        BucketConfigQuery query = BucketConfigQuery.newBuilder().setBucket(name).build();
        bucket = metadata.bucket(query, null).config().getBucket();
        buckets.put(name, bucket);
      }
      return event.getPosition() < bucket.getId() ? "" : bucket.getOwner();
    }
  }
}
