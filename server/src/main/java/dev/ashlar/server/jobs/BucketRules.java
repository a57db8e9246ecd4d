package dev.ashlar.server.jobs;

import dev.ashlar.gateway.notification.NotificationRule;
import dev.ashlar.gateway.notification.Notifications;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketDocument;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.EventRow;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who is told of events of buckets, as it is configured now. */
final class BucketRules {
  private static final int KNOWN_MAX = 10_000;

  /** Buckets that are looked up again in a round, so that a round is short. */
  private static final int AGAIN_MAX = 50;

  /** Instead of an ARN, where a later build has stored what this one cannot read. */
  private static final String UNREADABLE = "(not readable by this build)";

  private final MetadataClient metadata;

  /** Those looked at least recently first. */
  private final Map<String, Known> known = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * A bucket.
   *
   * @param rules null: this build cannot read them
   */
  private record Known(BucketRow bucket, @Nullable Notifications rules) {}

  /** Whom an event belongs to. */
  record Match(BucketRow bucket, String target, String configurationId) {}

  BucketRules(MetadataClient metadata) {
    this.metadata = metadata;
  }

  void clear() {
    known.clear();
  }

  /**
   * Looks up the buckets of these events, so that they can be matched.
   *
   * @return whether a configuration that was known has changed
   */
  boolean read(Collection<EventRow> events) throws MetadataUnavailableException {
    Set<String> buckets = new LinkedHashSet<>();
    events.forEach(event -> buckets.add(event.getBucket()));
    return refresh(buckets);
  }

  /**
   * Looks up the tenth of the buckets that was not looked up for the longest time, but not many.
   *
   * @return likewise
   */
  boolean refreshSome() throws MetadataUnavailableException {
    int some = Math.min(AGAIN_MAX, (known.size() + 9) / 10);
    return refresh(known.keySet().stream().limit(some).toList());
  }

  private boolean refresh(Collection<String> buckets) throws MetadataUnavailableException {
    boolean isChanged = false;
    for (String bucket : buckets) {
      isChanged |= refresh(bucket);
    }
    for (var each = known.entrySet().iterator(); known.size() > KNOWN_MAX; ) {
      each.next();
      each.remove();
    }
    return isChanged;
  }

  private boolean refresh(String bucket) throws MetadataUnavailableException {
    Known before = known.get(bucket);
    BucketConfigQuery.Builder query =
        BucketConfigQuery.newBuilder()
            .setBucket(bucket)
            .addKinds(BucketDocumentKind.NOTIFICATIONS.number());
    if (before != null) {
      query.setKnownId(before.bucket.getId()).setKnownRevision(before.bucket.getConfigRevision());
    }
    BucketConfigAnswer answer = metadata.bucket(query.build(), null).config();
    if (!answer.hasBucket()) {
      return known.remove(bucket) != null;
    }
    if (answer.getUnchanged() && before != null) {
      return false;
    }
    Known now = new Known(answer.getBucket(), rules(answer));
    known.put(bucket, now);
    return before != null
        && !(now.bucket.getId() == before.bucket.getId()
            && now.rules != null
            && now.rules.equals(before.rules));
  }

  private static @Nullable Notifications rules(BucketConfigAnswer answer) {
    for (BucketDocument document : answer.getDocumentsList()) {
      if (document.getKind() == BucketDocumentKind.NOTIFICATIONS.number()) {
        try {
          return Notifications.stored(document.getDocument().toByteArray());
        } catch (IllegalArgumentException e) {
          return null;
        }
      }
    }
    return Notifications.NONE;
  }

  /** Whom the event belongs to; null: nobody. Its bucket has been looked up. */
  @Nullable Match match(EventRow event) {
    Known bucket = known.get(event.getBucket());
    if (bucket == null || event.getPosition() < bucket.bucket.getId()) {
      return null; // its bucket was deleted; another one may have got the name
    }
    if (bucket.rules == null) {
      return new Match(bucket.bucket, UNREADABLE, "");
    }
    Optional<NotificationRule> rule = bucket.rules.rule(event);
    return rule.map(each -> new Match(bucket.bucket, each.target(), each.id())).orElse(null);
  }
}
