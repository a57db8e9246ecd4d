package dev.ashlar.server.jobs;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.notification.Notifications;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Buckets whose empty objects come and go, and the job that tells of that, over real metadata. */
final class EventStore {
  private static final long ROUND_MS = 50;
  private static final int ROUNDS_MAX = 1_000_000;

  final ManualClock clock = new ManualClock(1_000_000);
  final MemoryMetadata metadata = new MemoryMetadata(clock);
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  EventStore() {
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    new Profile(2, 1, 4096), MemoryMetadata.sequentialIds(3), 2)));
  }

  void create(String bucket) {
    metadata.require(TestBlobs.createBucket(bucket));
  }

  /** A bucket of this account. */
  void create(String bucket, String account) {
    metadata.require(TestBlobs.createBucket(bucket, account));
  }

  /**
   * Tells these targets: keys that begin with the first text go to the ARN behind it, and so on.
   */
  void notify(String bucket, String... prefixesAndArns) throws Exception {
    StringBuilder xml = new StringBuilder("<NotificationConfiguration>");
    for (int i = 0; i < prefixesAndArns.length; i += 2) {
      xml.append("<QueueConfiguration><Id>")
          .append(i)
          .append("</Id><Queue>")
          .append(prefixesAndArns[i + 1])
          .append("</Queue><Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:*</Event>")
          .append("<Filter><S3Key><FilterRule><Name>prefix</Name><Value>")
          .append(prefixesAndArns[i])
          .append("</Value></FilterRule></S3Key></Filter></QueueConfiguration>");
    }
    xml.append("</NotificationConfiguration>");
    Notifications rules =
        Notifications.of(xml.toString().getBytes(StandardCharsets.UTF_8), () -> "none");
    metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(bucket)
                    .setKind(BucketDocumentKind.NOTIFICATIONS.number())
                    .setDocument(
                        rules.rules().isEmpty()
                            ? ByteString.EMPTY
                            : ByteString.copyFrom(rules.document()))
                    .setNotifiedEvents(rules.kinds())));
  }

  void put(String bucket, String key) {
    metadata.require(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket(bucket)
                    .setKey(key)
                    .setSummary(ObjectSummary.newBuilder().setEtag("e"))));
  }

  void delete(String bucket, String... keys) {
    metadata.require(
        Command.newBuilder()
            .setDeleteObjects(
                DeleteObjects.newBuilder().setBucket(bucket).addAllKeys(List.of(keys))));
  }

  /** Whether metadata was restored from a backup, and that is not accepted yet. */
  void setRestored(boolean restored) {
    BalanceRow row = BalanceRow.newBuilder().setPaused(restored).setRestored(restored).build();
    TreeMap<byte[], Optional<byte[]>> rows = new TreeMap<>(Arrays::compareUnsigned);
    rows.put(Keys.balance(), Optional.of(row.toByteArray()));
    metadata.table().write(new Changes(rows));
  }

  EventDelivery delivery(EventTarget... targets) {
    return delivery(metadata, targets);
  }

  EventDelivery delivery(MetadataClient seen, EventTarget... targets) {
    return new EventDelivery(
        seen,
        EventTargets.of(List.of(targets)),
        "r",
        () -> clock.millis() * 1_000_000,
        clock,
        meters,
        Duration.ofMillis(1));
  }

  long waiting() throws MetadataUnavailableException {
    return metadata.events(null, 1).outbox().getEvents();
  }

  /** Rounds with time between them. */
  void run(EventDelivery delivery, Duration time) throws Exception {
    for (long end = clock.millis() + time.toMillis(); clock.millis() < end; ) {
      delivery.run();
      clock.advanceMs(ROUND_MS);
    }
  }

  /** Rounds until nothing waits. */
  void runAll(EventDelivery delivery) throws Exception {
    int rounds = 0;
    while (waiting() > 0) {
      delivery.run();
      clock.advanceMs(ROUND_MS);
      if (++rounds == ROUNDS_MAX) {
        throw new AssertionError("it never ends: " + waiting());
      }
    }
  }
}
