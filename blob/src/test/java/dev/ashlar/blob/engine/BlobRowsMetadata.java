package dev.ashlar.blob.engine;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.AccessRead;
import dev.ashlar.protocol.client.BucketsQuery;
import dev.ashlar.protocol.client.DebtsPage;
import dev.ashlar.protocol.client.EventsPage;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityQuery;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.OutboxRow;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** So much of metadata as the engine meets: one object, its blobs, a fixed placement. */
public final class BlobRowsMetadata implements MetadataClient {
  public final Map<BlobId, BlobRow> rows = new HashMap<>();
  private final PlacementMap placement;
  public @Nullable ObjectRead object;
  public List<BlobRow> garbage = List.of();
  public ResultCode answer = ResultCode.OK;
  @Nullable MetadataUnavailableException failure;

  public BlobRowsMetadata(PlacementMap placement) {
    this.placement = placement;
  }

  @Override
  public long session() {
    return 7;
  }

  @Override
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    if (failure != null) {
      throw failure;
    }
    if (answer == ResultCode.OK) {
      apply(command.getPutObject().getBlobsList());
    }
    return CommandResult.newBuilder().setCode(answer).build();
  }

  private void apply(List<NewBlob> blobs) {
    ObjectRecord.Builder record = ObjectRecord.newBuilder();
    for (NewBlob blob : blobs) {
      rows.put(BlobId.of(blob.getId()), row(blob));
      record.addSlices(SliceValue.newBuilder().setBlob(blob.getId()).setLength(blob.getLength()));
    }
    List<BlobRow> first =
        record.getSlicesList().stream()
            .limit(ObjectRead.BLOBS_MAX)
            .map(slice -> rows.get(BlobId.of(slice.getBlob())))
            .toList();
    object = new ObjectRead(record.build(), first);
  }

  private static BlobRow row(NewBlob blob) {
    BlobRow.Builder row =
        BlobRow.newBuilder()
            .setId(blob.getId())
            .setLength(blob.getLength())
            .setProfile(blob.getProfile())
            .setPg(blob.getPg())
            .setReferences(1);
    Set<Integer> held =
        blob.getAcksList().stream().map(SlotAck::getSlot).collect(Collectors.toSet());
    Profile profile = Profile.of(blob.getProfile());
    StripeLayout layout = new StripeLayout(profile, blob.getLength());
    for (int slot = 0; slot < profile.shards(); slot++) {
      if (layout.shardLength(slot) > 0 && !held.contains(slot)) {
        row.addDebtSlots(slot);
      }
    }
    return row.build();
  }

  @Override
  public PlacementMap placement() {
    return placement;
  }

  @Override
  public List<BlobRow> blobs(List<BlobId> ids) {
    return ids.stream().filter(rows::containsKey).map(rows::get).toList();
  }

  @Override
  public Set<BlobId> neededShards(UUID drive, Collection<BlobId> ids) {
    return ids.stream().filter(rows::containsKey).collect(Collectors.toSet());
  }

  @Override
  public Optional<ObjectRead> object(String bucket, String key) {
    return Optional.ofNullable(object);
  }

  @Override
  public VersionRead version(String bucket, String key, @Nullable VersionRef version) {
    return new VersionRead.Nothing();
  }

  @Override
  public EventsPage events(@Nullable EventRow after, int max) {
    return new EventsPage(List.of(), OutboxRow.getDefaultInstance());
  }

  @Override
  public Optional<UsageRow> bucketUsage(String bucket) {
    return Optional.empty();
  }

  @Override
  public Optional<UsageRow> accountUsage(String owner) {
    return Optional.empty();
  }

  @Override
  public VersionsPage versions(VersionsQuery query) {
    return new VersionsPage(List.of(), false);
  }

  @Override
  public Map<Integer, ByteString> documents(String bucket, Collection<Integer> kinds) {
    return Map.of();
  }

  @Override
  public Optional<BucketRow> bucket(String name) {
    return Optional.empty();
  }

  @Override
  public AccessRead bucket(BucketConfigQuery config, @Nullable PrincipalQuery caller) {
    throw new UnsupportedOperationException();
  }

  @Override
  public AccessRead object(
      KeyQuery key, BucketConfigQuery config, @Nullable PrincipalQuery caller) {
    throw new UnsupportedOperationException();
  }

  @Override
  public IdentityAnswer identity(IdentityQuery query) {
    return IdentityAnswer.getDefaultInstance();
  }

  @Override
  public List<BucketRow> buckets() {
    return List.of();
  }

  @Override
  public List<BucketRow> buckets(BucketsQuery query) {
    return List.of();
  }

  @Override
  public ListPage list(ListQuery query) {
    return new ListPage(List.of(), false);
  }

  @Override
  public Optional<UploadRow> upload(String bucket, String key, String uploadId) {
    return Optional.empty();
  }

  @Override
  public UploadsPage uploads(UploadsQuery query) {
    return new UploadsPage(List.of(), List.of(), false);
  }

  @Override
  public List<PartRow> parts(String bucket, String key, String uploadId, int after, int max) {
    return List.of();
  }

  @Override
  public Optional<CredentialRow> credential(String accessKey) {
    return Optional.empty();
  }

  @Override
  public Map<UUID, DriveId> drives() {
    return Map.of();
  }

  @Override
  public List<MoveJobRow> moveJobs() {
    return List.of();
  }

  @Override
  public Registry registry() {
    return Registry.getDefaultInstance();
  }

  @Override
  public List<BlobRow> garbage(long unreferencedBeforeMs, @Nullable BlobRow after, int max) {
    return after == null ? garbage : List.of();
  }

  @Override
  public List<BlobRow> unfolded(@Nullable BlobId after, int max) {
    return rows.values().stream()
        .filter(row -> row.getAttemptsCount() > 0)
        .filter(row -> after == null || BlobId.of(row.getId()).compareTo(after) > 0)
        .sorted(Comparator.comparing(row -> BlobId.of(row.getId())))
        .limit(max)
        .toList();
  }

  @Override
  public List<BlobRow> blobsInDebt(int spare, @Nullable BlobId after, int max) {
    return List.of();
  }

  @Override
  public DebtsPage blobsInDebt(DebtKind kind, int spare, @Nullable BlobId after, int max) {
    return new DebtsPage(List.of(), null);
  }

  @Override
  public List<BlobRow> blobsOfPlacementGroup(int pg, @Nullable BlobId after, int max) {
    return List.of();
  }

  @Override
  public List<DebtLevel> debts() {
    return List.of();
  }
}
