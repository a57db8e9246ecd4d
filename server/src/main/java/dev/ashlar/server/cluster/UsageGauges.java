package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.UsageRow;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/**
 * What buckets and accounts hold, as metrics. Those of at most {@value #BUCKETS_MAX} buckets, first
 * those with a quota, and of as many accounts: a label for each would flood a monitoring system.
 */
public final class UsageGauges {
  private static final int BUCKETS_MAX = 1_000;

  private final MetadataClient metadata;
  private final Family buckets;
  private final Family accounts;

  /** The gauges of all buckets, or of all accounts. */
  private record Family(
      String label,
      MultiGauge bytes,
      MultiGauge objects,
      MultiGauge bytesMax,
      MultiGauge objectsMax) {
    static Family of(String label, String whose, MeterRegistry meters) {
      String prefix = "ashlar." + label + ".";
      return new Family(
          label,
          gauge(prefix + "used.bytes", "Bytes of all versions and parts of " + whose, meters),
          gauge(prefix + "objects", "Versions and delete markers of " + whose, meters),
          gauge(prefix + "quota.bytes", "Byte limit of " + whose + "; 0: none", meters),
          gauge(prefix + "quota.objects", "Object limit of " + whose + "; 0: none", meters));
    }

    private static MultiGauge gauge(String name, String description, MeterRegistry meters) {
      return MultiGauge.builder(name).description(description).register(meters);
    }

    void show(Map<String, UsageRow> usage) {
      show(bytes, usage, UsageRow::getBytes);
      show(objects, usage, UsageRow::getObjects);
      show(bytesMax, usage, row -> row.getQuota().getBytesMax());
      show(objectsMax, usage, row -> row.getQuota().getObjectsMax());
    }

    private void show(
        MultiGauge gauge, Map<String, UsageRow> usage, ToLongFunction<UsageRow> value) {
      gauge.register(
          usage.entrySet().stream()
              .map(
                  each ->
                      MultiGauge.Row.of(
                          Tags.of(label, each.getKey()), value.applyAsLong(each.getValue())))
              .toList(),
          true);
    }
  }

  public UsageGauges(MetadataClient metadata, MeterRegistry meters) {
    this.metadata = metadata;
    this.buckets = Family.of("bucket", "a bucket", meters);
    this.accounts = Family.of("account", "an account", meters);
  }

  /** Reads the sums again. */
  public void refresh() throws MetadataUnavailableException {
    List<BucketRow> rows = metadata.buckets();
    Map<String, UsageRow> ofBuckets = new LinkedHashMap<>();
    List<BucketRow> shown =
        rows.stream()
            .sorted(Comparator.comparing(bucket -> !bucket.hasQuota()))
            .limit(BUCKETS_MAX)
            .toList();
    for (BucketRow bucket : shown) {
      UsageRow used = metadata.bucketUsage(bucket.getName()).orElse(UsageRow.getDefaultInstance());
      ofBuckets.put(bucket.getName(), used.toBuilder().setQuota(bucket.getQuota()).build());
    }
    TreeSet<String> owners = new TreeSet<>();
    rows.forEach(bucket -> owners.add(bucket.getOwner()));
    Map<String, UsageRow> ofAccounts = new LinkedHashMap<>();
    for (String owner : owners.stream().limit(BUCKETS_MAX).toList()) {
      ofAccounts.put(owner, metadata.accountUsage(owner).orElse(UsageRow.getDefaultInstance()));
    }
    buckets.show(ofBuckets);
    accounts.show(ofAccounts);
  }

  /** Shows nothing: another process does. */
  public void clear() {
    buckets.show(Map.of());
    accounts.show(Map.of());
  }
}
