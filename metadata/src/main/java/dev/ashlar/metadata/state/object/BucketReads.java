package dev.ashlar.metadata.state.object;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
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

  /** Those of the documents asked for that the bucket has. */
  public static List<BucketDocument> documents(
      Table snapshot, BucketRow bucket, BucketDocumentsQuery query) {
    List<BucketDocument> documents = new ArrayList<>();
    for (int kind : query.getKindsList()) {
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
