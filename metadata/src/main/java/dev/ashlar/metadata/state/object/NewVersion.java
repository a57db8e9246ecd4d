package dev.ashlar.metadata.state.object;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.UploadRow;
import java.util.List;

/** The lock and the facts of a version that a command makes, both of which may be empty. */
record NewVersion(ObjectLock lock, ObjectFacts facts) {
  private static final NewVersion PLAIN =
      new NewVersion(ObjectLock.getDefaultInstance(), ObjectFacts.getDefaultInstance());

  /** As the command asks, otherwise with the default retention of the bucket. */
  static NewVersion of(
      ApplyContext context, BucketRow bucket, ObjectLock asked, ObjectFacts facts) {
    if (context.version() < MetadataVersion.KEEPS_VERSIONS) {
      return PLAIN;
    }
    Locks.requirePossible(bucket, asked);
    return new NewVersion(Locks.ofNew(context, asked, bucket.getRetention()), facts);
  }

  /**
   * As was asked for when the upload began, otherwise with the default retention of that time.
   *
   * @param runs of its parts
   */
  static NewVersion of(
      ApplyContext context, BucketRow bucket, UploadRow upload, List<EncryptedRun> runs) {
    if (context.version() < MetadataVersion.KEEPS_VERSIONS) {
      return PLAIN;
    }
    // While an older version was in use, the row took over a lock without a check.
    ObjectLock asked = bucket.getHasLock() ? upload.getLock() : ObjectLock.getDefaultInstance();
    ObjectFacts facts =
        runs.isEmpty() ? upload.getFacts() : upload.getFacts().toBuilder().addAllRuns(runs).build();
    return new NewVersion(Locks.ofNew(context, asked, upload.getRetention()), facts);
  }

  ObjectRecord.Builder applyTo(ObjectRecord.Builder object) {
    if (!lock.equals(ObjectLock.getDefaultInstance())) {
      object.setLock(lock);
    }
    return facts.equals(ObjectFacts.getDefaultInstance()) ? object : object.setFacts(facts);
  }
}
