package dev.ashlar.gateway.access;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpDates;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;

/** What S3 answers where no object is. */
final class MissingObjects {
  private MissingObjects() {}

  /** Neither an object nor a delete marker. */
  static S3Exception none(Need.Resource.StoredObject wanted) {
    VersionRef version = wanted.version();
    return version == null
        ? noSuchKey(wanted)
        : new S3Exception(S3Error.NO_SUCH_VERSION)
            .with("Key", wanted.key())
            .with("VersionId", VersionId.of(version));
  }

  /** A delete marker: the newest version of its key, or the one that was asked for. */
  static S3Exception deleted(Need.Resource.StoredObject wanted, VersionEntry marker) {
    S3Exception error =
        wanted.version() == null
            ? noSuchKey(wanted)
            : new S3Exception(S3Error.METHOD_NOT_ALLOWED)
                .with("ResourceType", "DeleteMarker")
                .withHeader("Allow", "DELETE")
                .withHeader("Last-Modified", HttpDates.of(marker.getSummary().getLastModifiedMs()));
    return error
        .withHeader(VersionId.DELETE_MARKER_HEADER, "true")
        .withHeader(VersionId.HEADER, VersionId.of(marker));
  }

  private static S3Exception noSuchKey(Need.Resource.StoredObject wanted) {
    return new S3Exception(S3Error.NO_SUCH_KEY).with("Key", wanted.key());
  }
}
