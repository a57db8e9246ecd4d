package dev.ashlar.metadata.state.object;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketDocument;
import dev.ashlar.protocol.message.BucketDocumentsQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.UsageRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads of the documents and the usage of buckets. */
public final class BucketReads {
  private BucketReads() {}

  /** Whether the sender of the query knows the bucket as it is. */
  public static boolean isKnown(BucketRow bucket, BucketConfigQuery query) {
    return bucket.getId() == query.getKnownId()
        && bucket.getConfigRevision() == query.getKnownRevision();
  }

  /** A bucket and its documents as of the snapshot, whatever the sender of the query knows. */
  public static BucketConfigAnswer config(Table snapshot, BucketConfigQuery query) {
    return snapshot
        .row(Keys.bucket(query.getBucket()), BucketRow.parser())
        .map(
            bucket ->
                BucketConfigAnswer.newBuilder()
                    .setBucket(bucket)
                    .addAllDocuments(documents(snapshot, bucket, query.getKindsList()))
                    .build())
        .orElse(BucketConfigAnswer.getDefaultInstance());
  }

  /** Those of the documents asked for that the bucket has. */
  public static List<BucketDocument> documents(
      Table snapshot, BucketRow bucket, BucketDocumentsQuery query) {
    return documents(snapshot, bucket, query.getKindsList());
  }

  private static List<BucketDocument> documents(
      Table snapshot, BucketRow bucket, List<Integer> kinds) {
    List<BucketDocument> documents = new ArrayList<>();
    for (int kind : kinds) {
      byte[] document = snapshot.get(Keys.bucketDocument(bucket.getId(), kind));
      if (document != null) {
        documents.add(
            BucketDocument.newBuilder()
                .setKind(kind)
                .setDocument(ByteString.copyFrom(document))
                .build());
      }
    }
    return documents;
  }

  /** Empty while the bucket is not counted at all. */
  public static Optional<UsageRow> usage(Table snapshot, BucketRow bucket) {
    return snapshot.row(Keys.bucketUsage(bucket.getId()), UsageRow.parser());
  }

  /** What the buckets of this owner hold, as far as they are counted. */
  public static Optional<UsageRow> accountUsage(Table snapshot, String owner) {
    return snapshot.row(Keys.accountUsage(owner), UsageRow.parser());
  }
}
