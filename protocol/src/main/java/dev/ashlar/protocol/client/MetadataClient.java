package dev.ashlar.protocol.client;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.UsageRow;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The metadata group as a gateway sees it. Calls block the calling (virtual) thread. Reads are
 * linearizable: they see every command that was answered before they began.
 */
public interface MetadataClient extends IdentityClient {
  /** The session that this client registered; part of every blob id the gateway chooses. */
  long session();

  /**
   * Commits one command and returns what apply answered.
   *
   * @param command without session, request and time: the client fills them in
   */
  CommandResult submit(Command.Builder command) throws MetadataUnavailableException;

  Optional<BucketRow> bucket(String name) throws MetadataUnavailableException;

  /**
   * A bucket and what a decision about access to it needs.
   *
   * @param caller null: not asked for
   */
  AccessRead bucket(BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException;

  /** All buckets by name. */
  List<BucketRow> buckets() throws MetadataUnavailableException;

  List<BucketRow> buckets(BucketsQuery query) throws MetadataUnavailableException;

  /** Empty when the bucket or the key does not exist. */
  Optional<ObjectRead> object(String bucket, String key) throws MetadataUnavailableException;

  /**
   * A version of a key and what a decision about access to it needs.
   *
   * @param key in the bucket of the configuration
   * @param caller null: not asked for
   */
  AccessRead object(KeyQuery key, BucketConfigQuery config, @Nullable PrincipalQuery caller)
      throws MetadataUnavailableException;

  /**
   * One version of a key.
   *
   * @param version null: the newest one
   */
  VersionRead version(String bucket, String key, @Nullable VersionRef version)
      throws MetadataUnavailableException;

  /**
   * The documents of a bucket of these kinds, by kind, without those that it does not have.
   *
   * @param kinds each from 0 to 31
   */
  Map<Integer, ByteString> documents(String bucket, Collection<Integer> kinds)
      throws MetadataUnavailableException;

  /**
   * Events that have not been sent yet, the oldest first.
   *
   * @param after only events behind this one; null: from the oldest
   */
  EventsPage events(@Nullable EventRow after, int max) throws MetadataUnavailableException;

  /**
   * The jobs that move versions to other storage classes, by id. Only builds that know several
   * profiles answer this.
   */
  List<MoveJobRow> moveJobs() throws MetadataUnavailableException;

  /** What a bucket holds; empty while it is not counted. */
  Optional<UsageRow> bucketUsage(String bucket) throws MetadataUnavailableException;

  /** What the buckets of this owner hold, as far as they are counted, and its quota. */
  Optional<UsageRow> accountUsage(String owner) throws MetadataUnavailableException;

  /**
   * The rows of these blobs, in the same order; an unknown id is left out. The name of a rebuilt
   * shard stands for its blob.
   */
  List<BlobRow> blobs(List<BlobId> ids) throws MetadataUnavailableException;

  ListPage list(ListQuery query) throws MetadataUnavailableException;

  VersionsPage versions(VersionsQuery query) throws MetadataUnavailableException;

  Optional<UploadRow> upload(String bucket, String key, String uploadId)
      throws MetadataUnavailableException;

  UploadsPage uploads(UploadsQuery query) throws MetadataUnavailableException;

  /** Parts with numbers greater than {@code after}, ascending, at most {@code max}. */
  List<PartRow> parts(String bucket, String key, String uploadId, int after, int max)
      throws MetadataUnavailableException;

  /** A credential of PutCredential; access keys are found by {@link #principal}. */
  Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException;

  /** The present placement map; kept current by apply, costs no look-up. */
  PlacementMap placement();

  /**
   * The placement map of this epoch or a later one. Where it is not known yet, though a row that
   * was read names it, this waits a moment for it, and answers with an older one in the end.
   */
  default PlacementMap placement(long epoch) {
    return placement();
  }

  /** The registered drives and their incarnations; kept current by apply. */
  Map<UUID, DriveId> drives();

  /** The nodes and drives of the cluster, and when each was last heard of. */
  Registry registry() throws MetadataUnavailableException;

  /**
   * Blobs without references since before the given time, oldest first: nothing can refer to them
   * again.
   *
   * @param after of an earlier answer: only what comes behind it; null: from the oldest
   */
  List<BlobRow> garbage(long unreferencedBeforeMs, @Nullable BlobRow after, int max)
      throws MetadataUnavailableException;

  /**
   * Referenced blobs with unfolded attempts, by id.
   *
   * @param after only blobs with greater ids; null: from the first
   */
  List<BlobRow> unfolded(@Nullable BlobId after, int max) throws MetadataUnavailableException;

  /**
   * Those of the given names of shards for which this drive is, or may be, still needed: a blob has
   * a row, referenced or not, whose shard of this name is on this drive or belongs there.
   */
  Set<BlobId> neededShards(UUID drive, Collection<BlobId> names)
      throws MetadataUnavailableException;

  /**
   * Referenced blobs that owe shards, by id.
   *
   * @param spare how many more shards each of them may lose; below 0 it cannot be read
   * @param after only blobs with greater ids; null: from the first
   */
  List<BlobRow> blobsInDebt(int spare, @Nullable BlobId after, int max)
      throws MetadataUnavailableException;

  /** Those of them that lack shards, or those that only have to move. */
  DebtsPage blobsInDebt(DebtKind kind, int spare, @Nullable BlobId after, int max)
      throws MetadataUnavailableException;

  /** Blobs of a placement group, referenced or not, by id. */
  List<BlobRow> blobsOfPlacementGroup(int pg, @Nullable BlobId after, int max)
      throws MetadataUnavailableException;

  /** How many blobs owe shards, the most endangered first. */
  List<DebtLevel> debts() throws MetadataUnavailableException;
}
