package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.util.concurrent.atomic.AtomicLong;

/** Ids of new blobs and attempts, each unique in its metadata session. For many threads. */
public final class SessionIds {
  private final MetadataClient metadata;
  private final AtomicLong sequence = new AtomicLong();

  public SessionIds(MetadataClient metadata) {
    this.metadata = metadata;
  }

  public BlobId nextBlob() {
    return new BlobId(metadata.session(), sequence.getAndIncrement());
  }

  public AttemptId nextAttempt() {
    return new AttemptId(metadata.session(), sequence.getAndIncrement());
  }
}
