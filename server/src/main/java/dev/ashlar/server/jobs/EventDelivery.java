package dev.ashlar.server.jobs;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.EventRow;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of the outbox to their targets, each at least once, those of a key in their
 * order, and removes from the outbox what has been sent. Each target goes through the outbox at its
 * own pace, so none holds up another one. What has been sent is remembered nowhere else: a gateway
 * that takes over begins with the oldest event that is there.
 *
 * <p>An event belongs to the target that the configuration of its bucket names now. Events that
 * belong to nobody any more are dropped. Those of a target that the operator does not configure any
 * more wait until it is configured again, or until their bucket names another one.
 */
public final class EventDelivery implements PeriodicJobs.Job {
  private static final int PAGE = 500;
  private static final int ACKS_MAX = 1_000;
  private static final int ARNS_MAX = 20;
  private static final Duration WAIT_MAX = Duration.ofMillis(100);
  private static final Duration RULES_ROUND = Duration.ofSeconds(1);

  /** Each begins a new look at the whole outbox. */
  private static final Duration RESTART_MIN = Duration.ofMinutes(1);

  /** So often while events wait that nobody has in hand: they may belong to somebody else now. */
  private static final Duration RESTART_MAX = Duration.ofMinutes(10);

  private final MetadataClient metadata;
  private final String region;
  private final LongSupplier nanoTime;
  private final Duration waitMax;
  private final BucketRules rules;
  private final DeliveryMeters meters;
  private final BlockingQueue<TargetDelivery.Sending> ended = new LinkedBlockingQueue<>();
  private final Map<String, TargetDelivery> targets = new LinkedHashMap<>();

  /** Events whose target is not configured. */
  private final TargetDelivery unknown;

  /** ARNs of some of these. */
  private final Set<String> unknownArns = new LinkedHashSet<>();

  private final Set<EventPosition> acks = new LinkedHashSet<>();
  private long restartedNanos;
  private long refreshedNanos;
  private long looksNanos;
  private boolean isRestartWanted;
  private volatile @Nullable DeliveryState state;

  /**
   * @param region that events name
   * @param nanoTime as of System.nanoTime
   * @param clock by which metadata dates events
   */
  public EventDelivery(
      MetadataClient metadata,
      EventTargets configured,
      String region,
      LongSupplier nanoTime,
      Clock clock,
      MeterRegistry registry) {
    this(metadata, configured, region, nanoTime, clock, registry, WAIT_MAX);
  }

  /**
   * @param waitMax for the end of an attempt, so that a round ends
   */
  EventDelivery(
      MetadataClient metadata,
      EventTargets configured,
      String region,
      LongSupplier nanoTime,
      Clock clock,
      MeterRegistry registry,
      Duration waitMax) {
    this.waitMax = waitMax;
    this.metadata = metadata;
    this.region = region;
    this.nanoTime = nanoTime;
    this.rules = new BucketRules(metadata);
    this.meters = new DeliveryMeters(registry, this::state, clock);
    for (EventTarget target : configured.byArn().values()) {
      targets.put(
          target.arn(), new TargetDelivery(target, ended::add, meters.ofTarget(target.arn())));
    }
    this.unknown =
        new TargetDelivery(new NoTarget(), ended::add, meters.ofTarget(DeliveryState.UNKNOWN));
    this.restartedNanos = nanoTime.getAsLong();
    this.refreshedNanos = restartedNanos;
    this.looksNanos = restartedNanos - DeliveryState.LOOK.toNanos();
  }

  /**
   * What is known of the delivery; null: another gateway delivers, or metadata was not asked yet.
   */
  public @Nullable DeliveryState state() {
    return state;
  }

  /** It is the turn of another gateway. */
  public void skip() {
    forget();
    state = null;
  }

  private void forget() {
    all().forEach(TargetDelivery::forget);
    ended.clear();
    acks.clear();
    rules.clear();
    unknownArns.clear();
  }

  private List<TargetDelivery> all() {
    List<TargetDelivery> all = new ArrayList<>(targets.values());
    all.add(unknown);
    return all;
  }

  @Override
  public boolean run() throws MetadataUnavailableException, InterruptedException {
    long now = nanoTime.getAsLong();
    boolean isLook = now - looksNanos >= DeliveryState.LOOK.toNanos();
    if (isLook && metadata.registry().getRestored()) {
      skip(); // another backup may be restored, and its log has other positions
      return false;
    }
    takeEnded(now);
    acknowledge(); // a restart reads what is not acknowledged
    refreshRules(now);
    boolean hasMore = read();
    for (TargetDelivery target : targets.values()) {
      target.send(now);
    }
    takeEnded(now);
    acknowledge();
    if (isLook) {
      looksNanos = now;
      look(now, hasMore);
    }
    return hasMore || awaitEnded(now);
  }

  /** Removes what has been sent from the outbox. */
  private void acknowledge() throws MetadataUnavailableException {
    while (!acks.isEmpty()) {
      List<EventPosition> some = acks.stream().limit(ACKS_MAX).toList();
      AckEvents.Builder command = AckEvents.newBuilder();
      some.forEach(each -> command.addEvents(each.acknowledgement()));
      metadata.submit(Command.newBuilder().setAckEvents(command));
      some.forEach(acks::remove);
    }
  }

  private void takeEnded(long now) {
    for (TargetDelivery target : targets.values()) {
      target.giveUpLate(now);
    }
    for (TargetDelivery.Sending sending = ended.poll(); sending != null; sending = ended.poll()) {
      take(sending, now);
    }
  }

  private void take(TargetDelivery.Sending sending, long now) {
    if (sending.of().end(sending, now)) {
      acks.add(EventPosition.of(sending.event()));
    }
  }

  /**
   * Looks whether configurations of buckets have changed. If so, events may belong to targets that
   * have passed them already: all targets begin again with the oldest event, but not often.
   */
  private void refreshRules(long now) throws MetadataUnavailableException {
    if (now - refreshedNanos >= RULES_ROUND.toNanos() && inHand() > 0) {
      refreshedNanos = now;
      isRestartWanted |= rules.refreshSome();
    }
    if (isRestartWanted && now - restartedNanos >= RESTART_MIN.toNanos()) {
      restart(now);
    }
  }

  private int inHand() {
    return all().stream().mapToInt(TargetDelivery::pending).sum();
  }

  private void restart(long now) {
    restartedNanos = now;
    isRestartWanted = false;
    unknownArns.clear();
    all().forEach(TargetDelivery::restart);
  }

  /** Takes a page for each target that has room; returns whether there is more. */
  private boolean read() throws MetadataUnavailableException {
    Map<EventPosition, List<EventRow>> pages = new HashMap<>();
    boolean hasMore = false;
    for (TargetDelivery target : all()) {
      if (target.hasRoom(PAGE)) {
        EventPosition after = target.passed();
        List<EventRow> page = pages.get(after);
        if (page == null) {
          page = metadata.events(after.row(), PAGE).events();
          isRestartWanted |= rules.read(page);
          pages.put(after, page);
        }
        page.forEach(event -> offer(event, target));
        hasMore |= page.size() == PAGE && target.hasRoom(PAGE);
      }
    }
    return hasMore;
  }

  private void offer(EventRow event, TargetDelivery reader) {
    BucketRules.Match match = rules.match(event);
    if (match == null) {
      reader.pass(event);
      if (acks.add(EventPosition.of(event))) {
        meters.dropped();
      }
    } else if (owner(match) == reader) {
      if (reader == unknown && unknownArns.size() < ARNS_MAX) {
        unknownArns.add(match.target());
      }
      reader.add(event, new EventMessage.Context(match.bucket(), region, match.configurationId()));
    } else {
      reader.pass(event);
    }
  }

  private TargetDelivery owner(BucketRules.Match match) {
    return targets.getOrDefault(match.target(), unknown);
  }

  /** Waits until a sending ends, if there is one or one is due soon. */
  private boolean awaitEnded(long now) throws InterruptedException {
    long dueNanos = Long.MAX_VALUE;
    for (TargetDelivery target : targets.values()) {
      dueNanos = Math.min(dueNanos, target.nanosUntilNext(now));
    }
    if (dueNanos > waitMax.toNanos()) {
      return false;
    }
    TargetDelivery.Sending sending = ended.poll(dueNanos, TimeUnit.NANOSECONDS);
    if (sending != null) {
      take(sending, nanoTime.getAsLong());
    }
    return true;
  }

  /** Sees how full the outbox is. */
  private void look(long now, boolean hasMore) throws MetadataUnavailableException {
    EventsPage page = metadata.events(null, 1);
    isRestartWanted |= rules.read(page.events());
    isRestartWanted |= page.events().stream().anyMatch(this::isOverlooked);
    if (!hasMore && now - restartedNanos >= RESTART_MAX.toNanos()) {
      isRestartWanted |= page.outbox().getEvents() > inHand();
    }
    state =
        new DeliveryState(
            page.outbox().getEvents(),
            page.outbox().getLost(),
            page.events().isEmpty() ? 0 : page.events().getFirst().getTimeMs(),
            targets.values().stream().map(target -> target.state(now)).toList(),
            unknown.pending(),
            unknown.oldestMs(),
            List.copyOf(unknownArns));
  }

  /**
   * Whether its target has passed the oldest event without taking it. So it is when it belonged to
   * another target then, or when metadata was restored from a backup.
   */
  private boolean isOverlooked(EventRow oldest) {
    BucketRules.Match match = rules.match(oldest);
    TargetDelivery owner = match == null ? unknown : owner(match);
    EventPosition position = EventPosition.of(oldest);
    return owner.passed().compareTo(position) >= 0
        && !owner.has(oldest)
        && !acks.contains(position);
  }

  /** Stands for all targets that are not configured. */
  private static final class NoTarget implements EventTarget {
    @Override
    public String arn() {
      return DeliveryState.UNKNOWN;
    }

    @Override
    public int sendsMax() {
      return 0;
    }

    @Override
    public CompletableFuture<Void> send(EventMessage message) {
      throw new IllegalStateException("it is sent nothing");
    }

    @Override
    public void close() {
      // It has nothing to be closed.
    }
  }
}
