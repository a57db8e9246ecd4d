package dev.ashlar.server.admin;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.LifecycleCounts;
import dev.ashlar.protocol.message.LifecycleScanRow;
import dev.ashlar.server.jobs.LifecycleJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How far the lifecycle rules of buckets are carried out. */
record LifecyclePage(MetadataClient metadata) {
  /**
   * The last scan of a bucket, or the one that runs.
   *
   * @param state waiting for its first scan, deleting, aborting, moving or done
   * @param key that was passed last in this state, as it was recorded last; empty: none
   * @param versions that were looked at, delete markers included
   * @param expired present versions that were deleted or got a delete marker
   * @param noncurrent other versions that were deleted
   * @param markers delete markers that were removed
   * @param uploads that were aborted
   * @param moved versions that were moved to other storage classes
   * @param changed what changed between the judgement and the act
   * @param locked versions that locks keep
   * @param failed versions that could not be moved
   * @param endedMs 0: it has not ended
   */
  record ScanInfo(
      String bucket,
      String state,
      String key,
      long versions,
      long expired,
      long noncurrent,
      long markers,
      long uploads,
      long moved,
      long movedBytes,
      long changed,
      long locked,
      long failed,
      long beganMs,
      long endedMs) {
    static ScanInfo of(String bucket, LifecycleScanRow scan) {
      LifecycleCounts counts = scan.getCounts();
      boolean hasBegun = scan.getBeganMs() > 0;
      return new ScanInfo(
          bucket,
          hasBegun ? scan.getPhase().name().toLowerCase(Locale.ROOT) : "waiting",
          scan.getKey(),
          counts.getVersions(),
          counts.getExpired(),
          counts.getNoncurrent(),
          counts.getMarkers(),
          counts.getUploads(),
          counts.getMoved(),
          counts.getMovedBytes(),
          counts.getChanged(),
          counts.getLocked(),
          counts.getFailed(),
          scan.getBeganMs(),
          scan.getEndedMs());
    }
  }

  /** Of all buckets with rules. */
  List<ScanInfo> list() throws MetadataUnavailableException {
    List<ScanInfo> scans = new ArrayList<>();
    for (BucketRow bucket : metadata.buckets()) {
      if (LifecycleJob.hasRules(bucket)) {
        scans.add(ScanInfo.of(bucket.getName(), scan(bucket)));
      }
    }
    return scans;
  }

  private LifecycleScanRow scan(BucketRow bucket) throws MetadataUnavailableException {
    Map<Integer, ByteString> documents =
        metadata.documents(bucket.getName(), List.of(LifecycleDocuments.SCAN));
    ByteString document = documents.getOrDefault(LifecycleDocuments.SCAN, ByteString.EMPTY);
    try {
      LifecycleScanRow scan = LifecycleScanRow.parseFrom(document);
      boolean isOfBucket = scan.getBucket() == bucket.getId();
      return isOfBucket ? scan : LifecycleScanRow.getDefaultInstance();
    } catch (InvalidProtocolBufferException e) {
      return LifecycleScanRow.getDefaultInstance();
    }
  }
}
