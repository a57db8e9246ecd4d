package dev.ashlar.server.admin;

import dev.ashlar.blob.scrub.ShardVerification;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Where the bytes of an object are. */
public final class Locator {
  /** Further slices are counted only. */
  private static final int SLICES_MAX = 1000;

  private final MetadataClient metadata;
  private final Verification verification;

  /** How a shard is read to see whether it is there. */
  @FunctionalInterface
  public interface Verification {
    ShardVerification.State check(BlobRow row, int slot) throws InterruptedException;
  }

  public Locator(MetadataClient metadata, Verification verification) {
    this.metadata = metadata;
    this.verification = verification;
  }

  /**
   * An object.
   *
   * @param version id of the version; null without versions
   * @param checksum that clients sent or asked for, as ALGORITHM:BASE64; null: none
   * @param slices how many there are; more than are listed of objects with very many
   */
  public record Page(
      String bucket,
      String key,
      String version,
      long size,
      String etag,
      @Nullable String checksum,
      boolean verified,
      int slices,
      List<Slice> located) {}

  /**
   * A part of an object that is in one blob.
   *
   * @param offset in the object
   * @param bytes of the object
   * @param blobOffset where these begin in the blob
   * @param revision how often the blob was changed
   * @param unfolded changes that are not part of the shards yet
   * @param frozen it is not changed in place any more
   */
  public record Slice(
      long offset,
      long bytes,
      String blob,
      long blobOffset,
      long blobBytes,
      String profile,
      long stripes,
      int group,
      long revision,
      int unfolded,
      boolean frozen,
      List<Shard> shards) {}

  /**
   * A shard.
   *
   * @param kind data or parity
   * @param name blob id under which the drive has it
   * @param state debt, empty, listed (not verified), verified, lost, changed or unreachable
   */
  public record Shard(
      int slot,
      String kind,
      String drive,
      String node,
      @Nullable String folder,
      String name,
      long bytes,
      String state) {}

  /** Finds the folder of a drive of this process. */
  @FunctionalInterface
  interface Folders {
    @Nullable String of(UUID drive);
  }

  /**
   * @param target BUCKET/KEY
   * @param version id; empty: the present one
   * @param isVerified whether all shards are read
   */
  Page locate(String target, String version, boolean isVerified, Folders folders)
      throws MetadataUnavailableException, Admin.RefusedException {
    int slash = target.indexOf('/');
    if (slash < 1 || slash == target.length() - 1) {
      throw new Admin.RefusedException("an object is named BUCKET/KEY");
    }
    String bucket = target.substring(0, slash);
    String key = target.substring(slash + 1);
    ObjectRecord object = object(bucket, key, version).object();
    Map<UUID, String> nodes = new HashMap<>();
    for (DriveRow row : metadata.registry().getDrivesList()) {
      nodes.put(DriveId.idOf(row), row.getNode());
    }
    List<Slice> slices = new ArrayList<>();
    long offset = 0;
    for (SliceValue slice : object.getSlicesList()) {
      if (slices.size() < SLICES_MAX) {
        slices.add(slice(slice, offset, isVerified, nodes, folders));
      }
      offset += slice.getLength();
    }
    return new Page(
        bucket,
        key,
        VersionId.of(object.getVersion(), object.getVersioned()),
        object.getSummary().getSize(),
        object.getSummary().getEtag(),
        checksum(object.getSummary().getChecksum()),
        isVerified,
        object.getSlicesCount(),
        slices);
  }

  private ObjectRead object(String bucket, String key, String version)
      throws MetadataUnavailableException, Admin.RefusedException {
    VersionRef asked;
    try {
      asked = VersionId.parse("--version-id", version.isEmpty() ? null : version);
    } catch (S3Exception e) {
      throw new Admin.RefusedException(version + " is not the id of a version");
    }
    return switch (metadata.version(bucket, key, asked)) {
      case VersionRead.Content content -> content.read();
      case VersionRead.DeleteMarker marker ->
          throw new Admin.RefusedException("a delete marker has no bytes");
      case VersionRead.Nothing nothing ->
          throw new Admin.RefusedException("there is no such object");
    };
  }

  private static @Nullable String checksum(ChecksumValue value) {
    return value.getAlgorithm() == ChecksumAlgorithm.CHECKSUM_NONE
        ? null
        : value.getAlgorithm().name().replace("CHECKSUM_", "")
            + ":"
            + Base64.getEncoder().encodeToString(value.getValue().toByteArray());
  }

  private Slice slice(
      SliceValue slice, long offset, boolean isVerified, Map<UUID, String> nodes, Folders folders)
      throws MetadataUnavailableException, Admin.RefusedException {
    BlobId id = BlobId.of(slice.getBlob());
    List<BlobRow> rows = metadata.blobs(List.of(id));
    if (rows.isEmpty()) {
      throw new Admin.RefusedException("the object was changed meanwhile");
    }
    BlobRow row = rows.getFirst();
    Profile profile = Profile.of(row.getProfile());
    StripeLayout layout = new StripeLayout(profile, row.getLength());
    PlacementMap map = metadata.placement(row.getEpoch());
    List<Shard> shards = new ArrayList<>();
    for (int slot = 0; slot < profile.shards(); slot++) {
      UUID drive = map.location(row, slot);
      shards.add(
          new Shard(
              slot,
              slot < profile.dataShards() ? "data" : "parity",
              drive.toString(),
              nodes.getOrDefault(drive, ""),
              folders.of(drive),
              ShardId.name(row, slot).toString(),
              layout.shardLength(slot),
              state(row, slot, layout, isVerified)));
    }
    return new Slice(
        offset,
        slice.getLength(),
        id.toString(),
        slice.getOffset(),
        row.getLength(),
        profile.toString(),
        layout.stripeOf(row.getLength() - 1) + 1,
        row.getPg(),
        row.getRevision(),
        row.getAttemptsCount(),
        row.getFrozen(),
        shards);
  }

  private String state(BlobRow row, int slot, StripeLayout layout, boolean isVerified) {
    if (row.getDebtSlotsList().contains(slot)) {
      return "debt";
    }
    if (layout.shardLength(slot) == 0) {
      return "empty";
    }
    try {
      return isVerified ? verification.check(row, slot).name().toLowerCase(Locale.ROOT) : "listed";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unreachable";
    }
  }
}
