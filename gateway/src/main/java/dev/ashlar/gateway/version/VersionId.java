package dev.ashlar.gateway.version;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The texts that name versions. Clients take them for opaque: {@code null}, or the 16 hexadecimal
 * digits of the version's position in the log, so that the ids of a key ascend as it was written.
 */
public final class VersionId {
  /** Of the version of a key that was written while its bucket gave no ids. */
  public static final String NULL = "null";

  /** The header of an answer that names a version. */
  public static final String HEADER = "x-amz-version-id";

  /** Tells that what is named is a delete marker. */
  public static final String DELETE_MARKER_HEADER = "x-amz-delete-marker";

  private static final int DIGITS = 16;
  private static final HexFormat HEX = HexFormat.of();

  private VersionId() {}

  /**
   * @param number the position in the log
   * @param versioned whether that is the id; otherwise it is the null version
   */
  public static String of(long number, boolean versioned) {
    return versioned ? HEX.toHexDigits(number) : NULL;
  }

  public static String of(VersionEntry entry) {
    return of(entry.getVersion(), entry.getVersioned());
  }

  /** The version that an entry of a listing is about. */
  public static VersionRef ref(VersionEntry entry) {
    return entry.getVersioned()
        ? VersionRef.newBuilder().setNumber(entry.getVersion()).build()
        : VersionRef.getDefaultInstance();
  }

  public static String of(VersionRef version) {
    return of(version.getNumber(), version.getNumber() != 0);
  }

  /** The id of a version that was read; null where its bucket never kept versions. */
  public static @Nullable String of(ObjectRecord object, BucketRow bucket) {
    return areKept(bucket) ? of(object.getVersion(), object.getVersioned()) : null;
  }

  /** Whether keys of the bucket may have several versions: versioning is enabled or suspended. */
  public static boolean areKept(BucketRow bucket) {
    return bucket.getVersioning() != Versioning.VERSIONING_OFF;
  }

  /**
   * Reads an id; null if there is none.
   *
   * @param parameter of the request, for the error
   * @throws S3Exception InvalidArgument when no version has ever such an id
   */
  public static @Nullable VersionRef parse(String parameter, @Nullable String id)
      throws S3Exception {
    if (id == null) {
      return null;
    }
    if (id.isEmpty()) {
      throw S3Exception.invalidArgument("Version id cannot be the empty string", parameter, id);
    }
    VersionRef version = version(id);
    if (version == null) {
      throw S3Exception.invalidArgument("Invalid version id specified", parameter, id);
    }
    return version;
  }

  /** The version that the id names; null when no version has ever such an id. */
  public static @Nullable VersionRef version(String id) {
    if (id.equals(NULL)) {
      return VersionRef.getDefaultInstance();
    }
    if (id.length() != DIGITS || !id.chars().allMatch(VersionId::isDigit)) {
      return null;
    }
    long number = HexFormat.fromHexDigitsToLong(id);
    return number == 0 ? null : VersionRef.newBuilder().setNumber(number).build();
  }

  /** In one case only: a version has one name. */
  private static boolean isDigit(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  }
}
