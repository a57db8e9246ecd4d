package dev.ashlar.server.jobs;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CountUsage;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UsageRow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Counts what buckets from before metadata version 4 hold, some rows at a time. Later buckets are
 * counted from their creation, so there is nothing left to do once it has passed all buckets.
 */
public final class UsageCounting implements PeriodicJobs.Job {
  private final MetadataClient metadata;
  private final Deque<String> uncounted = new ArrayDeque<>();
  private boolean isDone;

  public UsageCounting(MetadataClient metadata) {
    this.metadata = metadata;
  }

  @Override
  public boolean run() throws MetadataUnavailableException {
    if (isDone) {
      return false;
    }
    if (uncounted.isEmpty()) {
      metadata.buckets().stream().map(BucketRow::getName).forEach(uncounted::add);
    }
    String bucket = uncounted.peek();
    if (bucket != null && !isCounted(bucket)) {
      CountUsage count = CountUsage.newBuilder().setBucket(bucket).build();
      ResultCode code = metadata.submit(Command.newBuilder().setCountUsage(count)).getCode();
      if (code == ResultCode.INVALID_COMMAND) {
        uncounted.clear();
        return false; // an older metadata version is in use
      }
      if (code == ResultCode.OK && !isCounted(bucket)) {
        return true;
      }
    }
    uncounted.poll();
    isDone = uncounted.isEmpty();
    return !isDone;
  }

  private boolean isCounted(String bucket) throws MetadataUnavailableException {
    Optional<UsageRow> usage = metadata.bucketUsage(bucket);
    return usage.isPresent() && usage.get().getComplete();
  }
}
