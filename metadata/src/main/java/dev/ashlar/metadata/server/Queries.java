package dev.ashlar.metadata.server;

import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobsInDebtQuery;
import dev.ashlar.protocol.message.BlobsQuery;
import dev.ashlar.protocol.message.GarbageQuery;
import dev.ashlar.protocol.message.KeyEntry;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.KeysQuery;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.NeededShardsQuery;
import dev.ashlar.protocol.message.PartsQuery;
import dev.ashlar.protocol.message.PlacementGroupQuery;
import dev.ashlar.protocol.message.UnfoldedQuery;
import dev.ashlar.protocol.message.UploadListQuery;
import dev.ashlar.protocol.message.UploadQuery;
import dev.ashlar.protocol.model.BlobId;
import java.util.List;
import java.util.UUID;

/** Answers a read of another process from one snapshot. */
final class Queries {
  private final MetadataReads reads;
  private final Table snapshot;
  private final MetadataAnswer.Builder answer = MetadataAnswer.newBuilder();

  private Queries(MetadataReads reads, Table snapshot) {
    this.reads = reads;
    this.snapshot = snapshot;
  }

  static MetadataAnswer answer(MetadataReads reads, Table snapshot, MetadataQuery query) {
    return new Queries(reads, snapshot).answer(query);
  }

  private MetadataAnswer answer(MetadataQuery query) {
    switch (query.getKindCase()) {
      case BUCKET -> reads.bucket(query.getBucket()).ifPresent(answer::addBuckets);
      case BUCKETS -> answer.addAllBuckets(reads.buckets());
      case CREDENTIAL -> reads.credential(query.getCredential()).ifPresent(answer::setCredential);
      case OBJECT -> object(query.getObject());
      case BLOBS -> answer.addAllBlobs(reads.blobs(snapshot, ids(query.getBlobs())));
      case KEYS -> keys(query.getKeys());
      case UPLOAD -> upload(query.getUpload());
      case UPLOADS -> uploads(query.getUploads());
      case PARTS -> parts(query.getParts());
      case GARBAGE -> garbage(query.getGarbage());
      case UNFOLDED -> unfolded(query.getUnfolded());
      case NEEDED_SHARDS -> neededShards(query.getNeededShards());
      case REGISTRY -> answer.setRegistry(reads.registry(snapshot));
      case BLOBS_IN_DEBT -> blobsInDebt(query.getBlobsInDebt());
      case PLACEMENT_GROUP -> placementGroup(query.getPlacementGroup());
      case DEBTS -> answer.addAllDebts(reads.debts(snapshot));
      case KIND_NOT_SET -> throw new IllegalArgumentException("a query of an unknown kind");
    }
    return answer.build();
  }

  private void object(KeyQuery query) {
    reads
        .object(snapshot, query.getBucket(), query.getKey())
        .ifPresent(read -> answer.setObject(read.object()).addAllBlobs(read.blobs()));
  }

  private static List<BlobId> ids(BlobsQuery query) {
    return query.getIdsList().stream().map(BlobId::of).toList();
  }

  private void keys(KeysQuery query) {
    ListQuery list =
        new ListQuery(
            query.getBucket(),
            query.getPrefix(),
            query.getDelimiter(),
            query.getAfter(),
            query.getMax());
    ListPage page = reads.list(snapshot, list);
    for (ListPage.Entry entry : page.entries()) {
      KeyEntry.Builder row = KeyEntry.newBuilder().setName(entry.name());
      if (entry instanceof ListPage.Key key) {
        row.setSummary(key.summary());
      }
      answer.addKeys(row);
    }
    answer.setTruncated(page.truncated());
  }

  private void upload(UploadQuery query) {
    reads
        .upload(snapshot, query.getBucket(), query.getKey(), query.getUploadId())
        .ifPresent(answer::addUploads);
  }

  private void uploads(UploadListQuery query) {
    UploadsPage page =
        reads.uploads(
            snapshot,
            new UploadsQuery(
                query.getBucket(),
                query.getPrefix(),
                query.getDelimiter(),
                query.getKeyMarker(),
                query.getUploadIdMarker(),
                query.getMax()));
    answer
        .addAllUploads(page.uploads())
        .addAllCommonPrefixes(page.commonPrefixes())
        .setTruncated(page.truncated());
  }

  private void parts(PartsQuery query) {
    answer.addAllParts(
        reads.parts(
            snapshot,
            query.getBucket(),
            query.getKey(),
            query.getUploadId(),
            query.getAfter(),
            query.getMax()));
  }

  private void garbage(GarbageQuery query) {
    answer.addAllBlobs(
        reads.garbage(
            snapshot,
            query.getUnreferencedBeforeMs(),
            query.hasAfter() ? query.getAfter() : null,
            query.getMax()));
  }

  private void unfolded(UnfoldedQuery query) {
    BlobIdValue after = query.getAfter();
    answer.addAllBlobs(
        reads.unfolded(snapshot, query.hasAfter() ? BlobId.of(after) : null, query.getMax()));
  }

  private void neededShards(NeededShardsQuery query) {
    UUID drive = new UUID(query.getDriveHigh(), query.getDriveLow());
    List<BlobId> names = query.getNamesList().stream().map(BlobId::of).toList();
    reads.neededShards(snapshot, drive, names).forEach(name -> answer.addIds(name.toMessage()));
  }

  private void blobsInDebt(BlobsInDebtQuery query) {
    BlobId after = query.hasAfter() ? BlobId.of(query.getAfter()) : null;
    answer.addAllBlobs(reads.blobsInDebt(snapshot, query.getSpare(), after, query.getMax()));
  }

  private void placementGroup(PlacementGroupQuery query) {
    BlobId after = query.hasAfter() ? BlobId.of(query.getAfter()) : null;
    answer.addAllBlobs(reads.blobsOfPlacementGroup(snapshot, query.getPg(), after, query.getMax()));
  }
}
