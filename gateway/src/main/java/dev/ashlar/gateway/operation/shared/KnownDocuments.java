package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.cache.BoundedCache;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketDocument;
import org.jspecify.annotations.Nullable;

/**
 * What the documents of one kind say, as they were last read. Metadata is only asked whether the
 * bucket has changed since, so that a change counts at once. Safe for many threads.
 *
 * @param <T> a document, read
 */
public final class KnownDocuments<T> {
  private static final int ENTRIES_MAX = 10_000;
  private static final long DOCUMENT_BYTES_MAX = 4 << 20;

  private final MetadataClient metadata;
  private final int kind;
  private final Reader<T> reader;
  private final BoundedCache<String, Known<T>> known =
      new BoundedCache<>(ENTRIES_MAX, DOCUMENT_BYTES_MAX);

  /** Reads a document. */
  public interface Reader<T> {
    T read(byte[] document) throws S3Exception;
  }

  /**
   * A bucket, as it was at a revision of its configuration.
   *
   * @param content null: it has no such document
   */
  public record Known<T>(long bucketId, long revision, @Nullable T content) {}

  public KnownDocuments(MetadataClient metadata, BucketDocumentKind kind, Reader<T> reader) {
    this.metadata = metadata;
    this.kind = kind.number();
    this.reader = reader;
  }

  /** What the bucket has now; null if there is no such bucket. */
  public @Nullable Known<T> of(String bucket) throws S3Exception, MetadataUnavailableException {
    Known<T> before = known.get(bucket);
    BucketConfigQuery.Builder query =
        BucketConfigQuery.newBuilder().setBucket(bucket).addKinds(kind);
    if (before != null) {
      query.setKnownId(before.bucketId).setKnownRevision(before.revision);
    }
    BucketConfigAnswer answer = metadata.bucket(query.build(), null).config();
    if (!answer.hasBucket()) {
      known.remove(bucket);
      return null;
    }
    if (answer.getUnchanged() && before != null) {
      return before;
    }
    long bytes = 0;
    T content = null;
    for (BucketDocument document : answer.getDocumentsList()) {
      if (document.getKind() == kind) {
        content = reader.read(document.getDocument().toByteArray());
        bytes = document.getDocument().size();
      }
    }
    Known<T> now =
        new Known<>(answer.getBucket().getId(), answer.getBucket().getConfigRevision(), content);
    known.put(bucket, now, bytes);
    return now;
  }
}
